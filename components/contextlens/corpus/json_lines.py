"""JSON: an object or a string on each line, all of them in one list, or columns in one object.

Nested values stay JSON.

The standard library's own decoder reads lists item by item. ijson reads them too, but takes over a
minute for 100,000 nested brackets, turns half characters into question marks, and stops at NaN,
Infinity and numbers beyond 64 bits, which Python's own `json` writes. DuckDB empties the rows that
it cannot read without a count, refuses a list that breaks off, and rewrites dates.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, TextIO

from contextlens.core.errors import CorpusError
from contextlens.corpus.charsets import Charset, charset_of, open_text
from contextlens.corpus.table import (
    LABEL_NAMES,
    MAX_COLUMNS,
    MAX_SCANNED,
    TEXT_NAMES,
    Form,
    Table,
    clean,
    cut_note,
    max_rows,
    named,
    nothing_fits,
    table_of,
    unique,
)

__all__ = [
    "Items",
    "as_text",
    "is_json",
    "json_items",
    "read_json",
    "read_json_lines",
    "table_of_items",
]

_STEP = 1 << 20  # characters
_LONGEST = 10_000_000  # characters of one item; once parsed it takes about twenty times that
_SPACE = " \t\r\n"
_MARK = re.compile(f"[^{_SPACE}]")
_LIST = re.compile(r"\[\s*[{\"]")
_REFERENCE = 8  # bytes
_N_NAMED = 5  # keys that are not read
_LINE = "line"
_KNOWN = frozenset((*TEXT_NAMES, *LABEL_NAMES))
_BY_ROW = "Each object in the file was taken for a row, guessed; the keys in it are the columns."


def read_json_lines(name: str, content: bytes, max_held: int) -> Table:
    """Return the objects on lines or in a list as rows, or strings in a column "text".

    Raises:
        CorpusError: the file is not text, holds no item, or has too many columns.
    """
    charset = charset_of(name, content)
    return table_of_items(name, charset, _items(content, charset), max_held)


def read_json(name: str, content: bytes, max_held: int, *, form: Form = "") -> Table:
    """Return a table from JSON: as `read_json_lines`, or the columns of one object.

    Args:
        name: the file's name.
        content: its bytes.
        max_held: the most memory for its columns, in bytes.
        form: "plain" if a person said that the objects in an object are columns and no rows.

    Raises:
        CorpusError: the file is not text, holds no item, or has too many columns.
    """
    charset = charset_of(name, content)
    items = json_items(name, content, charset, plain=form == "plain")
    table = table_of_items(name, charset, items, max_held)
    if _BY_ROW in table.notes:
        return replace(table, content=content, export="an object for each row")
    return table


def json_items(
    name: str, content: bytes, charset: Charset, *, by_line: bool = False, plain: bool = False
) -> Items:
    """Return the objects of a file, which may be one object with rows or columns in it.

    Args:
        name: the file's name.
        content: its bytes.
        charset: their encoding.
        by_line: True if an object on its only line is a row.
        plain: True if the objects in an object are columns and no rows.

    Raises:
        CorpusError: it is one object and too large to be parsed at once.
    """
    source = _items(content, charset)
    is_one = source.unit == _LINE and not by_line and _is_one(content, charset)
    if is_one and len(content) > _LONGEST:
        inner = _InnerList(open_text(content, charset, newline=None))
        if inner.find():
            return inner
        raise CorpusError(
            f"{named(name)} is one JSON object of over {_LONGEST / 1e6:,.0f} MB. Write a list of "
            "objects instead, or one object on each line."
        )
    value = _parsed(open_text(content, charset, newline=None).read()) if is_one else None
    if isinstance(value, dict):
        rows, note = _rows_of(value, plain=plain)
        source = Items(rows, note=note)
    return source


def is_json(sample: str) -> bool:
    """True if a text begins as a list of objects or strings, or with an object on its first line.

    A poem may begin with a bracket, too.
    """
    start = sample.lstrip(_SPACE)
    return _LIST.match(start) is not None or isinstance(_parsed(start.partition("\n")[0]), dict)


def _items(content: bytes, charset: Charset) -> Items:
    is_list = _is_list(open_text(content, charset, newline=None))
    stream = open_text(content, charset, newline=None)
    if is_list and not _are_lists_by_line(open_text(content, charset, newline=None)):
        return _ItemList(stream)
    return Items((_BLANK if line.isspace() else _parsed(line) for line in stream), _LINE)


def _are_lists_by_line(stream: TextIO) -> bool:
    """True if the first line is a list, and the next one begins another one."""
    lines = (line for line in islice(stream, MAX_SCANNED) if not line.isspace())
    return isinstance(_parsed(next(lines, "")), list) and next(lines, "").lstrip().startswith("[")


def _is_one(content: bytes, charset: Charset) -> bool:
    """True if a file is no value on each line, so it may be one object."""
    stream = open_text(content, charset, newline=None)
    lines = (line for line in islice(stream, MAX_SCANNED) if not line.isspace())
    return _parsed(next(lines, "")) is None or not next(lines, "")


def _rows_of(value: dict[str, Any], *, plain: bool = False) -> tuple[list[Any], str]:
    """Return the rows of an object, and a note on what was guessed.

    The rows are those of its columns, of the only list in it, or the object itself; pandas also
    writes an object for each row.
    """
    (only, *more) = value.values() or (None,)
    if isinstance(only, dict) and not more and any(
        isinstance(own, list) and own and isinstance(own[0], dict) for own in only.values()
    ):  # fmt: skip
        return _rows_of(only, plain=plain)
    titles, data = value.get("columns"), value.get("data")
    if isinstance(titles, list) and isinstance(data, list):  # pandas' "split"
        rows = [dict(zip(map(_title, titles), row, strict=False)) for row in data if _is_many(row)]
        names = value.get("index")
        keys = list(map(_title, names)) if isinstance(names, list) else []
        return _with_keys(rows, keys if len(keys) == len(rows) else []), ""
    if isinstance(data, list) and data and isinstance(data[0], dict):
        return data, ""
    many = {title: cells for title, cells in value.items() if _is_many(cells)}
    first = next(iter(many.values()), None)
    if len(many) == 1 and isinstance(first, list):
        return [dict.fromkeys(many, row) if isinstance(row, str) else row for row in first], ""
    if not many or len(many) < len(value):
        return [value], ""
    if not plain and _are_rows(many):  # pandas' "index"
        return _with_keys(list(many.values()), list(many)), _BY_ROW
    columns: dict[str, dict[Any, Any]] = {
        title: cells if isinstance(cells, dict) else dict(enumerate(cells))
        for title, cells in many.items()
    }
    row_keys = dict.fromkeys(key for cells in columns.values() for key in cells)
    rows = [{title: cells.get(key) for title, cells in columns.items()} for key in row_keys]
    return _with_keys(rows, list(map(str, row_keys))), ""


def _are_rows(many: Mapping[str, Any]) -> bool:
    """True if the objects in an object are its rows and no columns.

    The keys of columns are the names of rows, the same in all, and mostly numbers. If neither keys
    are numbers, there are more rows than columns, or values of several kinds in a row.
    """
    if not all(isinstance(row, dict) and row for row in many.values()):
        return False
    inner = dict.fromkeys(key for row in many.values() for key in row)
    if any(key.casefold() in _KNOWN for key in many):
        return False
    if all(map(str.isdecimal, inner)):
        return False
    if all(map(str.isdecimal, many)) or any(key.casefold() in _KNOWN for key in inner):
        return True
    return len(many) > len(inner)


def _with_keys(rows: list[Any], keys: list[str]) -> list[Any]:
    """Return rows with their names in a column "index", if these are more than numbers from 0."""
    if not keys or keys == [str(i) for i in range(len(keys))]:
        return rows
    if all(map(str.isdecimal, keys)) or any("index" in row for row in rows):
        return rows
    return [{"index": key, **row} for key, row in zip(keys, rows, strict=True)]


def _title(value: object) -> str:
    """Return a title of pandas' "split"; one of several levels is a list."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _is_many(value: object) -> bool:
    return isinstance(value, list | dict)


def table_of_items(
    name: str, charset: Charset, source: Items, max_held: int, kind: str = ""
) -> Table:
    """Return a table with a row for each object; `kind` is its format, by default that of JSON.

    Raises:
        CorpusError: there is no object, no memory for the first one, or too many columns.
    """
    table = _Table(name, max_held)
    for item in source:
        if table.is_full or not table.add(item):
            table.more = True
            break
    if table.more and not table.n_rows:
        raise nothing_fits(name, max_held)
    if not table.n_rows:
        raise CorpusError(
            f"{named(name)} holds no JSON object and no string. Give one on each line, such as "
            '{"text": "I love my pet python", "label": "animal"}.'
        )
    notes = (*charset.notes, *source.notes, *table.notes)
    kind = kind or ("JSONL" if source.unit == _LINE else "JSON")
    return table_of(name, kind, table.columns, encoding=charset.title, notes=notes)


def as_text(value: Any) -> str | None:
    """Return a JSON value as the text of a cell; None for null and for NaN."""
    if isinstance(value, str):
        return value
    if value is None or value != value:  # only NaN differs from itself
        return None
    return json.dumps(value, ensure_ascii=False, default=_other)


def _other(value: object) -> str:
    """Return the text of a value that a Parquet list may hold but that JSON cannot express."""
    return f"{len(value):,} bytes" if isinstance(value, bytes) else str(value)


class _Table:
    """Columns that grow with each object; missing values stay None."""

    def __init__(self, name: str, max_held: int) -> None:
        self.columns: dict[str, list[str | None]] = {}
        self.n_rows = 0
        self.more = False
        self._name = name
        self._max_held = self._n_left = max_held
        self._n_cleaned = self._n_missing = 0

    @property
    def is_full(self) -> bool:
        return self.n_rows >= max_rows(len(self.columns))

    @property
    def notes(self) -> tuple[str, ...]:
        notes = [self._cut] if self.more else []
        if self._n_cleaned:
            notes.append(
                f"{self._n_cleaned:,} value{'s' * (self._n_cleaned > 1)} had characters that no "
                "tokenizer reads (NUL, or half a character); they are replaced by �."
            )
        if self._n_missing:
            values_are = "value is" if self._n_missing == 1 else "values are"
            notes.append(f"{self._n_missing:,} {values_are} NaN: taken as missing.")
        return tuple(notes)

    @property
    def _cut(self) -> str:
        if self.is_full:
            return f"Only the first {self.n_rows:,} rows were read."
        return cut_note(self.n_rows, self._max_held)

    def add(self, item: Mapping[str, Any]) -> bool:
        """Add a row; return False if there is no memory for it."""
        given = {self._cleaned(key) or "column": value for key, value in item.items()}
        row = {title: self._text(value) for title, value in given.items()}
        new = [title for title in row if title not in self.columns]
        if not self._take(row, new):
            return False
        for title in new:
            self.columns[title] = [None] * self.n_rows
        if len(self.columns) > MAX_COLUMNS:
            raise CorpusError(
                f"{named(self._name)} has more than {MAX_COLUMNS:,} different keys, and each would "
                "be a column. Keep that of texts and those of labels."
            )
        for title, column in self.columns.items():
            column.append(row.get(title))
        self.n_rows += 1
        return True

    def _take(self, row: Mapping[str, str | None], new: list[str]) -> bool:
        """Reserve memory for a row and its new columns; return True if there is enough."""
        n_cells = len(self.columns) + len(new) * (self.n_rows + 1)
        texts = [
            text for title, text in row.items() if text and not self._is_held(title, text)
        ] + new
        self._n_left -= _REFERENCE * n_cells + sum(map(sys.getsizeof, texts))
        return self._n_left >= 0

    def _is_held(self, title: str, text: str) -> bool:
        """True if the row before has the same object, as the rows of one text's marks have."""
        return self.n_rows > 0 and title in self.columns and self.columns[title][-1] is text

    def _text(self, value: Any) -> str | None:
        text = as_text(value)
        self._n_missing += text is None and value is not None
        return None if text is None else self._cleaned(text)

    def _cleaned(self, text: str) -> str:
        cleaned = clean(text)
        self._n_cleaned += cleaned != text
        return cleaned


_BLANK = object()
_LISTS = "Each list in the file was taken for a row, guessed: columns are numbered."
_NAMED_LISTS = "Each list in the file was taken for a row, guessed; the first holds the titles."


class Items:
    """The objects and strings among a JSON file's values, one by one; others are only counted.

    Args:
        values: the values, `_BLANK` for an empty one.
        unit: what a value is in the file, in notes.
        note: a note on how they were found.
    """

    def __init__(self, values: Iterable[Any], unit: str = "item", note: str = "") -> None:
        self.unit = unit
        self._values = values
        self._note = note
        self._titles: list[str] | None = None
        self._n_bad = self._first_bad = 0
        self._end = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """The number of items left out, and the first of them."""
        notes = [note for note in (self._note, self._end) if note]
        if self._n_bad:
            one = self._n_bad == 1
            subject = f"{self.unit} is" if one else f"{self.unit}s are"
            notes.append(
                f"{self._n_bad:,} {subject} no JSON object or string and "
                f"{'was' if one else 'were'} left out, "
                f"the first is {self.unit} {self._first_bad:,}."
            )
        return tuple(notes)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        are_lists = False
        for number, item in enumerate(self._values, start=1):
            if number == 1:
                are_lists = isinstance(item, list) and len(item) > 1
            if number > MAX_SCANNED:
                self._end = f"Only the first {MAX_SCANNED:,} {self.unit}s were looked at."
                return
            if isinstance(item, dict):
                if item:
                    yield item
            elif _is_example(item):
                yield {"text": item[0], **item[1]}
            elif isinstance(item, str):
                if item and not item.isspace():
                    yield {"text": item}
            elif are_lists and isinstance(item, list) and item:  # pandas' "values"
                if row := self._row_of(item):
                    yield row
            elif item is not _BLANK:
                self._n_bad += 1
                self._first_bad = self._first_bad or number

    def _row_of(self, cells: list[Any]) -> dict[str, Any]:
        """Return a row of a list of cells; {} for the first one if it holds the titles."""
        if self._titles is None:
            names = [cell if isinstance(cell, str) else "" for cell in cells]
            is_named = all(names) and any(name.strip().casefold() in _KNOWN for name in names)
            self._titles = unique(names) if is_named else []
            self._note = _NAMED_LISTS if is_named else _LISTS
            if is_named:
                return {}
        titles = [*self._titles, *(f"column {i + 1}" for i in range(len(self._titles), len(cells)))]
        return dict(zip(titles, cells, strict=False))


def _is_example(item: object) -> bool:
    """True for a text with an object in one list: ["I came", {"entities": [[0, 1, "X"]]}]."""
    return (
        isinstance(item, list)
        and len(item) == 2
        and isinstance(item[0], str)
        and isinstance(item[1], dict)
        and "text" not in item[1]
    )


def _parsed(line: str) -> Any:
    """Return the value of a line; None if it is not JSON, so that the line counts as bad."""
    if len(line) > _LONGEST:
        return None
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_list(stream: TextIO) -> bool:
    while step := stream.read(_STEP):
        if start := step.lstrip(_SPACE + "\ufeff"):
            return start[0] == "["
    return False


class _ItemList(Items):
    """One list of values, read in steps: parsed at once it would take twenty times its size."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(self._parsed_values())
        self._stream = stream
        self._text = ""
        self._at = 0
        self._parse = json.JSONDecoder().raw_decode

    def _parsed_values(self) -> Iterator[Any]:
        self._next_mark()
        self._at += 1  # the bracket
        number = 0
        while (mark := self._item_mark(number)) not in {"", "]"}:
            value = self._value()
            if value is _BLANK:
                break
            number += 1
            yield value
        if mark != "]":
            self._end = f"The list breaks off after item {number:,}; what follows was left out."
            return
        self._at += 1
        if self._next_mark():
            self._end = "What follows the end of the list was left out."

    def _item_mark(self, number: int) -> str:
        """Return the first character of the next item, or "]" at the end; "" if neither follows."""
        mark = self._next_mark()
        if not number or mark == "]":
            return mark
        if mark != ",":
            return ""
        self._at += 1
        return self._next_mark()

    def _next_mark(self) -> str:
        """Return the next character that is not a space; "" at the end."""
        while (found := _MARK.search(self._text, self._at)) is None:
            self._at = len(self._text)
            if not self._more():
                return ""
        self._at = found.start()
        return found[0]

    def _value(self, most: int = _LONGEST) -> Any:
        """Return the value that begins here; `_BLANK` if none ends within so many characters."""
        while True:
            try:
                value, end = self._parse(self._text, self._at)
            except (ValueError, RecursionError):
                value, end = None, len(self._text)
            if end < len(self._text) or isinstance(value, str | list | dict):  # 1 may go on as 12
                self._at = end
                return value
            if len(self._text) - self._at > most or not self._more():
                return _BLANK

    def _more(self) -> bool:
        """Read on, and drop the parsed text; return False at the end of the file."""
        step = self._stream.read(_STEP)
        self._text = self._text[self._at :] + step
        self._at = 0
        return bool(step)


class _InnerList(_ItemList):
    """The long list of objects in one large object, such as SQuAD's "data", read in steps.

    It is the first one that does not end within a step, or else the longest of the others: a chat
    names its few participants before its messages.
    """

    _key = ""

    def find(self) -> bool:
        """Read up to the list; return False if there is none."""
        keys, last, longest = list[str](), "", list[Any]()
        is_long = False
        is_first = self._next_mark() == "{"
        while is_first or self._next_mark() == ",":
            self._at += 1
            is_first = False
            if self._next_mark() != '"' or not isinstance(key := self._value(), str):
                break
            if self._next_mark() != ":":
                break
            self._at += 1
            is_list = self._next_mark() == "[" and self._holds_objects()
            value = self._value(_STEP if is_list else _LONGEST)
            is_long = is_list and value is _BLANK
            if is_list and (is_long or len(value) > len(longest)):
                self._key, longest = key, [] if is_long else value
            if value is _BLANK:
                break
            last = key
            keys = keys if len(keys) > _N_NAMED + 1 else [*keys, key]
        if longest:
            self._values = longest
            if self._next_mark() != "}":
                self._end = f"What follows “{named(last)}” was left out."
        if others := [f"“{named(key)}”" for key in keys if key != self._key]:
            names = ", ".join((*others[:_N_NAMED], *["…"] * (len(others) > _N_NAMED)))
            self._note = f"Only the list “{named(self._key)}” was read. Not read: {names}."
        return is_long or bool(longest)

    def _holds_objects(self) -> bool:
        """True if an object follows the bracket, or the spaces behind it."""
        ahead = 1
        while (found := _MARK.search(self._text, self._at + ahead)) is None:
            ahead = len(self._text) - self._at
            if not self._more():
                return False
        return found[0] == "{"

    def _parsed_values(self) -> Iterator[Any]:
        yield from super()._parsed_values()
        if not self._end.startswith("The list breaks off"):
            self._end = (
                ""
                if self._next_mark() == "}"
                else f"What follows “{named(self._key)}” was left out."
            )
