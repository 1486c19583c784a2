"""Which regular expressions a tokenizer may bring: those that no text can make slow.

`(x+x+)+y` takes longer than anyone waits for on forty letters, `a+b` on a text as long as is
allowed. So a pattern is let in where it is slow on no text by its form: a few alternatives, each of
single characters or classes, where what may repeat without end comes last, so that nothing can fail
after it. Published tokenizers whose patterns go further are known by name.
"""

from __future__ import annotations

import re

__all__ = ["shortest_match"]

_LONGEST = 512  # characters of a pattern
_ALTERNATIVES = 32
_COUNT = 64  # the largest in {m,n}
_TRIES = 256  # ways in which the counted parts of one alternative can match

_CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d"
_KNOWN = frozenset(
    {
        rf"{_CONTRACTIONS}| ?\p{{L}}+| ?\p{{N}}+| ?[^\s\p{{L}}\p{{N}}]+|\s+(?!\S)|\s+",
        rf"(?i:{_CONTRACTIONS})|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|"
        rf" ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        rf"(?i:{_CONTRACTIONS})|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|"
        rf" ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    }
)
"""The patterns of GPT-2 and of its successors; each matches at least one character."""

_ESCAPE = r"\\(?:[pP]\{\^?\w{1,40}\}|[dDsSwWhHnrtf]|[^\w\s])"
_CLASS = rf"\[\^?(?:{_ESCAPE}|[^\[\]\\&])+\]"
_PLAIN = r"[^\\\[\](){}|*+?^$.]"
_PIECE = re.compile(rf"({_ESCAPE}|{_CLASS}|{_PLAIN}|\.)(\*|\+|\?|\{{\d{{1,4}}(?:,\d{{0,4}})?\}})?")


def shortest_match(pattern: str) -> int | None:
    """Characters that a pattern matches at least; None where it may be slow on some text.

    A pattern that can match nothing at all is none that is let in either.
    """
    if pattern in _KNOWN:
        return 1
    alternatives = _alternatives(pattern)
    if len(pattern) > _LONGEST or len(alternatives) > _ALTERNATIVES:
        return None
    lengths = [_shortest(each.removeprefix("^")) for each in alternatives]
    return None if None in lengths else (min(each or 0 for each in lengths) or None)


def _alternatives(pattern: str) -> list[str]:
    """The parts between the bars that stand in no class."""
    parts, start, end = [""], 0, len(pattern)
    while start < end:
        piece = _PIECE.match(pattern, start)
        stop = piece.end() if piece else start + 1
        if pattern[start] == "|":
            parts.append("")
        else:
            parts[-1] += pattern[start:stop]
        start = stop
    return parts


def _shortest(alternative: str) -> int | None:
    length, tries, start = 0, 1, 0
    while start < len(alternative):
        piece = _PIECE.match(alternative, start)
        if piece is None:
            return None
        start = piece.end()
        least, most = _counts(piece[2] or "")
        if most is None and start < len(alternative):
            return None  # what comes after could fail, and then all lengths are tried
        if least > _COUNT or (most or 0) > _COUNT or (most is not None and most < least):
            return None
        length += least
        tries *= 1 if most is None else most - least + 1
    return length if tries <= _TRIES else None


def _counts(quantifier: str) -> tuple[int, int | None]:
    """How often at least and at most; None for without end."""
    simple: dict[str, tuple[int, int | None]] = {
        "": (1, 1),
        "?": (0, 1),
        "*": (0, None),
        "+": (1, None),
    }
    if quantifier in simple:
        return simple[quantifier]
    least, comma, most = quantifier.strip("{}").partition(",")
    return int(least), int(most) if most else (None if comma else int(least))
