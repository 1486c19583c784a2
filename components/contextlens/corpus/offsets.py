"""The unit that a file counts characters in: proved by the words that its marks cover.

Python counts code points. JavaScript, Java and C# count UTF-16 units, of which a sign beyond U+FFFF
takes two; Go and Rust count bytes. Some tools count a line break as one character where the file
has two, and others the last character of a word, or from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from contextlens.core.words import Span, split_words

__all__ = ["CODE_POINTS", "UNITS", "Unit", "is_whole", "unit_of"]

_AFTER = ",.;:!?"
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
    to_code_points: Callable[[str, int, int], Span]
    is_general: bool = False


def _utf16(text: str, start: int, end: int) -> Span:
    return (start, end) if text.isascii() else _encoded(text, start, end, "utf-16-le", 2)


def _bytes(text: str, start: int, end: int) -> Span:
    return (start, end) if text.isascii() else _encoded(text, start, end, "utf-8", 1)


def _encoded(text: str, start: int, end: int, codec: str, n_bytes: int) -> Span:
    """Return a span that is counted in units of an encoding; as it is if it cuts a character."""
    encoded = text.encode(codec, "surrogatepass")
    try:
        first = len(encoded[: n_bytes * start].decode(codec, "surrogatepass"))
        inside = len(encoded[n_bytes * start : n_bytes * end].decode(codec, "surrogatepass"))
    except UnicodeDecodeError:
        return start, end
    beyond = max(0, n_bytes * end - len(encoded)) // n_bytes
    return first, first + inside + beyond


def _one_break(text: str, start: int, end: int) -> Span:
    """Return a span that is counted where each \\r\\n is one character."""
    at = text.find("\r\n")
    while 0 <= at < end:
        start, end = start + (at < start), end + 1
        at = text.find("\r\n", at + 2)
    return start, end


def _two_breaks(text: str, start: int, end: int) -> Span:
    """Return a span that is counted where each \\n is \\r\\n."""
    n_before, at = 0, text.find("\n")
    first, last = start, end
    while at >= 0 and at + n_before < end:
        if at + n_before < start:
            first -= 1
        last -= 1
        n_before += 1
        at = text.find("\n", at + 1)
    return first, last


CODE_POINTS = Unit("code points", lambda _, start, end: (start, end))
UNITS = (
    CODE_POINTS,
    Unit("UTF-16 units, as in JavaScript", _utf16),
    Unit("bytes of UTF-8", _bytes),
    Unit("characters, each line break of two as one", _one_break),
    Unit("characters, each line break as two", _two_breaks),
    Unit("characters, with the end on the last one", lambda _, s, e: (s, e + 1), is_general=True),
    Unit("characters from 1", lambda _, s, e: (s - 1, e - 1), is_general=True),
    Unit("characters from 1, with the end on the last one", lambda _, s, e: (s - 1, e), True),
)
"""The units that are tried, the usual one first."""


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
    for unit in UNITS[1:]:
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
    spans = split_words(text)
    return any(a == start for a, _ in spans) and any(b == end for _, b in spans)
