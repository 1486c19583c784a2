"""A result store bounded in bytes that computes each result once. One per process."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

from contextlens.core.caller import StoppedError
from contextlens.core.errors import BusyError
from contextlens.core.sizes import size_of

__all__ = ["ByteCache", "CacheInfo", "remembered", "shared_cache"]

T = TypeVar("T")

_OVERHEAD = 1024
"""Bytes counted for each entry besides its arrays: key, strings, objects."""
_GONE = "Who computed this was ended."  # for example, Streamlit ended a page's script


@dataclass(frozen=True)
class CacheInfo:
    """A cache's counters so far."""

    hits: int
    misses: int
    n_entries: int
    n_bytes: int
    max_bytes: int


class ByteCache:
    """A least-recently-used store bounded in bytes, in which each key is computed once.

    Threads that ask for a key while another thread computes it wait for that result. If the
    computation fails, every waiting caller gets the error and nothing is cached. If its caller was
    refused or left, one of the waiting callers computes it instead. A value larger than the bound
    is returned but not cached.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._pending: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()
        self._bytes = self._held_bytes = self._hits = self._misses = 0

    def info(self) -> CacheInfo:
        """Hits, misses and sizes so far; waiting for another thread's computation is a hit."""
        with self._lock:
            n_bytes = self._bytes + self._held_bytes
            return CacheInfo(self._hits, self._misses, len(self._entries), n_bytes, self._max_bytes)

    def hold(self, n_bytes: int) -> None:
        """Count results that are stored elsewhere against the same bound, up to half of it.

        Args:
            n_bytes: the bytes that they take now; replaces the previous value.
        """
        with self._lock:
            self._held_bytes = min(n_bytes, self._max_bytes // 2)
            self._make_room()

    def get_many(
        self,
        keys: Sequence[Hashable],
        compute: Callable[[list[int]], Sequence[Any]],
        *,
        patient: bool = False,
        part: int = 1,
    ) -> list[Any]:
        """The value of each key; `compute` gets the indices of the missing ones, once each.

        Args:
            keys: the keys to look up.
            compute: returns the values for some indices of `keys`.
            patient: True to try again when another thread's computation fails, as that thread may
                have been told to stop.
            part: values larger than one `part`-th of the bound are not cached.
        """
        while True:
            claimed, entries = self._claim(keys)
            if claimed:
                with self._filling([keys[i] for i in claimed], part) as values:
                    values += compute(claimed)
            try:
                return [e.result() if isinstance(e, Future) else e[0] for e in entries]
            except (BusyError, StoppedError):  # concerns only the other caller
                continue
            except Exception:
                if not patient:
                    raise

    def get(self, key: Hashable, compute: Callable[[], Any], *, part: int = 1) -> Any:
        """The value of one key; see `get_many`."""
        return self.get_many([key], lambda _: [compute()], part=part)[0]

    def _claim(self, keys: Sequence[Hashable]) -> tuple[list[int], list[Any]]:
        """Return the indices that this thread must compute, and each key's entry or future."""
        claimed: list[int] = []
        entries: list[Any] = []
        with self._lock:
            for i, key in enumerate(keys):
                entry: Any = self._entries.get(key) or self._pending.get(key)
                if entry is None:
                    entry = self._pending[key] = Future()
                    claimed.append(i)
                elif not isinstance(entry, Future):
                    self._entries.move_to_end(key)
                entries.append(entry)
            self._misses += len(claimed)
            self._hits += len(keys) - len(claimed)
        return claimed, entries

    @contextmanager
    def _filling(self, keys: Sequence[Hashable], part: int) -> Iterator[list[Any]]:
        """Yield a list for the keys' values; then cache them and wake the waiting threads."""
        values: list[Any] = []
        try:
            yield values
            pairs = list(zip(keys, values, strict=True))
        except BaseException as exc:
            with self._lock:
                futures = [self._pending.pop(key) for key in keys]
            for future in futures:
                future.set_exception(exc if isinstance(exc, Exception) else StoppedError(_GONE))
            raise
        with self._lock:
            futures = [self._pending.pop(key) for key in keys]
            for key, value in pairs:
                self._store(key, value, part)
        for future, value in zip(futures, values, strict=True):
            future.set_result(value)

    def _store(self, key: Hashable, value: Any, part: int) -> None:
        size = size_of(value) + _OVERHEAD
        if size > self._max_bytes // part:
            return
        self._entries[key] = (value, size)
        self._bytes += size
        self._make_room()

    def _make_room(self) -> None:
        while self._entries and self._bytes + self._held_bytes > self._max_bytes:
            _, (_, freed) = self._entries.popitem(last=False)
            self._bytes -= freed


@cache
def shared_cache() -> ByteCache:
    """The result store of this process, bounded by `CONTEXTLENS_CACHE_MB`."""
    from contextlens.core.settings import Settings

    return ByteCache(Settings.from_env().cache_bytes)


def remembered(name: str, *given: Hashable, compute: Callable[[], T]) -> T:
    """Return a result from this process's store, computing it if needed.

    Args:
        name: the kind of result, unique in the app.
        given: everything that the result depends on; each `repr` must identify its value.
        compute: computes the result. A result larger than half the bound is not cached.
    """
    text = repr((name, given)).encode("utf-8", "surrogatepass")
    return cast("T", shared_cache().get(hashlib.sha256(text).digest(), compute, part=2))
