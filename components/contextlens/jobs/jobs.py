"""All background work of one process: started once for all callers, with fair turns.

Each piece of work has a thread of its own, which exists only while it runs. Work that would hold
the interpreter's lock for long uses a process (see `processes`). There is no supervising thread:
each call that starts, polls, cancels or ends a job checks what else should begin or stop.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from contextlens.core.caller import calling
from contextlens.core.errors import BusyError
from contextlens.core.sizes import size_of
from contextlens.jobs.job import Job, Report, without_variables
from contextlens.jobs.progress import State
from contextlens.jobs.task import JobKind, StoppedError, Task, Visitor

__all__ = ["FairQueue", "Jobs"]


# --- Turns: fair shares between visitors

_MIN_SECONDS = 0.1
"""The least that a turn costs: even work that takes no time takes a place."""


class FairQueue:
    """The waiting and running jobs of one kind. Its caller holds the lock."""

    def __init__(self, kind: JobKind) -> None:
        self.kind = kind
        self.waiting: list[Job] = []
        self.running: list[Job] = []
        self._accounts: dict[Hashable, float] = {}  # seconds used by each visitor with a job here
        self._highest = 0.0

    def add(self, job: Job) -> None:
        """Add a waiting job."""
        self.waiting.append(job)

    def remove(self, job: Job) -> None:
        """Remove a job that is over."""
        self.waiting = [other for other in self.waiting if other is not job]
        self.running = [other for other in self.running if other is not job]

    def open_accounts(self, names: Iterable[Hashable]) -> None:
        """Open an account for each new visitor when they start to wait."""
        for name in names:
            self._accounts.setdefault(name, self._highest)

    def check_room(self, name: Hashable, n_new: int) -> None:
        """Refuse new jobs beyond the number that may wait.

        Raises:
            BusyError: the limit is reached, for this visitor (None is anonymous) or overall.
        """
        title, limit = self.kind.name, self.kind.n_waiting_each
        if name is not None and sum(job.is_of(name) for job in self.waiting) + n_new > limit:
            raise BusyError(
                f"You have {limit:,} {title} waiting already, as many as one visitor may have "
                "here. Wait for one of them, or cancel one, and try again."
            )
        if self.is_full(n_new):
            raise BusyError(
                f"This server has {len(self.waiting):,} {title} waiting already, as many as it may "
                "have. Try again in a minute."
            )

    def is_full(self, n_new: int) -> bool:
        """True if `n_new` more jobs would exceed the limit."""
        return len(self.waiting) + n_new > self.kind.n_waiting

    def begin_next(self, may_begin: Callable[[Job], bool]) -> Job | None:
        """Start the job whose turn it is, or return None if there is none or no capacity."""
        if len(self.running) >= self.kind.n_at_once:
            return None
        fits = [j for j in self.waiting if j.given is not None and self._fits(j) and may_begin(j)]
        if not fits:
            return None
        job = min(fits, key=self._rank)
        name, account = self._turn_of(job)
        self._accounts[name] = account
        self._highest = max(self._highest, account)
        self.remove(job)
        self.running.append(job)
        self._close_accounts()
        return job

    def n_before(self, job: Job) -> int:
        """The number of waiting jobs that would start before a given one."""
        rank = self._rank(job)
        return sum(self._rank(other) < rank for other in self.waiting)

    def _rank(self, job: Job) -> tuple[bool, float, int]:
        """A sort key: the lowest starts first; jobs that no one waits for come last."""
        return (not job.names(), self._turn_of(job)[1], job.number)

    def _turn_of(self, job: Job) -> tuple[Hashable, float]:
        """The visitor, among those who share a job, to be charged for it, and their new account."""
        accounts = {name: self._accounts.get(name, self._highest) for name in job.sharers()}
        name = min(accounts, key=lambda sharer: accounts[sharer])
        return name, accounts[name] + max(_MIN_SECONDS, _task_of(job).size)

    def _fits(self, job: Job) -> bool:
        return self._fits_by_size(job) and self._fits_by_visitor(job)

    def _fits_by_visitor(self, job: Job) -> bool:
        """True if anyone who shares the job may run one more; the server itself always may."""
        limit = self.kind.n_at_once_each
        taken = Counter(name for other in self.running for name in other.sharers())
        return limit is None or any(n is None or taken[n] < limit for n in job.sharers())

    def _fits_by_size(self, job: Job) -> bool:
        limit = self.kind.n_large
        n_large = sum(_task_of(other).is_large for other in self.running)
        return limit is None or not _task_of(job).is_large or n_large < limit

    def _close_accounts(self) -> None:
        present = set().union(*(job.sharers() for job in (*self.waiting, *self.running)))
        self._accounts = {
            name: account for name, account in self._accounts.items() if name in present
        }


def _task_of(job: Job) -> Task:
    if job.task is None:
        raise RuntimeError(f"{job.key} is over, and yet in the line")
    return job.task


_OVERHEAD = 10_000  # bytes counted for each job besides its result


class Jobs:
    """The jobs of one process. Thread-safe.

    Args:
        max_bytes: the limit for all results together, by `size_of`; the least recently used are
            dropped, the newest is always kept.
        hold: called with the total bytes of all results after each job, for a count of memory.
        lease_seconds: how long a visitor counts as waiting after each look.
        clock: returns seconds.
    """

    def __init__(
        self,
        max_bytes: int,
        *,
        hold: Callable[[int], None] | None = None,
        lease_seconds: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lock = threading.RLock()
        self.lease_seconds = lease_seconds
        self.now = clock
        self._max_bytes = max_bytes
        self._hold = hold
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._lines: dict[JobKind, FairQueue] = {}
        self._n_started = 0
        self._ended = Counter[tuple[str, State]]()
        self._is_over = False

    def start(self, task: Task, visitor: Visitor | None = None) -> Job:
        """Return the job of a task: the one under way, the one with the result, or a new one.

        Args:
            task: what to do; ignored apart from its key if a job of that key exists.
            visitor: the visitor who waits; None starts the job without waiting.

        Raises:
            BusyError: too many jobs wait already.
        """
        with self.lock:
            self.turn()
            name = None if visitor is None else visitor.name
            job = self._existing(task) or self._add_in_room(task, name)
            job.join(visitor)
            self._open_accounts(job)
            self._jobs.move_to_end(task.key)
            self.turn()
            return job

    def get(self, key: Hashable) -> Job | None:
        """The last job of a key, or None; counts as a use of its result."""
        with self.lock:
            job = self._jobs.get(key)
            if job is not None:
                self._jobs.move_to_end(key)
            return job

    def under_way(self, kind: JobKind) -> list[Job]:
        """The jobs of a kind that wait or run."""
        with self.lock:
            line = self._lines.get(kind)
            return [] if line is None else [*line.running, *line.waiting]

    def tally(self) -> Counter[tuple[str, State]]:
        """The number of jobs by kind name and state: those that wait or run, and all that ended."""
        with self.lock:
            lines = self._lines.values()
            jobs = [job for line in lines for job in (*line.running, *line.waiting)]
            return self._ended + Counter((job.kind.name, job.state) for job in jobs)

    def stop(self, seconds: float = 0.0) -> None:
        """Start no more jobs, stop all, and wait up to `seconds` for all of them together."""
        with self.lock:
            self._is_over = True
            running = [job for line in self._lines.values() for job in line.running]
            for line in self._lines.values():
                for job in (*line.running, *line.waiting):
                    job.abandon()
            self.turn()
        end = time.monotonic() + seconds
        for job in running:
            job.wait(max(0.0, end - time.monotonic()))

    # For jobs

    def turn(self) -> None:
        """Drop waiting jobs that are unwanted, and start those whose turn it is."""
        with self.lock:
            for job in [job for line in self._lines.values() for job in line.waiting]:
                if job.state == "waiting" and job.is_unwanted():
                    self._end(job, "stopped", error=StoppedError(str(job.key)))
            for line in list(self._lines.values()):
                while (begun := line.begin_next(self._may_begin)) is not None:
                    self._begin(begun)

    def n_before(self, job: Job) -> int:
        """The number of jobs of the same kind that wait ahead of a job."""
        return self._lines[job.kind].n_before(job)

    def _existing(self, task: Task) -> Job | None:
        job = self._jobs.get(task.key)
        return job if job is not None and job.can_be_joined else None

    def _add_in_room(self, task: Task, name: Hashable) -> Job:
        if self._is_over:
            raise BusyError("This server is shutting down. Try again when it is up again.")
        for kind, n_new in self._new_kinds(task).items():
            line = self._line(kind)
            if line.is_full(n_new):
                self._drop_unwaited(line)
            line.check_room(name, n_new)
        return self._add(task, name)

    def _new_kinds(self, task: Task | None) -> Counter[JobKind]:
        """The number of new jobs of each kind that a task creates."""
        new = Counter[JobKind]()
        while task is not None and self._existing(task) is None:
            new[task.kind] += 1
            task = task.after
        return new

    def _drop_unwaited(self, line: FairQueue) -> None:
        for job in line.waiting:
            if job.kind.forgotten_seconds is not None and not job.done() and not job.names():
                self._end(job, "stopped", error=StoppedError(str(job.key)))

    def _add(self, task: Task, name: Hashable) -> Job:
        first = None
        if task.after is not None:
            first = self._existing(task.after) or self._add(task.after, name)
            self._jobs.move_to_end(task.after.key)
        self._n_started += 1
        job = self._jobs[task.key] = Job(task, self._n_started, name, self)
        self._line(task.kind).add(job)
        if first is not None and first.state == "done":
            job.give(first.result(), first.nbytes)
        elif first is not None:
            job.after = first
            first.others.append(job)
        return job

    def _line(self, kind: JobKind) -> FairQueue:
        return self._lines.setdefault(kind, FairQueue(kind))

    def _open_accounts(self, job: Job) -> None:
        self._line(job.kind).open_accounts(job.sharers())
        if job.after is not None:
            self._open_accounts(job.after)

    def _may_begin(self, job: Job) -> bool:
        """False for a preparatory job while unused results of such jobs exceed the memory limit."""
        if not job.others or job.given:
            return True
        waiting = (other for line in self._lines.values() for other in line.waiting)
        return sum(other.n_given for other in waiting) <= self._max_bytes

    def _begin(self, job: Job) -> None:
        job.state = "running"
        name = f"contextlens-{job.kind.name.replace(' ', '-')}"
        threading.Thread(target=self._run, args=(job,), daemon=True, name=name).start()

    def _run(self, job: Job) -> None:
        result, nbytes, error = None, _OVERHEAD, None
        state: State = "done"
        try:
            with calling(job.caller()):
                result = job.task.work(Report(job), *(job.given or ())) if job.task else None
            nbytes += size_of(result)
        except BaseException as exc:  # noqa: BLE001 - the waiting callers must get the error
            state = "stopped" if isinstance(exc, StoppedError) else "failed"
            result, error = None, without_variables(exc)
        with self.lock:
            self._end(job, state, result, nbytes, error)
            self._forget_the_least_used(job)
            self.turn()

    def _end(
        self,
        job: Job,
        state: State,
        result: Any = None,
        nbytes: int = _OVERHEAD,
        error: BaseException | None = None,
    ) -> None:
        others = job.others
        self._line(job.kind).remove(job)
        self._ended[job.kind.name, state] += 1
        job.end(state, result, nbytes, error)
        for other in others:
            if other.state == "waiting" and state == "done":
                other.give(result, nbytes)
            elif other.state == "waiting":
                self._end(other, state, error=error)

    def _forget_the_least_used(self, newest: Job) -> None:
        over = [job for job in reversed(self._jobs.values()) if job.done() and job is not newest]
        total = newest.nbytes
        for job in over:
            total += job.nbytes
            if total > self._max_bytes:
                job.forget()
                del self._jobs[job.key]
        if self._hold is not None:
            self._hold(sum(job.nbytes for job in self._jobs.values() if job.done()))
