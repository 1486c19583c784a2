"""Arrays and a few texts as one safetensors file, and back, with as few copies as can be.

The library of that name copies every array several times, which for ten megabytes costs as much as
a fifth of computing them. What is written here it reads, and the other way round.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["DTYPES", "BrokenFileError", "Buffer", "Take", "read", "write"]

Buffer = bytes | memoryview
Take = Callable[[int], bytes]
DTYPES: Mapping[str, np.dtype[Any]] = {
    name: np.dtype(kind)
    for name, kind in (
        ("F64", "<f8"),
        ("F32", "<f4"),
        ("F16", "<f2"),
        ("I64", "<i8"),
        ("I32", "<i4"),
        ("I16", "<i2"),
        ("I8", "i1"),
        ("U64", "<u8"),
        ("U32", "<u4"),
        ("U16", "<u2"),
        ("U8", "u1"),
        ("BOOL", "?"),
    )
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_METADATA = "__metadata__"
_MOST_DIMENSIONS = 32
_TOGETHER_BYTES = 1 << 16
_MOST_LISTS = 1_000_000
"""In a header, with the value that it holds; 4,096 texts of code have a quarter of that."""


class BrokenFileError(Exception):
    """These bytes are no whole safetensors file, or hold what is not sent."""


def write(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> list[Buffer]:
    """A file of arrays (contiguous, of `DTYPES`) and texts, as buffers that follow each other.

    Small arrays come first, so that who reads it takes many of them at once.
    """
    header: dict[str, Any] = {_METADATA: dict(metadata)}
    buffers: list[Buffer] = []
    end = 0
    for name, array in sorted(arrays.items(), key=lambda item: item[1].nbytes):
        start, end = end, end + array.nbytes
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": array.shape,
            "data_offsets": (start, end),
        }
        if array.nbytes:
            buffers.append(array.data.cast("B"))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return [len(text).to_bytes(8, "little") + text, *buffers]


def read(take: Take, size: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a file, read-only, each with memory of its own, and its texts.

    So one of many that is kept does not keep all, and a large one is read to where it stays.

    Args:
        take: gives the file's next so many bytes; fewer only at its end.
        size: of the file.

    Raises:
        BrokenFileError: header and bytes do not agree.
    """
    start = take(min(8, size))
    length = int.from_bytes(start, "little")
    if len(start) < 8 or length > size - 8:
        raise BrokenFileError
    text = take(length)
    if text.count(b"[") + text.count(b"{") > _MOST_LISTS:
        raise BrokenFileError
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise BrokenFileError from None
    if len(text) < length or not isinstance(header, dict):
        raise BrokenFileError
    metadata = header.pop(_METADATA, None)
    entries = _entries(header, size - 8 - length)
    arrays: dict[str, np.ndarray] = {}
    for some in _taken_together(entries):
        data = take(sum(entry.n_bytes for entry in some))
        at = 0
        for entry in some:
            own = data if len(some) == 1 else data[at : at + entry.n_bytes]
            arrays[entry.name] = _array(own, entry)
            at += entry.n_bytes
    return arrays, metadata if isinstance(metadata, dict) else {}


@dataclass(frozen=True)
class _Entry:
    """What a header says of one array."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    n_bytes: int


def _entries(header: Mapping[str, Any], size: int) -> list[_Entry]:
    """The arrays that make up so many bytes, in their order: no holes, nothing twice."""
    entries: list[_Entry] = []
    end = 0
    for name, given in header.items():
        dtype, shape, start, stop = _checked(given)
        if start != end:
            raise BrokenFileError
        entries.append(_Entry(name, dtype, shape, stop - start))
        end = stop
    if end != size:
        raise BrokenFileError
    return entries


def _taken_together(entries: Iterable[_Entry]) -> Iterator[list[_Entry]]:
    """Small arrays that follow each other in groups, a large one by itself."""
    group: list[_Entry] = []
    n_bytes = 0
    for entry in entries:
        if group and n_bytes + entry.n_bytes > _TOGETHER_BYTES:
            yield group
            group, n_bytes = [], 0
        group.append(entry)
        n_bytes += entry.n_bytes
    if group:
        yield group


def _checked(entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """What a header says of one array, where it fits together."""
    try:
        dtype = DTYPES[entry["dtype"]]
        shape, (start, stop) = tuple(entry["shape"]), entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise BrokenFileError from None
    sizes = (*shape, start, stop)
    if len(shape) > _MOST_DIMENSIONS or any(type(n) is not int or n < 0 for n in sizes):
        raise BrokenFileError
    if stop - start != math.prod(shape) * dtype.itemsize:
        raise BrokenFileError
    return dtype, shape, start, stop


def _array(data: bytes, entry: _Entry) -> np.ndarray:
    if len(data) != entry.n_bytes:
        raise BrokenFileError
    array = np.frombuffer(data, entry.dtype) if data else np.empty(0, entry.dtype)
    try:
        array = array.reshape(entry.shape)
    except ValueError:  # a size beyond all bounds beside a size of 0
        raise BrokenFileError from None
    array.flags.writeable = False
    return array
