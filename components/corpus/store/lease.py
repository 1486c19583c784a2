"""Who may add to a stored corpus: one process at a time, in a folder and on object storage alike.

In a folder it is a locked file: the system lets go of it with the process. Object storage knows no
locks, so there a row of a table of its own says who has the corpus and until when. It is changed by
Lance's own commits, of which of two at once only one succeeds; who has it says so again every few
seconds, and who ended without giving it back loses it half a minute later.

A process that was stopped longer than that may still believe that it has the corpus. So whoever
takes it over commits once to the table of rows what no commit begun before can follow (see
`fence`), and each commit of rows is begun before it is asked whose the corpus is.
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

from components.core.errors import BusyError
from components.corpus.store.failures import known

__all__ = [
    "HELD_SECONDS",
    "Lease",
    "OnWait",
    "fence",
    "file_is_held",
    "file_lease",
    "is_held",
    "lease_table",
    "lost",
]

OnWait = Callable[[], None]
"""Called while one waits whether who has a corpus is still there; what it raises ends that."""

HELD_SECONDS = 30.0
"""After so long without a word a corpus is free again; clocks may differ by a third of it."""

_SAID_SECONDS = HELD_SECONDS / 3
_ASKED_SECONDS, _WAITED_SECONDS = 2.0, 0.2
_LOCK_SECONDS = 0.5  # longer than `file_is_held` has a lock
_DAMAGED = "damaged"  # holds nothing
_SAID_AT_MOST = 100  # times, until what was said before is deleted

_schema = pa.schema([("holder", pa.string()), ("said", pa.int64()), ("until", pa.float64())])
_log = logging.getLogger("contextlens")


@dataclass(frozen=True)
class _Row:
    holder: str
    said: int
    until: float


def lease_table(database: Any, key: str) -> Any:
    """Return the table that says who has a corpus; made where there is none, or a damaged one.

    A new one in place of a damaged one says that somebody had the corpus and is late: so it is
    fenced, and a holder of before finds at its next commit that it lost it.
    """
    first = _Row("", 0, 0.0)
    try:
        table = database.open_table(key)
        _row(table)
    except ValueError:  # there is none, or what `create_table` says next
        pass
    except Exception as exc:
        if known(exc):
            raise
        _log.warning("Who has a stored corpus could not be read, and is written anew: %s", exc)
        database.drop_table(key, ignore_missing=True)
        first = _Row(_DAMAGED, 0, 0.0)
    else:
        return table
    try:
        return database.create_table(key, pa.Table.from_pylist([vars(first)], _schema))
    except ValueError:  # another process was first
        return database.open_table(key)


@contextmanager
def file_lease(path: Path, is_over: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Hold a file's lock inside.

    Args:
        path: of the file, in which nothing is ever written.
        is_over: asked at the end: if True, nobody needs the file any more, and it is deleted. Only
            its holder may do that, or two processes would hold the locks of two files.

    Raises:
        BusyError: another thread or process does.
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
            with suppress(OSError):  # Windows keeps what is open
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
    """True if a process has the corpus that a table of `lease_table` is of."""
    found = _row(table)
    return found.holder != "" and time.time() < found.until


def fence(table: Any) -> None:
    """Have each commit to a table that was begun before fail: to restore conflicts with any."""
    table.checkout_latest()
    table.checkout(table.version)
    table.restore()


class Lease:
    """A corpus on object storage that one process has, until `give_back`.

    Args:
        table: see `lease_table`; none that refreshes by itself.
    """

    def __init__(self, table: Any) -> None:
        self._table = table
        self._own = secrets.token_hex(8)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._say_again, daemon=True, name="contextlens-has")

    def take(self, on_wait: OnWait | None = None) -> bool:
        """Have it; whether somebody had it who did not give it back.

        Args:
            on_wait: where it is given, wait until who has it says so once more, or is late.

        Raises:
            BusyError: another process has it.
        """
        first = found = _row(self._table)
        while not self._swap(found):
            if on_wait is None or (found.holder, found.said) != (first.holder, first.said):
                raise _busy("")
            _wait(on_wait)
            found = _row(self._table)
        self._thread.start()
        return found.holder != ""

    def check(self) -> None:
        """Pass while this process still has it.

        Raises:
            BusyError: another one took it, as nothing was heard of this one.
        """
        try:
            holder = _row(self._table).holder
        except Exception as exc:
            if known(exc):
                raise
            raise lost() from exc  # it was damaged, and another one wrote it anew
        if holder != self._own:
            raise lost()

    def delete(self, database: Any, key: str) -> None:
        """Delete the table itself, as nothing is left of the corpus; not another holder's."""
        self._stop()
        try:
            self.check()
            database.drop_table(key, ignore_missing=True)
        except Exception as exc:  # noqa: BLE001 - a row without a corpus harms nobody
            _log.warning("Who had a deleted corpus is still written: %s", exc)

    def give_back(self) -> None:
        """Let others have it at once."""
        self._stop()
        try:
            self._update(f"holder = '{self._own}'", holder="''", until="0.0")
        except Exception as exc:  # noqa: BLE001 - others have it half a minute later
            _log.warning("A stored corpus could not be given back: %s", exc)

    def _stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _swap(self, found: _Row) -> bool:
        """Take it as it was found: not where another process was quicker, or has it still."""
        if found.holder and time.time() < found.until:
            return False
        where = f"holder = '{found.holder}' AND said = {found.said}"
        return self._update(where, holder=f"'{self._own}'", said="said + 1", until=_later())

    def _update(self, where: str, **values: str) -> bool:
        """True if the row was as asked, and is as given now; nothing of a table that is deleted."""
        self._table.checkout_latest()
        return bool(self._table.update(where=where, values_sql=values).rows_updated)

    def _say_again(self) -> None:
        n_said = 0
        while not self._over.wait(_SAID_SECONDS):
            n_said += 1
            try:
                if not self._say(n_said):
                    return
            except Exception as exc:  # noqa: BLE001 - storage may be there again the next time
                _log.warning("Who has a stored corpus could not be said: %s", exc)

    def _say(self, n_said: int) -> bool:
        if not self._update(f"holder = '{self._own}'", said="said + 1", until=_later()):
            return False
        if n_said % _SAID_AT_MOST == 0:
            self._table.optimize(cleanup_older_than=timedelta(seconds=2 * HELD_SECONDS))
        return True


def _row(table: Any) -> _Row:
    table.checkout_latest()
    return _Row(**table.search().limit(1).to_list()[0])


def lost() -> BusyError:
    """What is said where another process took a corpus over."""
    return BusyError(
        "Another server took the indexing of this corpus over, as nothing was heard of this one. "
        "Wait for it."
    )


def _busy(where: str) -> BusyError:
    return BusyError(f"Another server{where} is indexing this corpus. Wait for it.")


def _later() -> str:
    return repr(time.time() + HELD_SECONDS)


def _wait(on_wait: OnWait) -> None:
    """Some time before storage is asked again, in which the work can be stopped."""
    end = time.monotonic() + _ASKED_SECONDS
    while time.monotonic() < end:
        on_wait()
        time.sleep(_WAITED_SECONDS)
