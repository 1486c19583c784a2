"""What the readers of exports share: marks in any dialect, a row for each, and a tally of the rest.

A text with several marks becomes several rows, because a row of a table marks one word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contextlens.corpus.json_lines import as_text
from contextlens.corpus.offsets import CODE_POINTS, Unit
from contextlens.corpus.table import named

__all__ = [
    "ANNOTATOR",
    "APART",
    "MARK_TITLES",
    "NO_PLACE",
    "PERSON",
    "Item",
    "Mark",
    "Record",
    "Row",
    "Tally",
    "cell_of",
    "flat",
    "marks_in",
    "rows_of",
    "titles_without_marks",
]

Item = Mapping[str, Any]
"""A JSON object of a file."""
Row = dict[str, Any]
"""The cells of a row, by the title of their column."""
MARK_TITLES = ("start", "end", "word", "label")
"""The columns of a mark."""
ANNOTATOR = "annotator"
"""The column of the person whose annotation a row is, unless the file has such a column itself."""
PERSON = f"{ANNOTATOR} (annotated)"
"""The title under which a reader gives that person, which no column of the file has."""
APART = "each annotation is a row of its own, with its annotator."
"""The end of the note on several annotators."""
NO_PLACE = ("place that is none", "places that are none")
"""What an entry of a list of places is called that marks nothing."""

_STARTS = (
    *("start", "startoffset", "beginoffset", "begin", "startchar", "charstart", "startindex"),
    *("startpos", "from", "offset"),
)
_ENDS = ("end", "endoffset", "stop", "endchar", "charend", "endindex", "endpos", "to")
_LABELS = (
    *("label", "labels", "type", "entitytype", "entitygroup", "entity", "tag", "category"),
    *("displayname", "class", "concept", "name"),
)
_WORDS = ("text", "word", "surface", "surfacetext", "mention", "quote", "value", "content")
_MAX_DEPTH = 4  # objects within objects
_MAX_NAMES = 20  # of what is left out
_MAX_PEOPLE = 1_000
_MAX_SAID = 5  # notes on single files
_RESERVED = re.compile(r"(?:text )*(?:start|end|word|label)")
_RESERVED_TEXT = re.compile(r"(?:other )*text")


@dataclass(frozen=True)
class Mark:
    """A marked place in a text, as the file counts it, with its label and the word it says."""

    start: int
    end: int
    label: str | None = None
    word: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """A text with its marks and with cells for all of its rows, by title."""

    text: str
    marks: Sequence[Mark] = ()
    cells: Mapping[str, Any] = field(default_factory=dict)


class Tally:
    """What a reader leaves out of a file, by count and by name, and whose annotations it has."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._names: dict[str, None] = {}
        self._people: set[str] = set()
        self._charsets: Counter[str] = Counter()
        self._remarks: dict[str, None] = {}
        self._said: list[str] = []
        self._answers: dict[str, str] = {}
        self._unit = CODE_POINTS
        self._n_shared = 0
        self.n_marks: int | None = None
        """The marks of all records; None if no record was read."""

    def leave_out(self, one: str, several: str = "", n: int = 1) -> None:
        """Count something left out: "cancelled annotation", "cancelled annotations"."""
        if n:
            self._counts[one, several or f"{one}s"] += n

    def name(self, title: str) -> None:
        """Name a part of every row that is not read."""
        if len(self._names) <= _MAX_NAMES:
            self._names[title] = None

    def share(self, n: int) -> None:
        """Count a text that several people annotated."""
        self._n_shared += n > 1

    def answered(self, cells: Item, answers: Item) -> Row:
        """Return cells of a file with what people answered; no answer takes a cell's title."""
        row = dict(cells)
        for title, value in answers.items():
            own = f"{title} (annotated)" if title in cells else title
            if own != title and len(self._answers) < _MAX_NAMES:
                self._answers[title] = own
            row[own] = value
        return row

    def remark(self, sentence: str) -> None:
        """Keep a sentence on all of the file, once."""
        self._remarks[sentence] = None

    def say(self, note: str) -> None:
        """Keep a note on one of several files."""
        self._said.append(note)

    def meet(self, person: str) -> None:
        """Note whose annotation a row is."""
        if len(self._people) < _MAX_PEOPLE:
            self._people.add(person)

    @property
    def n_people(self) -> int:
        """The number of people whose annotations are rows."""
        return len(self._people)

    @property
    def has_several_people(self) -> bool:
        """True if a text has several annotators, or may have them."""
        return self._n_shared > 0 or len(self._people) > 1

    def count_marks(self, n: int) -> None:
        """Count the marks of a record."""
        self.n_marks = (self.n_marks or 0) + n

    def read_as(self, charset: str) -> None:
        """Count a file by the title of its encoding."""
        self._charsets[charset] += 1

    @property
    def n_files(self) -> int:
        """The number of files that were read as text."""
        return self._charsets.total()

    def count_in(self, unit: Unit) -> None:
        """Note the unit in which the marks were counted."""
        self._unit = unit

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on each kind of thing left out, with its number or its name."""
        notes = [
            f"{n:,} {one + ' was' if n == 1 else several + ' were'} left out."
            for (one, several), n in self._counts.items()
        ]
        notes += [
            f"{n:,} {'file was' if n == 1 else 'files were'} read as {title}, guessed."
            for title, n in self._charsets.items()
            if title != "UTF-8"
        ]
        if self._unit is not CODE_POINTS:
            notes.append(f"Places count {self._unit.title}: guessed, as they cover their words so.")
        notes += self._remarks
        notes += self._said[:_MAX_SAID]
        if (n := len(self._said) - _MAX_SAID) > 0:
            notes.append(f"{n:,} more notes on single files are not shown.")
        if self._names:
            names = [f"“{named(title)}”" for title in self._names]
            more = ", …" if len(names) > _MAX_NAMES else ""
            notes.append(f"Not read: {', '.join(names[:_MAX_NAMES])}{more}.")
        if self._n_shared:
            texts = "1 text has" if self._n_shared == 1 else f"{self._n_shared:,} texts have"
            notes.append(f"{texts} several annotators: {APART}")
        elif len(self._people) > 1:
            notes.append(f"{len(self._people):,} people annotated; {APART}")
        notes += [
            f"The file has “{named(title)}” itself: what was answered is “{named(own)}”."
            for title, own in self._answers.items()
        ]
        return tuple(notes)


def rows_of(record: Record, tally: Tally) -> Iterator[Row]:
    """Yield a row for each mark of a text, or one row if it has none.

    The file's own columns that are titled as those of a text or a mark become "other text" and
    "text label", whether or not this record has a mark: a column is the same in all rows.
    """
    tally.count_marks(len(record.marks))
    cells = {_beside(title): value for title, value in record.cells.items()}
    if not record.marks:
        yield {"text": record.text, **cells}
    for mark in record.marks:
        values = (str(mark.start), str(mark.end), mark.word, mark.label)
        more = {
            _beside(f"{title} (annotated)" if title in record.cells else title): cell_of(value)
            for title, value in mark.more.items()
        }
        row = {"text": record.text, **dict(zip(MARK_TITLES, values, strict=True))}
        yield {**row, **more, **cells}


def _beside(title: str) -> str:
    """Return the title of a column beside those of a text and its mark, unlike any other."""
    if _RESERVED_TEXT.fullmatch(title):
        return f"other {title}"
    return f"text {title}" if _RESERVED.fullmatch(title) else title


def titles_without_marks(titles: Iterable[str]) -> dict[str, str]:
    """Return the titles of rows as their file has them, for a file in which nothing is marked."""
    return {
        title: title.removeprefix("text ") if _RESERVED.fullmatch(title) else title
        for title in titles
    }


def marks_in(value: object) -> list[Mark] | None:
    """Return the marks in a list of places in any dialect; None if none of it is a place."""
    if not isinstance(value, list):
        return None
    marks = (_of_object(item) if isinstance(item, dict) else _of_list(item) for item in value)
    return [mark for mark in marks if mark is not None] or None


def _of_list(item: object) -> Mark | None:
    """Return the mark in [0, 4, "X"], ["X", 0, 4] or [0, 4]."""
    if not isinstance(item, list) or not 2 <= len(item) <= 4:
        return None
    numbers = [value for value in item if type(value) is int]
    texts = [value for value in item if isinstance(value, str)]
    if len(numbers) != 2 or len(numbers) + len(texts) < min(len(item), 3):
        return None
    start, end = numbers
    return Mark(start, end, texts[0] if texts else None) if 0 <= start < end else None


def _of_object(item: Mapping[str, Any]) -> Mark | None:
    """Return the mark in an object with a start, and an end or a length."""
    cells = _plain_keys(item)
    start = next((n for key in _STARTS if (n := _whole_number(cells.get(key))) is not None), None)
    end = next((n for key in _ENDS if (n := _whole_number(cells.get(key))) is not None), None)
    length = _whole_number(cells.get("length"))
    if start is not None and end is None and length is not None:
        end = start + length
    if start is None or end is None or not 0 <= start < end:
        return None
    label = next((found for key in _LABELS if (found := cell_of(cells.get(key)))), None)
    word = next((w for key in _WORDS if isinstance(w := cells.get(key), str) and w), None)
    return Mark(start, end, label, word)


def _plain_keys(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an object and of those in it, by keys as in "startoffset".

    The values of an outer object come first.
    """
    cells: dict[str, Any] = {}
    level = [item]
    for _ in range(_MAX_DEPTH + 1):
        nested: list[Mapping[str, Any]] = []
        for own in level:
            for key, value in own.items():
                plain = str(key).casefold().replace("_", "").replace("-", "").replace(" ", "")
                cells.setdefault(plain, value)
                if isinstance(value, list) and len(value) == 1:
                    (value,) = value
                if isinstance(value, dict):
                    nested.append(value)
        level = nested
    return cells


def _whole_number(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**31:
        return int(value)
    return value if type(value) is int and abs(value) < 2**31 else None


def flat(item: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the values of an object and of those in it, by title: "meta.source"."""
    for key, value in item.items():
        if isinstance(value, dict) and value and depth < _MAX_DEPTH:
            yield from ((f"{key}.{title}", inner) for title, inner in flat(value, depth + 1))
        else:
            yield str(key), value


def cell_of(value: object) -> str | None:
    """Return a value as the text of a cell: a list of values with commas; None for others."""
    if isinstance(value, list):
        if any(isinstance(item, list | dict) for item in value):
            return None
        return ",".join(filter(None, map(as_text, value))) or None
    return None if isinstance(value, dict) else as_text(value)
