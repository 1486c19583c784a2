"""Closer look "Vocabulary": the pieces that begin with a query, and the steps that cut it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import pandas as pd

from contextlens.analysis.tokens import find_pieces
from contextlens.content.language import Claim, claim, table
from contextlens.content.wording import escape, quoted
from contextlens.core import EncoderService
from contextlens.core.schema import CutRules, Tokens, Vocabulary
from contextlens.core.words import with_marks
from contextlens.features.tokens.controls import (
    KIND,
    KINDS,
    MAX_EXPLAINED_CHARACTERS,
    MAX_LISTED_CUTS,
    MAX_NAMED_PIECES,
    MAX_QUOTED_CHARACTERS,
    SEARCH,
)
from contextlens.features.tokens.tokenized_sentence import TokenizedSentence
from contextlens.ui.panel import Panel
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.unread import unknown_reason

# --- The steps that cut a word

_CONTINUATION = "##"
_BPE = ("BPE", "SentencePiece BPE")
_EQUAL = 1e-6
"""Sums of log-probabilities this close are equal: rounding depends on the order of addition."""

_Row = dict[str, str | int | float]


@dataclass(frozen=True)
class WordCut:
    """The cut of one word, with its steps.

    Attributes:
        parts: the normalised word, in the parts that the tokenizer cuts separately.
        pieces: the pieces of the result.
        rows: the steps, or for Unigram the most probable cuts, as a table; `english.toml` names its
            columns.
    """

    parts: tuple[str, ...]
    pieces: tuple[str, ...]
    rows: tuple[_Row, ...]

    @property
    def word(self) -> str:
        """The whole word."""
        return "".join(self.parts)

    def claim(self, method: str) -> Claim:
        """Return the method by which the word was cut, and its outcome."""
        if method == "WordPiece":
            is_split, is_cut = len(self.parts) > 1, len(self.pieces) > 1
            verdict = "split" if is_split else "longest" if is_cut else "whole"
        elif method in _BPE:
            verdict = "merged" if self.rows else "bytes"
        else:
            verdict = "probable" if len(self.rows) > 1 else "only"
        return claim(f"tokens.why.{verdict}", word=quoted(self.word, len(self.word)))


def explain_cut(tokens: Tokens, vocabulary: Vocabulary, rules: CutRules) -> WordCut | None:
    """Return the steps that cut the word with the most pieces.

    None if all of the text's words are unknown or special tokens, if the word is very long, or if
    the steps implemented here give other pieces than the tokenizer.
    """
    words: dict[int, list[int]] = {}
    for word_id, text_id, token_id in zip(
        joined_words(tokens, vocabulary),
        tokens.text_ids.tolist(),
        tokens.token_ids.tolist(),
        strict=True,
    ):
        if word_id >= 0 and text_id == 0:
            words.setdefault(word_id, []).append(token_id)
    candidates = [
        ids for ids in words.values() if "special" not in {vocabulary.kinds[i] for i in ids}
    ]
    if not candidates:
        return None
    pieces = tuple(vocabulary.pieces[i] for i in max(candidates, key=len))
    if sum(map(len, pieces)) > MAX_EXPLAINED_CHARACTERS:
        return None
    cut = _trace(pieces, vocabulary, rules)
    return cut if cut is not None and cut.pieces == pieces else None


def joined_words(tokens: Tokens, vocabulary: Vocabulary) -> list[int]:
    """Return the word of each token, -1 for none, in which a continuation is in the word before it.

    WordPiece drops signs such as a zero-width space, and cuts what is on both sides as one word.
    """
    words: list[int] = tokens.word_ids.tolist()
    if vocabulary.method == "WordPiece":
        for i, token_id in enumerate(tokens.token_ids.tolist()[1:], start=1):
            if min(words[i], words[i - 1]) >= 0 and vocabulary.kinds[token_id] == "continuation":
                words[i] = words[i - 1]
    return words


def _trace(pieces: tuple[str, ...], vocabulary: Vocabulary, rules: CutRules) -> WordCut | None:
    if vocabulary.method == "WordPiece":
        parts = _parts(pieces)
        cuts = [_longest_first(part, vocabulary) for part in parts]
        return WordCut(
            parts, *(tuple(chain.from_iterable(lists)) for lists in zip(*cuts, strict=True))
        )
    word = "".join(pieces)
    if vocabulary.method in _BPE and rules.merges:
        return WordCut((word,), *_merged(word, rules.merges))
    if vocabulary.method == "Unigram" and rules.scores:
        return _most_probable(word, pieces, vocabulary, rules.scores)
    return None


def _parts(pieces: Iterable[str]) -> tuple[str, ...]:
    """Return the parts of a word that WordPiece cuts separately: each punctuation mark is one."""
    parts: list[str] = []
    for piece in pieces:
        if piece.startswith(_CONTINUATION) and parts:
            parts[-1] += piece.removeprefix(_CONTINUATION)
        else:
            parts.append(piece)
    return tuple(parts)


def _longest_first(part: str, vocabulary: Vocabulary) -> tuple[list[str], list[_Row]]:
    pieces: list[str] = []
    rows: list[_Row] = []
    start = 0
    while start < len(part):
        remainder = part[start:]
        prefix = _CONTINUATION if start else ""
        ends = range(len(remainder), 0, -1)
        end = next((end for end in ends if prefix + remainder[:end] in vocabulary.ids), None)
        if end is None:
            break
        pieces.append(prefix + remainder[:end])
        rows.append({"rest": remainder, "piece": pieces[-1], "tried": len(remainder) - end})
        start += end
    return pieces, rows


def _merged(
    word: str, merges: Mapping[tuple[str, str], int]
) -> tuple[tuple[str, ...], tuple[_Row, ...]]:
    parts, rows = list(word), list[_Row]()
    while ranked := [(merges[p], i) for i, p in enumerate(pairwise(parts)) if p in merges]:
        rank, i = min(ranked)
        merged = f"{parts[i]} + {parts[i + 1]}"
        parts[i : i + 2] = ["".join(parts[i : i + 2])]
        rows.append({"merged": merged, "place": rank + 1, "then": " ".join(parts)})
    return tuple(parts), tuple(rows)


def _most_probable(
    word: str, taken: tuple[str, ...], vocabulary: Vocabulary, scores: tuple[float, ...]
) -> WordCut | None:
    """Return the most probable cuts (Viterbi), the tokenizer's first; None if another is better."""
    ways: list[list[tuple[float, tuple[str, ...]]]] = [[(0.0, ())]]
    for end in range(1, len(word) + 1):
        candidates = [
            (score + scores[piece_id], (*pieces, piece))
            for start, piece, piece_id in _ending_at(word, end, vocabulary, len(scores))
            for score, pieces in ways[start]
        ]
        ways.append(sorted(candidates, reverse=True)[:MAX_LISTED_CUTS])
    own_score = sum(scores[vocabulary.ids[piece]] for piece in taken)
    if not ways[-1] or not math.isclose(own_score, ways[-1][0][0], abs_tol=_EQUAL):
        return None
    others = [(score, pieces) for score, pieces in ways[-1] if pieces != taken]
    best = [(own_score, taken), *others][:MAX_LISTED_CUTS]
    rows: list[_Row] = [{"cut": " ".join(p), "score": score} for score, p in best]
    return WordCut((word,), taken, tuple(rows))


def _ending_at(
    word: str, end: int, vocabulary: Vocabulary, n_scores: int
) -> Iterator[tuple[int, str, int]]:
    """Yield the start, text and ID of each piece of the vocabulary that ends at a position."""
    for start in range(end):
        piece = word[start:end]
        piece_id = vocabulary.ids.get(piece)
        if piece_id is not None and piece_id < n_scores and vocabulary.kinds[piece_id] != "special":
            yield start, piece, piece_id


# --- The search


@dataclass(frozen=True, eq=False)
class LookUp(Panel):
    """The result of a search in the vocabulary.

    Attributes:
        query: the query as typed.
        seen: the query as the tokenizer's normalisation leaves it.
        tokens: the tokens of the query.
        ids: the IDs of the pieces of the chosen kind that begin with the query.
        cut: the steps that split the query's word with the most pieces; None if they are unknown.
        vocabulary: the vocabulary that was searched.
    """

    query: str
    seen: str
    tokens: Tokens
    ids: list[int]
    cut: WordCut | None
    vocabulary: Vocabulary

    def claims(self) -> list[Claim]:
        """Return the pieces of the query, and the number of pieces that match it."""
        typed, tokens, vocabulary = self.query.strip(), self.tokens, self.vocabulary
        if not typed:
            numbers = {"size": len(vocabulary.pieces), "listed": len(self.ids)}
            return [claim("tokens.vocabulary.size", **numbers)]
        word = quoted(typed, MAX_QUOTED_CHARACTERS)
        typed_tokens = [i for i in range(tokens.n_tokens) if tokens.text_ids[i] >= 0]
        ids = tokens.token_ids[typed_tokens].tolist()
        claims = []
        if typed in vocabulary.ids and ids != [vocabulary.ids[typed]]:
            token_id = vocabulary.ids[typed]
            claims.append(claim("tokens.vocabulary.piece", word=word, token_id=token_id))
        named = [escape(tokens.tokens[i]) for i in typed_tokens[:MAX_NAMED_PIECES]]
        n_tokens = len(typed_tokens) + tokens.n_truncated
        if not typed_tokens:
            claims.append(claim("tokens.vocabulary.dropped", word=word))
        elif n_tokens == 1 and ids[0] == vocabulary.unknown_id:
            reason = escape(str(unknown_reason(self.seen, vocabulary)))
            key = "tokens.vocabulary.unknown"
            claims.append(claim(key, word=word, name=named[0], token_id=ids[0], reason=reason))
        elif n_tokens == 1:
            key = "tokens.vocabulary.token"
            claims.append(claim(key, word=word, name=named[0], token_id=ids[0]))
        else:
            dots = " …" if n_tokens > len(named) else ""
            pieces = ", ".join(f"{name} ({i})" for name, i in zip(named, ids, strict=False)) + dots
            claims.append(claim("tokens.vocabulary.cut", word=word, n=n_tokens, pieces=pieces))
        return [*claims, claim("tokens.vocabulary.found", n=len(self.ids))]

    def cut_table(self) -> pd.DataFrame | None:
        """Return the steps of the cut, if there is more than one."""
        if self.cut is None or len(self.cut.rows) < 2:
            return None
        return pd.DataFrame(self.cut.rows).rename(columns=table("tokens.column"))


def picked_text(tokenized: TokenizedSentence) -> str:
    """Return the word of the picked token; for an added token, the token itself.

    A space before the word is included, because some tokenizers then cut the word differently.
    """
    tokens, position = tokenized.tokens, tokenized.picked
    if tokens.word_ids[position] < 0:
        return tokens.tokens[position]
    text_id = tokens.text_ids[position]
    words = np.array(joined_words(tokens, tokenized.vocabulary))
    spans = tokens.offsets[(words == words[position]) & (tokens.text_ids == text_id)]
    text = tokens.text if text_id == 0 else tokens.pair or ""
    start, end = int(spans.min()), with_marks(text, int(spans.max()))
    return " " * text[:start][-1:].isspace() + text[start:end]


def look_up(view: ViewState, service: EncoderService, tokenized: TokenizedSentence) -> LookUp:
    """Look up the view's query, or else the picked word, in the vocabulary of its model."""
    vocabulary = tokenized.vocabulary
    typed = SEARCH.of(view)
    text = typed or picked_text(tokenized)
    query = typed or text.strip()
    seen = service.normalize(view.model, [query])[0].replace("▁", " ").strip()
    # If the tokenizer drops the query, `seen` is empty, and every piece would begin with it.
    prefixes = dict.fromkeys((query.strip(), seen or query.strip()))
    ids = find_pieces(vocabulary, *prefixes, kind=KINDS[KIND.of(view)])
    tokens = service.tokenize(view.model, [text])[0]
    cut = explain_cut(tokens, vocabulary, service.cut_rules(view.model))
    return LookUp(query, seen, tokens, ids, cut, vocabulary)


def vocabulary_table(vocabulary: Vocabulary) -> pd.DataFrame:
    """Return all pieces of a vocabulary, in the order of their IDs."""
    names = table("tokens.kind")
    return pd.DataFrame(
        {
            "ID": np.arange(len(vocabulary.pieces)),
            "piece": vocabulary.pieces,
            "stands for": vocabulary.texts,
            "kind": [names[kind] for kind in vocabulary.kinds],
        }
    )
