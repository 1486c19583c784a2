"""A file as a table of text: what every reader gives, and the bounds that each keeps to."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from types import MappingProxyType

from components.core.errors import CorpusError
from components.corpus.kinds import Kind, guess_text_column, kind_of

__all__ = [
    "MAX_COLUMNS",
    "MAX_SCANNED",
    "Cells",
    "Sheet",
    "clean",
    "cut_note",
    "max_rows",
    "named",
    "nothing_fits",
    "sheet_of",
    "size_of",
    "unique",
]

Cells = tuple[str | None, ...]

MAX_COLUMNS = 1_000
MAX_SCANNED = 2_000_000
"""Rows, lines or items that are looked at, blank and bad ones too."""

_MAX_ROWS = 1_000_000
_MAX_CELLS = 10_000_000  # some 600 MB of memory where every cell is a short text of its own
_MAX_NAME = 80
_REFERENCE = 8  # bytes


@dataclass(frozen=True, eq=False)
class Sheet:
    """The columns of a file, every value as text.

    Attributes:
        name: the file's name, as given.
        format: "TXT", "CSV", "TSV", "JSONL" or "Parquet".
        columns: the cells of each column by title, equally many; None where one is missing.
            No cell holds a NUL or half of a surrogate pair.
        encoding: how the bytes were read as text; "" for Parquet.
        notes: what was guessed, replaced or cut, in a sentence each; names no column.
        left_out: which columns were not read and why, in a sentence each.
    """

    name: str
    format: str
    columns: Mapping[str, Cells]
    encoding: str = ""
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values()), ()))

    @cached_property
    def n_bytes(self) -> int:
        """The memory that its columns take: much more than the file may, or much less."""
        return sum(map(size_of, self.columns.values())) + sum(map(sys.getsizeof, self.columns))

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """What each column is likely to be."""
        return MappingProxyType({title: kind_of(own) for title, own in self.columns.items()})

    @cached_property
    def text_column(self) -> str:
        """The column that most likely holds the sentences."""
        return guess_text_column(self.columns, self.kinds)

    @cached_property
    def label_columns(self) -> tuple[str, ...]:
        """The columns that are likely labels: few different values."""
        chosen = (title for title, kind in self.kinds.items() if kind == "label")
        return tuple(title for title in chosen if title != self.text_column)

    def head(self, n: int) -> list[dict[str, str | None]]:
        """The first rows, for a preview."""
        rows = islice(zip(*self.columns.values(), strict=True), max(n, 0))
        return [dict(zip(self.columns, row, strict=True)) for row in rows]


def sheet_of(
    name: str,
    kind: str,
    columns: Mapping[str, Sequence[str | None]],
    *,
    encoding: str = "",
    notes: Iterable[str] = (),
    left_out: Iterable[str] = (),
) -> Sheet:
    """A sheet of what was read.

    Raises:
        CorpusError: no cell holds anything.
    """
    if not any(cell and not cell.isspace() for own in columns.values() for cell in own):
        raise CorpusError(
            f"{named(name)} holds nothing but blanks. Give a file with at least one sentence."
        )
    kept = MappingProxyType({title: tuple(own) for title, own in columns.items()})
    return Sheet(name, kind, kept, encoding, tuple(notes), tuple(left_out))


def size_of(cells: Iterable[str | None]) -> int:
    """Bytes that cells take in memory: a reference each, and each text once if it is one object."""
    texts: dict[int, str] = {}
    n_cells = 0
    for cell in cells:
        n_cells += 1
        if cell is not None:
            texts[id(cell)] = cell
    return _REFERENCE * n_cells + sum(map(sys.getsizeof, texts.values()))


def cut_note(n_rows: int, max_held: int) -> str:
    """What is said of a file whose further rows would take too much memory."""
    return (
        f"Only the first {n_rows:,} rows were read: more take over {max_held / 1e6:,.0f} MB of "
        "memory."
    )


def nothing_fits(name: str, max_held: int) -> CorpusError:
    """The error for a file of which not even one row can be held."""
    return CorpusError(
        f"{named(name)} takes more than {max_held / 1e6:,.0f} MB of memory with its first row; "
        "there is no more for one visitor's files. Split it into rows, or shorten its texts."
    )


def max_rows(n_columns: int) -> int:
    """How many rows of so many columns are read; what follows is left out."""
    return min(_MAX_ROWS, _MAX_CELLS // max(n_columns, 1))


def named(name: str) -> str:
    """A file's name or a column's title as a message shows it: printable, and not too long."""
    plain = "".join(c if c.isprintable() else "\ufffd" for c in name[: _MAX_NAME + 1])
    if len(plain) > _MAX_NAME:
        plain = plain[: _MAX_NAME - 1] + "…"
    return plain.strip() or "The file"


def clean(text: str) -> str:
    """A text without what no tokenizer reads: NULs and lone surrogates become U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        # Two halves that belong together become one character on the way.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def unique(titles: Iterable[str]) -> list[str]:
    """Titles of columns, none blank and no two alike: "column 1" and "name (2)" where needed."""
    given = [clean(title).strip() for title in titles]
    taken: set[str] = set(given)
    kept: dict[str, None] = {}
    for number, title in enumerate(given, start=1):
        stem = title or f"column {number}"
        wanted, copy = stem, 1
        while wanted in kept or (wanted != title and wanted in taken):
            copy += 1
            wanted = f"{stem} ({copy})"
        kept[wanted] = None
    return list(kept)
