"""The steps by which a tokenizer rewrites a text and cuts it into pieces."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from typing import Literal

from contextlens.analysis.tokens import TokenKind, kinds, lost_spans
from contextlens.core.schema import CutRules, Tokens, Vocabulary

# --- The steps that cut a word

_CONTINUATION = "##"
_MAX_CUTS = 4
"""Maximum ways to cut a word that are listed, the most probable first."""
_EQUAL = 1e-6
"""Sums of log-probabilities this close are equal: rounding depends on the order of addition."""
_LONGEST = 200
"""Maximum characters of a word whose steps are shown: the time grows with their square."""

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


def explain_cut(tokens: Tokens, vocabulary: Vocabulary, rules: CutRules) -> WordCut | None:
    """The steps that cut the word with the most pieces.

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
    if sum(map(len, pieces)) > _LONGEST:
        return None
    cut = _trace(pieces, vocabulary, rules)
    return cut if cut is not None and cut.pieces == pieces else None


def joined_words(tokens: Tokens, vocabulary: Vocabulary) -> list[int]:
    """The word of each token, -1 for none, in which a continuation is in the word before it.

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
    if vocabulary.method == "BPE" and rules.merges:
        return WordCut((word,), *_merged(word, rules.merges))
    if vocabulary.method == "Unigram" and rules.scores:
        return _most_probable(word, pieces, vocabulary, rules.scores)
    return None


def _parts(pieces: Iterable[str]) -> tuple[str, ...]:
    """The parts of a word that WordPiece cuts separately: a punctuation mark is one of its own."""
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
        rest = part[start:]
        prefix = _CONTINUATION if start else ""
        ends = range(len(rest), 0, -1)
        end = next((end for end in ends if prefix + rest[:end] in vocabulary.ids), None)
        if end is None:
            break
        pieces.append(prefix + rest[:end])
        rows.append({"rest": rest, "piece": pieces[-1], "tried": len(rest) - end})
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
    """The few most probable cuts (Viterbi), the tokenizer's first; None if another is better."""
    ways: list[list[tuple[float, tuple[str, ...]]]] = [[(0.0, ())]]
    for end in range(1, len(word) + 1):
        candidates = [
            (score + scores[piece_id], (*pieces, piece))
            for start, piece, piece_id in _ending_at(word, end, vocabulary, len(scores))
            for score, pieces in ways[start]
        ]
        ways.append(sorted(candidates, reverse=True)[:_MAX_CUTS])
    own_score = sum(scores[vocabulary.ids[piece]] for piece in taken)
    if not ways[-1] or not math.isclose(own_score, ways[-1][0][0], abs_tol=_EQUAL):
        return None
    others = [(score, pieces) for score, pieces in ways[-1] if pieces != taken]
    best = [(own_score, taken), *others][:_MAX_CUTS]
    rows: list[_Row] = [{"cut": " ".join(p), "score": score} for score, p in best]
    return WordCut((word,), taken, tuple(rows))


def _ending_at(
    word: str, end: int, vocabulary: Vocabulary, n_scores: int
) -> Iterator[tuple[int, str, int]]:
    """The start, text and ID of each piece of the vocabulary that ends at a position."""
    for start in range(end):
        piece = word[start:end]
        piece_id = vocabulary.ids.get(piece)
        if piece_id is not None and piece_id < n_scores and vocabulary.kinds[piece_id] != "special":
            yield start, piece, piece_id


# --- The rewriting of characters before the cut

Fate = Literal["kept", "rewritten", "unknown", "lost"]
Normalize = Callable[[Sequence[str]], list[str]]


@dataclass(frozen=True)
class Change:
    """One way in which the tokenizer rewrites characters, with an example and a count.

    The way is "spaces", "dropped", "capitals", "accents" or "other".
    """

    way: str
    before: str
    after: str
    count: int


@dataclass(frozen=True)
class Stretch:
    """A stretch of a text whose characters all have the same fate."""

    text: str
    fate: Fate


@dataclass(frozen=True)
class _Sign:
    """One character as readers see it: a letter with its combining marks."""

    start: int
    text: str
    after: str  # the tokenizer's form
    way: str  # the way in which it was rewritten; empty if it was not


def find_changes(
    tokens: Tokens, vocabulary: Vocabulary, text_id: int, normalize: Normalize
) -> list[Change]:
    """The ways in which a text's characters are rewritten before it is cut, most frequent first.

    Each character is normalised alone; for the tokenizers of the supported families this gives the
    same result as in the text. Unknown, typed special and cut-off tokens are left out.

    Args:
        tokens: the tokenizer's output for the text (and pair).
        vocabulary: the tokenizer's vocabulary.
        text_id: 0 for the text, 1 for the pair.
        normalize: converts texts to what the tokenizer sees before cutting.
    """
    changed = [
        sign
        for sign, fate in _with_fates(tokens, vocabulary, text_id, normalize)
        if fate == "rewritten"
    ]
    first = {sign.way: sign for sign in reversed(changed)}
    counts = Counter(sign.way for sign in changed)
    return [
        Change(way, first[way].text, first[way].after, count) for way, count in counts.most_common()
    ]


def split_by_fate(
    tokens: Tokens, vocabulary: Vocabulary, text_id: int, normalize: Normalize
) -> list[Stretch]:
    """The whole text (or pair) in stretches: kept, rewritten, unknown or lost."""
    groups = groupby(_with_fates(tokens, vocabulary, text_id, normalize), key=lambda pair: pair[1])
    return [Stretch("".join(sign.text for sign, _ in pairs), fate) for fate, pairs in groups]


def _with_fates(
    tokens: Tokens, vocabulary: Vocabulary, text_id: int, normalize: Normalize
) -> list[tuple[_Sign, Fate]]:
    places: dict[TokenKind, set[int]] = {"unknown": set(), "typed special": set()}
    for i, kind in enumerate(kinds(tokens, vocabulary)):
        if kind in places and tokens.text_ids[i] == text_id:
            places[kind] |= set(range(*tokens.offsets[i].tolist()))
    text = tokens.text if text_id == 0 else tokens.pair or ""
    lost = lost_spans(tokens)[text_id]
    end = len(text) if lost is None else lost[0]

    def fate(sign: _Sign) -> Fate:
        if sign.start >= end:
            return "lost"
        if sign.start in places["unknown"]:
            return "unknown"
        return "rewritten" if sign.way and sign.start not in places["typed special"] else "kept"

    return [(sign, fate(sign)) for sign in _signs(text, normalize)]


def _signs(text: str, normalize: Normalize) -> list[_Sign]:
    starts = [i for i, c in enumerate(text) if i == 0 or not unicodedata.combining(c)]
    signs = [text[a:b] for a, b in pairwise([*starts, len(text)])]
    composed = [unicodedata.normalize("NFC", sign) for sign in signs]
    distinct = list(dict.fromkeys(composed))
    normalized = dict(zip(distinct, normalize(distinct), strict=True))
    ways = {sign: _way_of(sign, after) for sign, after in normalized.items()}
    columns = zip(starts, signs, composed, strict=True)
    return [
        _Sign(start, sign, normalized[character], ways[character])
        for start, sign, character in columns
    ]


def _way_of(before: str, after: str) -> str:
    """The way in which a character was rewritten; empty if it was not."""
    if before.isspace():
        return "" if before == " " or after == before else "spaces"
    after = after.replace("▁", " ").strip(" ")
    if after == before:
        return ""
    if not after:
        return "dropped"
    if after == before.lower():
        return "capitals"
    bare = _without_marks(before)
    if after in {bare, bare.lower()} and bare != _decomposed(before):
        return "accents"
    return "other"


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _without_marks(text: str) -> str:
    """The text without its combining marks."""
    return "".join(c for c in _decomposed(text) if not unicodedata.combining(c))
