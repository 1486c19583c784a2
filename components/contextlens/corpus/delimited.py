"""Tables with a delimiter and plain lines, read row by row within bounds.

The form of a table is guessed: its delimiter and its header from the first rows, its quotes from
the whole file, as in a published one the first quote mark may be a thousand rows down. A file whose
name says neither ("dev.data.txt") is a table if its rows are even.

Alternatives tried: DuckDB 2.0 refuses a table with mixed line ends such as MRPC or, if lenient,
drops its plain quote marks, and takes one first row in six of our tests for titles; clevercsv 0.8
stops at a NUL and takes many titles for a row. Neither says what it leaves out.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from contextlens.core.errors import CorpusError
from contextlens.corpus.charsets import Charset, charset_of, open_text
from contextlens.corpus.headers import (
    GUESSED_TITLES,
    NO_TITLE_ROWS,
    TitleRows,
    has_header,
    is_surely_header,
    is_titled,
    title_rows,
)
from contextlens.corpus.json_lines import is_json, read_json
from contextlens.corpus.table import (
    MAX_COLUMNS,
    MAX_SCANNED,
    Form,
    Table,
    cut_note,
    is_number,
    max_rows,
    named,
    nothing_fits,
    table_of,
    unique,
)

if TYPE_CHECKING:
    from _csv import Reader

__all__ = ["read_quoted", "read_table", "read_text"]

_NEVER_TEXT = frozenset(("#N/A", "<NA>"))  # as Excel and pandas write a missing value
_MISSING = frozenset(("NaN", "nan", "NULL", "null", "NA", "N/A")) | _NEVER_TEXT
"""Ways to write a missing number; among texts all but those of `_NEVER_TEXT` are texts."""
_CHUNK = 10_000  # rows, and fewer of a wide table
_CHUNK_CELLS = 1_000_000
_REFERENCE = 8  # bytes
_LARGEST_FIELD = 2**31 - 1  # characters, the most that `csv` takes on every system

_SAMPLE = 1 << 16
"""Characters from which the delimiter and the header of a table are guessed."""
_QUOTE_SAMPLE = 1 << 22
"""Characters, from the first quote mark on, from which it is guessed whether quote marks enclose
cells."""
_MAX_QUOTED_CELLS = 20_000  # that are looked at

_TITLES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_QUOTE = '"'
_SEPARATORS = ",;\t|"  # of a CSV file, the likeliest first
_DELIMITERS = "\t,;|"  # of a file that may also be lines
_EVEN = 0.9  # of the rows have equally many cells
_NONE = "\x1f"  # separates nothing: the "unit separator", which no text has


def read_text(name: str, content: bytes, max_held: int, *, form: Form = "") -> Table:
    """Return JSON, or a table if the rows are even, else a sentence a line, as a person may say.

    Args:
        name: the file's name.
        content: its bytes.
        max_held: the most memory for its columns, in bytes.
        form: "lines" or "table" if a person said so; others to guess.

    Raises:
        CorpusError: the file is not text, has no row, or has too many columns.
    """
    charset = charset_of(name, content)
    sample, is_whole = _sample(content, charset)
    if form in {"", "plain"} and is_json(sample):
        return read_json(name, content, max_held, form=form)
    if form == "" and _is_of_r((sample, is_whole)):
        return _read(name, content, charset, "R", _R_DIALECT, max_held)
    if form == "table" or (form != "lines" and _is_even(sample, whole=is_whole)):
        sheet = _read(name, content, charset, "", _DELIMITERS, max_held)
    else:
        sheet = _lines(name, content, charset, max_held)
    can_be_both = any(delimiter in sample for delimiter in _DELIMITERS)
    return replace(sheet, content=content) if can_be_both else sheet


def _is_even(sample: str, *, whole: bool) -> bool:
    """True if the beginning of a file is a table and not prose that happens to have commas."""
    dialect = _guess_dialect(sample, _DELIMITERS, whole=whole)
    rows = _rows(sample, dialect, whole=whole)
    width, share = _usual_width(rows)
    if width == 1 or share < _EVEN:
        return False
    if dialect.delimiter == "\t" or is_titled(rows):
        return True
    is_spaced = any(cell.startswith(" ") for row in rows for cell in row[1:])
    return share == 1 and len(rows) > 2 and not is_spaced


def _lines(name: str, content: bytes, charset: Charset, max_held: int) -> Table:
    """Return one sentence a line; blank lines before the last one are empty cells.

    So line n is row n, and a second file may hold the label of each line. U+2028 ends no line.
    """
    texts: list[str | None] = []
    n_blank, n_left, most, more = 0, max_held, max_rows(1), False
    for text in map(str.strip, open_text(content, charset, newline=None)):
        if not text:
            n_blank += 1
            continue
        n_left -= _REFERENCE * (n_blank + 1) + sys.getsizeof(text)
        more = n_left < 0 or len(texts) + n_blank >= most
        if more:
            break
        texts += [None] * n_blank
        texts.append(text)
        n_blank = 0
    if n_left < 0 and not texts:
        raise nothing_fits(name, max_held)
    notes = [*charset.notes, *_cut_note(len(texts), max_held if n_left < 0 else 0, more=more)]
    return table_of(name, "TXT", {"text": texts}, encoding=charset.title, notes=notes)


def read_table(
    name: str,
    content: bytes,
    max_held: int,
    *,
    kind: str = "CSV",
    delimiters: str = _SEPARATORS,
    form: Form = "",
) -> Table:
    """Return a table whose columns are separated by one of some delimiters.

    Args:
        name: the file's name.
        content: its bytes.
        max_held: the most memory for its columns, in bytes.
        kind: its format.
        delimiters: what may separate two cells, the likeliest first.
        form: "plain" if a person said that no row of titles is left out; others to guess.

    Raises:
        CorpusError: the file is not text, has no row, or has too many columns.
    """
    charset, plain = charset_of(name, content), form == "plain"
    if not plain and _is_of_r(_sample(content, charset)):
        return _read(name, content, charset, kind, _R_DIALECT, max_held)
    return _read(name, content, charset, kind, delimiters, max_held, plain=plain)


def read_quoted(name: str, content: bytes, kind: str, max_held: int, *, form: Form = "") -> Table:
    """Return a table from CSV in UTF-8 of which every cell is quoted; `form` as in `read_table`.

    Raises:
        CorpusError: the file has no row, or has too many columns.
    """
    dialect = Dialect(is_sure=True)
    plain = form == "plain"
    return _read(name, content, Charset("utf-8", ""), kind, dialect, max_held, plain=plain)


def _read(
    name: str,
    content: bytes,
    charset: Charset,
    kind: str,
    delimiters: str | Dialect,
    max_held: int,
    *,
    plain: bool = False,
) -> Table:
    csv.field_size_limit(_LARGEST_FIELD)
    form = _form(name, content, charset, delimiters, plain=plain)
    rows = _Rows(content, charset, form)
    try:
        columns, is_full = _columns(rows, len(form.titles), max_held)
    except csv.Error as exc:
        raise CorpusError(
            f"{named(name)} cannot be read as a table: {exc} near line {rows.line:,}. "
            "Correct that line, or save the table again as CSV."
        ) from exc
    kind = kind or ("TSV" if form.dialect.delimiter == "\t" else "CSV")
    n_rows = len(columns[0])
    if is_full and not n_rows:
        raise nothing_fits(name, max_held)
    if not n_rows:
        raise CorpusError(f"{named(name)} has names of columns but no rows. Add a row for each.")
    cut = _cut_note(n_rows, max_held if is_full else 0, more=is_full or rows.more)
    cells = dict(zip(form.titles, columns, strict=True))
    notes = (*charset.notes, *form.notes, *rows.notes, *_without_missing(cells), *cut)
    table = table_of(name, kind, cells, encoding=charset.title, notes=notes)
    tool = form.around.tool or (_R if form.dialect.delimiter == " " else "")
    if not tool:
        return table
    metadata = frozenset(form.titles[i] for i in form.around.metadata if i < len(form.titles))
    return replace(table, content=content, export=tool, metadata=metadata)


def _cut_note(n_rows: int, max_held: int, *, more: bool) -> tuple[str, ...]:
    """Return the note about rows left out; `max_held` is 0 if memory was not the reason."""
    if more and max_held:
        return (cut_note(n_rows, max_held),)
    rows = "row was" if n_rows == 1 else f"{n_rows:,} rows were"
    return (f"Only the first {rows} read.",) if more else ()


def _sample(content: bytes, charset: Charset) -> tuple[str, bool]:
    """Return the first characters from the first that is not blank, and True if they are all."""
    stream = open_text(content, charset, newline="")
    sample = stream.read(_SAMPLE)
    while sample.isspace() and (more := stream.read(_SAMPLE)):
        sample = more
    return sample, not stream.read(1)


def _columns(rows: _Rows, width: int, max_held: int) -> tuple[list[list[str | None]], bool]:
    """Return the cells of each column, and True if rows were left out for lack of memory.

    Equal cells of a chunk are one object; missing cells are None.
    """
    columns: list[list[str | None]] = [[] for _ in range(width)]
    n_left, is_full = max_held, False
    iterator, n_rows = iter(rows), min(_CHUNK, _CHUNK_CELLS // width)
    while not is_full and (chunk := list(islice(iterator, n_rows))):
        distinct = _different(chunk)
        n_held = _held(len(chunk), distinct)
        if n_held > n_left:
            chunk, is_full = _fitting(chunk, n_left), True
            distinct = _different(chunk)
        n_left -= n_held
        for column, cells, distinct_cells in zip(
            columns, zip(*chunk, strict=True), distinct, strict=False
        ):
            cell_values: dict[str, str | None] = dict(
                zip(distinct_cells, distinct_cells, strict=True)
            )
            cell_values[""] = None
            column.extend(map(cell_values.__getitem__, cells))
    return columns, is_full


def _different(chunk: Sequence[Sequence[str]]) -> list[set[str]]:
    """Return the different cells of each column."""
    return [set(cells) for cells in zip(*chunk, strict=True)]


def _held(n_rows: int, different: Sequence[set[str]]) -> int:
    """Return the bytes that rows take if equal cells of a column are one object."""
    return _REFERENCE * n_rows * len(different) + sum(map(sys.getsizeof, chain(*different)))


def _fitting(chunk: list[list[str]], n_bytes: int) -> list[list[str]]:
    """Return the first rows that take at most so many bytes."""
    numbers = range(1, len(chunk) + 1)
    n_fit = bisect_right(numbers, n_bytes, key=lambda n: _held(n, _different(chunk[:n])))
    return chunk[:n_fit]


def _without_missing(columns: dict[str, list[str | None]]) -> list[str]:
    """Make cells such as "NaN" missing in columns of numbers; return notes on them."""
    n_missing, kept = 0, Counter[str]()
    for title, cells in columns.items():
        different = set(filter(None, cells))
        if different.isdisjoint(_MISSING):
            continue
        given = different - _MISSING
        are_numbers = all(map(is_number, given)) and (given or len(columns) > 1)
        missing = _MISSING if are_numbers else _NEVER_TEXT
        n_missing += sum(cell in missing for cell in cells)
        columns[title] = [None if cell in missing else cell for cell in cells]
        kept.update(cell for cell in columns[title] if cell and cell in _MISSING)
    notes = []
    if n_missing:
        cells_say = "cell says" if n_missing == 1 else "cells say"
        notes.append(f"{n_missing:,} {cells_say} NaN, null or the like: taken as missing.")
    if kept:
        cells_say = "cell says" if kept.total() == 1 else "cells say"
        listed = " or ".join(f"“{mark}”" for mark in sorted(kept))
        notes.append(f"{kept.total():,} {cells_say} {listed}: taken as text.")
    return notes


class _Rows:
    """The rows of a table after its header, all equally wide; it counts the rows it leaves out."""

    def __init__(self, content: bytes, charset: Charset, form: TableForm) -> None:
        self._content, self._charset, self._form = content, charset, form
        self.line = 0
        self.more = False
        self._n_short = self._n_long = 0
        self._first_long = self._open_quote = 0
        self._extra = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what was filled up or left out."""
        notes = []
        if self._n_short:
            notes.append(f"{_counted(self._n_short)} fewer cells than there are columns.")
        if self._n_long:
            notes.append(
                f"{_counted(self._n_long)} more cells than there are columns, the first at line "
                f"{self._first_long:,}: {self._left_out()}."
            )
        if self._open_quote:
            notes.append(
                f"A quote mark that opens in the row at line {self._open_quote:,} is never closed; "
                "from there on quote marks are read as plain characters."
            )
        return tuple(notes)

    def _left_out(self) -> str:
        if self._form.dialect.keeps_long_rows:
            return f"the cells at the end, such as “{named(self._extra)}”, were left out"
        return "it was left out" if self._n_long == 1 else "they were left out"

    def __iter__(self) -> Iterator[list[str]]:
        width = len(self._form.titles)
        left = max_rows(width)
        around = self._form.around
        n_skipped = self._form.has_header + len(around.above) + len(around.below)
        for n_scanned, row in enumerate(self._records()):
            if n_scanned >= MAX_SCANNED:
                self.more = True
                return
            if n_skipped:
                n_skipped -= any(map(str.strip, row))
                continue
            if len(row) != width and not (row := self._fitted(row, width)):
                continue
            if not left:
                self.more = True
                return
            left -= 1
            yield row

    def _fitted(self, row: list[str], width: int) -> list[str]:
        """Return a row of another width made to fit; an empty list if it is blank or left out."""
        if not any(map(str.strip, row)):
            return []
        if len(row) < width:
            self._n_short += 1
            return row + [""] * (width - len(row))
        if any(map(str.strip, row[width:])):
            self._n_long += 1
            self._first_long = self._first_long or self.line
            self._extra = self._extra or next(filter(str.strip, row[width:])).strip()
            if not self._form.dialect.keeps_long_rows:
                return []
        return row[:width]

    def _records(self) -> Iterator[list[str]]:
        """Yield rows as written; `line` is the line where each begins."""
        dialect, read, has_ended = self._form.dialect, 0, False

        def lines() -> Iterator[str]:
            nonlocal has_ended
            yield from self._open()
            has_ended = True

        reader = dialect.reader(lines())
        for row in reader:
            self.line = read + 1
            if has_ended and dialect.quoted:  # the reader asked for more lines: a quote is open
                self._open_quote = self.line
                break
            read = reader.line_num
            yield row
        if self._open_quote:
            rest = islice(self._open(), read, None)
            plain = replace(dialect, quoted=False)
            for self.line, row in enumerate(plain.reader(rest), start=read + 1):
                yield row

    def _open(self) -> io.TextIOWrapper:
        return open_text(self._content, self._charset, newline="")


def _counted(n_rows: int) -> str:
    return f"{n_rows:,} row has" if n_rows == 1 else f"{n_rows:,} rows have"


@dataclass(frozen=True)
class Dialect:
    """The settings of `csv.reader`.

    Attributes:
        delimiter: what separates two cells.
        quoted: True if quote marks enclose cells; otherwise they are plain characters.
        spaced: True if a space follows each delimiter; the space is not part of the cell.
        is_sure: True if cells that hold the delimiter are known to be enclosed in quote marks.
        escaped: True if a backslash stands before a quote mark inside a cell, as R writes it.
        n_misplaced: the cells seen whose quote marks do not enclose them, if marks enclose others.
    """

    delimiter: str = ","
    quoted: bool = True
    spaced: bool = False
    is_sure: bool = False
    n_misplaced: int = 0
    escaped: bool = False

    @property
    def keeps_long_rows(self) -> bool:
        """True if a cell too many is one that was added at the end, and no part of a text.

        A comma too many may stand in a text, and would move the cells behind it to the right.
        """
        return self.delimiter == "\t" or self.is_sure

    def reader(self, lines: Iterable[str]) -> Reader:
        """Return a reader of lines with their line ends."""
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE,
            skipinitialspace=self.spaced,
            doublequote=not self.escaped,
            escapechar="\\" if self.escaped else None,
        )


@dataclass(frozen=True)
class TableForm:
    """A dialect, the titles of the columns, whether a row holds them, notes, and rows around it."""

    dialect: Dialect
    titles: tuple[str, ...]
    has_header: bool
    notes: tuple[str, ...]
    around: TitleRows = NO_TITLE_ROWS


def _form(
    name: str, content: bytes, charset: Charset, delimiters: str | Dialect, *, plain: bool
) -> TableForm:
    """Return the form of a table, guessed from its beginning.

    Without any of the possible delimiters, the table has one column; or its dialect is known.
    """
    sample, is_whole = _sample(content, charset)
    if isinstance(delimiters, Dialect):
        dialect = delimiters
    else:
        dialect = _guess_dialect(sample, delimiters, whole=is_whole)
        if not is_whole and not dialect.escaped:
            dialect = _with_quotes(_quote_sample(content, charset), dialect)
    rows = _rows(sample, dialect, whole=is_whole)
    if not rows:
        raise CorpusError(f"{named(name)} holds only blank lines. Give it at least one sentence.")
    around = NO_TITLE_ROWS if plain else title_rows(rows)
    rows = rows[len(around.above) :]
    header = bool(around.tool) or has_header(rows)
    rows = [rows[0], *rows[1 + len(around.below) :]]
    width, _ = _usual_width(rows)
    if header or not dialect.keeps_long_rows:
        width = max(width, len(rows[0]))
    names = rows[0] if header else []
    if header and len(names) == width - 1:
        names = ["", *names]  # R omits the title of its column of row names
    titles = unique([*names, *[""] * (width - len(names))])
    if len(titles) > MAX_COLUMNS:
        raise CorpusError(
            f"{named(name)} has {len(titles):,} columns or more; at most {MAX_COLUMNS:,} "
            "are read. Keep the column of texts and those of labels."
        )
    notes = [] if dialect is delimiters else _dialect_notes(dialect, str(delimiters), rows)
    if not header:
        notes.append("The first row holds no names of columns, guessed: columns are numbered.")
    elif not around.tool and not is_surely_header(rows):
        notes.append(GUESSED_TITLES)
    return TableForm(dialect, tuple(titles), header, (*notes, *around.notes), around)


def _dialect_notes(dialect: Dialect, delimiters: str, rows: list[list[str]]) -> list[str]:
    notes = []
    if dialect.delimiter == _NONE and any(mark in row[0] for row in rows for mark in delimiters):
        notes.append("Read as one column: nothing parts its rows evenly, guessed.")
    if dialect.delimiter in _TITLES and dialect.delimiter != delimiters[0]:
        notes.append(f"Columns are parted by {_TITLES[dialect.delimiter]}, guessed.")
    if not dialect.quoted:
        notes.append("Quote marks are read as plain characters: they do not enclose whole cells.")
    if n := dialect.n_misplaced:
        cells_have = "1 cell has quote marks" if n == 1 else f"{n:,} cells have quote marks"
        notes.append(f"{cells_have} that do not enclose the whole cell: some may be lost there.")
    return notes


# Delimiters and quotes

_R = "write.table of R"
_R_DIALECT = Dialect(" ", is_sure=True, escaped=True)
_R_TITLES = re.compile(r'"(?:[^"\\]|\\.)*"(?: "(?:[^"\\]|\\.)*")*')


def _is_of_r(sample: tuple[str, bool]) -> bool:
    """True if a file has what `write.table` of R writes: spaces between cells, all titles quoted.

    The rows have as many cells as there are titles, or one more, the row's name.
    """
    text, is_whole = sample
    if not _R_TITLES.fullmatch(text.partition("\n")[0].rstrip("\r")):
        return False
    rows = _rows(text, _R_DIALECT, whole=is_whole)
    width, share = _usual_width(rows[1:])
    return len(rows) > 2 and share == 1 and width > 1 and width - len(rows[0]) in {0, 1}


def _rows(sample: str, dialect: Dialect, *, whole: bool) -> list[list[str]]:
    """Return the rows of a sample that are not blank, without the last one, which may be cut."""
    rows = list(dialect.reader(io.StringIO(sample, newline="")))
    if not whole and len(rows) > 1:
        rows.pop()
    return [row for row in rows if any(map(str.strip, row))]


def _usual_width(rows: Sequence[Sequence[str]]) -> tuple[int, float]:
    """Return the commonest number of cells in a row, and the share of rows that have it."""
    if not rows:
        return 1, 0.0
    width, n_rows = Counter(map(len, rows)).most_common(1)[0]
    return width, n_rows / len(rows)


def _guess_dialect(sample: str, delimiters: str, *, whole: bool) -> Dialect:
    """Return the dialect in which most rows have equally many cells, more than one."""
    best, best_score = Dialect(_NONE), (0.0, 0)
    for delimiter in delimiters:
        if delimiter not in sample:
            continue
        if whole and not sample.strip(delimiter + ' "\t\r\n'):
            return Dialect(delimiter)  # nothing but blank cells
        spaced = delimiter != "\t" and sample.count(delimiter) == sample.count(delimiter + " ")
        dialect = _with_quotes(sample, Dialect(delimiter, spaced=spaced))
        score = _score(_rows(sample, dialect, whole=whole), dialect)
        if score > best_score:
            best, best_score = dialect, score
    if best_score[1]:
        return best
    return _with_quotes(sample, Dialect(_NONE))


def _quote_sample(content: bytes, charset: Charset) -> str:
    """Return the beginning of a file from the first line with a quote mark on."""
    with open_text(content, charset, newline="") as stream:
        first = next((line for line in stream if _QUOTE in line), "")
        return first + stream.read(_QUOTE_SAMPLE)


def _with_quotes(sample: str, dialect: Dialect) -> Dialect:
    """Return a dialect with or without quotes, by whether quote marks enclose whole cells.

    A program that writes quotes encloses each cell that needs them (one with a delimiter, a line
    break or a quote mark, which is doubled), or all cells. Such cells speak for quotes. A cell that
    begins with a mark and does not end with one speaks against them.

    Tables with tabs are published with plain quote marks. So there, marks inside a cell speak
    against quotes, too, and cells that need none must be enclosed in the whole column, or wherever
    they have a comma, as Excel does.
    """
    has_tabs = dialect.delimiter == "\t"
    width = Counter(
        line.count(dialect.delimiter) for line in sample.splitlines() if _QUOTE not in line
    ).most_common(1)
    n_needed = n_enclosed = n_open = n_inside = 0
    for match in islice(_cell_pattern(dialect).finditer(sample), _MAX_QUOTED_CELLS):
        match match.lastgroup:
            case "whole":
                is_needed = _QUOTE * 2 in match["whole"][1:-1]
                n_needed, n_enclosed = n_needed + is_needed, n_enclosed + (not is_needed)
            case "wide" if _are_rows(sample, match.span(), dialect.delimiter, width):
                n_inside += 1
            case "wide":
                n_needed += 1
            case "open":
                n_open += 1
            case _:
                n_inside += 1
    n_against = n_open + n_inside * has_tabs
    if n_against:
        quoted = n_needed + n_enclosed * (not has_tabs) > n_against
    else:
        quoted = n_needed > 0 or not has_tabs or not n_enclosed or _encloses_columns(sample)
    return replace(
        dialect, quoted=quoted, is_sure=quoted and n_needed > 0, n_misplaced=n_open * quoted
    )


def _cell_pattern(dialect: Dialect) -> re.Pattern[str]:
    """Return a pattern of cells with a quote mark: enclosed on a line or beyond it, open, other."""
    edges = r"\r\n" + re.escape(dialect.delimiter)
    return re.compile(
        rf"(?<![^{edges}]){' ?' if dialect.spaced else ''}(?:"
        rf'(?P<whole>"(?:[^"{edges}]++|"")*+")(?![^{edges}])'
        rf'|(?P<wide>"(?:[^"]++|"")*+")(?![^{edges}])'
        rf'|(?P<open>"[^{edges}]*+)'
        rf'|[^"{edges}]*+"[^{edges}]*+)'
    )


def _are_rows(
    sample: str, span: tuple[int, int], delimiter: str, width: Sequence[tuple[int, int]]
) -> bool:
    """True if the lines that a cell would join are rows of the usual width by themselves."""
    first = max(sample.rfind(end, 0, span[0]) for end in "\r\n") + 1
    last = sample.find("\n", span[1])
    lines = sample[first : last if last >= 0 else None].splitlines()
    return bool(width) and all(line.count(delimiter) == width[0][0] for line in lines)


def _encloses_columns(sample: str) -> bool:
    """True if quote marks enclose all cells of a column but its title, or each with a comma."""
    columns: dict[int, list[bool]] = {}
    by_comma = True
    for row in islice(Dialect("\t", quoted=False).reader(io.StringIO(sample)), _MAX_QUOTED_CELLS):
        for i, cell in enumerate(row):
            is_enclosed = len(cell) > 1 and cell[0] == cell[-1] == _QUOTE
            by_comma = by_comma and is_enclosed == ("," in cell)
            if cell.strip() and not is_number(cell):
                columns.setdefault(i, []).append(is_enclosed)
    if len(columns) > 1 and all(cells[0] and not any(cells[1:]) for cells in columns.values()):
        return True  # just the titles
    enclosed = [cells for cells in columns.values() if any(cells)]
    are_all = all(map(all, columns.values()))
    return by_comma or are_all or all(all(cells[1:]) and len(cells) > 2 for cells in enclosed)


def _score(rows: list[list[str]], dialect: Dialect) -> tuple[float, int]:
    """Return the share of rows of the commonest width, and that width; zeros for prose."""
    rows = rows[len(title_rows(rows).above) :]
    width, share = _usual_width(rows)
    known = is_titled(rows)
    first_fits = bool(rows) and width - 1 <= len(rows[0])
    if not dialect.keeps_long_rows:
        first_fits = first_fits and len(rows[0]) <= width
    least = 0.2 if known else 0.5 if first_fits else 0.9
    if width == 1 or share < least:
        return 0.0, 0
    if dialect.spaced and not known:
        return 0.0, 0  # commas of prose, which are followed by a space
    return share, width
