"""One piece of work from start to end, and the visitors who wait for it."""

from __future__ import annotations

import copy
import threading
import traceback
from collections.abc import Hashable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

from contextlens.core.caller import Caller
from contextlens.core.errors import JobError
from contextlens.jobs.progress import Meter, State, Status
from contextlens.jobs.task import StoppedError, Task, Visitor

__all__ = ["Job", "Report", "without_variables"]


# --- Errors from work


def without_variables(error: BaseException) -> BaseException:
    """Return the same error, with the variables cleared from its and its causes' frames."""
    todo: list[BaseException | None] = [error]
    seen = set[int]()
    while todo:
        current = todo.pop()
        if current is not None and id(current) not in seen:
            seen.add(id(current))
            traceback.clear_frames(current.__traceback__)
            todo += [current.__cause__, current.__context__]
    return error


def own_copy(error: BaseException) -> BaseException:
    """A copy to raise, so that the error itself does not change; the error if it has no copy."""
    try:
        duplicate = copy.copy(error)
    except Exception:  # noqa: BLE001 - a library's error that its own arguments cannot rebuild
        return error
    if type(duplicate) is not type(error):
        return error
    duplicate.__cause__, duplicate.__context__ = error.__cause__, error.__context__
    duplicate.__suppress_context__ = error.__suppress_context__
    return duplicate.with_traceback(error.__traceback__)


class JobRunner(Protocol):
    """The part of `Jobs` that a job uses."""

    lease_seconds: float

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """A re-entrant lock, held while anything about jobs changes."""

    def now(self) -> float:
        """The clock's time in seconds."""

    def turn(self) -> None:
        """Check the waiting jobs again after a change."""

    def n_before(self, job: Job) -> int:
        """The number of jobs that wait ahead of a job."""


class Job:
    """One piece of work. Thread-safe; created only by `Jobs.start`.

    Waiting callers hold no thread. They poll with `look`; each poll renews their wait for a few
    seconds. Work that is told to stop does so when it next reports; until then, a caller who wants
    it again gets the same job.
    """

    def __init__(self, task: Task, number: int, starter: Hashable, office: JobRunner) -> None:
        self.key, self.kind = task.key, task.kind
        self.number = number
        self.task: Task | None = task  # until the job is over, as it may refer to large objects
        self.after: Job | None = None
        self.others: list[Job] = []  # the jobs that depend on this one
        self.state: State = "waiting"
        self.nbytes = 0
        self.given: tuple[Any, ...] | None = () if task.after is None else None
        self.n_given = 0  # bytes of the result of `after`
        self._office = office
        self._starter = starter
        self._split = task.split
        self._meter = Meter(task.kind.first_words, office.now)
        self._leases: dict[Visitor, float] = {}  # when each visitor stops counting as waiting
        self._cancelled: set[Visitor] = set()
        self._looked = office.now()
        # Until a visitor joins, only jobs that need it want it, unless its kind always goes on.
        self._is_given_up = task.kind.forgotten_seconds is not None
        self._is_stopping = False
        self._over = threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None

    # For waiting callers

    def poll(self, visitor: Visitor | None = None) -> Status:
        """Return the progress, and renew the visitor's wait."""
        with self._office.lock:
            if visitor in self._leases:
                self.join(visitor)
            if self.state == "waiting":
                self._office.turn()  # visitors who left silently free their places
            status = self._status()
            return replace(status, state="cancelled") if visitor in self._cancelled else status

    def leave(self, visitor: Visitor) -> None:
        """Stop waiting; the job goes on for as long as its kind allows."""
        with self._office.lock:
            self._leases.pop(visitor, None)

    def cancel(self, visitor: Visitor | None = None) -> None:
        """Call `drop`; the visitor sees the job as cancelled from now on."""
        with self._office.lock:
            if visitor is not None:
                self._cancelled.add(visitor)
            self.drop(visitor)

    def drop(self, visitor: Visitor | None = None) -> None:
        """Stop waiting, and stop the job unless someone else waits for it."""
        with self._office.lock:
            if visitor is not None:
                self._leases.pop(visitor, None)
            self._is_given_up = not any(self._waiting_now())
            self._office.turn()

    def done(self) -> bool:
        """True if the job is over."""
        return self._over.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Block this thread until the job is over or the timeout passes; True if it is over."""
        return self._over.wait(timeout)

    def result(self, timeout: float | None = None) -> Any:
        """Return the result of the work.

        Raises:
            TimeoutError: the job is not over yet.
            StoppedError: the job was stopped because no one wanted it.
            JobError: the result has since been dropped to free memory.
        """
        error = self.exception(timeout)
        if error is not None:
            raise error
        with self._office.lock:
            if self.state == "forgotten":
                raise JobError("This result had to make room for others. Ask for it again.")
            return self._result

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return the error that the work ended with, or None; each caller gets a copy to raise.

        Raises:
            TimeoutError: the job is not over yet.
        """
        if not self._over.wait(timeout):
            raise TimeoutError(f"{self.key} is not over yet")
        return None if self._error is None else own_copy(self._error)

    @property
    def was_stopped(self) -> bool:
        """True if the job was stopped because no one wanted it."""
        return self.state == "stopped"

    # For `Jobs`, which holds the lock

    def caller(self) -> Caller:
        """The caller for the work's requests: ranks below visitors, cancelled with the job."""
        return Caller(self._starter, bulk=True, is_cancelled=self.must_stop)

    def join(self, visitor: Visitor | None) -> None:
        """Mark the job as wanted, and add a visitor to those who wait."""
        self._is_given_up = False
        self._looked = self._office.now()
        if visitor is not None:
            self._cancelled.discard(visitor)
        if visitor is not None and not self.done():  # a result is kept for days, a visitor is not
            self._leases[visitor] = self._looked + self._office.lease_seconds

    @property
    def can_be_joined(self) -> bool:
        """True if a new request for the key should get this job."""
        if self.state == "done":
            return self.kind.keeps
        return self.state in {"waiting", "running"} and not self._is_stopping

    def is_unwanted(self) -> bool:
        """True if the job should stop: given up or forgotten, and no other job depends on it."""
        if not all(other.is_unwanted() for other in self._followers()):
            return False
        limit = self.kind.forgotten_seconds
        is_forgotten = limit is not None and self._office.now() - self._looked > limit
        return self._is_given_up or is_forgotten

    def names(self) -> set[Hashable]:
        """The visitors who wait for this job or for one that depends on it."""
        return {v.name for v in self._waiting_now()}.union(
            *(other.names() for other in self._followers())
        )

    def sharers(self) -> set[Hashable]:
        """The visitors whose turn the job takes: those who wait, else the one who started it."""
        return self.names() or {self._starter}

    def is_of(self, name: Hashable) -> bool:
        """True if a visitor started the job and still shares it."""
        return name == self._starter and name in self.sharers()

    def abandon(self) -> None:
        """Stop the job, even if visitors wait for it."""
        self._leases.clear()
        self._is_given_up = True

    def give(self, result: Any, nbytes: int) -> None:
        """Store the result of `after` for the work."""
        self.given, self.n_given = (result,), nbytes

    def end(self, state: State, result: Any, nbytes: int, error: BaseException | None) -> None:
        """Record how the job ended, and release what it needed."""
        self.state, self._result, self.nbytes, self._error = state, result, nbytes, error
        self.task = self.after = None
        self.given, self.n_given = (), 0
        self.others = []
        self._leases.clear()
        self._over.set()

    def forget(self) -> None:
        """Drop the result."""
        if self.state == "done":
            self.state, self._result, self.nbytes = "forgotten", None, 0

    def note(self, stage: str, share: float) -> None:
        """See `Report`."""
        with self._office.lock:
            self._stop_if_unwanted()
            self._meter.share(stage, share)

    def count(self, stage: str, done: int, total: int | None) -> None:
        """See `Report.count`."""
        with self._office.lock:
            self._stop_if_unwanted()
            self._meter.count(stage, done, total)

    def must_stop(self) -> bool:
        """True if the work should end because no one wants it; never false again once true."""
        with self._office.lock:
            if not self._is_stopping and not self.done() and self.is_unwanted():
                self._is_stopping = True
                self._office.turn()  # jobs that depend on this one are unwanted too
            return self._is_stopping

    def _stop_if_unwanted(self) -> None:
        if self.must_stop():
            raise StoppedError(str(self.key))

    def _followers(self) -> list[Job]:
        return [other for other in self.others if not other.done()]

    def _waiting_now(self) -> list[Visitor]:
        now = self._office.now()
        return [visitor for visitor, until in self._leases.items() if until > now]

    def _status(self) -> Status:
        split = self._split
        if self.state == "waiting" and self.after is not None and self.given is None:
            first = self.after.poll()
            return replace(first, share=split * first.share)
        status = self._meter.status(self.state, self.kind.silence)
        share = 1.0 if self.state == "done" else split + (1 - split) * status.share
        n_before = self._office.n_before(self) if self.state == "waiting" else 0
        return replace(status, share=share, n_before=n_before)


class Report:
    """Reports progress from the work: `report("Placing the points", 0.4)`.

    Raises `StoppedError` once the work is no longer wanted.
    """

    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, stage: str, share: float) -> None:
        """Record a stage in words and the share that is done, in [0, 1]."""
        self._job.note(stage, share)

    def count(self, stage: str, done_bytes: int, total_bytes: int | None) -> None:
        """Record a stage and its bytes; `total_bytes` is None while they are not counted."""
        self._job.count(stage, done_bytes, total_bytes)
