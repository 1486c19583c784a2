"""The process that reads one Excel file: its bytes come in, a sheet of it goes out as CSV.

An Excel file is a ZIP archive: a small one can unpack to any size, and one cell far down makes a
huge table. So the process has the bounds of the one that reads Parquet. `readers` runs it with
`python -m`. It writes CSV and a last line of JSON with notes and the titles of the sheets or, with
the exit status `REFUSED`, a sentence with the reason.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from datetime import date, datetime
from typing import IO, Any
from xml.etree import ElementTree

from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

from contextlens.core.errors import CorpusError
from contextlens.corpus.archives import MAX_ENTRIES, n_entries
from contextlens.corpus.parquet_process import TIMES_UNPACKED, main
from contextlens.corpus.table import MAX_COLUMNS, clean, max_rows, named

_TIMES_WRITTEN = 3  # the most text of a file, in uploads of the largest size
_MAX_CELLS = 20_000_000  # empty ones included


_FORMULA = re.compile(
    rb"<(?:\w+:)?c\b(?:(?P<text>[^>]*\bt=.str.[^>]*)|[^>]*)>\s*"
    rb"<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?P<value><(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
"""A cell with a formula and no value, or an empty one, which is a value if it is a text."""
_STEP = 1 << 20  # bytes
_LONGEST_FORMULA = 1 << 16  # bytes, twice as long as Excel allows


def _write(name: str, content: bytes, max_bytes: int, wanted: str = "") -> None:
    """Write a sheet as CSV, row by row, then notes: the wanted one, or the first with a cell."""
    _check_unpacked(name, content, max_bytes)
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
        titles = [own.name for own in workbook.sheets_metadata if _is_visible(own)]
        order = sorted(titles, key=lambda title: title != wanted)
        sheets = (workbook.get_sheet_by_name(title) for title in order)
        sheet = next((own for own in sheets if own.height and own.width), None)
    except CalamineError as exc:
        is_locked = "password" in str(exc).casefold()
        raise CorpusError(
            f"{named(name)} needs a password. Save it without one."
            if is_locked
            else f"{named(name)} cannot be read as an Excel file: it is damaged. Save it again, or "
            "save it as CSV."
        ) from exc
    if sheet is None:
        why = _formula_note(content) or "Give one with a row of texts."
        raise CorpusError(f"{named(name)} has no cell in any sheet. {why}")
    if sheet.width > MAX_COLUMNS or sheet.height * sheet.width > _MAX_CELLS:
        raise CorpusError(
            f"{named(name)} has {sheet.height:,} rows of {sheet.width:,} columns, empty ones "
            f"included; at most {MAX_COLUMNS:,} columns and {_MAX_CELLS:,} cells are read. Delete "
            "what is not needed."
        )
    n_rows = _write_csv(sheet.iter_rows(), sheet.width, _TIMES_WRITTEN * max_bytes)
    is_cut = n_rows < sheet.height
    notes = [f"Only the first {n_rows:,} lines of the sheet were read."] if is_cut else []
    if len(titles) > 1:
        notes.append(f"Only the sheet “{named(sheet.name)}” was read, one of {len(titles):,}.")
    if formulas := _formula_note(content, sheet.name):
        notes.append(formulas)
    sheets_read = [sheet.name, *(title for title in titles if title != sheet.name)]
    sys.stdout.buffer.write(json.dumps([notes, sheets_read]).encode())


def _formula_note(content: bytes, sheet: str = "") -> str:
    """Return a note on formulas that no spreadsheet program has computed; "" if there is none.

    Those of one sheet are counted if its part of the file is found, else those of all sheets.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        known = archive.namelist()
        every = [own for own in known if own.startswith("xl/worksheets/") and own.endswith(".xml")]
        path = _path_of(archive, sheet) if sheet else ""
        n = sum(_n_formulas(archive, own) for own in ([path] if path in known else every))
    if not n:
        return ""
    where = "sheet" if path in known else "file"
    cells_hold = f"1 cell of the {where} holds" if n == 1 else f"{n:,} cells of the {where} hold"
    return (
        f"{cells_hold} a formula without a stored value, and such cells are read as empty. Open "
        "the file in a spreadsheet program, save it there, and give it again."
    )


def _path_of(archive: zipfile.ZipFile, sheet: str) -> str:
    """Return the path of a sheet's part in an Excel file; "" if the file does not say it."""
    try:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        parts = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return ""
    sheets = (own for own in book.iter() if own.tag.endswith("}sheet") and own.get("name") == sheet)
    cells = dict(next(sheets, book).items())
    name = next((value for key, value in cells.items() if key.endswith("}id")), "")
    target = next((part.get("Target") or "" for part in parts if part.get("Id") == name), "")
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _n_formulas(archive: zipfile.ZipFile, path: str) -> int:
    """Return the number of cells of a sheet whose formula has no stored value."""
    with archive.open(path) as stream:
        return _n_matches(stream)


def _n_matches(stream: IO[bytes]) -> int:
    n, rest = 0, b""
    while step := stream.read(_STEP):
        text, end = rest + step, 0
        for match in _FORMULA.finditer(text):
            n, end = n + (match["text"] is None or match["value"] is None), match.end()
        rest = text[max(end, text.rfind(b"<row"), len(text) - _LONGEST_FORMULA) :]
    return n


def _check_unpacked(name: str, content: bytes, max_bytes: int) -> None:
    """Refuse a file that is no ZIP archive, or says that it unpacks to too much."""
    if n_entries(content) > MAX_ENTRIES:
        raise CorpusError(f"{named(name)} holds over {MAX_ENTRIES:,} parts. Save it as CSV.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            n_bytes = sum(file.file_size for file in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError) as exc:
        raise CorpusError(
            f"{named(name)} is no Excel file of the kind .xlsx, though its name says so. Save it "
            "as .xlsx, or as CSV."
        ) from exc
    if n_bytes > TIMES_UNPACKED * max_bytes:
        raise CorpusError(
            f"{named(name)} unpacks to {n_bytes / 1e6:,.0f} MB; at most "
            f"{TIMES_UNPACKED * max_bytes / 1e6:,.0f} MB are read, ten times what the server's "
            "CONTEXTLENS_MAX_UPLOAD_MB allows. Keep the columns that are needed, or split it."
        )


def _is_visible(sheet: Any) -> bool:
    return bool(sheet.visible == SheetVisibleEnum.Visible)


def _write_csv(rows: Iterator[list[Any]], width: int, max_characters: int) -> int:
    """Write rows with every cell quoted, up to so many characters; return their number."""
    out = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    n_rows = n_characters = 0
    for row in rows:
        if n_rows > max_rows(width) or n_characters > max_characters:
            break
        n_characters += writer.writerow([_text(cell) for cell in row])
        n_rows += 1
    out.detach()
    return n_rows


def _text(cell: Any) -> str:
    """Return a cell as Excel shows it: 1 for 1.0, TRUE, and dates in the order of ISO 8601."""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, date):
        return cell.isoformat()
    return clean(str(cell))


if __name__ == "__main__":
    sys.exit(main(_write))
