"""The marked word of each text in a file: by characters, white-space token, or the word itself.

A file marks the word in columns: `start` and `end` (characters; the end is the first one after the
word), `span` ("12-18", both in one), or `index` (the word's place among the text's white-space
tokens, from 0). A column `word` beside them is checked against the marked characters; alone, it
marks its only occurrence. This module knows no file format. It returns spans of the texts as a
corpus holds them, without surrounding white space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from components.core.words import Span, find_words, split_words
from components.corpus.sheet import Cells, named

__all__ = ["MarkColumns", "Targets", "guess_marks", "targets_of", "two_sides"]

_NAMES: dict[str, tuple[str, ...]] = {
    "word": ("word", "target_word", "lemma", "keyword"),
    "start": ("start", "begin", "start_char", "char_start", "target_start"),
    "end": ("end", "stop", "end_char", "char_end", "target_end"),
    "span": ("span", "offsets", "char_span", "target_span"),
    "index": ("index", "idx", "token_index", "word_index", "target_index"),
}
"""Titles of the columns for each role, the likeliest first."""
_SIDES = {"": ("",), "1": ("1", "_1", "a", "_a"), "2": ("2", "_2", "b", "_b")}
_NUMBER = re.compile(r"\s*(\d{1,9})(?:\.0*)?\s*", re.ASCII)
_TWO = re.compile(r"\s*[\[(]?\s*(\d{1,9})\s*[-\u2013:,; ]\s*(\d{1,9})\s*[\])]?\s*", re.ASCII)
_TOKEN = re.compile(r"\S+")
_AFTER = ",.;:!?"
_N_EXAMPLES = 5
_LONGEST = 30  # characters of a quotation
_FEWEST = 2  # letters that two forms of a word share at the start


@dataclass(frozen=True)
class MarkColumns:
    """The titles of the columns that mark a word; "" for missing ones."""

    word: str = ""
    start: str = ""
    end: str = ""
    span: str = ""
    index: str = ""

    def __bool__(self) -> bool:
        return any((self.word, self.start, self.span, self.index))


@dataclass(frozen=True, eq=False)
class Targets:
    """The marked word of each text.

    Attributes:
        spans: in code points of each text without surrounding white space; None if the word could
            not be placed.
        n_missed: the number of words that could not be placed.
        missed: the first of these, by row, with the reason.
    """

    spans: tuple[Span | None, ...]
    n_missed: int
    missed: tuple[tuple[int, str], ...]

    @property
    def examples(self) -> tuple[str, ...]:
        """The first words that could not be placed, and the reasons, in a sentence each."""
        return tuple(f"Row {row + 1:,}: {why}" for row, why in self.missed)


def guess_marks(titles: Sequence[str], side: str = "") -> MarkColumns:
    """Return the columns that mark a word, by their titles.

    Args:
        titles: the titles of the file's columns.
        side: "1" or "2" for one text of a pair: `word1`, `start_a` and similar.
    """
    plain = {title.strip().casefold(): title for title in reversed(titles)}
    roles = {
        role: next(
            (plain[name + end] for name in names for end in _SIDES[side] if name + end in plain), ""
        )
        for role, names in _NAMES.items()
    }
    has_end = roles["start"] and (roles["end"] or roles["word"])
    return MarkColumns(**(roles if has_end else {**roles, "start": "", "end": ""}))


def targets_of(
    columns: Mapping[str, Cells | Sequence[str | None]],
    texts: Sequence[str | None],
    marks: MarkColumns,
) -> Targets:
    """Return the word that each row of a file marks in its text.

    Args:
        columns: the file's columns, by title.
        texts: each row's text as in the file; blank texts mark nothing and are not counted.
        marks: the titles of the columns that mark a word.
    """
    place = _placing(columns, marks, len(texts))
    spans: list[Span | None] = []
    missed: list[tuple[int, str]] = []
    n_missed = 0
    for row, text in enumerate(texts):
        span = place(row, text) if text and not text.isspace() else None
        if isinstance(span, str):
            n_missed += 1
            if len(missed) < _N_EXAMPLES:
                missed.append((row, span))
            span = None
        spans.append(_without_edges(text, span) if text and span else None)
    return Targets(tuple(spans), n_missed, tuple(missed))


def two_sides(
    columns: Mapping[str, Cells | Sequence[str | None]], title: str
) -> tuple[Cells, Cells]:
    """Split a column for both texts of a pair ("3-5") in two; a single number is for both."""
    both = [_TWO.fullmatch(cell or "") for cell in columns[title]]
    cells = columns[title]
    first = tuple(match[1] if match else cell for match, cell in zip(both, cells, strict=True))
    second = tuple(match[2] if match else cell for match, cell in zip(both, cells, strict=True))
    return first, second


_PlaceOrReason = Span | str
"""A place in a text, or the reason why there is none."""


def _placing(
    columns: Mapping[str, Cells | Sequence[str | None]], marks: MarkColumns, n_rows: int
) -> Callable[[int, str], _PlaceOrReason]:
    """Return the function that finds a row's word, by the first kind of mark that the row has."""
    none: Sequence[str | None] = (None,) * n_rows
    words, starts, ends, spans, indices = (
        columns[title] if title else none
        for title in (marks.word, marks.start, marks.end, marks.span, marks.index)
    )

    def place(row: int, text: str) -> _PlaceOrReason:
        word = (words[row] or "").strip()
        if start := (starts[row] or "").strip():
            return _checked(text, word, _of_ends(start, (ends[row] or "").strip(), word))
        if span := (spans[row] or "").strip():
            return _checked(text, word, _of_span(span))
        if index := (indices[row] or "").strip():
            return _of_index(text, word, index)
        return _only(text, word) if word else "no word is marked."

    return place


def _of_ends(start: str, end: str, word: str) -> _PlaceOrReason:
    first, last = _number(start), _number(end)
    if first is None or (last is None and (end or not word)):
        wrong = start if first is None else end
        return f"{_quoted(wrong)} is no place: give a whole number of characters."
    return first, (first + len(word) if last is None else last)


def _of_span(span: str) -> _PlaceOrReason:
    match = _TWO.fullmatch(span)
    if match is None:
        return f"{_quoted(span)} is no span: write it as 12-18."
    return int(match[1]), int(match[2])


def _number(cell: str) -> int | None:
    match = _NUMBER.fullmatch(cell)
    return None if match is None else int(match[1])


def _checked(text: str, word: str, place: _PlaceOrReason) -> _PlaceOrReason:
    """Return a place that lies in the text, is not blank and agrees with the word, or a reason."""
    if isinstance(place, str):
        return place
    start, end = place
    if start >= end or end > len(text):
        return (
            f"characters {start:,} to {end:,} are no place in this text, which has {len(text):,}."
        )
    covered = text[start:end]
    if covered.isspace():
        return f"characters {start:,} to {end:,} cover no word."
    if word and not _agrees(text, place, word):
        return (
            f"characters {start:,} to {end:,} cover {_quoted(covered)}, and the word is "
            f"{_quoted(word)}."
        )
    return place


def _of_index(text: str, word: str, index: str) -> _PlaceOrReason:
    number = _number(index)
    if number is None:
        return f"{_quoted(index)} is no index: give a whole number from 0."
    token = next(islice(_TOKEN.finditer(text), number, None), None)
    if token is None:
        n = len(text.split())
        return f"there is no word {number:,} in this text, whose words are 0 to {n - 1:,}."
    start, end = token.span()
    if not word:
        return _inside(text, start, end)
    within = [place for place in _occurrences(text, word, start, end) if _is_whole(text, place)]
    if within:
        return within[0]
    inner = _inside(text, start, end)
    if _agrees(text, inner, word):
        return inner
    return f"word {number:,} is {_quoted(token[0])}, and the word is {_quoted(word)}."


def _inside(text: str, start: int, end: int) -> Span:
    """Return a token without the punctuation around it, unless it is only punctuation."""
    first, last = start, end
    while first < last and not text[first].isalnum():
        first += 1
    while last > first and not text[last - 1].isalnum():
        last -= 1
    return (first, last) if first < last else (start, end)


def _agrees(text: str, place: Span, word: str) -> bool:
    """True if a place holds a word, or another form of it if the word is not in the text.

    Files often give the dictionary form: "carry" for "carries".
    """
    covered, wanted = text[slice(*place)].casefold(), word.casefold()
    if covered == wanted:
        return True
    shared = next(
        (i for i, (a, b) in enumerate(zip(covered, wanted, strict=False)) if a != b),
        min(len(covered), len(wanted)),
    )
    is_form = shared >= _FEWEST and 2 * shared >= min(len(covered), len(wanted))
    return is_form and _is_whole(text, place) and not list(islice(_whole(text, word), 1))


def _only(text: str, word: str) -> _PlaceOrReason:
    places = list(islice(_whole(text, word), 2))
    if len(places) == 1:
        return places[0]
    if places:
        return f"{_quoted(word)} stands there more than once, and no place is given."
    return f"{_quoted(word)} is not a word of this text."


def _whole(text: str, word: str) -> Iterator[Span]:
    """Yield the spans of a word or phrase between word boundaries, ignoring case."""
    if len(text.casefold()) != len(text) or len(word.casefold()) != len(word):
        return iter(find_words(text, word))
    return (place for place in _occurrences(text, word) if _is_whole(text, place))


def _occurrences(text: str, word: str, low: int = 0, high: int | None = None) -> Iterator[Span]:
    """Yield the spans of a word, ignoring case, even inside longer words."""
    folded, wanted = text.casefold(), word.casefold()
    if len(folded) != len(text):
        return
    at = folded.find(wanted, low, high)
    while at >= 0:
        yield at, at + len(wanted)
        at = folded.find(wanted, at + 1, high)


def _is_whole(text: str, place: Span) -> bool:
    """True if a place begins and ends at word boundaries."""
    start, end = place
    before, after = text[start - 1 : start] if start else "", text[end : end + 2]
    clear = not after or after[0].isspace() or (after[0] in _AFTER and not after[1:].strip())
    if clear and (not before or before.isspace()):
        return True  # by far the most frequent case, and much faster
    spans = split_words(text)
    return any(a == start for a, _ in spans) and any(b == end for _, b in spans)


def _without_edges(text: str, span: _PlaceOrReason) -> Span | None:
    """Return a span as counted in the text without surrounding white space, or None."""
    if isinstance(span, str):
        return None
    lead = len(text) - len(text.lstrip())
    end = min(span[1] - lead, len(text.strip()))
    start = max(span[0] - lead, 0)
    return (start, end) if start < end else None


def _quoted(text: str) -> str:
    return f"“{named(text) if len(text) <= _LONGEST else named(text[: _LONGEST - 1]) + '…'}”"
