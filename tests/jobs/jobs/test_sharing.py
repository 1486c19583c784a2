"""Jobs that several want: one for all of them, and what comes after it."""

from __future__ import annotations

import gc

import pytest

from contextlens.core.errors import RequestError
from contextlens.jobs import Jobs, Visitor
from tests.jobs.jobs.kinds import ANN, BOB, LOADS, POINTS, finish, running, task
from tests.jobs.steps import WAIT, Result

# Shared


def test_all_who_want_the_same_get_one_job_and_its_result_is_kept(jobs: Jobs) -> None:
    own = task("a")
    job = jobs.start(own, ANN)
    assert jobs.start(task("a"), BOB) is jobs.start(own) is jobs.get("a") is job
    assert jobs.start(task("b"), ANN) is not job
    finish(job)
    assert job.result() == Result("a")
    assert job.poll(ANN).state == "done"
    assert job.poll(ANN).share == 1
    assert jobs.start(task("a"), BOB) is job
    assert own.work.n_runs == 1


def test_what_is_kept_does_not_remember_all_who_ever_wanted_it(jobs: Jobs) -> None:
    finish(jobs.start(task("a"), ANN))
    for i in range(100):
        assert jobs.start(task("a"), Visitor(f"visitor {i}")).poll().state == "done"
    job = jobs.get("a")
    assert job is not None
    assert not any("visitor" in str(held) for held in gc.get_referents(job._leases))


def test_what_is_not_kept_is_done_anew_but_its_result_is_there_for_who_waited(jobs: Jobs) -> None:
    first = jobs.start(task("m", kind=LOADS), ANN)
    finish(first)
    second = jobs.start(task("m", kind=LOADS), BOB)
    assert second is not first
    assert first.result() == Result("m")


def test_after_it_failed_it_is_begun_anew(jobs: Jobs) -> None:
    own = task("a")
    failed = jobs.start(own, ANN)
    own.work.fail(RequestError("no"))
    with pytest.raises(RequestError, match="no"):
        failed.result(WAIT)
    assert failed.poll(ANN).state == "failed"
    assert not failed.was_stopped
    again = jobs.start(task("a"), ANN)
    assert again is not failed
    finish(again)
    assert again.result() == Result("a")


def test_a_result_that_is_not_there_yet_is_not_waited_for_longer_than_said(jobs: Jobs) -> None:
    with pytest.raises(TimeoutError):
        jobs.start(task("a"), ANN).result(0)


# What comes after something else


def test_two_maps_of_the_same_points_share_them_and_one_is_cancelled(jobs: Jobs) -> None:
    points = task("points", kind=POINTS)
    first = jobs.start(task("first", after=points), ANN)
    second_task = task("second", after=task("points", kind=POINTS))
    second = jobs.start(second_task, BOB)
    assert points.work.report("Reading 600 texts", 0.4)
    assert first.poll(ANN).stage == "Reading 600 texts"
    assert second.poll(BOB).share == pytest.approx(0.25 * 0.4)
    first.cancel(ANN)
    assert first.was_stopped
    assert points.work.report()
    own = jobs.get("points")
    assert own is not None
    finish(own, Result("the points"))
    assert second_task.work.report("Placing the points", 0.5)
    assert second.poll(BOB).share == pytest.approx(0.25 + 0.75 * 0.5)
    assert second_task.work.given == (Result("the points"),)
    finish(second)
    assert points.work.n_runs == 1


def test_points_that_only_cancelled_maps_wanted_stop_too(jobs: Jobs) -> None:
    points = task("points", kind=POINTS)
    first = jobs.start(task("first", after=points), ANN)
    second = jobs.start(task("second", after=points), ANN)
    first.cancel(ANN)
    second.cancel(ANN)
    assert not points.work.report()


def test_points_that_are_there_already_are_given_at_once(jobs: Jobs) -> None:
    points = task("points", kind=POINTS)
    finish(jobs.start(points, ANN))
    own = task("first", after=points)
    job = jobs.start(own, ANN)
    assert job.state == "running"
    assert own.work.report()
    assert own.work.given == (Result("points"),)


def test_where_the_points_fail_the_map_fails_with_the_same_sentence(jobs: Jobs) -> None:
    points = task("points", kind=POINTS)
    job = jobs.start(task("first", after=points), ANN)
    points.work.fail(RequestError("nothing to map"))
    with pytest.raises(RequestError, match="nothing to map"):
        job.result(WAIT)


def test_no_more_is_made_ahead_than_may_be_kept(jobs: Jobs) -> None:
    for name in "ab":
        jobs.start(task(name, size=1), ANN)  # both places are taken
    for i in range(4):
        jobs.start(task(f"map {i}", after=task(f"points {i}", kind=POINTS)), BOB)
    for i in range(2):
        made = jobs.get(f"points {i}")
        assert made is not None
        finish(made, Result("large", 700_000))
    assert running(jobs, POINTS) == set()
    place = jobs.get("a")
    assert place is not None
    finish(place)
    assert len(running(jobs, POINTS)) == 1
