"""One server for all workers: the first that needs it starts it, the last that leaves ends it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, ReadWriteLock, Timeout

from tests.support.app_server import AppServer, end_of

__all__ = ["SharedServer", "shared"]

_BEGUN: list[AppServer] = []
"""Those of this process: one that others still use when it leaves is not to be forgotten."""


@dataclass(frozen=True)
class SharedServer:
    """A running server that may be another worker's child."""

    name: str
    address: str
    pid: int
    log: str

    def report(self) -> str:
        """The end of its log."""
        return end_of(Path(self.log))


@contextmanager
def shared(folder: Path, start: Callable[[], AppServer]) -> Iterator[SharedServer]:
    """A server that is started once, for all processes that name this folder.

    Args:
        folder: empty, or where another process that shares the server is.
        start: starts it; called by the first process alone, while the others wait.
    """
    folder.mkdir(exist_ok=True)
    door = FileLock(folder / "door.lock")
    inside = ReadWriteLock(folder / "inside.lock")  # let go by a worker that dies, too
    noted = folder / "server.json"
    begun: AppServer | None = None
    with door:
        inside.acquire_read()
        if not noted.exists():
            begun = start()
            _BEGUN.append(begun)
            its = SharedServer(begun.name, begun.address, begun.process.pid, str(begun.log))
            noted.write_text(json.dumps(asdict(its)))
        its = SharedServer(**json.loads(noted.read_text()))
    yield its
    with door:
        inside.release()
        with suppress(Timeout), inside.write_lock(blocking=False):
            noted.unlink()
            if begun is not None:
                begun.stop()
            else:
                os.killpg(its.pid, signal.SIGTERM)  # and its children; only its parent can wait
