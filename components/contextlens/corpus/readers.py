"""From an uploaded file to a corpus: its table, then the columns chosen from it."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contextlens.core.errors import CorpusError
from contextlens.core.memory import free_memory
from contextlens.corpus.archives import (
    ARCHIVES,
    FAILURES,
    MAX_ENTRIES,
    METHODS,
    is_locked,
    is_side_file,
    n_entries,
    unpacked,
)
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.delimited import read_quoted, read_table, read_text
from contextlens.corpus.exports.folders import Files, Folder, folder_in
from contextlens.corpus.exports.reading import (
    EXPORT_FORMATS,
    export_of_table,
    read_export,
    read_folder,
)
from contextlens.corpus.exports.records import Tally
from contextlens.corpus.file_vectors import (
    ARRAYS,
    FileSource,
    FileVectors,
    array_vectors,
    column_vectors,
    is_cut_short,
    matrix_vectors,
)
from contextlens.corpus.json_lines import read_json, read_json_lines
from contextlens.corpus.parquet_process import PARQUET, REFUSED
from contextlens.corpus.table import (
    MAX_COLUMNS,
    N_LABELS,
    Cells,
    Form,
    Table,
    max_rows,
    named,
    table_of,
    unique,
)

__all__ = [
    "FORMATS",
    "MAX_TEXTS",
    "MORE_FORMATS",
    "REFUSED_FORMATS",
    "TIMES_IN_MEMORY",
    "Table",
    "read",
    "to_corpus",
    "with_arrays",
]


# --- Parquet and Excel files, each read in a process of its own

_ROOT = Path(__file__).parents[2]
_MARK_ENCRYPTED = b"PARE"
_SECONDS = 120
TIMES_IN_MEMORY = 20  # the most memory of a reading process, in uploads of the largest size
_MIN_MEMORY = 300_000_000
_OUT_OF_MEMORY = re.compile(rb"MemoryError|memory allocation|bad_alloc|malloc", re.IGNORECASE)
"""As Python, Rust and C++ say it."""


def read_parquet(
    name: str,
    content: bytes,
    *,
    max_bytes: int,
    max_held: int,
    kind: str = "Parquet",
    n_seconds: float = _SECONDS,
) -> Table:
    """Return the columns of a Parquet or Arrow file.

    Args:
        name: the file's name.
        content: its bytes.
        max_bytes: the size of the largest upload; a file may unpack to ten times that.
        max_held: the most memory for its columns, in bytes; the remaining ones are left out.
        kind: "Parquet" or "Arrow".
        n_seconds: the longest time for it.

    Raises:
        CorpusError: it is damaged, encrypted or empty, or would unpack to too much.
    """
    if _MARK_ENCRYPTED in {content[:4], content[-4:]}:
        raise _encrypted(name)
    if kind == "Parquet" and content[:4] != PARQUET:
        raise CorpusError(
            f"{named(name)} is no Parquet file, though its name says so. Name it for what it is "
            "(.csv, .tsv, .jsonl or .txt), or write it again."
        )
    if kind == "Parquet" and content[-4:] != PARQUET:
        raise CorpusError(f"{named(name)} is cut off: its end is missing. Upload it once more.")
    request = {"name": named(name), "max_bytes": max_bytes, "max_held": max_held}
    read = _arrow(_in_child("Parquet", name, content, request, n_seconds))
    cells, notes, left_out, found = read
    table = table_of(name, kind, cells, notes=notes, left_out=left_out)
    if not found:
        return table
    given = {"file": named(name), "sha256": hashlib.sha256(content).hexdigest()}
    vectors = tuple(
        matrix_vectors(matrix, reasons, title=named(title), dtype=dtype, key=key, **given)
        for title, dtype, key, matrix, reasons in found
    )
    return _with_vectors(table, vectors, ())


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
    kind: Literal["Parquet", "Excel"],
    name: str,
    content: bytes,
    request: Mapping[str, Any],
    n_seconds: float = _SECONDS,
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
            timeout=n_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise CorpusError(
            f"{named(name)} takes longer than {n_seconds:,.0f} seconds to read. Keep the columns "
            "that are needed, or save it as CSV."
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


_Found = tuple[str, str, str, NDArray[Any], NDArray[np.int8]]
"""The title of a column of vectors, the type of its numbers, its name in the file if all of these
are different, the matrix, why rows have none."""


def _arrow(
    stream: bytes,
) -> tuple[dict[str, list[str | None]], list[str], list[str], list[_Found]]:
    """Return cells by title, notes, what was left out, and columns of vectors.

    Repeated texts are one object.
    """
    with pa.ipc.open_stream(stream) as reader:
        table = reader.read_all()
    metadata = table.schema.metadata
    found: list[_Found] = []
    texts = json.loads(metadata[b"texts"])
    for i, (title, dtype, key) in enumerate(json.loads(metadata[b"vectors"])):
        lists, reasons = (table.column(len(texts) + 2 * i + k).combine_chunks() for k in (0, 1))
        matrix = lists.flatten().to_numpy().reshape(len(lists), -1)
        found.append((title, dtype, key, matrix, reasons.to_numpy()))
    cells = {title: _cells(table.column(i)) for i, title in enumerate(texts)}
    return cells, json.loads(metadata[b"notes"]), json.loads(metadata[b"left_out"]), found


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
_MORE_LINES = (".iob", ".iob2", ".bio", ".ner", ".ass", ".ssa", ".sbv")
MORE_FORMATS = (".ndjson", *_MORE_LINES, ".arrow", ".feather")
"""Other names for ".jsonl" and ".conll", other subtitles, and Arrow's."""
_COLUMNS = {".parquet": "Parquet", ".arrow": "Arrow", ".feather": "Arrow"}

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
    ARRAYS: (
        "holds vectors and no texts",
        "Drop it together with the file of its texts, which has a row for each vector, or pack "
        "both into a ZIP file.",
    ),
    (".pkl", ".pickle"): (
        "is a pickle, which can run any code",
        "Save it as CSV or Parquet, as “to_csv” in pandas does.",
    ),
    (".tar", ".tgz", ".7z", ".rar", ".bz2", ".xz"): (
        "is packed in a way that is not read here",
        "Unpack it, and give one of its files, or its folder as a ZIP file.",
    ),
    (".ann",): ("has annotations without their texts", "Pack it with its .txt file as a ZIP file."),
    (".lrc", ".sub", ".ttml", ".dfxp", ".smi"): (
        "is a kind of subtitles that is not read",
        "Save it as .srt, and give that file.",
    ),
    (".spacy",): (
        "is spaCy's own binary",
        "Write each of its documents as JSON, a line each, as “doc.to_json()” makes it, and give "
        "that file (.jsonl).",
    ),
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

_MIN_HELD = 100_000  # bytes for another table of several
_MAX_JOINED = 10_000  # files whose rows become one table
_MAX_PROCESSES = 100  # of them if each takes a process
_TIMES_HELD = 10  # the most memory for a file, in uploads of the largest size

_LINES = (".txt", ".data", *EXPORT_FORMATS, *_MORE_LINES)
_PLAIN_FILES = (tuple(_COLUMNS), (".csv", ".tsv"), (".json", ".jsonl", ".ndjson"), _LINES)
"""The kinds of files of which a ZIP file may have several, if no other tool wrote them."""
_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|contextfile|corpus)\b", re.IGNORECASE)
_BEGINNING = 200  # bytes
_TABLES: dict[str, Callable[..., Table]] = {
    ".csv": read_table,
    ".tsv": partial(read_table, kind="TSV", delimiters="\t"),
    ".json": read_json,
    **dict.fromkeys(_LINES, read_text),
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
    """Return the table in a file: every value as text, but vectors of the rows as numbers.

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
    table = _table_in(name, content, max_bytes, max_held, form, sheet)
    if not table.vectors:
        return table
    source = FileSource(name, form, sheet)
    vectors = [replace(own, source=replace(source, key=own.source.key)) for own in table.vectors]
    return replace(table, vectors=tuple(vectors))


def _table_in(
    name: str, content: bytes, max_bytes: int, max_held: int | None, form: Form, sheet: str
) -> Table:
    ending = _ending(name)
    if _XML.match(content[:_BEGINNING]) and ending not in REFUSED_FORMATS:
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
        beside = _texts_with_arrays(name, content, max_bytes, held, form, sheet)
        if beside is not None:
            return beside
        bounds = {"max_bytes": max_bytes, "max_held": held}
        data = _data_set(name, content, plain=form == "plain", **bounds)
        if data is not None:
            export = None if form else export_of_table(data, held)
            return data if export is None else replace(export, content=content)
        exported = read_folder(name, content, **bounds) if form == "" else None
        if exported is not None:
            folder = folder_in(name, content, max_bytes)
            has_other_way = folder is not None and bool(_plain_files(folder))
            return replace(exported, content=content if has_other_way else b"")
    if ending in ARCHIVES and content:
        inner, unzipped = unpacked(name, content, max_bytes=max_bytes)
        table = _table_in(inner, unzipped, max_bytes, max_held, form, sheet)
        return replace(table, name=name, content=content if table.content else b"")
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
    table = _with_columns_of_vectors(table, content, held)
    if form == "" and (export := export_of_table(table, held)) is not None:
        return replace(export, content=content)
    return table


def _data_set(
    name: str, content: bytes, *, max_bytes: int, max_held: int, plain: bool
) -> Table | None:
    """Return the rows of all tables in a ZIP file: Arrow and Parquet files, or alike CSV files.

    Hugging Face's `datasets` saves such folders. None for an archive without an Arrow file and with
    fewer than two others, or with CSV files whose columns have other titles. If a person said that
    no other tool wrote the files, those of the commonest kind are such tables, too.
    """
    folder = folder_in(name, content, max_bytes)
    if folder is None:
        return None
    for endings in (_COLUMNS, (".csv", ".tsv")):
        paths = [path for path in folder.paths if _ending(path) in endings]
        if len(paths) > 1 or any(_ending(path) in {".arrow", ".feather"} for path in paths):
            return _joined(name, folder, paths, max_bytes=max_bytes, max_held=max_held)
    if plain and len(folder.paths) > 1 and (paths := _plain_files(folder)):
        return _joined(name, folder, paths, max_bytes=max_bytes, max_held=max_held, plain=True)
    return None


def _plain_files(folder: Folder) -> list[str]:
    """Return the paths of the commonest kind of files that are read as they are."""
    kinds = [[path for path in folder.paths if _ending(path) in own] for own in _PLAIN_FILES]
    return max(kinds, key=len)


def _joined(
    name: str,
    folder: Folder,
    paths: Sequence[str],
    *,
    max_bytes: int,
    max_held: int,
    plain: bool = False,
) -> Table | None:
    tally, files, used = Tally(), Files(paths), {*paths}
    columns: dict[str, list[str | None]] = {}
    notes: dict[str, list[str]] = {}
    n_rows, n_joined, n_beyond, is_cut, kind = 0, 0, 0, False, ""
    vectors: list[FileVectors] = []
    bounds = {"max_bytes": max_bytes, "max_held": max_held}
    for path, table in _tables_in(folder, paths, tally, plain=plain, **bounds):
        places = files.cells(path)
        given = {f"{t} (in the file)" if t in places else t: c for t, c in table.columns.items()}
        titles = dict.fromkeys((*columns, *given, *places))
        is_other = columns and len(titles) > len(columns) and _ending(path) not in _COLUMNS
        if is_other and not plain:
            return None
        if len(titles) > MAX_COLUMNS + len(places):
            raise CorpusError(
                f"{named(name)} has more than {MAX_COLUMNS:,} different columns in its files. Keep "
                "that of texts and those of labels."
            )
        most = max(0, max_rows(len(titles)) - n_rows) if n_rows else table.n_rows
        n_new = 0 if is_cut else min(table.n_rows, most)
        is_cut |= n_new < table.n_rows
        if not n_new:
            n_beyond += 1
            continue
        for title in titles:
            cells = (places[title],) * n_new if title in places else given.get(title)
            own = columns.setdefault(title, [None] * n_rows)
            own.extend(cells[:n_new] if cells else (None,) * n_new)
        n_rows, n_joined, kind = n_rows + n_new, n_joined + 1, kind or table.format
        for note in (*table.notes, *table.left_out):
            notes.setdefault(note, []).append(path)
        vectors.extend(table.vectors)
    if not columns:
        return None
    if is_cut:
        tally.remark(f"Only the first {n_rows:,} rows were read.")
    tally.leave_out("file with later rows", "files with later rows", n_beyond)
    others = [path for path in folder.paths if path not in used]
    tally.leave_out("file beside the tables", "files beside the tables", len(others))
    for path in others[:3]:
        tally.name(path)
    for note, (first, *more) in notes.items():
        if 1 + len(more) < n_joined:
            also = f" and {len(more):,} more" * bool(more)
            tally.say(f"{named(first)}{also}: {note}")
    common = [note for note, own in notes.items() if len(own) == n_joined]
    said = (f"{n_joined:,} files were joined.", *common, *tally.notes)
    joined = table_of(name, kind, columns, notes=dict.fromkeys(said[n_joined < 2 :]))
    if n_joined < 2 or not vectors:
        return replace(joined, vectors=tuple(vectors))
    quoted = ", ".join(dict.fromkeys(f"“{own.title}”" for own in vectors))
    why = f"The vectors of {quoted} were left out: they are read from one file only."
    return replace(joined, left_out=(*joined.left_out, f"{why} Give a file that holds all rows."))


def _tables_in(
    folder: Folder,
    paths: Sequence[str],
    tally: Tally,
    *,
    max_bytes: int,
    max_held: int,
    plain: bool,
) -> Iterator[tuple[str, Table]]:
    """Yield the tables of files within bounds of memory and time, with their paths.

    The others are counted.

    Raises:
        CorpusError: no table was read, and a file was refused.
    """
    end = time.monotonic() + _SECONDS
    most = _MAX_PROCESSES if _ending(paths[0]) in _COLUMNS else _MAX_JOINED
    beyond = f"beyond the first {most:,}"
    tally.leave_out(f"file {beyond}", f"files {beyond}", max(0, len(paths) - most))
    n_read, refusal = 0, None
    for path in paths[:most]:
        n_seconds = end - time.monotonic()
        if max_held <= _MIN_HELD or n_seconds <= 0:
            what = "memory" if max_held <= _MIN_HELD else "time for reading"
            tally.leave_out(f"file beyond the {what}", f"files beyond the {what}")
            continue
        own = folder.content(path, tally)
        tally.leave_out("empty file", n=int(own == b""))
        if not own:
            continue
        bounds = {"max_bytes": max_bytes, "max_held": max_held}
        form: Form = "" if not plain else "lines" if _ending(path) in _LINES else "plain"
        try:
            table = _plain_table(path, _ending(path), own, form=form, n_seconds=n_seconds, **bounds)
        except CorpusError as exc:
            refusal = refusal or exc
            tally.leave_out("file that cannot be read", "files that cannot be read")
            tally.say(str(exc))
            continue
        table = _with_columns_of_vectors(table, own, max_held)
        max_held -= table.n_bytes
        n_read += 1
        yield path, table
    if refusal is not None and not n_read:
        raise refusal


# --- Vectors of the rows: columns of the file, or arrays beside it


def _with_columns_of_vectors(table: Table, content: bytes, max_held: int) -> Table:
    """Return a table with its columns of lists of numbers as vectors, if another one has texts."""
    columns, vectors, left_out = dict(table.columns), list[FileVectors](), list[str]()
    given = {"file": named(table.name), "sha256": ""}
    for title, cells in table.columns.items():
        if next(filter(None, cells), "").lstrip()[:1] != "[" or len(columns) < 2:
            continue
        given["sha256"] = given["sha256"] or hashlib.sha256(content).hexdigest()
        n_left = max_held - sum(own.n_bytes for own in vectors)
        try:
            found = column_vectors(cells, title=named(title), max_bytes=n_left, **given)
        except CorpusError as exc:
            left_out.append(str(exc))
            del columns[title]
            continue
        if found is not None:
            vectors.append(found)
            del columns[title]
        elif is_cut_short(cells):
            left_out.append(
                f"“{named(title)}” holds vectors that were cut short with “...” when they were "
                "printed, so their numbers are lost. Save them as lists, such as with to_parquet."
            )
    if not vectors and not left_out:
        return table
    return _with_vectors(replace(table, columns=MappingProxyType(columns)), vectors, left_out)


def _with_vectors(table: Table, vectors: Sequence[FileVectors], left_out: Sequence[str]) -> Table:
    """Return a table with further vectors, but those that no row has."""
    usable = [*table.vectors, *(own for own in vectors if own.usable.size)]
    empty = [own.left_out_note() for own in vectors if not own.usable.size]
    titles = unique(own.title for own in usable)  # long ones were cut
    return replace(
        table,
        vectors=tuple(replace(own, title=title) for own, title in zip(usable, titles, strict=True)),
        left_out=(*table.left_out, *left_out, *empty),
    )


def with_arrays(table: Table, name: str, content: bytes, *, max_bytes: int, max_held: int) -> Table:
    """Return a table of texts with the vectors of a .npy or .npz file beside it.

    Raises:
        CorpusError: the file cannot be read, or has no vector for each row.
    """
    if len(content) > max_bytes:
        raise CorpusError(
            f"{named(name)} is {len(content) / 1e6:,.1f} MB; at most {max_bytes / 1e6:,.0f} MB are "
            "read here. Save the vectors as float16, or give fewer rows."
        )
    most = max(0, min(max_held, free_memory() // 2) - table.n_bytes)
    vectors, notes = array_vectors(
        named(name), content, table.n_rows, named(table.name), max_bytes=most
    )
    taken = {column.title for column in table.vectors}
    columns = [
        replace(
            column,
            title=f"{column.title} ({column.file})" if column.title in taken else column.title,
            source=replace(column.source, name=name),
        )
        for column in vectors
    ]
    return _with_vectors(replace(table, content=b""), columns, notes)


def _texts_with_arrays(
    name: str, content: bytes, max_bytes: int, max_held: int, form: Form, sheet: str
) -> Table | None:
    """Return the table of a ZIP file with one file of texts and arrays; None for any other."""
    if n_entries(content) > MAX_ENTRIES:
        return None
    n_left = max_bytes
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = [file for file in archive.infolist() if not is_side_file(file)]
            arrays = [file for file in files if _ending(file.filename) in ARRAYS]
            texts = [file for file in files if file not in arrays]
            is_plain = all(not is_locked(f) and f.compress_type in METHODS for f in files)
            if not arrays or len(texts) != 1 or not is_plain:
                return None
            unzipped = []
            for file in (*texts, *arrays):
                with archive.open(file) as stream:
                    unzipped.append(stream.read(n_left + 1))
                n_left -= len(unzipped[-1])
                if n_left < 0:
                    raise CorpusError(
                        f"{named(name)} unpacks to more than {max_bytes / 1e6:,.0f} MB, the most "
                        "that is read here. Save the vectors as float16, or give fewer rows."
                    )
    except FAILURES:
        return None  # said by the reader of other ZIP files
    inner = texts[0].filename.rpartition("/")[2]
    table = _table_in(inner, unzipped[0], max_bytes, max_held, form, sheet)
    has_other_way = bool(table.content)
    for file, array in zip(arrays, unzipped[1:], strict=True):
        inner = file.filename.rpartition("/")[2]
        table = with_arrays(table, inner, array, max_bytes=max_bytes, max_held=max_held)
    return replace(table, name=name, content=content if has_other_way else b"")


def _plain_table(
    name: str,
    ending: str,
    content: bytes,
    *,
    max_bytes: int,
    max_held: int,
    form: Form,
    n_seconds: float = _SECONDS,
) -> Table:
    """Return the table in a file that no other tool wrote, or that is to be read as it is."""
    if ending in _COLUMNS:
        kind = _COLUMNS[ending]
        bounds = {"max_bytes": max_bytes, "max_held": max_held}
        return read_parquet(name, content, kind=kind, n_seconds=n_seconds, **bounds)
    if ending in _TABLES:
        return _TABLES[ending](name, content, max_held, form=form)
    return read_json_lines(name, content, max_held)


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
    taken = [own.take(used_rows) for own in sheet.vectors]
    vectors = tuple(own for own in taken if own.usable.size)
    notes += [own.left_out_note() for own in taken if not own.usable.size]
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
        vectors=vectors,
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
