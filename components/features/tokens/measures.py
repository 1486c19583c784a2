"""The steps by which a tokenizer rewrites a text and cuts it into pieces."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from typing import Literal

from components.analysis.tokens import TokenKind, kinds, lost_spans
from components.core.schema import CutRules, Tokens, Vocabulary

__all__ = ["Change", "Cut", "Fate", "Part", "fates", "rewritten", "why_cut"]


# --- The steps that cut a word

_GOES_ON = "##"
_BEST = 4
"""Maximum ways to cut a word that are shown, the most probable first."""
_EQUAL = 1e-6
"""Sums of log-probabilities this close are equal: they may be added in another order."""
_LONGEST = 200
"""Maximum characters of a word whose steps are shown: the time grows with their square."""

Row = dict[str, str | int | float]


@dataclass(frozen=True)
class Cut:
    """The cut of one word, with its steps.

    Attributes:
        parts: the word as the tokenizer sees it, split at its signs if that is the first step.
        pieces: the resulting pieces.
        rows: the steps to it, or for Unigram the most probable cuts, as a table whose columns are
            named in `english.toml`.
    """

    parts: tuple[str, ...]
    pieces: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def word(self) -> str:
        """The whole word."""
        return "".join(self.parts)


def why_cut(tokens: Tokens, vocabulary: Vocabulary, rules: CutRules) -> Cut | None:
    """The steps by which a text's most cut word becomes its pieces.

    None if all of the text's words are unknown or special tokens, if the word is very long, or if
    the steps implemented here give other pieces than the tokenizer.
    """
    words: dict[int, list[int]] = {}
    for word_id, text_id, token_id in zip(
        tokens.word_ids.tolist(), tokens.text_ids.tolist(), tokens.token_ids.tolist(), strict=True
    ):
        if word_id >= 0 and text_id == 0:
            words.setdefault(word_id, []).append(token_id)
    known = [ids for ids in words.values() if "special" not in {vocabulary.kinds[i] for i in ids}]
    if not known:
        return None
    pieces = tuple(vocabulary.pieces[i] for i in max(known, key=len))
    if sum(map(len, pieces)) > _LONGEST:
        return None
    found = _followed(pieces, vocabulary, rules)
    return found if found is not None and found.pieces == pieces else None


def _followed(pieces: tuple[str, ...], vocabulary: Vocabulary, rules: CutRules) -> Cut | None:
    if vocabulary.method == "WordPiece":
        parts = _parts(pieces)
        found = [_longest_first(part, vocabulary) for part in parts]
        return Cut(parts, *(tuple(chain.from_iterable(each)) for each in zip(*found, strict=True)))
    word = "".join(pieces)
    if vocabulary.method == "BPE" and rules.merges:
        return Cut((word,), *_merged(word, rules.merges))
    if vocabulary.method == "Unigram" and rules.scores:
        return _most_probable(word, pieces, vocabulary, rules.scores)
    return None


def _parts(pieces: Iterable[str]) -> tuple[str, ...]:
    """The inputs of WordPiece: a word is split into several parts if its signs stand alone."""
    parts: list[str] = []
    for piece in pieces:
        if piece.startswith(_GOES_ON) and parts:
            parts[-1] += piece.removeprefix(_GOES_ON)
        else:
            parts.append(piece)
    return tuple(parts)


def _longest_first(part: str, vocabulary: Vocabulary) -> tuple[list[str], list[Row]]:
    pieces: list[str] = []
    rows: list[Row] = []
    at = 0
    while at < len(part):
        rest = part[at:]
        mark = _GOES_ON if at else ""
        ends = range(len(rest), 0, -1)
        end = next((end for end in ends if mark + rest[:end] in vocabulary.ids), None)
        if end is None:
            break
        pieces.append(mark + rest[:end])
        rows.append(
            {
                "rest": rest,
                "piece": pieces[-1],
                "tried": len(rest) - end,
            }
        )
        at += end
    return pieces, rows


def _merged(
    word: str, merges: Mapping[tuple[str, str], int]
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    parts, rows = list(word), list[Row]()
    while known := [(merges[p], i) for i, p in enumerate(pairwise(parts)) if p in merges]:
        place, i = min(known)
        both = f"{parts[i]} + {parts[i + 1]}"
        parts[i : i + 2] = ["".join(parts[i : i + 2])]
        rows.append({"merged": both, "place": place + 1, "then": " ".join(parts)})
    return tuple(parts), tuple(rows)


def _most_probable(
    word: str, taken: tuple[str, ...], vocabulary: Vocabulary, scores: tuple[float, ...]
) -> Cut | None:
    """Viterbi with the best few ways to each place; of equal ones the tokenizer's own is first."""
    ways: list[list[tuple[float, tuple[str, ...]]]] = [[(0.0, ())]]
    for end in range(1, len(word) + 1):
        here = [
            (score + scores[piece_id], (*pieces, piece))
            for start, piece, piece_id in _ending_at(word, end, vocabulary, len(scores))
            for score, pieces in ways[start]
        ]
        ways.append(sorted(here, reverse=True)[:_BEST])
    own = sum(scores[vocabulary.ids[piece]] for piece in taken)
    if not ways[-1] or not math.isclose(own, ways[-1][0][0], abs_tol=_EQUAL):
        return None
    others = [(score, pieces) for score, pieces in ways[-1] if pieces != taken]
    best = [(own, taken), *others][:_BEST]
    rows: list[Row] = [{"cut": " ".join(p), "score": score} for score, p in best]
    return Cut((word,), taken, tuple(rows))


def _ending_at(
    word: str, end: int, vocabulary: Vocabulary, n_scores: int
) -> Iterator[tuple[int, str, int]]:
    """The pieces that end at a place: their starts, their texts, their IDs."""
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
class Part:
    """A stretch of a text whose characters all have the same fate."""

    text: str
    fate: Fate


@dataclass(frozen=True)
class _Sign:
    """One character as readers see it: a letter with its combining marks."""

    start: int
    text: str
    after: str  # the tokenizer's form
    change: str  # the way in which it was rewritten, if any


def rewritten(
    tokens: Tokens, vocabulary: Vocabulary, which: int, normalize: Normalize
) -> list[Change]:
    """The rewriting of a text's characters before cutting: a row for each way, most frequent first.

    Each character is normalised alone; for the tokenizers of the supported families this gives the
    same result as in the text. Cut-off, unknown and typed special tokens are left out.

    Args:
        tokens: the tokenizer's output for the text (and pair).
        vocabulary: the tokenizer's vocabulary.
        which: 0 for the text, 1 for the pair.
        normalize: converts texts to what the tokenizer sees before cutting.
    """
    changed = [
        sign for sign, fate in _fated(tokens, vocabulary, which, normalize) if fate == "rewritten"
    ]
    first = {sign.change: sign for sign in reversed(changed)}
    counts = Counter(sign.change for sign in changed)
    return [
        Change(way, first[way].text, first[way].after, count) for way, count in counts.most_common()
    ]


def fates(tokens: Tokens, vocabulary: Vocabulary, which: int, normalize: Normalize) -> list[Part]:
    """The whole text (or pair) in stretches: what can be decoded from the IDs, and what cannot."""
    both = groupby(_fated(tokens, vocabulary, which, normalize), key=lambda pair: pair[1])
    return [Part("".join(sign.text for sign, _ in pairs), fate) for fate, pairs in both]


def _fated(
    tokens: Tokens, vocabulary: Vocabulary, which: int, normalize: Normalize
) -> list[tuple[_Sign, Fate]]:
    places: dict[TokenKind, set[int]] = {"unknown": set(), "typed special": set()}
    for i, kind in enumerate(kinds(tokens, vocabulary)):
        if kind in places and tokens.text_ids[i] == which:
            places[kind] |= set(range(*tokens.offsets[i].tolist()))
    text = tokens.text if which == 0 else tokens.pair or ""
    lost = lost_spans(tokens)[which]
    end = len(text) if lost is None else lost[0]

    def fate(sign: _Sign) -> Fate:
        if sign.start >= end:
            return "lost"
        if sign.start in places["unknown"]:
            return "unknown"
        return "rewritten" if sign.change and sign.start not in places["typed special"] else "kept"

    return [(sign, fate(sign)) for sign in _signs(text, normalize)]


def _signs(text: str, normalize: Normalize) -> list[_Sign]:
    starts = [i for i, c in enumerate(text) if i == 0 or not unicodedata.combining(c)]
    signs = [text[a:b] for a, b in pairwise([*starts, len(text)])]
    composed = [unicodedata.normalize("NFC", sign) for sign in signs]
    distinct = list(dict.fromkeys(composed))
    becomes = dict(zip(distinct, normalize(distinct), strict=True))
    changes = {sign: _what_changed(sign, after) for sign, after in becomes.items()}
    both = zip(starts, signs, composed, strict=True)
    return [_Sign(start, sign, becomes[whole], changes[whole]) for start, sign, whole in both]


def _what_changed(before: str, after: str) -> str:
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
    if after in {_bare(before), _bare(before).lower()} and _bare(before) != _apart(before):
        return "accents"
    return "other"


def _apart(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _bare(text: str) -> str:
    """The text without its combining marks."""
    return "".join(c for c in _apart(text) if not unicodedata.combining(c))
