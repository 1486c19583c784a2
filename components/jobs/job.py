"""One piece of work from its start to its end, who waits for it, and how they leave it."""

from __future__ import annotations

import copy
import threading
import traceback
from collections.abc import Hashable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

from components.core.caller import Caller
from components.core.errors import JobError
from components.jobs.progress import Meter, State, Status
from components.jobs.task import StoppedError, Task, Visitor

__all__ = ["Job", "Report", "without_variables"]


# --- Errors that work ended with


def without_variables(error: BaseException) -> BaseException:
    """The same error; the frames that it and its causes came through hold nothing any more."""
    todo: list[BaseException | None] = [error]
    seen = set[int]()
    while todo:
        each = todo.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            traceback.clear_frames(each.__traceback__)
            todo += [each.__cause__, each.__context__]
    return error


def own_copy(error: BaseException) -> BaseException:
    """An equal error, so that raising it leaves nothing in the first; or the first itself."""
    try:
        own = copy.copy(error)
    except Exception:  # noqa: BLE001 - a library's error whose arguments are not those it was made of
        return error
    if type(own) is not type(error):
        return error
    own.__cause__, own.__context__ = error.__cause__, error.__context__
    own.__suppress_context__ = error.__suppress_context__
    return own.with_traceback(error.__traceback__)


class Office(Protocol):
    """What a job needs of the `Jobs` that it is one of."""

    lease_seconds: float

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held while anything about jobs changes; may be taken again by who holds it."""

    def now(self) -> float:
        """Seconds on the clock."""

    def turn(self) -> None:
        """Look again at who waits: something changed."""

    def n_before(self, job: Job) -> int:
        """How many wait before a job."""


class Job:
    """One piece of work. Thread-safe; made by `Jobs.start` only.

    Who waits holds no thread: it asks with `look`, and thereby goes on to count as waiting for a
    few seconds. Asked to stop, the work stops when it next reports: until then whoever wants it
    again finds the same job.
    """

    def __init__(self, task: Task, number: int, starter: Hashable, office: Office) -> None:
        self.key, self.kind = task.key, task.kind
        self.number = number
        self.task: Task | None = task  # until it is over: what it refers to may be large
        self.after: Job | None = None
        self.others: list[Job] = []  # those that come after this one
        self.state: State = "waiting"
        self.nbytes = 0
        self.given: tuple[Any, ...] | None = () if task.after is None else None
        self.n_given = 0  # bytes of what was given
        self._office = office
        self._starter = starter
        self._split = task.split
        self._meter = Meter(task.kind.first_words, office.now)
        self._leases: dict[Visitor, float] = {}  # until when each counts as waiting
        self._cancelled: set[Visitor] = set()
        self._looked = office.now()
        # What runs only for other jobs is wanted through them, unless its kind goes on anyway.
        self._is_given_up = task.kind.forgotten_seconds is not None
        self._is_stopping = False
        self._over = threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None

    # For those who wait

    def look(self, visitor: Visitor | None = None) -> Status:
        """How far it is; a visitor who waits for it goes on to count as one who does."""
        with self._office.lock:
            if visitor in self._leases:
                self.join(visitor)
            if self.state == "waiting":
                self._office.turn()  # who is gone by now leaves room, and tells nobody
            status = self._status()
            return replace(status, state="cancelled") if visitor in self._cancelled else status

    def leave(self, visitor: Visitor) -> None:
        """Wait no longer, and let it go on as long as its kind does."""
        with self._office.lock:
            self._leases.pop(visitor, None)

    def cancel(self, visitor: Visitor | None = None) -> None:
        """`drop` it, and be told from now on that it was cancelled."""
        with self._office.lock:
            if visitor is not None:
                self._cancelled.add(visitor)
            self.drop(visitor)

    def drop(self, visitor: Visitor | None = None) -> None:
        """Wait no longer, and have it stopped unless someone else waits."""
        with self._office.lock:
            if visitor is not None:
                self._leases.pop(visitor, None)
            self._is_given_up = not any(self._waiting_now())
            self._office.turn()

    def done(self) -> bool:
        """Whether there is nothing to wait for any more."""
        return self._over.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Hold this thread until it is over; says whether it is."""
        return self._over.wait(timeout)

    def result(self, timeout: float | None = None) -> Any:
        """What the work gave.

        Raises:
            TimeoutError: it is not over yet.
            StoppedError: it was stopped, as nobody wanted it.
            JobError: the result had to make room since.
        """
        error = self.exception(timeout)
        if error is not None:
            raise error
        with self._office.lock:
            if self.state == "forgotten":
                raise JobError("This result had to make room for others. Ask for it again.")
            return self._result

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What the work ended with, or None: for each who asks an own one, to be raised.

        Raises:
            TimeoutError: it is not over yet.
        """
        if not self._over.wait(timeout):
            raise TimeoutError(f"{self.key} is not over yet")
        return None if self._error is None else own_copy(self._error)

    @property
    def was_stopped(self) -> bool:
        """Whether it ended because nobody wanted it."""
        return self.state == "stopped"

    # For `Jobs`, which holds the lock

    def caller(self) -> Caller:
        """As whom its work asks for what it needs: after visitors, and until nobody wants it."""
        return Caller(self._starter, bulk=True, is_cancelled=self.must_stop)

    def join(self, visitor: Visitor | None) -> None:
        """Have it wanted, and a visitor wait for it."""
        self._is_given_up = False
        self._looked = self._office.now()
        if visitor is not None:
            self._cancelled.discard(visitor)
        if visitor is not None and not self.done():  # what is kept for days would count them all
            self._leases[visitor] = self._looked + self._office.lease_seconds

    @property
    def can_be_joined(self) -> bool:
        """Whether it is what someone should get who asks for its key now."""
        if self.state == "done":
            return self.kind.keeps
        return self.state in {"waiting", "running"} and not self._is_stopping

    def is_unwanted(self) -> bool:
        """Whether it should stop: given up or forgotten, and nothing else comes after it."""
        if not all(other.is_unwanted() for other in self._followers()):
            return False
        limit = self.kind.forgotten_seconds
        is_forgotten = limit is not None and self._office.now() - self._looked > limit
        return self._is_given_up or is_forgotten

    def names(self) -> set[Hashable]:
        """Who waits for it now, or for what comes after it."""
        return {v.name for v in self._waiting_now()}.union(
            *(other.names() for other in self._followers())
        )

    def sharers(self) -> set[Hashable]:
        """Whose turn it takes: of those who wait, or of who asked first."""
        return self.names() or {self._starter}

    def is_of(self, name: Hashable) -> bool:
        """Whether a visitor asked for it first, and is still one of those it is for."""
        return name == self._starter and name in self.sharers()

    def abandon(self) -> None:
        """Have it stopped, whoever waits."""
        self._leases.clear()
        self._is_given_up = True

    def give(self, result: Any, nbytes: int) -> None:
        """Hand on what `after` gave."""
        self.given, self.n_given = (result,), nbytes

    def end(self, state: State, result: Any, nbytes: int, error: BaseException | None) -> None:
        """Note how it ended, and let go of what it needed."""
        self.state, self._result, self.nbytes, self._error = state, result, nbytes, error
        self.task = self.after = None
        self.given, self.n_given = (), 0
        self.others = []
        self._leases.clear()
        self._over.set()

    def forget(self) -> None:
        """Let go of the result."""
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
        """Whether its work should end, as nobody wants it; once so, always so."""
        with self._office.lock:
            if not self._is_stopping and not self.done() and self.is_unwanted():
                self._is_stopping = True
                self._office.turn()  # what should have come after it is as unwanted
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
            first = self.after.look()
            return replace(first, share=split * first.share)
        own = self._meter.status(self.state, self.kind.silence)
        share = 1.0 if self.state == "done" else split + (1 - split) * own.share
        n_before = self._office.n_before(self) if self.state == "waiting" else 0
        return replace(own, share=share, n_before=n_before)


class Report:
    """How work tells how far it is: `report("Placing the points", 0.4)`.

    It is here that work hears that nobody wants it any more: `StoppedError` comes out of it.
    """

    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, stage: str, share: float) -> None:
        """Note a stage in words and the share that is done, in [0, 1]."""
        self._job.note(stage, share)

    def count(self, stage: str, done_bytes: int, total_bytes: int | None) -> None:
        """Note a stage and its bytes; None where they are not counted now."""
        self._job.count(stage, done_bytes, total_bytes)
