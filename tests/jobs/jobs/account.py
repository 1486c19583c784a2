"""A simple account of who wants which jobs, for a state machine that does anything to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis.stateful import RuleBasedStateMachine

from contextlens.jobs import Job, JobKind, Jobs, Task, Visitor
from tests.jobs.steps import Clock, Work, threads

__all__ = ["KINDS", "LEASE", "MAX_BYTES", "OWN", "POINTS", "WHAT", "Account", "Wanted"]

LEASE = 5.0
MAX_BYTES = 1_000_000
OWN = "simulated"
"""The prefix of its kinds' names, as an app of earlier tests may still have threads."""
MAPS = JobKind(
    f"{OWN} maps", n_at_once=2, n_large=1, large_seconds=10, n_waiting=4, n_waiting_each=2,
    forgotten_seconds=30,
)  # fmt: skip
POINTS = JobKind(f"{OWN} points", n_at_once=1, n_waiting=3, n_waiting_each=2, forgotten_seconds=30)
LOADS = JobKind(
    f"{OWN} loads", n_at_once=2, n_at_once_each=1, n_waiting=2, n_waiting_each=2,
    forgotten_seconds=60, keeps=False,
)  # fmt: skip
KINDS = (MAPS, POINTS, LOADS)
WHAT: dict[str, tuple[JobKind, float, str | None]] = {
    "small 1": (MAPS, 1, None),
    "small 2": (MAPS, 2, None),
    "large 1": (MAPS, 20, None),
    "large 2": (MAPS, 60, None),
    "of p 1": (MAPS, 1, "p"),
    "of p 2": (MAPS, 30, "p"),
    "of q": (MAPS, 3, "q"),
    "p": (POINTS, 5, None),
    "q": (POINTS, 2, None),
    "m": (LOADS, 9, None),
    "n": (LOADS, 3, None),
    "o": (LOADS, 3, None),
}


@dataclass(eq=False)
class Wanted:
    """One job and the visitors who want it."""

    job: Job
    work: Work
    starter: object
    first: Wanted | None
    until: dict[Visitor, float] = field(default_factory=dict)
    cancelled: set[Visitor] = field(default_factory=set)
    looked: float = 0.0
    is_given_up: bool = False
    was_told_to_stop: bool = False


class Account(RuleBasedStateMachine):
    """Jobs without rules yet, and who wants which of them."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.jobs = Jobs(MAX_BYTES, lease_seconds=LEASE, clock=self.clock)
        self.known: dict[str, Wanted] = {}  # the last job of each key
        self.all: list[Wanted] = []
        self.n_threads = len(threads(OWN))

    def task(self, key: str) -> Task:
        kind, size, first = WHAT[key]
        after = None if first is None else self.task(first)
        return Task(key, kind, Work(), size=size, after=after)

    def noted(self, key: str, visitor: Visitor | None, job: Job) -> Wanted:
        """The account of a job, created if the job is new."""
        if key in self.known and self.known[key].job is job:
            return self.known[key]
        first_key = WHAT[key][2]
        first = None
        if first_key is not None and (own := self.jobs.get(first_key)) is not None:
            first = self.noted(first_key, visitor, own)
        work = job.task.work if job.task is not None else Work()
        name = None if visitor is None else visitor.name
        given_up = job.kind.forgotten_seconds is not None
        new = Wanted(job, work, name, first, looked=self.clock.now, is_given_up=given_up)
        self.known[key] = new
        self.all.append(new)
        return new

    def is_waited_for(self, own: Wanted) -> bool:
        """True if someone waits for the job itself."""
        return any(until > self.clock.now for until in own.until.values())

    def waits(self, own: Wanted) -> bool:
        """True if someone waits for a job, or for what comes after it."""
        return self.is_waited_for(own) or any(self.waits(other) for other in self.after(own))

    def is_unwanted(self, own: Wanted) -> bool:
        """True if nobody wants a job or anything that comes after it."""
        limit = own.job.kind.forgotten_seconds
        is_forgotten = limit is not None and self.clock.now - own.looked > limit
        return (own.is_given_up or is_forgotten) and all(map(self.is_unwanted, self.after(own)))

    def after(self, own: Wanted) -> list[Wanted]:
        return [o for o in self.all if o.first is own and not o.job.done()]

    def running(self) -> list[Wanted]:
        return [own for own in self.all if own.job.state == "running"]

    def have_enough(self, job: Job) -> bool:
        """True if all who share a job have as many places as they may."""
        most = job.kind.n_at_once_each
        shared = [o.sharers() for o in self.jobs.under_way(job.kind) if o.state == "running"]
        sharers = job.sharers()
        return most is not None and all(
            name is not None and sum(name in names for names in shared) >= most for name in sharers
        )

    def n_waiting(self, kind: JobKind) -> int:
        return sum(job.state == "waiting" for job in self.jobs.under_way(kind))

    def n_own(self, kind: JobKind, visitor: Visitor | None) -> int:
        if visitor is None:
            return 0
        waiting = [o for o in self.all if o.job.state == "waiting" and o.job.kind is kind]
        return sum(o.starter == visitor.name for o in waiting)

    def is_much_given(self) -> bool:
        jobs = [job for kind in KINDS for job in self.jobs.under_way(kind)]
        return sum(job.n_given for job in jobs if job.state == "waiting") > MAX_BYTES
