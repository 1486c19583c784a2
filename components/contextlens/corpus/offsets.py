"""The unit that a file counts characters in: proved by the words that its marks cover.

Python counts code points. JavaScript, Java and C# count UTF-16 units, of which a sign beyond U+FFFF
takes two; Go and Rust count bytes. Some tools count a line break as one character where the file
has two, and others the last character of a word, or from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from contextlens.core.words import Span, split_words

__all__ = ["CODE_POINTS", "Unit", "is_whole", "unit_of", "units"]

_Conversion = Callable[[str, int, int], Span]
_RETURN, _LINE_FEED = 13, 10
_AFTER = ",.;:!?"
_LONG = 2_000  # characters of a text of which only the surroundings of a place are split
_BESIDE = 100
_BLOCK = 1_024  # code points whose widths are added up
_N_TRIED = 2_000  # marks that another unit would move
_CLEARLY = 0.8  # of them must be whole words
_N_ANYWHERE = 3  # marks that prove a unit which moves every mark, emoji or not


@dataclass(frozen=True)
class Unit:
    """A way to count the characters of a text.

    Attributes:
        title: what is counted, for a sentence.
        to_code_points: turns a start and an end in a text into those in code points.
        is_general: True if it moves the marks of all texts, not only those with certain characters.
    """

    title: str
    to_code_points: _Conversion = field(compare=False)
    is_general: bool = False


def _with_widths(widths: Callable[[NDArray[np.uint32]], NDArray[np.int64]]) -> _Conversion:
    """Return the conversion from a unit of which each code point takes some.

    A long text may have thousands of marks, so the widths of its blocks are added up once, for the
    last text only: this function is dropped with its unit.
    """

    def widths_of(text: str, start: int, end: int) -> NDArray[np.int64]:
        before = min(start, 1)  # a line break may begin in the block before
        near = text[start - before : end].encode("utf-32-le", "surrogatepass")
        return widths(np.frombuffer(near, "<u4"))[before:]

    @lru_cache(maxsize=1)
    def blocks(text: str) -> NDArray[np.int64]:
        starts = range(0, len(text), _BLOCK)
        sizes = (int(widths_of(text, start, start + _BLOCK).sum()) for start in starts)
        return np.cumsum(np.fromiter(chain([0], sizes), np.int64, len(starts) + 1))

    def place(text: str, number: int) -> int | None:
        """Return the code point at a number of units; None if it cuts one."""
        ends = blocks(text)
        beyond = number - int(ends[-1])
        if beyond >= 0:
            return len(text) + beyond
        if number < 0:
            return None
        block = int(np.searchsorted(ends, number, "right")) - 1
        own = np.cumsum(widths_of(text, block * _BLOCK, (block + 1) * _BLOCK))
        left = number - int(ends[block])
        at = int(np.searchsorted(own, left, "right"))
        return block * _BLOCK + at if left == (int(own[at - 1]) if at else 0) else None

    def to_code_points(text: str, start: int, end: int) -> Span:
        first, last = place(text, start), place(text, end)
        return (start, end) if first is None or last is None else (first, last)

    return to_code_points


def _only_beyond_ascii(convert: _Conversion) -> _Conversion:
    return lambda text, start, end: (start, end) if text.isascii() else convert(text, start, end)


def _only_with_breaks(convert: _Conversion) -> _Conversion:
    return lambda text, start, end: convert(text, start, end) if "\n" in text else (start, end)


def _after_return(points: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """True for each \\n that follows \\r."""
    follows = np.zeros(len(points), np.bool_)
    follows[1:] = (points[1:] == _LINE_FEED) & (points[:-1] == _RETURN)
    return follows


def _utf16_widths(points: NDArray[np.uint32]) -> NDArray[np.int64]:
    return 1 + (points > 0xFFFF).astype(np.int64)


def _byte_widths(points: NDArray[np.uint32]) -> NDArray[np.int64]:
    limits = np.array([0x7F, 0x7FF, 0xFFFF], np.uint32)  # of one, two and three bytes
    return 1 + np.searchsorted(limits, points, "left").astype(np.int64)


def _one_break_widths(points: NDArray[np.uint32]) -> NDArray[np.int64]:
    return 1 - _after_return(points).astype(np.int64)


def _two_break_widths(points: NDArray[np.uint32]) -> NDArray[np.int64]:
    is_alone: NDArray[np.bool_] = (points == _LINE_FEED) & ~_after_return(points)
    return 1 + is_alone.astype(np.int64)


CODE_POINTS = Unit("code points", lambda _, start, end: (start, end))


def units() -> tuple[Unit, ...]:
    """Return the units that are tried, the usual one first, each without a text in its memory."""
    return (
        CODE_POINTS,
        Unit("UTF-16 units, as in JavaScript", _only_beyond_ascii(_with_widths(_utf16_widths))),
        Unit("bytes of UTF-8", _only_beyond_ascii(_with_widths(_byte_widths))),
        Unit(
            "characters, each line break of two as one",
            _only_with_breaks(_with_widths(_one_break_widths)),
        ),
        Unit(
            "characters, each line break as two",
            _only_with_breaks(_with_widths(_two_break_widths)),
        ),
        Unit("bytes of UTF-16", _with_widths(lambda points: 2 * _utf16_widths(points)), True),
        Unit("characters, with the end on the last one", lambda _, s, e: (s, e + 1), True),
        Unit("characters from 1", lambda _, s, e: (s - 1, e - 1), True),
        Unit("characters from 1, with the end on the last one", lambda _, s, e: (s - 1, e), True),
    )


def unit_of(
    marks: Iterable[tuple[str, Span]], is_right: Callable[[int, str, Span], bool] | None = None
) -> Unit:
    """Return the unit in which the marks of texts cover whole words; code points if none is better.

    Args:
        marks: texts, each with a span in an unknown unit.
        is_right: True if a span in code points covers the right word of the text with this number;
            whole words by default.
    """
    given = list(marks)
    judge = is_right or (lambda _, text, span: is_whole(text, span))
    right = [judge(i, text, span) for i, (text, span) in enumerate(given)]
    if all(right):
        return CODE_POINTS
    best, most = CODE_POINTS, 0
    for unit in units()[1:]:
        moved = list(islice(_moved(given, unit), _N_TRIED))
        n_now = sum(right[i] for i, _ in moved)
        n_then = sum(judge(i, given[i][0], span) for i, span in moved)
        enough = n_then >= _N_ANYWHERE if unit.is_general else n_then > 0
        if enough and n_then >= _CLEARLY * len(moved) and n_then - n_now > most:
            best, most = unit, n_then - n_now
    return best


def _moved(marks: Sequence[tuple[str, Span]], unit: Unit) -> Iterable[tuple[int, Span]]:
    for i, (text, span) in enumerate(marks):
        converted = unit.to_code_points(text, *span)
        if converted != span:
            yield i, converted


def is_whole(text: str, place: Span) -> bool:
    """True if a place lies in a text, and begins and ends at word boundaries."""
    start, end = place
    if not 0 <= start < end <= len(text) or text[start].isspace() or text[end - 1].isspace():
        return False
    before, after = text[start - 1 : start] if start else "", text[end : end + 2]
    clear = not after or after[0].isspace() or (after[0] in _AFTER and not after[1:].strip())
    if clear and (not before or before.isspace()):
        return True  # by far the most frequent case, and much faster
    low = max(0, start - _BESIDE) if len(text) > _LONG else 0
    near = text[low : end + _BESIDE] if len(text) > _LONG else text
    spans = split_words(near)
    start, end = start - low, end - low
    return any(a == start for a, _ in spans) and any(b == end for _, b in spans)
