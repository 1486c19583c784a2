"""Worker processes for work that holds the interpreter's lock for long: maps, file readers."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from contextlens.core.errors import ContextlensError
from contextlens.jobs.process import OnProgress, Process, Sentences

__all__ = ["Processes"]

_POLL_SECONDS = 0.1
_THREAD = "contextlens-warm-up"

_log = logging.getLogger("contextlens")


class Processes:
    """A pool of processes, each of which does one task at a time. Thread-safe.

    Each starts when it is first needed; one that dies or does not stop in time is replaced.

    Args:
        n: the most processes.
        warm: an entry and its task, run ahead of time by `warm_up` and in replacement processes.
        env: environment variables for the processes, in addition to the server's own.
        sentences: the messages for a task that ends badly.
    """

    def __init__(
        self,
        n: int,
        *,
        warm: tuple[str, Mapping[str, Any]] | None = None,
        env: Mapping[str, str] | None = None,
        sentences: Sentences | None = None,
    ) -> None:
        self._all = [Process(env or {}, sentences or Sentences()) for _ in range(n)]
        self._idle = list(self._all)
        self._changed = threading.Condition()
        self._warm = warm
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(
        self, entry: str, task: Mapping[str, Any], on_progress: OnProgress, *, folder: Path
    ) -> Any:
        """Return the result of a function that runs in one of the processes.

        Args:
            entry: "package.module:function"; it is called as function(task, folder, report).
            task: sent as JSON; the function's result comes back the same way.
            on_progress: called with the progress a few times a second, even when nothing changes.
                An exception that it raises stops the task and propagates from here.
            folder: the task's own folder, for files in both directions.

        Raises:
            ContextlensError: an error of ours that the function raised.
            WorkerError: the function failed otherwise, or the process died or did not start.
        """
        with self._one(on_progress, alive=True) as process:
            try:
                return process.ask(entry, task, on_progress, folder)
            finally:
                if self._warm is not None and not process.is_alive and not self._is_closed:
                    threading.Thread(target=self.warm_up, daemon=True, name=_THREAD).start()

    def warm_up(self) -> None:
        """Run `warm` in a process that is not running yet; errors are logged."""
        if self._warm is None:
            return
        with (
            self._one(_ignore, alive=False) as process,
            TemporaryDirectory(prefix="contextlens-", ignore_cleanup_errors=True) as folder,
        ):
            try:
                process.ask(*self._warm, _ignore, Path(folder))
            except ContextlensError as exc:
                if not self._is_closed:
                    _log.warning("A worker process could not be warmed up: %s", exc)

    def close(self) -> None:
        """End all processes for good, even in the middle of a task."""
        self._is_closed = True
        for process in self._all:
            process.close()

    @contextmanager
    def _one(self, on_progress: OnProgress, *, alive: bool) -> Iterator[Process]:
        """An idle process, preferably one that is running (`alive`) or one that is not."""
        with self._changed:
            while not self._idle:
                on_progress("Getting ready", 0.0)
                self._changed.wait(_POLL_SECONDS)
            process = max(self._idle, key=lambda process: process.is_alive == alive)
            self._idle.remove(process)
        try:
            yield process
        finally:
            with self._changed:
                self._idle.append(process)
                self._changed.notify()


def _ignore(stage: str, share: float) -> None:
    del stage, share
