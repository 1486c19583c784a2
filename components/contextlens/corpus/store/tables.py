"""The LanceDB database of all stored corpora, with three tables for each.

A corpus called NAME has the tables NAME.about (one row), NAME.texts and NAME.occurrences, and
NAME.sentences once its texts were searched; on object storage NAME.lease records its writer. A
commit to a table is complete or absent, even if the process dies. Rows are only appended and
nothing is compacted, so a row's place in its table never changes.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import pyarrow as pa

from contextlens.core.errors import BusyError, CorpusError
from contextlens.corpus.store.failures import AWAY, reading, sentence_for, writing
from contextlens.corpus.store.lease import (
    Lease,
    OnWait,
    fence,
    file_is_held,
    file_lease,
    is_held,
    lease_lost,
    lease_table,
)
from contextlens.corpus.table import named

__all__ = [
    "N_PARTS",
    "Answer",
    "Part",
    "Tables",
    "checked_name",
    "is_name",
    "new_name",
]

Answer = TypeVar("Answer")
Part = Literal["about", "texts", "occurrences", "sentences"]
_ALL_PARTS: tuple[Part, ...] = get_args(Part)
_PARTS = _ALL_PARTS[:3]  # of every complete corpus
N_PARTS = len(_PARTS)
_DATA_PARTS: tuple[Part, ...] = ("texts", "occurrences")  # "about" is rewritten instead

_N_HANDLES, _N_REMOTE_HANDLES = 48, 192  # opening a table takes two requests to object storage
_N_THREADS = 8
_STALE = timedelta(seconds=2)  # until the writes of another process are seen
_NOT_FOUND = ("was not found", "Not found")  # messages of LanceDB and of Lance
_CONFLICT = "Incompatible transaction"  # a message of Lance: another process has committed
_AWAY_SECONDS = 5.0  # without requests after one had no answer; each takes seconds to fail

_INDEX_CACHE, _METADATA_CACHE = 256_000_000, 64_000_000  # bytes; LanceDB's defaults are gigabytes
_STORAGE_OPTIONS = {
    "connect_timeout": "2s",
    "timeout": "15s",  # for one request, which moves some megabytes
    "client_max_retries": "2",
    "client_retry_timeout": "10",  # seconds
}
"""Without these limits, a page waits for minutes if object storage does not answer."""

_NAME = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)


def new_name() -> str:
    """Return a name that nobody can guess."""
    return secrets.token_urlsafe(12)


def is_name(name: str) -> bool:
    """True if a corpus, and therefore its tables, can have this name."""
    return _NAME.fullmatch(name) is not None


def checked_name(name: str) -> str:
    """Return the name itself.

    Raises:
        CorpusError: no corpus can have this name.
    """
    if not is_name(name):
        raise CorpusError(
            f"There is no corpus {named(name)} here: a corpus's name is 16 letters, digits, - or "
            "_. Copy the address again, in full."
        )
    return name


class Tables:
    """The tables in a folder or at an address of object storage. Thread-safe."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.folder = None if "://" in root else Path(root)
        self._is_in_memory = root.startswith("memory://")
        self._is_remote = self.folder is None and not self._is_in_memory
        self._handles: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()
        self._away_until = 0.0
        self._leases: dict[str, Lease] = {}
        self._writers: dict[str, Any] = {}

    @cached_property
    def _database(self) -> Any:
        return self._connect(None if self._is_in_memory else _STALE)

    @cached_property
    def _writers_database(self) -> Any:
        """A second connection to the database, whose tables are refreshed only on demand."""
        return self._connect(None)

    def _connect(self, interval: timedelta | None) -> Any:
        """Connect to the database; tables show other processes' writes after this interval."""
        import lancedb  # takes a second

        self._make_folder()
        return lancedb.connect(
            self.root,
            session=lancedb.Session(_INDEX_CACHE, _METADATA_CACHE),
            read_consistency_interval=interval,
            storage_options=_STORAGE_OPTIONS if self._is_remote else None,
        )

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Run a block that sends requests; fail at once if object storage did not answer lately.

        Raises:
            CorpusError: object storage does not answer, or refuses the request.
        """
        if time.monotonic() < self._away_until:
            raise CorpusError(AWAY)
        try:
            yield
        except Exception as exc:
            sentence = sentence_for(exc)
            if sentence == AWAY:
                self._away_until = time.monotonic() + _AWAY_SECONDS
            if sentence:
                raise CorpusError(sentence) from exc
            raise

    def names(self) -> tuple[str, ...]:
        """Return the names of all corpora, including damaged and incomplete ones."""
        if self.folder is not None and not self.folder.is_dir():
            return ()
        names, token = set[str](), None
        with reading("The place where corpora are stored"), self._asking():
            while True:
                page = self._database.list_tables(page_token=token)
                keys = (table.rpartition(".") for table in page.tables)
                names.update(name for name, _, part in keys if part in _PARTS)
                token = page.page_token
                if not token:
                    return tuple(sorted(filter(is_name, names)))

    def for_each(self, read: Callable[[str], Answer]) -> list[Answer]:
        """Return a function's result for each corpus, computed in parallel if they are remote."""
        if not self._is_remote:
            return [read(name) for name in self.names()]
        with ThreadPoolExecutor(_N_THREADS, "contextlens-ask") as threads:
            return list(threads.map(read, self.names()))

    def has(self, name: str) -> bool:
        """True if a corpus of that name was stored completely."""
        return self._has(name, "about")

    def has_sentences(self, name: str) -> bool:
        """True if the vectors of a corpus's sentences are stored, and not only a part of them."""
        path = self._path(name, "sentences")
        return self._has(name, "sentences") if path is None else (path / "_versions").is_dir()

    def missing(self, name: str) -> tuple[Part, ...]:
        """Return the tables that a corpus lacks; none if it is complete."""
        return tuple(part for part in _PARTS if not self._has(name, part))

    def open(self, name: str, part: Part) -> Any:
        """Return one of a corpus's tables."""
        key = _key(name, part)
        with self._lock:
            if key in self._handles:
                self._handles.move_to_end(key)
                return self._handles[key]
        return self._keep(key, self._database.open_table(key))

    def create(
        self, name: str, part: Part, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
    ) -> None:
        """Create one of a corpus's tables.

        Raises:
            BusyError: another process took over the lease and creates them.
        """
        key = _key(name, part)
        if name in self._leases:
            self._leases[name].check()
        reader = pa.RecordBatchReader.from_batches(schema, batches)
        self._keep(key, self._database.create_table(key, data=reader))

    def append(self, name: str, rows: Sequence[pa.RecordBatch]) -> None:
        """Add rows to a corpus's occurrences: all of them, or none if that fails.

        Raises:
            BusyError: another process took over and added rows.
        """
        lease = self._leases.get(name)
        table = self.open(name, "occurrences") if lease is None else self._writers[name]
        if lease is not None:
            table.checkout_latest()  # must come before the check of the lease: see `lease`
            lease.check()
        if table.count_rows() != rows[0]["row"][0].as_py():
            raise lease_lost()
        try:
            table.add(pa.Table.from_batches(rows))
        except RuntimeError as exc:
            raise lease_lost() if _CONFLICT in str(exc) else exc from exc
        if lease is not None:
            self.open(name, "occurrences").checkout_latest()

    def drop(self, name: str) -> None:
        """Delete a corpus's tables, even damaged ones, without waiting for its writer.

        After each write, a writer checks if the corpus still exists: see `gone_with_it`. What it
        wrote while "about" was still there passed that check, so other tables are deleted twice.
        """
        self.drop_parts(name, _ALL_PARTS[::-1])  # "about" is found until the end
        self.drop_parts(name, (*_DATA_PARTS, "sentences"))
        if self._has_lease(name):
            with suppress(BusyError), self.only_writer(name):
                pass  # leaving it deletes the lease of a deleted corpus

    def drop_parts(self, name: str, parts: Sequence[Part]) -> None:
        """Delete some of a corpus's tables, if they exist."""
        self._forget(name)
        for part in parts:
            path = self._path(name, part)
            if path is not None:
                shutil.rmtree(path, ignore_errors=True)
            else:
                self._database.drop_table(_key(name, part), ignore_missing=True)

    def n_bytes(self, name: str) -> int:
        """Return the size of a corpus in bytes.

        On object storage, neither indexes nor the vectors of its sentences are counted.
        """
        if self.folder is None:
            return sum(int(self.open(name, part).stats()["total_bytes"]) for part in _DATA_PARTS)
        return sum(_size(self.folder / f"{_key(name, part)}.lance") for part in _ALL_PARTS)

    def free_bytes(self) -> int | None:
        """Return the free bytes on the disk; None if unknown."""
        if self.folder is None:
            return None
        self._make_folder()
        return shutil.disk_usage(self.folder).free

    def _make_folder(self) -> None:
        if self.folder is not None:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextmanager
    def only_writer(self, name: str, on_wait: OnWait | None = None) -> Iterator[None]:
        """Run a block as the only thread or process that creates or extends a corpus: see `lease`.

        If the corpus does not exist after the block, the lease is deleted.

        Raises:
            BusyError: another thread or process is doing so.
            CorpusError: object storage does not answer.
        """
        lease: AbstractContextManager[None] = nullcontext()
        if self.folder is not None:
            self._make_folder()
            lease = file_lease(self._lock_path(name), is_over=lambda: self._is_gone(name))
        elif self._is_remote:
            lease = self._row_lease(name, on_wait)
        with lease:
            self._forget(name)  # so that rows are seen that another process has just added
            yield

    def has_writer(self, name: str) -> bool:
        """True if a thread or process is creating or extending a corpus: see `only_writer`."""
        if self.folder is not None:
            return file_is_held(self._lock_path(name))
        if not self._is_remote:
            return False
        with reading("This corpus"):
            try:
                return is_held(self._writers_database.open_table(_lease_key(name)))
            except Exception as exc:
                if sentence_for(exc):
                    raise
                return False  # no writer yet, or a damaged table, which `lease_table` repairs

    @contextmanager
    def _row_lease(self, name: str, on_wait: OnWait | None) -> Iterator[None]:
        with writing("This corpus"):
            lease = Lease(lease_table(self._writers_database, _lease_key(name)))
            was_left = lease.acquire(on_wait)
        try:
            with writing("This corpus"):
                if self._has(name, "occurrences"):
                    table = self._writers_database.open_table(_key(name, "occurrences"))
                    if was_left:
                        fence(table)
                    self._writers[name] = table
            self._leases[name] = lease
            yield
        finally:
            self._leases.pop(name, None)
            self._writers.pop(name, None)
            if self._is_gone(name):
                lease.delete(self._writers_database, _lease_key(name))
            else:
                lease.release()

    def _has_lease(self, name: str) -> bool:
        if self.folder is not None:
            return self._lock_path(name).exists()
        if not self._is_remote:
            return False
        try:
            self._writers_database.open_table(_lease_key(name))
        except ValueError:
            return False
        return True

    def _is_gone(self, name: str) -> bool:
        """True if nothing is left of a corpus; False if that is unknown."""
        try:
            return len(self.missing(name)) == N_PARTS
        except Exception:  # noqa: BLE001 - object storage is away
            return False

    def _has(self, name: str, part: Part) -> bool:
        path = self._path(name, part)
        if path is not None:
            return path.is_dir()
        try:
            with self._asking():
                self.open(name, part).checkout_latest()
        except (ValueError, RuntimeError) as exc:
            if not any(sign in str(exc) for sign in _NOT_FOUND):
                raise
            self._forget(name)
            return False
        return True

    def _forget(self, name: str) -> None:
        with self._lock:
            for part in _ALL_PARTS:
                self._handles.pop(_key(name, part), None)

    def _keep(self, key: str, table: Any) -> Any:
        with self._lock:
            self._handles[key] = table
            self._handles.move_to_end(key)
            most = _N_REMOTE_HANDLES if self._is_remote else _N_HANDLES
            while len(self._handles) > most:
                self._handles.popitem(last=False)
        return table

    def _path(self, name: str, part: Part) -> Path | None:
        return None if self.folder is None else self.folder / f"{_key(name, part)}.lance"

    def _lock_path(self, name: str) -> Path:
        return Path(self.root) / f"{checked_name(name)}.lock"


def _key(name: str, part: Part) -> str:
    return f"{checked_name(name)}.{part}"


def _lease_key(name: str) -> str:
    return f"{checked_name(name)}.lease"


def _size(folder: Path) -> int:
    total = 0
    for path, _, files in os.walk(folder):
        for file in files:
            try:
                total += Path(path, file).stat().st_size
            except OSError:  # the file was deleted meanwhile
                continue
    return total
