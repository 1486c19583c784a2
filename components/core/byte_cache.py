"""A store bounded in bytes, in which each thing is computed once, whatever it is."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from components.core.caller import StoppedError
from components.core.errors import BusyError
from components.core.sizes import size_of

__all__ = ["ByteCache", "CacheInfo"]

_OVERHEAD = 1024
"""Bytes counted for each entry beside its arrays: key, strings, objects."""
_GONE = "Who computed this was ended."  # a page's script, say, in Streamlit's own way


@dataclass(frozen=True)
class CacheInfo:
    """How a cache has done so far."""

    hits: int
    misses: int
    n_entries: int
    n_bytes: int
    max_bytes: int


class ByteCache:
    """A least-recently-used store bounded in bytes, in which each key is computed once.

    Threads that ask for a key while another computes it wait for that one; an error goes to all of
    them, unless that one was too many or left, and is not kept, nor is a value of more than
    `max_entry_bytes`.
    """

    def __init__(self, max_bytes: int, *, max_entry_bytes: int | None = None) -> None:
        self._max_bytes = max_bytes
        self._max_entry_bytes = max_bytes if max_entry_bytes is None else max_entry_bytes
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._pending: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()
        self._bytes = self._hits = self._misses = 0

    def info(self) -> CacheInfo:
        """Hits, misses and sizes so far; waiting for another thread's computation is a hit."""
        with self._lock:
            return CacheInfo(
                self._hits, self._misses, len(self._entries), self._bytes, self._max_bytes
            )

    def get_many(
        self,
        keys: Sequence[Hashable],
        compute: Callable[[list[int]], Sequence[Any]],
        *,
        patient: bool = False,
    ) -> list[Any]:
        """The value of each key; `compute` gets the indices of the missing ones, once each.

        Who is patient does not take another thread's error for its own (that one may have been told
        to stop) and asks again.
        """
        while True:
            mine, futures = self._claim(keys)
            if mine:
                self._fill([keys[i] for i in mine], lambda: compute(mine))  # noqa: B023
            try:
                return [f.result() if isinstance(f, Future) else f[0] for f in futures]
            except (BusyError, StoppedError):  # of another caller alone
                continue
            except Exception:
                if not patient:
                    raise

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The value of one key."""
        return self.get_many([key], lambda _: [compute()])[0]

    def _claim(self, keys: Sequence[Hashable]) -> tuple[list[int], list[Any]]:
        """Which indices this thread must compute, and for every key its entry or its future."""
        mine: list[int] = []
        found: list[Any] = []
        with self._lock:
            for i, key in enumerate(keys):
                entry: Any = self._entries.get(key) or self._pending.get(key)
                if entry is None:
                    entry = self._pending[key] = Future()
                    mine.append(i)
                elif not isinstance(entry, Future):
                    self._entries.move_to_end(key)
                found.append(entry)
            self._misses += len(mine)
            self._hits += len(keys) - len(mine)
        return mine, found

    def _fill(self, keys: Sequence[Hashable], compute: Callable[[], Sequence[Any]]) -> None:
        try:
            values = [value for _, value in zip(keys, compute(), strict=True)]
        except BaseException as exc:
            with self._lock:
                futures = [self._pending.pop(key) for key in keys]
            for future in futures:
                future.set_exception(exc if isinstance(exc, Exception) else StoppedError(_GONE))
            raise
        with self._lock:
            futures = [self._pending.pop(key) for key in keys]
            for key, value in zip(keys, values, strict=True):
                self._store(key, value)
        for future, value in zip(futures, values, strict=True):
            future.set_result(value)

    def _store(self, key: Hashable, value: Any) -> None:
        size = size_of(value) + _OVERHEAD
        if size > self._max_entry_bytes:
            return
        self._entries[key] = (value, size)
        self._bytes += size
        while self._bytes > self._max_bytes:
            _, (_, freed) = self._entries.popitem(last=False)
            self._bytes -= freed
