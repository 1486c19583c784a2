"""Kinds of jobs and visitors to try jobs with, and what a test has a job do."""

from __future__ import annotations

from contextlens.jobs import Job, JobKind, Jobs, Task, Visitor
from tests.jobs.steps import WAIT, Result, Work

__all__ = ["ANN", "BOB", "LOADS", "MAPS", "POINTS", "finish", "running", "task"]

ANN, BOB = Visitor("ann"), Visitor("bob")
MAPS = JobKind("maps", n_at_once=2, n_large=1, large_seconds=10, forgotten_seconds=300)
POINTS = JobKind("sets of points", n_at_once=1, forgotten_seconds=300)
LOADS = JobKind("models", n_at_once=2, keeps=False, first_words="Looking for the model")


def task(key: str, *, kind: JobKind = MAPS, size: float = 1, after: Task | None = None) -> Task:
    return Task(key, kind, Work(), size=size, after=after, split=0.25 if after else 0.0)


def finish(job: Job, result: Result | None = None) -> None:
    """Have a job's work end, and wait until it has."""
    assert job.task is not None
    job.task.work.finish(result or Result(str(job.key)))
    assert job.wait(WAIT)


def running(jobs: Jobs, kind: JobKind = MAPS) -> set[object]:
    return {job.key for job in jobs.under_way(kind) if job.state == "running"}
