"""The lease of a stored corpus: one process at a time makes it or adds to it.

In a folder the lease is a locked file, which the system releases when the process ends. Object
storage has no locks, so there a table of one row says which process holds the lease and until when.
Lance's own commits change the row: of two commits at once, only one succeeds. The holder renews it
every few seconds. A holder that ended without releasing it loses it half a minute later.

A process that was suspended for longer may still believe that it holds the lease. So the next
holder commits once to the table of rows, and no commit that began earlier can succeed after that
(see `fence`). Each commit of rows begins before the lease is checked.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from filelock import FileLock, Timeout

from contextlens.core.errors import BusyError
from contextlens.corpus.store.failures import sentence_for

__all__ = [
    "LEASE_SECONDS",
    "Lease",
    "OnWait",
    "fence",
    "file_is_held",
    "file_lease",
    "is_held",
    "lease_lost",
    "lease_table",
]

OnWait = Callable[[], None]
"""Called while an earlier holder's lease runs out; an exception from it ends the waiting."""

LEASE_SECONDS = 30.0
"""A lease that is not renewed for this long is free; clocks may differ by a third of this."""

_RENEW_SECONDS = LEASE_SECONDS / 3
_POLL_SECONDS, _SLEEP_SECONDS = 2.0, 0.2
_LOCK_SECONDS = 0.5  # longer than `file_is_held` holds a lock
_CONFLICT = "Incompatible transaction"  # of Lance: another process committed since
_DAMAGED = "damaged"  # the holder in a table that replaces a damaged one
_RENEWALS_KEPT = 100  # versions of the table before old ones are deleted

_schema = pa.schema([("holder", pa.string()), ("said", pa.int64()), ("until", pa.float64())])
_log = logging.getLogger("contextlens")


@dataclass(frozen=True)
class _Row:
    """The holder of the lease, "" for nobody; the count of renewals; and the time of expiry."""

    holder: str
    said: int
    until: float


def lease_table(database: Any, key: str) -> Any:
    """Return the table of a corpus's lease; it is made if it is missing or damaged.

    A new table in place of a damaged one names a holder whose lease has expired. So the next holder
    fences the rows, and the real earlier one notices at its next commit that it lost the lease.
    """
    first = _Row("", 0, 0.0)
    try:
        table = database.open_table(key)
        _row(table)
    except ValueError:  # no such table; for any other reason, `create_table` fails too
        pass
    except Exception as exc:
        if sentence_for(exc):
            raise
        _log.warning("The lease of a stored corpus could not be read, and is made anew: %s", exc)
        database.drop_table(key, ignore_missing=True)
        first = _Row(_DAMAGED, 0, 0.0)
    else:
        return table
    try:
        table = database.create_table(key, pa.Table.from_pylist([vars(first)], _schema))
    except ValueError:  # another process was first
        return database.open_table(key)
    _put_back(table)
    return table


def _put_back(table: Any) -> None:
    """Restore the row of a holder that created the same table at the same time.

    Lance commits the second of two creations on top of the first.
    """
    created_version = table.version
    table.checkout_latest()
    if created_version == 1 or table.version != created_version:
        return
    table.checkout(created_version - 1)
    if _read(table).holder:
        table.restore()
    table.checkout_latest()


@contextmanager
def file_lease(path: Path, is_over: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Run a block while holding a file's lock.

    Args:
        path: the file, in which nothing is ever written.
        is_over: called at the end; if it returns True, the file is deleted. Only the lock's holder
            may delete it: otherwise two processes could lock two files of the same name.

    Raises:
        BusyError: another thread or process holds it.
    """
    lock = FileLock(path, timeout=_LOCK_SECONDS)
    try:
        lock.acquire()
    except Timeout as exc:
        raise _busy(" on this machine") from exc
    try:
        yield
    finally:
        if is_over():
            with suppress(OSError):  # Windows does not delete open files
                path.unlink(missing_ok=True)
        lock.release()


def file_is_held(path: Path) -> bool:
    """True if a thread or process holds a file's lock."""
    if not path.exists():
        return False
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True


def is_held(table: Any) -> bool:
    """True if the table says that a process holds the lease."""
    row = _row(table)
    return row.holder != "" and time.time() < row.until


def fence(table: Any) -> None:
    """Restore the current version, which makes all commits fail that have already begun."""
    table.checkout_latest()
    table.checkout(table.version)
    table.restore()


class Lease:
    """The lease of a corpus on object storage.

    Args:
        table: the table from `lease_table`; it must not refresh by itself.
    """

    def __init__(self, table: Any) -> None:
        self._table = table
        self._holder_id = secrets.token_hex(8)
        self._over = threading.Event()
        self._thread = threading.Thread(
            target=self._keep_renewing, daemon=True, name="contextlens-lease"
        )

    def acquire(self, on_wait: OnWait | None = None) -> bool:
        """Take the lease and keep renewing it; return True if an earlier holder did not release it.

        Args:
            on_wait: if given, wait until the holder renews the lease or lets it expire.

        Raises:
            BusyError: another process holds it.
        """
        first = row = _row(self._table)
        while not self._swap(row):
            if on_wait is None or (row.holder, row.said) != (first.holder, first.said):
                raise _busy("")
            _wait(on_wait)
            row = _row(self._table)
        self._thread.start()
        return row.holder != ""

    def check(self) -> None:
        """Check that this process still holds it.

        Raises:
            BusyError: another process holds it, as this one did not renew it.
        """
        try:
            holder = _row(self._table).holder
        except Exception as exc:
            if sentence_for(exc):
                raise
            raise lease_lost() from exc  # it was damaged, and another process replaced it
        if holder != self._holder_id:
            raise lease_lost()

    def delete(self, database: Any, key: str) -> None:
        """Delete the table of a deleted corpus's lease, unless another process holds the lease."""
        self._stop()
        try:
            self.check()
            database.drop_table(key, ignore_missing=True)
        except Exception as exc:  # noqa: BLE001 - a row without a corpus harms nobody
            _log.warning("The lease of a deleted corpus could not be deleted: %s", exc)

    def release(self) -> None:
        """Let another process hold it at once."""
        self._stop()
        try:
            self._update(f"holder = '{self._holder_id}'", holder="''", until="0.0")
        except Exception as exc:  # noqa: BLE001 - it runs out half a minute later
            _log.warning("The lease of a stored corpus could not be released: %s", exc)

    def _stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _swap(self, row: _Row) -> bool:
        """Take the lease unless another process was quicker, or still holds it."""
        if row.holder and time.time() < row.until:
            return False
        where = f"holder = '{row.holder}' AND said = {row.said}"
        new_values = {"holder": f"'{self._holder_id}'", "said": "said + 1", "until": _later()}
        try:
            return self._update(where, **new_values)
        except RuntimeError as exc:
            if _CONFLICT not in str(exc):
                raise
            return False  # another process made the table at the same time

    def _update(self, where: str, **values: str) -> bool:
        """Write new values if the row is as expected; return True if it was."""
        self._table.checkout_latest()
        return bool(self._table.update(where=where, values_sql=values).rows_updated)

    def _keep_renewing(self) -> None:
        n_renewals = 0
        while not self._over.wait(_RENEW_SECONDS):
            n_renewals += 1
            try:
                if not self._renew(n_renewals):
                    return
            except Exception as exc:  # noqa: BLE001 - storage may be there again the next time
                _log.warning("The lease of a stored corpus could not be renewed: %s", exc)

    def _renew(self, n_renewals: int) -> bool:
        if not self._update(f"holder = '{self._holder_id}'", said="said + 1", until=_later()):
            return False
        if n_renewals % _RENEWALS_KEPT == 0:
            self._table.optimize(cleanup_older_than=timedelta(seconds=2 * LEASE_SECONDS))
        return True


def _row(table: Any) -> _Row:
    table.checkout_latest()
    return _read(table)


def _read(table: Any) -> _Row:
    return _Row(**table.search().limit(1).to_list()[0])


def lease_lost() -> BusyError:
    """Return the error of a process that lost its lease to another."""
    return BusyError(
        "Another server took the indexing of this corpus over, as nothing was heard of this one. "
        "Wait for it."
    )


def _busy(where: str) -> BusyError:
    return BusyError(f"Another server{where} is indexing this corpus. Wait for it.")


def _later() -> str:
    return repr(time.time() + LEASE_SECONDS)


def _wait(on_wait: OnWait) -> None:
    """Wait before storage is asked again; the work can be stopped meanwhile."""
    end = time.monotonic() + _POLL_SECONDS
    while time.monotonic() < end:
        on_wait()
        time.sleep(_SLEEP_SECONDS)
