"""Work on maps in the background, shared by all sessions and bounded in bytes. No streamlit here.

A job goes on while anyone looks at its page; it stops when the last who does says so, or when
nobody has looked for some minutes (a closed tab).
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

__all__ = ["Job", "Jobs", "StoppedError"]

_N_AT_ONCE = 4
_FORGOTTEN_SECONDS = 300.0
_LOOKING_SECONDS = 5.0
_OVERHEAD = 10_000  # bytes counted for each job beside its arrays


class StoppedError(Exception):
    """Ends a job that nobody wants any more."""


class Job:
    """One piece of work, from its start to its result or its error."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.future: Future[Any] = Future()
        self.started = time.monotonic()
        self._lock = threading.Lock()
        self._stage = "Starting"
        self._share = 0.0
        self._seen: dict[object, float] = {}
        self._looked = time.monotonic()
        self._is_unwanted = False
        self._has_stopped = False

    def run(self, work: Callable[[Job], Any]) -> None:
        """Do the work in this thread."""
        try:
            result = work(self)
        except BaseException as exc:  # noqa: BLE001 - it is those who wait that must hear of it
            self._has_stopped = isinstance(exc, StoppedError)
            self.future.set_exception(exc)
        else:
            self.future.set_result(result)

    def report(self, stage: str, share: float) -> None:
        """Note how far it is; stops the work where nobody wants it.

        Raises:
            StoppedError: nobody does.
        """
        with self._lock:
            if self._is_unwanted or time.monotonic() - self._looked > _FORGOTTEN_SECONDS:
                raise StoppedError(self.key)
            self._stage, self._share = stage, min(1.0, max(self._share, share))

    def look(self, who: object) -> tuple[str, float]:
        """The stage and the share done, for someone who waits for it."""
        with self._lock:
            self._looked = self._seen[who] = time.monotonic()
            return self._stage, self._share

    def give_up(self, who: object) -> None:
        """Wait no longer; the work is stopped unless someone else looked just now."""
        with self._lock:
            self._seen.pop(who, None)
            now = time.monotonic()
            self._is_unwanted = all(now - seen > _LOOKING_SECONDS for seen in self._seen.values())

    def done(self) -> bool:
        """Whether there is a result or an error."""
        return self.future.done()

    @property
    def was_stopped(self) -> bool:
        """Whether it ended because nobody wanted it."""
        return self._has_stopped

    @property
    def is_unwanted(self) -> bool:
        """Whether it is about to stop."""
        return self._is_unwanted


class Jobs:
    """The jobs of one process; the oldest results are forgotten beyond a bound. Thread-safe.

    Args:
        max_bytes: of all results together, by their `nbytes`; the newest is always kept.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._pool = ThreadPoolExecutor(_N_AT_ONCE, thread_name_prefix="contextlens-map")
        self._lock = threading.Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def get(self, key: str) -> Job | None:
        """The last job of a key, or None."""
        return self._jobs.get(key)

    def start(self, key: str, work: Callable[[Job], Any]) -> Job:
        """The job of a key that is under way or has a result, or a new one."""
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and not job.is_unwanted and not _failed(job):
                self._jobs.move_to_end(key)
                return job
            job = self._jobs[key] = Job(key)
            self._jobs.move_to_end(key)
            self._pool.submit(self._run, job, work)
            return job

    def _run(self, job: Job, work: Callable[[Job], Any]) -> None:
        job.run(work)
        with self._lock:
            self._forget_the_oldest()

    def _forget_the_oldest(self) -> None:
        total = 0
        for key, job in reversed(list(self._jobs.items())):
            if job.done():
                total += _OVERHEAD + (0 if _failed(job) else int(job.future.result().nbytes))
                if total > self._max_bytes and job is not next(reversed(self._jobs.values())):
                    del self._jobs[key]


def _failed(job: Job) -> bool:
    return job.done() and job.future.exception() is not None
