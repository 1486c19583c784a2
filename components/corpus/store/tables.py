"""The LanceDB database that all stored corpora are in: three tables each, and what goes wrong.

A corpus called NAME is the tables NAME.about (one row), NAME.texts and NAME.occurrences. Each
commit to a table is whole or not there, whenever the process ends. Rows are only ever appended and
nothing is compacted, so a row's place in its table never changes.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa
from filelock import FileLock, Timeout

from components.core.errors import BusyError, ContextlensError, CorpusError
from components.corpus.sheet import named
from components.corpus.store.about import checked_name, is_name

__all__ = ["Part", "Tables", "reading", "writing"]

Part = Literal["about", "texts", "occurrences"]
_PARTS: tuple[Part, ...] = get_args(Part)

_N_HANDLES = 48
_INDEX_CACHE, _METADATA_CACHE = 256_000_000, 64_000_000  # bytes; LanceDB itself takes gigabytes
_STALE = timedelta(seconds=2)  # what another process wrote is seen then
_IN_MEMORY = ("memory://",)
_FULL = re.compile(
    r"no space left|file too large|disk quota|storage ?full|not enough space|"
    r"os error (27|28|112|122)\b",
    re.IGNORECASE,
)
_PANIC = "PanicException"  # of Rust: no module that can be imported has it

_log = logging.getLogger("contextlens")


class Tables:
    """The tables of one place: a folder, or an address of object storage. Thread-safe."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.folder = None if "://" in root else Path(root)
        self._handles: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def _database(self) -> Any:
        import lancedb  # takes a second

        if self.folder is not None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        session = lancedb.Session(_INDEX_CACHE, _METADATA_CACHE)
        own = self.root.startswith(_IN_MEMORY)
        interval = None if own else _STALE
        return lancedb.connect(self.root, session=session, read_consistency_interval=interval)

    def names(self) -> tuple[str, ...]:
        """The names of all corpora, damaged ones too."""
        if self.folder is not None and not self.folder.is_dir():
            return ()
        found, token = set[str](), None
        while True:
            page = self._database.list_tables(page_token=token)
            found.update(table.removesuffix(".about") for table in page.tables)
            token = page.page_token
            if not token:
                return tuple(sorted(filter(is_name, found)))

    def has(self, name: str) -> bool:
        """Whether there is a corpus of that name."""
        path = self._path(name, "about")
        return path.is_dir() if path is not None else name in self.names()

    def open(self, name: str, part: Part) -> Any:
        """One of a corpus's tables."""
        key = _key(name, part)
        with self._lock:
            if key in self._handles:
                self._handles.move_to_end(key)
                return self._handles[key]
        return self._keep(key, self._database.open_table(key))

    def create(
        self, name: str, part: Part, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
    ) -> None:
        """Make one of a corpus's tables."""
        key = _key(name, part)
        reader = pa.RecordBatchReader.from_batches(schema, batches)
        self._keep(key, self._database.create_table(key, data=reader))

    def drop(self, name: str) -> None:
        """Delete a corpus's tables, what is damaged of them too."""
        for part in reversed(_PARTS):
            key, path = _key(name, part), self._path(name, part)
            with self._lock:
                self._handles.pop(key, None)
            if path is not None:
                shutil.rmtree(path, ignore_errors=True)
            elif key in self._database.list_tables().tables:
                self._database.drop_table(key)
        if self.folder is not None:
            self._lock_path(name).unlink(missing_ok=True)

    def n_bytes(self, name: str) -> int:
        """What a corpus takes, in bytes."""
        if self.folder is None:
            return sum(int(self.open(name, part).stats()["total_bytes"]) for part in _PARTS)
        return sum(_size(self.folder / f"{_key(name, part)}.lance") for part in _PARTS)

    def free_bytes(self) -> int | None:
        """What the disk has left; None where nobody knows."""
        if self.folder is None:
            return None
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return shutil.disk_usage(self.folder).free

    @contextmanager
    def only_writer(self, name: str) -> Iterator[None]:
        """Add to a corpus inside, while no other thread or server on this machine does.

        Raises:
            BusyError: another one does.
        """
        checked_name(name)
        if self.folder is None:
            yield
            return
        lock = FileLock(self._lock_path(name), timeout=0)
        try:
            lock.acquire()
        except Timeout as exc:
            raise BusyError(
                "Another server on this machine is indexing this corpus. Wait for it."
            ) from exc
        try:
            yield
        finally:
            lock.release()

    def _keep(self, key: str, table: Any) -> Any:
        with self._lock:
            self._handles[key] = table
            self._handles.move_to_end(key)
            while len(self._handles) > _N_HANDLES:
                self._handles.popitem(last=False)
        return table

    def _path(self, name: str, part: Part) -> Path | None:
        return None if self.folder is None else self.folder / f"{_key(name, part)}.lance"

    def _lock_path(self, name: str) -> Path:
        return Path(self.root) / f"{checked_name(name)}.lock"


def _key(name: str, part: Part) -> str:
    return f"{checked_name(name)}.{part}"


def _size(folder: Path) -> int:
    total = 0
    for path, _, files in os.walk(folder):
        for file in files:
            try:
                total += Path(path, file).stat().st_size
            except OSError:  # it was deleted meanwhile
                continue
    return total


@contextmanager
def reading(title: str) -> Iterator[None]:
    """Read a corpus's tables inside.

    Raises:
        CorpusError: a file of it is damaged or missing.
    """
    with _told(
        f"{named(title)} cannot be read: a file of this corpus is damaged or missing. Delete it "
        "here, and index its file again."
    ):
        yield


@contextmanager
def writing(title: str) -> Iterator[None]:
    """Write a corpus's tables inside.

    Raises:
        CorpusError: the disk is full, or they cannot be written otherwise.
    """
    with _told(
        f"{named(title)} cannot be stored: its folder cannot be written. Look at the server's log "
        "for the reason, and try again."
    ):
        yield


@contextmanager
def _told(sentence: str) -> Iterator[None]:
    try:
        yield
    except ContextlensError:
        raise
    except BaseException as exc:
        if not isinstance(exc, Exception) and type(exc).__name__ != _PANIC:
            raise
        if _FULL.search(str(exc)):
            raise CorpusError(
                "The disk that corpora are stored on is full. What was stored stays and can be "
                "used; make room, for instance by deleting a corpus, and go on."
            ) from exc
        _log.warning("A stored corpus: %s", exc)
        raise CorpusError(sentence) from exc
