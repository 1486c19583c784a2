"""What becomes of memory that is freed, where the C library is glibc.

Left alone, glibc keeps freed results: memory grew 755 MB, and with large pieces asked of the system
one by one 181 MB, in one run of 3,528 encodings through a 128 MB cache. But each piece then costs
page faults anew, a quarter of all the time when many texts are run. So a long run keeps what it
frees and uses it again, and at the end all goes back. Its results are not among that: large ones
have a mapping of their own, which goes when they go.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from components.core.schema import FloatArray

__all__ = ["LONG_RUN", "return_freed_memory", "set_aside", "tidy_memory"]

LONG_RUN = 2048
"""Tokens of a run that is worth keeping memory for."""
SHORT_RUN = 256
"""Tokens of a run that leaves too little behind to return it."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_SYSTEM_PIECE = 1 << 16  # bytes; from here on pieces are asked of the system
_LARGEST_PIECE = 1 << 25  # the largest such bound that glibc takes
_KEPT = 1 << 27
_KEPT_USUALLY = 1 << 17  # glibc's own

_PRIVATE: dict[str, int] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)}
    if hasattr(mmap, "MAP_PRIVATE")
    else {}
)
"""Pages that are there at once take two thirds of the time of shared ones that come one by one."""

_lock = threading.Lock()
_n_running = 0


def _glibc() -> Any:
    try:
        library = ctypes.CDLL("libc.so.6")
        return library if hasattr(library, "mallopt") else None
    except OSError:  # not glibc: other allocators give memory back themselves
        return None


_LIBRARY = _glibc()


def return_freed_memory() -> None:
    """From now on, large pieces of memory go back to the system as soon as they are freed."""
    _set(_SYSTEM_PIECE, _KEPT_USUALLY)


@contextmanager
def tidy_memory(n_tokens: int) -> Iterator[None]:
    """For a run of so many tokens: a long one uses its memory again, all but short ones return it.

    In other threads freed pieces are kept too while a long run lasts, and come from what it left
    behind afterwards; so runs that are not long return memory as well.
    """
    if n_tokens >= LONG_RUN:
        _count(1)
    try:
        yield
    finally:
        if n_tokens >= LONG_RUN:
            _count(-1)
        if n_tokens >= SHORT_RUN and _LIBRARY is not None:
            _LIBRARY.malloc_trim(0)


def _count(more: int) -> None:
    global _n_running
    with _lock:
        _n_running += more
        if _n_running:
            _set(_LARGEST_PIECE, _KEPT)
        else:
            return_freed_memory()


def set_aside(*shape: int) -> FloatArray:
    """An array to be filled with a result; its values are arbitrary until then."""
    n_bytes = 4 * math.prod(shape)
    if n_bytes >= _SYSTEM_PIECE:
        try:
            return np.frombuffer(mmap.mmap(-1, n_bytes, **_PRIVATE), np.float32).reshape(shape)
        except OSError:  # the system gives a process some 65,000 mappings
            pass
    return np.empty(shape, np.float32)


def _set(piece: int, kept: int) -> None:
    if _LIBRARY is not None:
        _LIBRARY.mallopt(_M_MMAP_THRESHOLD, piece)
        _LIBRARY.mallopt(_M_TRIM_THRESHOLD, kept)
