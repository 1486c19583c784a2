"""Parquet files, in this process: the app reads each in one of its own, which may end.

What the library that reads them does to this process is what the app tells in a sentence, so an end
counts as a refusal; a hang does not, and nor does anything that is raised.
"""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from components.corpus import parquet_process, readers
from components.corpus.readers import read
from tests.fuzz.target import MEGABYTE, Target
from tests.fuzz.targets.uploads import check_sheet

__all__ = ["TARGETS"]

_MAX_BYTES = MEGABYTE // 2


def _run(content: bytes) -> None:
    with _here():
        sheet = read("reviews.parquet", content, max_bytes=_MAX_BYTES)
    check_sheet(sheet)


@contextmanager
def _here() -> Iterator[None]:
    """`parquet` reads in this process, which has its own bound on memory."""
    kept = readers.subprocess, parquet_process._bound_memory
    readers.subprocess, parquet_process._bound_memory = _Here, lambda _: None
    try:
        yield
    finally:
        readers.subprocess, parquet_process._bound_memory = kept


class _Here(SimpleNamespace):
    """`subprocess` for `parquet`: the reading process's own `main`, in this process."""

    TimeoutExpired = subprocess.TimeoutExpired

    @staticmethod
    def run(command: list[str], *, input: bytes, **_: Any) -> SimpleNamespace:  # noqa: A002
        kept = sys.argv, sys.stdin, sys.stdout
        out = io.TextIOWrapper(io.BytesIO())
        sys.argv, sys.stdin, sys.stdout = command[2:], io.TextIOWrapper(io.BytesIO(input)), out
        try:
            status, said = parquet_process.main(), b""
        except Exception as exc:  # noqa: BLE001 - Python tells it, and ends the process with 1
            status, said = 1, repr(exc).encode()
        finally:
            sys.argv, sys.stdin, sys.stdout = kept
        return SimpleNamespace(returncode=status, stdout=out.buffer.getvalue(), stderr=said)


# How inputs are made

_texts = st.text(max_size=12) | st.sampled_from(["pet python", "", "\0", "=1+1", "é" * 200])
_kinds: tuple[tuple[pa.DataType, st.SearchStrategy[Any]], ...] = (
    *((pa.string(), _texts) for _ in range(4)),
    (pa.large_string(), _texts),
    (pa.binary(), st.binary(max_size=8)),
    (pa.binary(3), st.binary(min_size=3, max_size=3)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.uint8(), st.integers(0, 255)),
    (pa.float32(), st.floats(width=32)),
    (pa.bool_(), st.booleans()),
    (pa.date32(), st.dates()),
    (pa.timestamp("us"), st.datetimes()),
    (pa.decimal128(10, 2), st.decimals(-10_000, 10_000, places=2)),
    (pa.list_(pa.string()), st.lists(_texts, max_size=3)),
    (pa.list_(pa.binary()), st.lists(st.binary(max_size=3), max_size=3)),
    (pa.struct([("a", pa.int32()), ("b", pa.string())]), st.fixed_dictionaries({"b": _texts})),
    (pa.map_(pa.string(), pa.int32()), st.lists(st.tuples(_texts, st.integers(0, 9)), max_size=2)),
    (pa.null(), st.none()),
)


@st.composite
def _files(draw: Callable[[st.SearchStrategy[Any]], Any]) -> bytes:
    n_rows = draw(st.sampled_from([0, 1, 3, 3, 8]))
    arrays, titles = [], []
    for _ in range(draw(st.sampled_from([1, 2, 2, 3, 3, 9]))):
        kind, values = draw(st.sampled_from(_kinds))
        cells = st.none() | values
        arrays.append(pa.array(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), kind))
        titles.append(draw(st.sampled_from(["text", "label", "a.b", ""]) | st.text(max_size=6)))
    table = pa.table(arrays, titles)
    if n_rows and draw(st.integers(0, 60)) == 0:
        table = pa.concat_tables([table] * 400)
    return _written(
        table,
        compression=draw(st.sampled_from(["none", "snappy", "gzip", "zstd"])),
        use_dictionary=draw(st.booleans()),
        data_page_version=draw(st.sampled_from(["1.0", "2.0"])),
        store_schema=draw(st.booleans()),
        row_group_size=draw(st.sampled_from([2, 1_000])),
    )


def _written(table: pa.Table, **how: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **how)
    return stream.getvalue()


@cache
def _seeds() -> dict[str, bytes]:
    """Valid files, and small ones that unpack to much."""
    plain = pa.table({"text": ["my pet python", None, "é"], "label": ["x", "y", "x"]})
    bomb = pa.table({"text": pa.array(["x" * 10_000] * 3_000)})
    lists = pa.table({"text": ["a"] * 2, "many": [[1, 2], None]})
    return {
        "plain": _written(plain),
        "gzip": _written(plain, compression="gzip", use_dictionary=False),
        "lists": _written(lists),
        "bomb": _written(bomb, compression="zstd"),
        "plain bomb": _written(bomb, compression="gzip", use_dictionary=False),
    }


_TOKENS = (
    b"PAR1",
    b"\x15\x00",
    b"\x19\x1c",
    b"\xff\xff\xff\xff\x0f",
    b"\x7f\xff\xff\xff",
    b"ARROW:schema",
)

TARGETS = {
    "parquet": Target(
        name="parquet",
        run=_run,
        structure=_files(),
        seeds=_seeds,
        tokens=_TOKENS,
        dies=True,
        most_bytes=400 * MEGABYTE,
    )
}
