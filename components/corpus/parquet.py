"""Parquet files, read in a process of their own.

The library that reads them can abort on a damaged file, and a small file can unpack to any size.
Here either ends a child with a bound on its memory, never the server (see `parquet_process`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

from components.core.errors import CorpusError
from components.corpus.parquet_process import REFUSED
from components.corpus.sheet import Sheet, named, sheet_of

__all__ = ["read_parquet"]

_ROOT = Path(__file__).parents[2]
_MODULE = "components.corpus.parquet_process"
_MARK = b"PAR1"
_MARK_ENCRYPTED = b"PARE"
_SECONDS = 120


def read_parquet(name: str, content: bytes, *, max_bytes: int, max_held: int) -> Sheet:
    """The columns of a Parquet file.

    Args:
        name: the file's name.
        content: its bytes.
        max_bytes: the size of the largest upload; a file may unpack to ten times that.
        max_held: the most memory that its columns may take, in bytes; others are left out.

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
    cells, notes, left_out = _unpacked(_in_child(name, content, json.dumps(request)))
    return sheet_of(name, "Parquet", cells, notes=notes, left_out=left_out)


def _encrypted(name: str) -> CorpusError:
    return CorpusError(
        f"{named(name)} is encrypted. Write it without encryption, or save it as CSV."
    )


def _in_child(name: str, content: bytes, request: str) -> bytes:
    search = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(
            [sys.executable, "-m", _MODULE, request],
            input=content,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": search},
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
    if done.returncode and b"crypt" in done.stderr.lower():  # on which the library aborts too
        raise _encrypted(name)
    if done.returncode:
        raise CorpusError(
            f"{named(name)} cannot be read as Parquet: it is damaged, or takes more memory than "
            "there is for it. Write it again, or save it as CSV."
        )
    return done.stdout


def _unpacked(stream: bytes) -> tuple[dict[str, list[str | None]], list[str], list[str]]:
    """Cells by title, notes, and what was left out; texts that repeat are one object."""
    with pa.ipc.open_stream(stream) as reader:
        table = reader.read_all()
    said = table.schema.metadata
    cells = {title: _cells(table[title]) for title in table.column_names}
    return cells, json.loads(said[b"notes"]), json.loads(said[b"left_out"])


def _cells(column: pa.ChunkedArray) -> list[str | None]:
    cells: list[str | None] = []
    for chunk in column.chunks:
        texts = chunk.dictionary.to_pylist()
        cells += [None if i is None else texts[i] for i in chunk.indices.to_pylist()]
    return cells
