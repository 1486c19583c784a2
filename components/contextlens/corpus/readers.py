"""From an uploaded file to a corpus: its table, then the columns chosen from it."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pyarrow as pa

from contextlens.core.errors import CorpusError
from contextlens.core.memory import free_memory
from contextlens.corpus.archives import ARCHIVES, unpacked
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.delimited import read_quoted, read_table, read_text
from contextlens.corpus.exports.reading import (
    EXPORT_FORMATS,
    export_of_table,
    read_export,
    read_folder,
)
from contextlens.corpus.json_lines import read_json, read_json_lines
from contextlens.corpus.parquet_process import REFUSED
from contextlens.corpus.table import N_LABELS, Cells, Form, Table, named, table_of

__all__ = [
    "FORMATS",
    "MAX_TEXTS",
    "MORE_FORMATS",
    "REFUSED_FORMATS",
    "TIMES_IN_MEMORY",
    "Table",
    "read",
    "to_corpus",
]


# --- Parquet and Excel files, each read in a process of its own

_ROOT = Path(__file__).parents[2]
_MARK = b"PAR1"
_MARK_ENCRYPTED = b"PARE"
_SECONDS = 120
TIMES_IN_MEMORY = 20  # the most memory of a reading process, in uploads of the largest size
_MIN_MEMORY = 300_000_000
_OUT_OF_MEMORY = re.compile(rb"MemoryError|memory allocation|bad_alloc|malloc", re.IGNORECASE)
"""As Python, Rust and C++ say it."""


def read_parquet(name: str, content: bytes, *, max_bytes: int, max_held: int) -> Table:
    """Return the columns of a Parquet file.

    Args:
        name: the file's name.
        content: its bytes.
        max_bytes: the size of the largest upload; a file may unpack to ten times that.
        max_held: the most memory for its columns, in bytes; the remaining ones are left out.

    Raises:
        CorpusError: it is damaged, encrypted or empty, or would unpack to too much.
    """
    if _MARK_ENCRYPTED in {content[:4], content[-4:]}:
        raise _encrypted(name)
    if content[:4] != _MARK:
        raise CorpusError(
            f"{named(name)} is no Parquet file, though its name says so. Name it for what it is "
            "(.csv, .tsv, .jsonl or .txt), or write it again."
        )
    if content[-4:] != _MARK:
        raise CorpusError(f"{named(name)} is cut off: its end is missing. Upload it once more.")
    request = {"name": named(name), "max_bytes": max_bytes, "max_held": max_held}
    cells, notes, left_out = _arrow(_in_child("Parquet", name, content, request))
    return table_of(name, "Parquet", cells, notes=notes, left_out=left_out)


def read_excel(
    name: str, content: bytes, *, max_bytes: int, max_held: int, form: Form = "", sheet: str = ""
) -> Table:
    """Return a sheet of an Excel file: the one that is named, or the first that has a cell.

    Args:
        name: the file's name.
        content: its bytes.
        max_bytes: the size of the largest upload; a file may unpack to ten times that.
        max_held: the most memory for its columns, in bytes; further rows are left out.
        form: "plain" if a person said that no row of titles is left out.
        sheet: the title of a sheet that a person chose; "" for none.

    Raises:
        CorpusError: it is damaged, encrypted or empty, or would unpack to too much.
    """
    request = {"name": named(name), "max_bytes": max_bytes, "wanted": sheet}
    written = _in_child("Excel", name, content, request)
    end = written.rindex(b"\n") + 1
    (notes, sheets), text = json.loads(written[end:]), written[:end]
    del written
    try:
        table = read_quoted(name, text, "Excel", max_held, form=form)
    except CorpusError as exc:
        raise CorpusError(" ".join((str(exc), *notes))) from exc
    has_choice = len(sheets) > 1
    return replace(
        table,
        notes=(*notes, *table.notes),
        content=content if table.content or has_choice else b"",
        sheets=tuple(sheets) if has_choice else (),
    )


def _encrypted(name: str) -> CorpusError:
    return CorpusError(
        f"{named(name)} is encrypted. Write it without encryption, or save it as CSV."
    )


def _in_child(
    kind: Literal["Parquet", "Excel"], name: str, content: bytes, request: Mapping[str, Any]
) -> bytes:
    """Return what a process of its own makes of a file, within half of the memory at hand."""
    most = max(TIMES_IN_MEMORY * request["max_bytes"], _MIN_MEMORY)
    max_memory = min(most, free_memory() // 2)
    module = f"contextlens.corpus.{kind.casefold()}_process"
    search = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, json.dumps({**request, "max_memory": max_memory})],
            input=content,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": search, "ARROW_DEFAULT_MEMORY_POOL": "system"},
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise CorpusError(
            f"{named(name)} takes longer than {_SECONDS} seconds to read. Keep the columns that "
            "are needed, or save it as CSV."
        ) from exc
    if done.returncode == REFUSED:
        raise CorpusError(done.stdout.decode())
    if done.returncode and b"crypt" in done.stderr.lower():  # the library may abort on it, too
        raise _encrypted(name)
    if done.returncode and _OUT_OF_MEMORY.search(done.stderr):
        raise CorpusError(
            f"{named(name)} takes more than {max_memory / 1e6:,.0f} MB of memory to read, and "
            "there is no more for it now. Keep what is needed of it, or save it as CSV."
        )
    if done.returncode:
        raise CorpusError(
            f"{named(name)} cannot be read as {kind}: it is damaged. Write it again, or save it "
            "as CSV."
        )
    return done.stdout


def _arrow(stream: bytes) -> tuple[dict[str, list[str | None]], list[str], list[str]]:
    """Return cells by title, notes, and what was left out; repeated texts are one object."""
    with pa.ipc.open_stream(stream) as reader:
        table = reader.read_all()
    metadata = table.schema.metadata
    cells = {title: _cells(table[title]) for title in table.column_names}
    return cells, json.loads(metadata[b"notes"]), json.loads(metadata[b"left_out"])


def _cells(column: pa.ChunkedArray) -> list[str | None]:
    cells: list[str | None] = []
    for chunk in column.chunks:
        texts = chunk.dictionary.to_pylist()
        cells += [None if i is None else texts[i] for i in chunk.indices.to_pylist()]
    return cells


FORMATS = (
    *(".txt", ".data", ".csv", ".tsv", ".jsonl", ".json", ".xlsx", ".parquet"),
    *EXPORT_FORMATS,
    *ARCHIVES,
)
"""File extensions that can be read."""
MORE_FORMATS = (".ndjson", ".iob", ".iob2", ".bio", ".ner")
"""Other names for ".jsonl" and ".conll"."""

_AS_TEXT = "Save it as plain text (.txt), a text a line, and give that file."
_AS_CSV = "Save it as .xlsx or as CSV, and give that file."
_DATA = "Save its data as CSV, as {} does, and give that file."
_REFUSALS: Mapping[tuple[str, ...], tuple[str, str]] = {
    (".docx", ".doc", ".odt", ".rtf"): ("is a word processor's document", _AS_TEXT),
    (".pptx", ".ppt", ".odp"): ("is a presentation", _AS_TEXT),
    (".pdf",): ("is a PDF, which holds places of letters and no sentences", _AS_TEXT),
    (".epub",): ("is a book of several files", _AS_TEXT),
    (".html", ".htm"): ("is a web page", _AS_TEXT),
    (".xls", ".xlsb", ".ods"): ("is a workbook of a kind that is not read", _AS_CSV),
    (".sav", ".zsav", ".por"): ("is of SPSS", _DATA.format("“File, Save As, CSV” in SPSS")),
    (".dta",): ("is of Stata", _DATA.format("“export delimited” in Stata")),
    (".sas7bdat", ".xpt"): ("is of SAS", _DATA.format("“proc export” in SAS")),
    (".rds", ".rda", ".rdata"): ("is of R", _DATA.format("“write.csv” in R")),
    (".pkl", ".pickle"): (
        "is a pickle, which can run any code",
        "Save it as CSV or Parquet, as “to_csv” in pandas does.",
    ),
    (".tar", ".tgz", ".7z", ".rar", ".bz2", ".xz"): (
        "is packed in a way that is not read here",
        "Unpack it, and give one of its files, or its folder as a ZIP file.",
    ),
    (".ann",): ("has annotations without their texts", "Pack it with its .txt file as a ZIP file."),
    (".xml",): (
        "is XML, which is no table",
        "Write a table with a row for each marked word: its text, its place and its sense. "
        "docs/files.md has the Python for SemCor.",
    ),
}
REFUSED_FORMATS = {ending: why for endings, why in _REFUSALS.items() for ending in endings}
"""Why files of other extensions are refused, and the way out."""

MAX_TEXTS = 200_000
_MAX_LENGTH = 20_000  # characters of a sentence: forty times what a model reads
_MAX_LABEL = 200  # characters
_MAX_LABELS = 5_000  # different values

_TIMES_HELD = 10  # the most memory for a file, in uploads of the largest size

_TEXTS = (".txt", ".data")
_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|contextfile|corpus)\b", re.IGNORECASE)
_BEGINNING = 200  # bytes
_TABLES: dict[str, Callable[..., Table]] = {
    ".csv": read_table,
    ".tsv": partial(read_table, kind="TSV", delimiters="\t"),
    ".json": read_json,
}
_READERS: dict[str, Callable[[str, bytes, int], Table]] = {
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    **dict.fromkeys((*EXPORT_FORMATS, *MORE_FORMATS[1:]), read_text),
}


def read(
    name: str,
    content: bytes,
    *,
    max_bytes: int,
    max_held: int | None = None,
    form: Form = "",
    sheet: str = "",
) -> Table:
    """Return the table in a file, every value as text.

    Args:
        name: the file's name; its extension decides how it is read.
        content: the file.
        max_bytes: the largest size allowed.
        max_held: the most memory for its columns, in bytes; further rows are left out. Ten times
            the largest size by default.
        form: "lines", "table" or "plain" if a person said what it is.
        sheet: the title of the sheet of an Excel file that a person chose; "" for none.

    Raises:
        CorpusError: it is too large, empty, damaged, or not what its name says.
    """
    ending = _ending(name)
    if _XML.match(content[:_BEGINNING]):
        ending = ".xml"
    if ending in REFUSED_FORMATS:
        why, way_out = REFUSED_FORMATS[ending]
        raise CorpusError(f"{named(name)} {why}. {way_out}")
    if ending not in {*FORMATS, *MORE_FORMATS}:
        raise CorpusError(
            f"{named(name)} cannot be read: its name must end in one of {', '.join(FORMATS)}. "
            "Save it as one of these, or rename it if it is one."
        )
    if len(content) > max_bytes:
        raise CorpusError(
            f"{named(name)} is {math.ceil(len(content) / 1e5) / 10:,.1f} MB; at most "
            f"{max_bytes / 1e6:,.0f} MB are read here. Split it, or ask whoever runs this server "
            "for a larger CONTEXTLENS_MAX_UPLOAD_MB."
        )
    held = _TIMES_HELD * max_bytes if max_held is None else max_held
    held = min(held, free_memory() // 2)
    if ending == ".zip" and content:
        folder = read_folder(name, content, max_bytes=max_bytes, max_held=held)
        if folder is not None:
            return folder
    if ending in ARCHIVES and content:
        name, content = unpacked(name, content, max_bytes=max_bytes)
        return read(name, content, max_bytes=max_bytes, max_held=max_held, form=form, sheet=sheet)
    if not content:
        raise CorpusError(f"{named(name)} is empty. Give a file with at least one sentence.")
    if form == "" and (export := read_export(name, ending, content, held)) is not None:
        return replace(export, content=content)
    if ending == ".xlsx":
        table = read_excel(
            name, content, max_bytes=max_bytes, max_held=held, form=form, sheet=sheet
        )
    else:
        table = _plain_table(name, ending, content, max_bytes=max_bytes, max_held=held, form=form)
    if form == "" and (export := export_of_table(table, held)) is not None:
        return replace(export, content=content)
    return table


def _plain_table(
    name: str, ending: str, content: bytes, *, max_bytes: int, max_held: int, form: Form
) -> Table:
    """Return the table in a file that no other tool wrote, or that is to be read as it is."""
    if ending == ".parquet":
        return read_parquet(name, content, max_bytes=max_bytes, max_held=max_held)
    if ending in _TEXTS:
        return read_text(name, content, max_held, form=form)
    if ending in _TABLES:
        return _TABLES[ending](name, content, max_held, form=form)
    return _READERS[ending](name, content, max_held)


def _ending(name: str) -> str:
    return "".join(name.strip().rpartition(".")[1:]).casefold()


def to_corpus(
    sheet: Table,
    text_column: str,
    label_columns: Sequence[str] = (),
    *,
    max_texts: int = MAX_TEXTS,
) -> Corpus:
    """Return the sentences of one column and the labels of others, of rows with a sentence.

    Args:
        sheet: the table from `read`.
        text_column: the title of the column of sentences.
        label_columns: titles of the columns whose values label them.
        max_texts: the largest number of sentences, from the first on.

    Raises:
        CorpusError: there is no such column, it holds no sentence, or there are too many labels.
    """
    cells = _column(sheet, text_column)
    titles = tuple(dict.fromkeys(label_columns))
    labels = {title: _column(sheet, title) for title in titles}
    filled = [i for i, cell in enumerate(cells) if cell and not cell.isspace()]
    if not filled:
        others = [title for title, kind in sheet.kinds.items() if kind != "empty"]
        others = [title for title in others if title not in sheet.label_columns]
        way_out = f"Choose another column, such as {named(others[0])}." if others else ""
        none = f"{named(text_column)} has no text in any of its {len(cells):,} rows."
        raise CorpusError(" ".join(filter(None, (none, way_out or " ".join(sheet.notes)))))
    used_rows = filled[:max_texts]
    texts = _stripped(cells, used_rows)
    notes = [
        *sheet.notes,
        *_row_notes(len(cells), len(filled), len(used_rows)),
        *_length_notes(texts),
    ]
    label_values: dict[str, tuple[str, ...]] = {}
    for title, column in labels.items():
        label_values[title] = _stripped(column, used_rows)
        notes += _label_notes(title, label_values[title])
    return Corpus(
        name=named(sheet.name),
        texts=_once(texts, lambda text: text[:_MAX_LENGTH].rstrip()),
        labels=MappingProxyType(
            {title: _once(values, _short_label) for title, values in label_values.items()}
        ),
        notes=tuple(notes),
    )


def _stripped(cells: Cells, rows: Sequence[int]) -> tuple[str, ...]:
    return _once([cells[i] or "" for i in rows], str.strip)


def _once(texts: Sequence[str], change: Callable[[str], str]) -> tuple[str, ...]:
    """Return changed texts, equal ones as one object: a long text may be in every row."""
    changed = {text: change(text) for text in set(texts)}
    return tuple(changed[text] for text in texts)


def _column(sheet: Table, title: str) -> Cells:
    if title not in sheet.columns:
        columns = ", ".join(named(column) for column in list(sheet.columns)[:10])
        more = ", …" if len(sheet.columns) > 10 else ""
        raise CorpusError(
            f"{named(sheet.name)} has no column {named(title)!r}. Choose one of: {columns}{more}."
        )
    return sheet.columns[title]


def _row_notes(n_rows: int, n_filled: int, n_kept: int) -> list[str]:
    notes = []
    if blank := n_rows - n_filled:
        notes.append(f"{_rows(blank)} left out: no text.")
    if beyond := n_filled - n_kept:
        notes.append(f"{_rows(beyond)} left out: only the first {n_kept:,} sentences are used.")
    return notes


def _length_notes(texts: Sequence[str]) -> list[str]:
    if long := sum(len(text) > _MAX_LENGTH for text in texts):
        texts_were = "text was" if long == 1 else "texts were"
        return [f"{long:,} {texts_were} cut to the first {_MAX_LENGTH:,} characters."]
    return []


def _label_notes(title: str, values: Sequence[str]) -> list[str]:
    n_different = len(set(values) - {""})
    if n_different > _MAX_LABELS:
        raise CorpusError(
            f"{named(title)} has {n_different:,} different values; labels may have at most "
            f"{_MAX_LABELS:,}. Choose a column whose values repeat."
        )
    notes = []
    if n_different > N_LABELS:
        notes.append(
            f"{named(title)} has {n_different:,} different values: only the most frequent get a "
            "colour of their own."
        )
    if any(len(value) > _MAX_LABEL for value in values):
        notes.append(f"Labels in {named(title)} were cut to {_MAX_LABEL:,} characters.")
    return notes


def _short_label(value: str) -> str:
    return value if len(value) <= _MAX_LABEL else value[: _MAX_LABEL - 1] + "…"


def _rows(n_rows: int) -> str:
    return f"{n_rows:,} row was" if n_rows == 1 else f"{n_rows:,} rows were"
