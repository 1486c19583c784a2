"""Visitors' uploads, in memory: files that have not been read yet, and the texts of read files.

One bound counts both, for all visitors together. If texts need room, the visitor with the most
loses their least recently used ones. So one visitor's files, however many, never push out another's
small ones. Incoming files may take half of the bound, and those of one visitor half of that. Files
that nobody reads are dropped after a minute. Imports no streamlit.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from contextlens.core.errors import BusyError, CorpusError
from contextlens.corpus.table import named

__all__ = ["FileKey", "Inbox", "UploadStore"]

_OVERHEAD = 4_096
"""Bytes counted for each item beside its texts."""
_FILE_OVERHEAD = 65_536
"""Bytes counted for each incoming file beside its content: form, parser, name."""
_N_OWN = 16  # items kept of one visitor
_TIMES_FILE = 10  # the most for one visitor's texts, in files of the largest size
_UNREAD_SECONDS = 60.0  # for which a file may lie unread: a page reads it at once
_ARRIVAL_SECONDS = 900.0  # for a file to arrive
_READ_SECONDS = 30.0  # for which a file waits while others are read


class FileKey(NamedTuple):
    """The key of an incoming file: the visit that sends it, and its id there."""

    visit: str
    file: str


class Inbox(Protocol):
    """The place of files that have arrived but were not read yet."""

    def has(self, key: FileKey) -> bool:
        """True if the file is there."""

    def discard(self, key: FileKey) -> None:
        """Delete the file, if it is there."""


@dataclass
class _Arrival:
    visitor: str
    n_bytes: int
    since: float
    page: str
    is_whole: bool = False


@dataclass(eq=False)
class _StoredItem:
    """One item, its bytes, and the visitors who stored it."""

    value: Any
    n_bytes: int
    owners: dict[str, None] = field(default_factory=dict)


class UploadStore:
    """Items by name, each for the visitors who stored it, and incoming files. Thread-safe.

    Args:
        max_bytes: the bound for everything together.
        max_file_bytes: the largest file that settings allow.
        inbox: the place of files until they are read.
    """

    def __init__(self, max_bytes: int, max_file_bytes: int, inbox: Inbox) -> None:
        self._max_bytes, self._max_arriving = max_bytes, max_bytes // 2
        self.max_file_bytes = max(1, min(max_file_bytes, self._max_arriving - _FILE_OVERHEAD))
        """The size of the largest accepted file."""
        self.max_own_bytes = min(max_bytes // 2, _TIMES_FILE * max_file_bytes)
        """The bound for one visitor's texts, which is less than the bound for all."""
        self._max_own_arriving = max(max_bytes // 4, self.max_file_bytes + _FILE_OVERHEAD)
        self._inbox = inbox
        self._items: OrderedDict[str, _StoredItem] = OrderedDict()  # most recently used last
        self._arrivals: dict[FileKey, _Arrival] = {}
        self._lock, self._reader = threading.Lock(), threading.Lock()

    @property
    def n_bytes(self) -> int:
        """The bytes of everything together."""
        with self._lock:
            self._forget_read()
            return self._texts() + self._arriving()

    # Incoming files

    def admit(self, key: FileKey, visitor: str, n_bytes: int, *, page: str = "") -> None:
        """Let a file begin to arrive.

        Args:
            key: the file.
            visitor: the sender.
            n_bytes: the announced size; 0 if none was announced.
            page: the page from which it is sent; "" if that is not known.

        Raises:
            CorpusError: it is too large, or was sent before.
            BusyError: too many files are arriving.
        """
        if n_bytes > self.max_file_bytes + _FILE_OVERHEAD:
            raise CorpusError(
                f"The file is {_mb(n_bytes)}; at most {_mb(self.max_file_bytes)} are taken here. "
                "Split it, or ask whoever runs this server for a larger limit."
            )
        with self._lock:
            self._forget_read()
            if key in self._arrivals:
                raise CorpusError("The file was sent before. Choose it again.")
            self._check_arriving(visitor, _FILE_OVERHEAD + n_bytes)
            self._arrivals[key] = _Arrival(visitor, _FILE_OVERHEAD, time.monotonic(), page)

    def grow(self, key: FileKey, n_bytes: int) -> None:
        """Count the bytes of a file that have arrived; texts make room for it.

        Raises:
            CorpusError: it is larger than any file may be, or takes too long.
            BusyError: too many files are arriving.
        """
        with self._lock:
            arrival = self._arrivals[key]
            self._forget_read()
            self._check_arriving(arrival.visitor, n_bytes)
            is_late = time.monotonic() - arrival.since > _ARRIVAL_SECONDS
            if is_late or arrival.n_bytes + n_bytes > self.max_file_bytes + 2 * _FILE_OVERHEAD:
                raise CorpusError("The file is too large, or takes too long to arrive. Split it.")
            arrival.n_bytes += n_bytes
            self._make_room()

    def end(self, key: FileKey) -> None:
        """Note that a file has arrived; from now on it counts while it lies unread."""
        with self._lock:
            if not self._inbox.has(key):
                self._arrivals.pop(key, None)
            else:
                arrival = self._arrivals[key]
                arrival.is_whole, arrival.since = True, time.monotonic()

    def is_arriving(self, visit: str, page: str) -> bool:
        """True if a file that a visit sent from a page has not arrived yet, or was not read yet."""
        with self._lock:
            self._forget_read()
            return any(
                key.visit == visit and arrival.page in {"", page}
                for key, arrival in self._arrivals.items()
            )

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Run a block that reads a file, one at a time: it may take a core and gigabytes.

        Raises:
            CorpusError: the files of others take too long.
        """
        if not self._reader.acquire(timeout=_READ_SECONDS):
            raise CorpusError(
                f"{named(name)} was not read: one file is read at a time here, and others came "
                f"first for over {_READ_SECONDS:,.0f} seconds. Try again in a moment."
            )
        try:
            yield
        finally:
            self._reader.release()

    # Texts

    def put(self, visitor: str, name: str, value: Any, n_bytes: int) -> None:
        """Store an item for a visitor; an existing item of the same name is not replaced."""
        with self._lock:
            item = self._items.setdefault(name, _StoredItem(value, n_bytes + _OVERHEAD))
            item.owners[visitor] = None
            self._items.move_to_end(name)
            visitor_names = self._names_of(visitor)
            while len(visitor_names) > 1 and (
                len(visitor_names) > _N_OWN or self._size(visitor_names) > self.max_own_bytes
            ):
                self._give_up(visitor_names.pop(0), visitor)
            self._forget_read()
            self._make_room()

    def get(self, name: str, *, of: str = "") -> Any | None:
        """Return the item of a name, or None if it was never stored or was dropped.

        Args:
            name: the name that it was stored under.
            of: the visitor who stored it; "" for any.
        """
        with self._lock:
            item = self._items.get(name)
            if item is None or (of and of not in item.owners):
                return None
            self._items.move_to_end(name)
            return item.value

    def _check_arriving(self, visitor: str, n_bytes: int) -> None:
        if not self._fits(visitor, n_bytes):
            limit = min(self._max_own_arriving, self._max_arriving)
            raise BusyError(
                f"The file was not taken: {_mb(self._arriving())} of uploads wait to be read here, "
                f"{_mb(self._arriving(visitor))} of them yours; at most {_mb(self._max_arriving)} "
                f"may, {_mb(limit)} of one visitor. Try again in a minute."
            )

    def _fits(self, visitor: str, n_bytes: int) -> bool:
        is_own_small = self._arriving(visitor) + n_bytes <= self._max_own_arriving
        return is_own_small and self._arriving() + n_bytes <= self._max_arriving

    def _arriving(self, visitor: str | None = None) -> int:
        arrivals = self._arrivals.values()
        return sum(arrival.n_bytes for arrival in arrivals if visitor in (None, arrival.visitor))

    def _forget_read(self) -> None:
        """Forget files that were read, and drop those that were unread for too long."""
        oldest = time.monotonic() - _UNREAD_SECONDS
        for key, arrival in list(self._arrivals.items()):
            if arrival.is_whole and arrival.since < oldest:
                self._inbox.discard(key)
            if arrival.is_whole and not self._inbox.has(key):
                del self._arrivals[key]

    def _make_room(self) -> None:
        """Drop texts until everything fits or one is left: those of the visitor with the most."""
        while len(self._items) > 1 and self._texts() + self._arriving() > self._max_bytes:
            owners = {owner for item in self._items.values() for owner in item.owners}
            largest = max(owners, key=lambda owner: self._size(self._names_of(owner)))
            self._give_up(self._names_of(largest)[0], largest)

    def _names_of(self, visitor: str) -> list[str]:
        """Return the names of a visitor's items, least recently used first."""
        return [name for name, item in self._items.items() if visitor in item.owners]

    def _size(self, names: list[str]) -> int:
        return sum(self._items[name].n_bytes for name in names)

    def _texts(self) -> int:
        return sum(item.n_bytes for item in self._items.values())

    def _give_up(self, name: str, visitor: str) -> None:
        """Remove an item from a visitor; it is deleted if no one else stored it."""
        owners = self._items[name].owners
        del owners[visitor]
        if not owners:
            del self._items[name]


def _mb(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"
