"""What a tokenizer does to characters before it cuts, and which of them come back from the IDs."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal

from components.analysis.tokens import Kind, kinds, lost_spans
from components.core.schema import Tokens, Vocabulary

__all__ = ["Change", "Fate", "Normalize", "Part", "fates", "rewritten"]

Fate = Literal["kept", "rewritten", "unknown", "lost"]
Normalize = Callable[[Sequence[str]], list[str]]


@dataclass(frozen=True)
class Change:
    """One way in which the tokenizer rewrites characters, with an example and how often.

    The way is "spaces", "dropped", "capitals", "accents" or "other".
    """

    way: str
    before: str
    after: str
    count: int


@dataclass(frozen=True)
class Part:
    """A stretch of a text whose characters all fare alike."""

    text: str
    fate: Fate


@dataclass(frozen=True)
class _Sign:
    """One character as a reader sees it: a letter with its combining marks."""

    start: int
    text: str
    after: str  # as the tokenizer writes it
    change: str  # the way in which it was rewritten, if it was


def rewritten(
    tokens: Tokens, vocabulary: Vocabulary, which: int, normalize: Normalize
) -> list[Change]:
    """How a text's characters change before cutting: one row for each way, most frequent first.

    Each character is normalised alone, which for the tokenizers of the supported families gives
    what it becomes in the text. What is cut off, unknown or a typed special token is left out.

    Args:
        tokens: what the tokenizer made of the text (and pair).
        vocabulary: the tokenizer's.
        which: 0 for the text, 1 for the pair.
        normalize: texts to what the tokenizer sees before cutting.
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
    """The whole text (or pair) in stretches: what comes back from the IDs, and what does not."""
    both = groupby(_fated(tokens, vocabulary, which, normalize), key=lambda pair: pair[1])
    return [Part("".join(sign.text for sign, _ in pairs), fate) for fate, pairs in both]


def _fated(
    tokens: Tokens, vocabulary: Vocabulary, which: int, normalize: Normalize
) -> list[tuple[_Sign, Fate]]:
    places: dict[Kind, set[int]] = {"unknown": set(), "typed special": set()}
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
    """The way in which a character was rewritten; empty where it was not."""
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
