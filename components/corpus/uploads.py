"""How much one visitor may upload, and how many files are read at once. No streamlit.

A file of a few kilobytes may take a core and gigabytes while it is read: so one is read at a time.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from components.core.errors import CorpusError
from components.corpus.sheet import named

__all__ = ["Uploads"]

_N_VISITORS = 10_000  # whose uploads are counted; who came first is forgotten first


class Uploads:
    """Counts what each visitor uploads, and lets one file be read at a time. Thread-safe."""

    def __init__(self, *, max_files: int, max_bytes: int, seconds: float) -> None:
        """Nobody has uploaded anything yet.

        Args:
            max_files: how many files one visitor may upload.
            max_bytes: how much they may add up to.
            seconds: how long a file waits while another one is read.
        """
        self._max_files, self._max_bytes, self._seconds = max_files, max_bytes, seconds
        self._counts: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._lock, self._reader = threading.Lock(), threading.Lock()

    @contextmanager
    def reading(self, visitor: str, name: str, n_bytes: int) -> Iterator[None]:
        """Read a file of so many bytes inside, while nobody else reads one.

        Raises:
            CorpusError: the visitor has uploaded too much, or others' files take too long.
        """
        self._check(visitor, name, n_bytes)
        if not self._reader.acquire(timeout=self._seconds):
            raise CorpusError(
                f"{named(name)} was not read: one file is read at a time here, and others came "
                f"first for over {self._seconds:,.0f} seconds. Try again in a moment."
            )
        try:
            self._count(visitor, n_bytes)
            yield
        finally:
            self._reader.release()

    def _check(self, visitor: str, name: str, n_bytes: int) -> None:
        with self._lock:
            n_files, total = self._counts.get(visitor, (0, 0))
        if n_files >= self._max_files or total + n_bytes > self._max_bytes:
            raise CorpusError(
                f"{named(name)} was not read: it would be file {n_files + 1:,} of this visit, "
                f"{(total + n_bytes) / 1e6:,.1f} MB in all; at most {self._max_files:,} files and "
                f"{self._max_bytes / 1e6:,.0f} MB are read. Reload the page to begin a new visit."
            )

    def _count(self, visitor: str, n_bytes: int) -> None:
        with self._lock:
            n_files, total = self._counts.pop(visitor, (0, 0))
            self._counts[visitor] = n_files + 1, total + n_bytes
            if len(self._counts) > _N_VISITORS:
                self._counts.popitem(last=False)
