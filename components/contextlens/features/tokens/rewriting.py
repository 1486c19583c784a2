"""The rewriting of a text's characters before a tokenizer cuts it."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal

from contextlens.analysis.tokens import TokenKind, kinds, lost_spans
from contextlens.core.schema import Tokens, Vocabulary

_MAX_MARKS = 30
"""On one letter, as in Unicode's Stream-Safe Text Format: the time to sort them is quadratic."""

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
    """Return the ways in which characters are rewritten before the cut, most frequent first.

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
    """Return the whole text (or pair) in stretches: kept, rewritten, unknown or lost."""
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
    starts = _starts(text)
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


def _starts(text: str) -> list[int]:
    """Return the start of each character, which has its combining marks with it."""
    starts = [0] if text else []
    for i, character in enumerate(text):
        if i and (not unicodedata.combining(character) or i - starts[-1] > _MAX_MARKS):
            starts.append(i)
    return starts


def _way_of(before: str, after: str) -> str:
    """Return the way in which a character was rewritten; empty if it was not."""
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
    """Return the text without its combining marks."""
    return "".join(c for c in _decomposed(text) if not unicodedata.combining(c))
