"""Whose turn it is: shares between visitors, small before large. Knows no clock and no threads.

Each visitor has an account of the seconds of work begun for it. The next job is the one that would
leave its visitor's account lowest: so a small job of one visitor comes before the second large one
of another, and a large one is not put off for ever by small ones. Who comes anew begins where
the busiest account stands, so that nobody saves up a right to hold up the others. (Self-clocked
fair queueing, Golestani 1994, with the tags made when a place is free.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable

from components.core.errors import BusyError
from components.jobs.job import Job
from components.jobs.task import Kind, Task

__all__ = ["Line"]

_LEAST_SECONDS = 0.1
"""What a turn counts at least: work that takes no time takes a place."""


class Line:
    """The jobs of one kind that wait or run. Its caller holds the lock."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.waiting: list[Job] = []
        self.running: list[Job] = []
        self._accounts: dict[Hashable, float] = {}  # of those with something here
        self._highest = 0.0

    def add(self, job: Job) -> None:
        """Let a job wait."""
        self.waiting.append(job)

    def remove(self, job: Job) -> None:
        """Take out a job that is over."""
        self.waiting = [other for other in self.waiting if other is not job]
        self.running = [other for other in self.running if other is not job]

    def open_accounts(self, names: Iterable[Hashable]) -> None:
        """Begin an account for who has none yet, when they come to wait."""
        for name in names:
            self._accounts.setdefault(name, self._highest)

    def check_room(self, name: Hashable, n_new: int) -> None:
        """Refuse more jobs than may wait.

        Raises:
            BusyError: too many wait; of this visitor (None is nobody), or of all.
        """
        what, own = self.kind.name, self.kind.n_waiting_each
        if name is not None and sum(job.is_of(name) for job in self.waiting) + n_new > own:
            raise BusyError(
                f"You have {own:,} {what} waiting already, as many as one visitor may have here. "
                "Wait for one of them, or cancel one, and try again."
            )
        if self.is_full(n_new):
            raise BusyError(
                f"This server has {len(self.waiting):,} {what} waiting already, as many as it may "
                "have. Try again in a minute."
            )

    def is_full(self, n_new: int) -> bool:
        """Whether so many more are too many."""
        return len(self.waiting) + n_new > self.kind.n_waiting

    def begin_next(self, may_begin: Callable[[Job], bool]) -> Job | None:
        """The job whose turn it is, now running; None where there is none or no room."""
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
        """How many would begin before a job that waits."""
        own = self._rank(job)
        return sum(self._rank(other) < own for other in self.waiting)

    def _rank(self, job: Job) -> tuple[bool, float, int]:
        """What is lowest comes first; what nobody waits for comes last."""
        return (not job.names(), self._turn_of(job)[1], job.number)

    def _turn_of(self, job: Job) -> tuple[Hashable, float]:
        """Which of those who share a job should have the turn, and the account it leaves them."""
        accounts = {name: self._accounts.get(name, self._highest) for name in job.sharers()}
        name = min(accounts, key=lambda each: accounts[each])
        return name, accounts[name] + max(_LEAST_SECONDS, _task_of(job).size)

    def _fits(self, job: Job) -> bool:
        return self._fits_by_size(job) and self._fits_by_visitor(job)

    def _fits_by_visitor(self, job: Job) -> bool:
        """Whether someone who shares a job may have one more place; the server itself always."""
        most = self.kind.n_at_once_each
        taken = Counter(name for other in self.running for name in other.sharers())
        return most is None or any(n is None or taken[n] < most for n in job.sharers())

    def _fits_by_size(self, job: Job) -> bool:
        most = self.kind.n_large
        n_large = sum(_task_of(other).is_large for other in self.running)
        return most is None or not _task_of(job).is_large or n_large < most

    def _close_accounts(self) -> None:
        here = set().union(*(job.sharers() for job in (*self.waiting, *self.running)))
        self._accounts = {name: own for name, own in self._accounts.items() if name in here}


def _task_of(job: Job) -> Task:
    if job.task is None:
        raise RuntimeError(f"{job.key} is over, and yet in the line")
    return job.task
