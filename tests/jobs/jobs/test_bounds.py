"""Kept results and errors of jobs stay within bounds; and the end of all jobs."""

from __future__ import annotations

import gc
import traceback
import weakref
from functools import partial

import pytest

from contextlens.core.byte_cache import ByteCache
from contextlens.core.errors import BusyError, JobError, RequestError
from contextlens.jobs import Jobs, Report, Task
from tests.jobs.jobs.kinds import ANN, BOB, LOADS, MAPS, POINTS, finish, task
from tests.jobs.steps import WAIT, Result


def test_results_are_forgotten_beyond_the_bound_the_least_used_first(jobs: Jobs) -> None:
    done = {}
    for name in "abc":
        done[name] = jobs.start(task(name), ANN)
        finish(done[name], Result(name, 300_000))
    jobs.start(task("a"), ANN)
    done["d"] = jobs.start(task("d"), ANN)
    finish(done["d"], Result("d", 300_000))
    assert jobs.get("b") is None
    assert done["b"].poll(ANN).state == "forgotten"
    with pytest.raises(JobError, match="Ask for it again"):
        done["b"].result()
    assert [jobs.get(name) for name in "acd"] == [done[name] for name in "acd"]


def test_points_that_a_new_map_used_are_not_the_least_used(jobs: Jobs) -> None:
    points = jobs.start(task("points", kind=POINTS), ANN)
    finish(points, Result("points", 400_000))
    other = jobs.start(task("other"), ANN)
    finish(other, Result("other", 400_000))
    finish(jobs.start(task("map", after=task("points", kind=POINTS)), ANN), Result("m", 400_000))
    assert jobs.get("points") is points
    assert jobs.get("other") is None


def test_what_was_asked_for_last_is_not_the_least_used(jobs: Jobs) -> None:
    for name in "abc":
        finish(jobs.start(task(name), ANN), Result(name, 300_000))
    assert jobs.get("a") is not None
    finish(jobs.start(task("d"), ANN), Result("d", 300_000))
    assert jobs.get("a") is not None
    assert jobs.get("b") is None


class Large:
    """An object whose end can be observed."""


def failing(large: list[weakref.ref[Large]], report: Report) -> None:
    """Work that fails while it holds something large, as does the error's cause."""

    def within() -> None:
        held = Large()
        large.append(weakref.ref(held))
        raise KeyError(held.__class__)

    try:
        within()
    except KeyError as exc:
        held = Large()
        large.append(weakref.ref(held))
        raise RequestError("no") from exc


def test_an_error_that_is_kept_holds_nothing_of_what_the_work_had_at_hand(jobs: Jobs) -> None:
    large: list[weakref.ref[Large]] = []
    job = jobs.start(Task("a", MAPS, partial(failing, large)), ANN)
    error = job.exception(WAIT)
    gc.collect()
    assert [each() for each in large] == [None, None]
    assert isinstance(error, RequestError)
    assert isinstance(error.__cause__, KeyError)
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert names[-1] == "failing"  # the log still says where


def test_who_raises_an_error_leaves_nothing_in_the_one_that_is_kept(jobs: Jobs) -> None:
    def page() -> weakref.ref[Large]:
        held = Large()
        with pytest.raises(RequestError, match="no"):
            job.result(WAIT)
        error = job.exception(WAIT)
        with pytest.raises(RequestError, match="no"):
            raise error
        return weakref.ref(held)

    job = jobs.start(Task("a", MAPS, partial(failing, [])), ANN)
    job.wait(WAIT)
    seen = [page() for _ in range(3)]
    gc.collect()
    assert [each() for each in seen] == [None] * 3
    kept = job.exception(WAIT)
    assert kept is not None
    assert len(traceback.extract_tb(kept.__traceback__)) == 2  # `_run` and the work


class TwoWordsError(Exception):
    """A library's error that cannot be copied."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} {other}")


def test_an_error_that_cannot_be_copied_is_given_as_it_is(jobs: Jobs) -> None:
    own = task("a")
    job = jobs.start(own, ANN)
    error = TwoWordsError("never", "mind")
    own.work.fail(error)
    assert job.exception(WAIT) is error


def test_the_newest_result_is_kept_however_large(jobs: Jobs) -> None:
    finish(jobs.start(task("a"), ANN))
    large = jobs.start(task("b"), ANN)
    finish(large, Result("b", 10**9))
    assert jobs.get("b") is large
    assert jobs.get("a") is None


def test_what_ended_long_ago_is_forgotten(jobs: Jobs) -> None:
    for i in range(150):
        own = task(f"m{i}", kind=LOADS)
        job = jobs.start(own, ANN)
        own.work.fail(RequestError("no"))
        assert job.wait(WAIT)
    assert jobs.get("m0") is None
    assert jobs.get("m149") is not None


def test_when_the_server_stops_so_does_all_work_and_nothing_begins(jobs: Jobs) -> None:
    own = task("a", size=60)
    job = jobs.start(own, ANN)
    waiting = jobs.start(task("b", size=60), BOB)
    jobs.stop()
    job.poll(ANN)
    assert waiting.was_stopped
    assert not own.work.report()
    with pytest.raises(BusyError, match="shutting down"):
        jobs.start(task("c"), ANN)


def test_results_that_do_not_say_their_size_make_room_too() -> None:
    """The memory of lists and numbers counts, not only a stated size."""
    jobs = Jobs(1_000_000)
    found = [
        jobs.start(Task(n, POINTS, lambda _: [float(i) for i in range(10_000)]), ANN)
        for n in range(6)
    ]
    for job in found:
        assert job.wait(WAIT)
    assert sum(jobs.get(n) is not None for n in range(6)) < 5


def test_results_count_within_the_bound_of_all_other_results() -> None:
    cache = ByteCache(1_000_000)
    jobs = Jobs(500_000, hold=cache.hold)
    finish(jobs.start(task("a"), ANN), Result("a", 300_000))
    assert 300_000 <= cache.info().n_bytes < 320_000
    finish(jobs.start(task("b"), ANN), Result("b", 400_000))  # in place of the first
    assert 400_000 <= cache.info().n_bytes < 420_000
