"""How a table of text is written: what parts its columns, its quotes, and whether names come first.

All of it is guessed from the first rows; `delimited` reads the file by it.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.corpus.kinds import LABEL_NAMES, TEXT_NAMES, is_number
from components.corpus.sheet import unique

if TYPE_CHECKING:
    from _csv import Reader

__all__ = ["SAMPLE", "Dialect", "TableForm", "guess_form"]

SAMPLE = 1 << 16
"""Characters that the form of a table is guessed from."""

_KNOWN = frozenset((*TEXT_NAMES, *LABEL_NAMES))
_TITLES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_LONGEST_NAME = 60
_NONE = "\x1f"  # parts nothing: the "unit separator", which no text has


@dataclass(frozen=True)
class Dialect:
    """What `csv.reader` is told.

    Attributes:
        delimiter: what parts two cells.
        quoted: whether quote marks enclose cells; plain characters otherwise.
        spaced: whether a space follows each delimiter, which is no part of the cell.
    """

    delimiter: str = ","
    quoted: bool = True
    spaced: bool = False

    def reader(self, lines: Iterable[str], *, strict: bool = False) -> Reader:
        """The rows of lines that keep their ends; `strict` raises on quotes out of order."""
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE,
            skipinitialspace=self.spaced,
            strict=strict,
        )


@dataclass(frozen=True)
class TableForm:
    """A dialect, the titles of the columns, whether the first row holds them, and notes."""

    dialect: Dialect
    titles: tuple[str, ...]
    has_header: bool
    notes: tuple[str, ...]


def guess_form(sample: str, delimiters: str, *, whole: bool) -> TableForm | None:
    """How a table is written, from its beginning; None where there is no row in it.

    Args:
        sample: the first characters of the file.
        delimiters: what may part its columns; without any of them it has one column.
        whole: whether the sample is all of the file; else its last row is cut off.
    """
    dialect = _guess_dialect(sample, delimiters, whole=whole)
    rows, _ = _rows(sample, dialect, whole=whole)
    if not rows:
        return None
    header = _has_header(rows)
    width = max(_usual_width(rows)[0], len(rows[0]))
    names = rows[0] if header else []
    if header and len(names) == width - 1:
        names = ["", *names]  # R leaves out the name of its column of row names
    titles = unique([*names, *[""] * (width - len(names))])
    return TableForm(
        dialect, tuple(titles), header, _notes(dialect, delimiters, rows, header=header)
    )


def _notes(
    dialect: Dialect, delimiters: str, rows: list[list[str]], *, header: bool
) -> tuple[str, ...]:
    notes = []
    if dialect.delimiter == _NONE and any(mark in row[0] for row in rows for mark in delimiters):
        notes.append("Read as one column: nothing parts its rows evenly, guessed.")
    if dialect.delimiter in _TITLES and dialect.delimiter != delimiters[0]:
        notes.append(f"Columns are parted by {_TITLES[dialect.delimiter]}, guessed.")
    if not dialect.quoted:
        notes.append("Quote marks are read as plain characters: they do not come in pairs.")
    if not header:
        notes.append("The first row holds no names of columns, guessed: columns are numbered.")
    elif not _is_surely_header(rows):
        notes.append("The first row was taken for the names of the columns, guessed.")
    return tuple(notes)


# Delimiters and quotes


def _rows(sample: str, dialect: Dialect, *, whole: bool) -> tuple[list[list[str]], bool]:
    """The rows of a sample that are not blank, and whether its quotes are in order."""
    rows, sound = [], True
    for strict in (True, False):
        try:
            rows = list(dialect.reader(io.StringIO(sample, newline=""), strict=strict))
            break
        except csv.Error as exc:
            sound = not whole and "unexpected end" in str(exc)
    if not whole and len(rows) > 1:
        rows.pop()
    return [row for row in rows if any(map(str.strip, row))], sound


def _usual_width(rows: Sequence[Sequence[str]]) -> tuple[int, float]:
    """The commonest number of cells of a row, and the share of rows that have it."""
    if not rows:
        return 1, 0.0
    width, n_rows = Counter(map(len, rows)).most_common(1)[0]
    return width, n_rows / len(rows)


def _guess_dialect(sample: str, delimiters: str, *, whole: bool) -> Dialect:
    """The dialect in which most rows have equally many cells, more than one."""
    best, best_score = Dialect(_NONE), (0.0, 0)
    for delimiter in delimiters:
        if delimiter not in sample:
            continue
        if whole and not sample.strip(delimiter + ' "\t\r\n'):
            return Dialect(delimiter)  # nothing but blank cells
        spaced = delimiter != "\t" and sample.count(delimiter) == sample.count(delimiter + " ")
        dialect, score = _with_quotes(sample, Dialect(delimiter, spaced=spaced), whole=whole)
        if score > best_score:
            best, best_score = dialect, score
    if best_score[1]:
        return best
    return _with_quotes(sample, Dialect(_NONE), whole=whole)[0]


def _with_quotes(
    sample: str, dialect: Dialect, *, whole: bool
) -> tuple[Dialect, tuple[float, int]]:
    """A dialect with quotes, or without where they are not in order and rows fit no worse."""
    plain = Dialect(dialect.delimiter, quoted=False, spaced=dialect.spaced)
    rows, sound = _rows(sample, dialect, whole=whole)
    score = _score(rows, dialect)
    if sound:
        return dialect, score
    plain_score = _score(_rows(sample, plain, whole=whole)[0], plain)
    return (plain, plain_score) if plain_score >= score else (dialect, score)


def _score(rows: list[list[str]], dialect: Dialect) -> tuple[float, int]:
    """The share of rows that are as wide as most, and their width; zeros where it is prose."""
    width, share = _usual_width(rows)
    known = bool(rows) and any(name.strip().casefold() in _KNOWN for name in rows[0])
    first_fits = bool(rows) and width - 1 <= len(rows[0]) <= width
    least = 0.2 if known else 0.5 if first_fits else 0.9
    if width == 1 or share < least:
        return 0.0, 0
    if dialect.spaced and not known:
        return 0.0, 0  # commas of prose, which are followed by a space
    return share, width


# Names of columns


def _has_header(rows: list[list[str]]) -> bool:
    first = [name.strip() for name in rows[0]]
    if _is_surely_header(rows):
        return True
    if len(rows) == 1 or any(is_number(name) for name in first):
        return False
    given = [name for name in first if name]
    if len(set(given)) < len(given) or any(map(_is_prose, given)):
        return False
    if len(first) == 1:
        return " " not in first[0]
    columns = zip(*(row for row in rows[1:] if len(row) == len(first)), strict=True)
    return not any(
        name and name in map(str.strip, own) for name, own in zip(first, columns, strict=False)
    )


def _is_surely_header(rows: list[list[str]]) -> bool:
    """Whether the first row has a name often used, or stands above numbers, or counts columns."""
    first = [name.strip() for name in rows[0]]
    if any(_is_known(name) for name in first) and not any(map(_is_prose, first)):
        return True
    if len(rows) == 1 or len(first) == 1:
        return False
    if [name for name in first if name] == [str(i) for i in range(len(first) - (not first[0]))]:
        return True  # as pandas names columns that have no names
    if any(is_number(name) for name in first):
        return False
    columns = list(zip(*(row for row in rows[1:] if len(row) == len(first)), strict=True))
    return any(all(map(is_number, own)) for own in columns)


def _is_known(name: str) -> bool:
    """ "text", and "Review text" too."""
    words = name.replace("_", " ").casefold().split()
    return name.casefold() in _KNOWN or (len(words) == 2 and not _KNOWN.isdisjoint(words))


def _is_prose(name: str) -> bool:
    return (
        len(name) > _LONGEST_NAME or len(name.split()) > 5 or name.endswith((".", "!", "…", "。"))
    )
