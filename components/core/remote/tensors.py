"""Arrays and a few texts as one safetensors file in memory, and back, with as few copies as can be.

The library of that name copies every array several times, which for ten megabytes costs as much as
a fifth of computing them. What is written here it reads, and the other way round.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["DTYPES", "BrokenFileError", "read", "write"]

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


class BrokenFileError(Exception):
    """These bytes are no whole safetensors file, or hold what is not sent."""


def write(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> bytes:
    """A file of arrays (contiguous, of `DTYPES`) and texts."""
    header: dict[str, Any] = {_METADATA: dict(metadata)}
    buffers: list[Any] = []
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": array.shape,
            "data_offsets": (start, end),
        }
        buffers.append(array.data.cast("B") if array.nbytes else b"")
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *buffers])


def read(body: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a file, read-only, and its texts.

    An array that is most of the file stays in it; others get memory of their own, so that one of
    many that is kept does not keep all.

    Raises:
        BrokenFileError: header and bytes do not agree.
    """
    length = int.from_bytes(body[:8], "little")
    if len(body) < 8 or length > len(body) - 8:
        raise BrokenFileError
    try:
        header = json.loads(body[8 : 8 + length])
    except (ValueError, RecursionError):
        raise BrokenFileError from None
    if not isinstance(header, dict):
        raise BrokenFileError
    metadata = header.pop(_METADATA, None)
    arrays: dict[str, np.ndarray] = {}
    end = 0
    for name, entry in header.items():
        dtype, shape, start, stop = _checked(entry)
        if start != end or stop > len(body) - 8 - length:  # no holes, nothing twice
            raise BrokenFileError
        arrays[name] = _array(body, 8 + length + start, dtype, shape)
        end = stop
    if end != len(body) - 8 - length:
        raise BrokenFileError
    return arrays, metadata if isinstance(metadata, dict) else {}


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


def _array(body: bytes, start: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray:
    n = math.prod(shape)
    array = np.frombuffer(body, dtype, count=n, offset=start) if n else np.empty(0, dtype)
    if array.nbytes * 2 < len(body) or not array.flags.aligned:
        array = array.copy()
    try:
        array = array.reshape(shape)
    except ValueError:  # a size beyond all bounds beside a size of 0
        raise BrokenFileError from None
    array.flags.writeable = False
    return array
