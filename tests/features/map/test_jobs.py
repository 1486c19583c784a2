"""Background work on maps: shared, stopped only when nobody looks, bounded in bytes."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest

from components.core.errors import RequestError
from components.features.map.jobs import Job, Jobs, StoppedError

WAIT = 20


@dataclass(frozen=True)
class Result:
    name: str
    nbytes: int = 0


class Work:
    """Goes on reporting until it is told to end."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.end = threading.Event()
        self.n_runs = 0

    def __call__(self, job: Job) -> Result:
        self.n_runs += 1
        self.begun.set()
        while not self.end.wait(0.005):
            job.report("Working", 0.5)
        return Result(job.key)


def test_a_job_is_shared_and_its_result_kept() -> None:
    jobs, work = Jobs(10**6), Work()
    first = jobs.start("a", work)
    assert work.begun.wait(WAIT)
    assert jobs.start("a", work) is first
    work.end.set()
    assert first.future.result(WAIT) == Result("a")
    assert jobs.start("a", work) is first
    assert jobs.get("a") is first
    assert work.n_runs == 1


def test_how_far_it_is_never_goes_back() -> None:
    job = Job("a")
    job.report("One", 0.4)
    job.report("Two", 0.2)
    assert job.look("me") == ("Two", 0.4)
    job.report("Three", 7.0)
    assert job.look("me") == ("Three", 1.0)


def test_it_stops_when_the_only_one_who_looks_gives_up() -> None:
    jobs, work = Jobs(10**6), Work()
    job = jobs.start("a", work)
    assert work.begun.wait(WAIT)
    job.look("me")
    job.give_up("me")
    assert isinstance(job.future.exception(WAIT), StoppedError)
    assert job.was_stopped


def test_it_goes_on_while_someone_else_looks() -> None:
    jobs, work = Jobs(10**6), Work()
    job = jobs.start("a", work)
    job.look("me")
    job.look("you")
    job.give_up("me")
    assert work.begun.wait(WAIT)
    work.end.set()
    assert job.future.result(WAIT) == Result("a")
    assert not job.was_stopped


def test_what_failed_or_was_stopped_begins_anew() -> None:
    jobs = Jobs(10**6)

    def fail(_: Job) -> Result:
        raise RequestError("no")

    failed = jobs.start("a", fail)
    assert isinstance(failed.future.exception(WAIT), RequestError)
    again = jobs.start("a", lambda _: Result("second"))
    assert again is not failed
    assert again.future.result(WAIT) == Result("second")


def test_a_job_that_nobody_looks_at_any_more_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.features.map.jobs._FORGOTTEN_SECONDS", 0.05)
    jobs, work = Jobs(10**6), Work()
    job = jobs.start("a", work)
    assert isinstance(job.future.exception(WAIT), StoppedError)


def test_results_are_forgotten_beyond_the_bound_the_oldest_first() -> None:
    jobs = Jobs(250_000)
    for name in "abcd":
        jobs.start(name, lambda job: Result(job.key, 100_000)).future.result(WAIT)
    jobs.start("e", lambda _: Result("e")).future.result(WAIT)
    for _ in range(200):
        if jobs.get("b") is None:
            break
        threading.Event().wait(0.01)
    kept = [name for name in "abcde" if jobs.get(name) is not None]
    assert kept == ["c", "d", "e"]


def test_the_newest_result_is_kept_however_large() -> None:
    jobs = Jobs(1_000)
    job = jobs.start("a", lambda _: Result("a", 10**9))
    job.future.result(WAIT)
    threading.Event().wait(0.05)
    assert jobs.get("a") is job
