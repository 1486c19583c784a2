"""A second file beside a table of texts: labels for each row, or names for the labels.

Many data sets keep their labels apart: one a line (WiC, tweet_eval), by id (MCL-WiC), or as numbers
whose names stand in a file of their own (AG News). The result is the table with one column more, or
with names in place of numbers, so that nothing else has to know of the second file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contextlens.core.errors import CorpusError
from contextlens.corpus.archives import unpacked
from contextlens.corpus.charsets import charset_of, open_text
from contextlens.corpus.file_vectors import ARRAYS
from contextlens.corpus.headers import GUESSED_TITLES
from contextlens.corpus.json_lines import as_text
from contextlens.corpus.readers import read, with_arrays
from contextlens.corpus.table import (
    Cells,
    Table,
    clean,
    is_number,
    is_numbered,
    label_rank,
    named,
    unique,
)
from contextlens.corpus.targets import label_columns

__all__ = ["joined"]

_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".xlsx", ".parquet")
_MAX_JSON = 10_000_000  # bytes: once parsed it takes about twenty times that
_MAX_COLUMNS = 20
_LABEL = "label"


@dataclass(frozen=True)
class _Second:
    """The columns of the second file by title; a file of plain lines has one column "label"."""

    name: str
    columns: Mapping[str, Cells]
    has_guessed_titles: bool = False

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values())))


def joined(sheet: Table, name: str, content: bytes, *, max_bytes: int, max_held: int) -> Table:
    """Return a table with what a second file adds: labels, names of labels, or vectors.

    It holds names if its keys, or the numbers of its lines, are the labels of a column. Labels are
    joined by a column of ids that both files have, else line by line.

    Args:
        sheet: the table of texts.
        name: the second file's name.
        content: its bytes.
        max_bytes: the largest size allowed.
        max_held: the most memory for its columns, in bytes.

    Raises:
        CorpusError: it cannot be read, or does not fit the table.
    """
    if len(content) > max_bytes:
        raise CorpusError(
            f"{named(name)} is {len(content) / 1e6:,.1f} MB; at most {max_bytes / 1e6:,.0f} MB are "
            "read here. Give labels for fewer rows."
        )
    name, content = unpacked(name, content, max_bytes=max_bytes)
    if name.strip().casefold().endswith(ARRAYS):
        return with_arrays(sheet, name, content, max_bytes=max_bytes, max_held=max_held)
    second = _read(name, content, max_bytes=max_bytes, max_held=max_held)
    by_id = _ids(sheet, second)
    if by_id is not None:
        return _joined_by_id(sheet, second, *by_id)
    names = _names(sheet, second)
    if names is not None:
        return _renamed(sheet, second, *names)
    return _joined_by_line(sheet, second)


# --- Reading


def _read(name: str, content: bytes, *, max_bytes: int, max_held: int) -> _Second:
    if name.strip().casefold().endswith(_TABLES):
        sheet = read(name, content, max_bytes=max_bytes, max_held=max_held)
        columns = dict(list(sheet.columns.items())[:_MAX_COLUMNS])
        columns = {_LABEL: columns.popitem()[1]} if _is_lone(columns) else columns
        return _Second(name, columns, GUESSED_TITLES in sheet.notes)
    text = open_text(content, charset_of(name, content), newline=None).read()
    if not text.strip():
        raise CorpusError(f"{named(name)} holds only blank lines. Give a label for each row.")
    if text.lstrip().startswith(("{", "[")):
        return _Second(name, _of_json(name, content, text))
    lines = [clean(line) for line in text.rstrip().split("\n")]
    rows = [[cell.strip() for cell in line.rstrip("\t ").split("\t")] for line in lines]
    if not all(len(row) > 1 for row in rows if any(row)):
        rows = [[line.strip()] for line in lines]
        if all(_is_named_number(*row) for row in rows):
            rows = [row[0].split(None, 1) for row in rows]
    width = min(max(map(len, rows)), _MAX_COLUMNS)
    cells = [[row[i] if i < len(row) else "" for row in rows] for i in range(width)]
    columns = dict(zip(unique([""] * width), map(tuple, cells), strict=True))
    return _Second(name, {_LABEL: columns.popitem()[1]} if width == 1 else columns)


def _is_lone(columns: Mapping[str, Cells]) -> bool:
    return len(columns) == 1 and is_numbered(next(iter(columns)))


def _is_named_number(line: str) -> bool:
    """True for "0 anger"."""
    number, _, label = line.partition(" ")
    return number.isdigit() and bool(label.strip()) and not is_number(label)


def _of_json(name: str, content: bytes, text: str) -> Mapping[str, Cells]:
    if len(content) > _MAX_JSON:
        raise CorpusError(
            f"{named(name)} is too large to be read as JSON. Give one label on each line."
        )
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise CorpusError(
            f"{named(name)} begins like JSON and is none. Give one label on each line, or correct "
            "it."
        ) from exc
    if isinstance(value, dict):
        value = value["id2label"] if isinstance(value.get("id2label"), dict) else value
        return {"column 1": tuple(map(clean, value)), "column 2": _cells(value.values())}
    rows = [item if isinstance(item, dict) else {_LABEL: item} for item in value]
    titles = list(dict.fromkeys(key for row in rows for key in row))[:_MAX_COLUMNS]
    if not titles:
        raise CorpusError(f"{named(name)} holds no label. Give one for each row.")
    return {title: _cells(row.get(title) for row in rows) for title in titles}


def _cells(values: Any) -> Cells:
    texts = map(as_text, values)
    return tuple(None if text is None else clean(text) for text in texts)


# --- Names of labels


def _names(sheet: Table, second: _Second) -> tuple[str, Mapping[str, str]] | None:
    """Return the column of labels that the second file names, and the names by label."""
    titles = sorted(label_columns(sheet), key=lambda title: label_rank(title) is None)
    for title in titles:
        values = {_key(cell) for cell in sheet.columns[title]} - {""}
        for names in _possible_names(second, values, sheet.n_rows):
            if values and values <= names.keys():
                return title, names
    return None


def _possible_names(second: _Second, values: set[str], n_rows: int) -> list[Mapping[str, str]]:
    columns = list(second.columns.values())
    if len(columns) > 1:
        both = [(_key(a), (b or "").strip()) for a, b in zip(*columns[:2], strict=True)]
        pairs = [(key, label) for key, label in both if key and label]
        back = [(_key(label), key) for key, label in pairs]
        return [dict(way) for way in (pairs, back) if len({key for key, _ in way}) == len(way)]
    lines = [(cell or "").strip() for cell in columns[0]]
    n = len(lines)
    if len(set(lines)) < n or "" in lines or all(map(is_number, lines)):
        return []  # labels, not names: they repeat
    first = 0 if "0" in values else 1 if str(n) in values else None
    if first is None and n != n_rows and values <= {str(i) for i in range(1, n)}:
        raise CorpusError(
            f"{named(second.name)} has {n:,} names, and no row has the label 0 or {n:,}, so we "
            "cannot tell which number the first name has. Write each as a number, a tab, and the "
            "name."
        )
    return [] if first is None else [{str(i): line for i, line in enumerate(lines, start=first)}]


def _key(cell: str | None) -> str:
    """A label as the key of its name: "1.0" is "1"."""
    plain = (cell or "").strip()
    return plain.removesuffix(".0") if is_number(plain) else plain


def _renamed(sheet: Table, second: _Second, title: str, names: Mapping[str, str]) -> Table:
    cells = tuple(names.get(_key(cell), cell) for cell in sheet.columns[title])
    shown = unique([*sheet.columns, _LABEL])[-1] if is_numbered(title) else title
    columns = {
        shown if own == title else own: cells if own == title else column
        for own, column in sheet.columns.items()
    }
    return sheet.changed(columns, f"{named(second.name)} names the labels.")


# --- Labels of rows


def _ids(sheet: Table, second: _Second) -> tuple[str, str] | None:
    """Return the columns of ids of both files: the same values, each of them once."""
    labels = label_columns(sheet)
    for own, ids in second.columns.items():
        keys = set(ids)
        if len(second.columns) < 2 or len(keys) < len(ids) or None in keys:
            continue
        for title, cells in sheet.columns.items():
            if title in labels:
                continue
            n_found = sum(cell in keys for cell in cells)
            is_same = title.casefold() == own.casefold() or len(keys) == n_found
            if len(set(cells)) == len(cells) and 2 * n_found > len(cells) and is_same:
                return title, own
    return None


def _joined_by_id(sheet: Table, second: _Second, title: str, own: str) -> Table:
    place = {key: i for i, key in enumerate(second.columns[own])}
    rows = [place.get(cell, -1) for cell in sheet.columns[title]]
    added = {
        name: tuple(cells[i] if i >= 0 else None for i in rows)
        for name, cells in second.columns.items()
        if name != own
    }
    missing = rows.count(-1)
    more = f" {missing:,} of {len(rows):,} rows have none in it." if missing else ""
    return _added(sheet, added, f"Labels come from {named(second.name)}, joined by id.{more}")


def _joined_by_line(sheet: Table, second: _Second) -> Table:
    columns, n = dict(second.columns), second.n_rows
    if n == sheet.n_rows + 1:  # the first line may be the title
        heads = {cells[0] or title: cells[1:] for title, cells in columns.items()}
        if any(label_rank(title) is not None for title in heads):
            columns, n = heads, n - 1
    note = f"Labels come from {named(second.name)}, joined line by line."
    if n == sheet.n_rows - 1 and second.has_guessed_titles and len(columns) == 1:
        ((title, cells),) = columns.items()
        columns, n = {_LABEL: (title, *cells)}, n + 1
        note += " Its first row was taken for a label, guessed."
    if n != sheet.n_rows:
        raise CorpusError(
            f"{named(second.name)} has {n:,} rows, and {named(sheet.name)} has {sheet.n_rows:,}. "
            "Give a label for each row in the same order, an id in both files, or a name for each "
            "label."
        )
    return _added(sheet, columns, note)


def _added(sheet: Table, added: Mapping[str, Sequence[str | None]], note: str) -> Table:
    titles = unique([*sheet.columns, *(_LABEL if is_numbered(t) else t for t in added)])
    columns = {**sheet.columns}
    columns |= {t: tuple(c) for t, c in zip(titles[len(columns) :], added.values(), strict=True)}
    return sheet.changed(columns, note)
