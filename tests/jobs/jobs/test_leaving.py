"""Jobs that are left, cancelled and forgotten: stopped when nobody wants them."""

from __future__ import annotations

import threading

import pytest

from contextlens.jobs import Jobs, Report, StoppedError, Task, Visitor
from tests.jobs.jobs.kinds import ANN, BOB, LOADS, POINTS, finish, running, task
from tests.jobs.steps import WAIT, Clock, Result


def test_cancel_answers_at_once_and_the_work_stops_when_it_next_reports(jobs: Jobs) -> None:
    own = task("a")
    job = jobs.start(own, ANN)
    job.cancel(ANN)
    assert job.poll(ANN).state == "cancelled"
    assert job.poll(BOB).state == "running"
    assert not own.work.report()
    assert job.wait(WAIT)
    assert job.was_stopped
    with pytest.raises(StoppedError):
        job.result()


def test_who_cancels_stops_nothing_that_another_wants(jobs: Jobs) -> None:
    own = task("a")
    job = jobs.start(own, ANN)
    jobs.start(own, BOB)
    job.cancel(ANN)
    assert job.poll(ANN).state == "cancelled"
    assert own.work.report()
    finish(job)
    assert job.result() == Result("a")


def test_who_drops_it_stops_what_nobody_else_wants_and_is_not_told_of_a_cancel(
    jobs: Jobs,
) -> None:
    own = task("a")
    job = jobs.start(own, ANN)
    jobs.start(own, BOB)
    job.drop(ANN)
    assert job.poll(ANN).state == "running"
    assert own.work.report()
    job.drop(BOB)
    assert not own.work.report()
    assert job.wait(WAIT)
    assert job.poll(ANN).state == "stopped"


def test_what_was_cancelled_itself_stops_with_the_last_that_comes_after_it(jobs: Jobs) -> None:
    first = task("points", kind=POINTS)
    after = jobs.start(task("map", after=first), ANN)
    job = jobs.get("points")
    assert job is not None
    job.cancel(ANN)  # who waits for what comes after it
    assert first.work.report()
    after.cancel(ANN)
    assert not first.work.report()


def test_two_places_of_one_visitor_wait_each_by_itself(jobs: Jobs) -> None:
    own = task("a")
    job = jobs.start(own, Visitor("ann", "page"))
    jobs.start(own, Visitor("ann", "sidebar"))
    job.cancel(Visitor("ann", "page"))
    assert own.work.report()
    job.cancel(Visitor("ann", "sidebar"))
    assert not own.work.report()


def test_who_wants_it_again_before_it_stopped_finds_the_same_job(jobs: Jobs) -> None:
    own = task("m", kind=LOADS)
    job = jobs.start(own, ANN)
    job.cancel(ANN)
    assert jobs.start(task("m", kind=LOADS), ANN) is job
    assert job.poll(ANN).state == "running"
    assert own.work.report()
    job.cancel(ANN)
    assert not own.work.report()
    assert jobs.start(task("m", kind=LOADS), ANN) is not job


def test_what_has_heard_that_it_stops_is_begun_anew_beside_it(jobs: Jobs, clock: Clock) -> None:
    heard, end = threading.Event(), threading.Event()

    def work(report: Report) -> None:
        end.wait(WAIT)
        try:
            report("Working", 0.5)
        except StoppedError:
            heard.set()
            end.clear()
            end.wait(WAIT)  # its end takes a while
            raise

    stopping = jobs.start(Task("p", POINTS, work), ANN)
    follower = jobs.start(task("map", after=Task("p", POINTS, work)), ANN)
    clock.now += 301
    end.set()
    assert heard.wait(WAIT)
    assert follower.poll(ANN).state == "stopped"
    again = jobs.start(task("p", kind=POINTS), BOB)
    assert again is not stopping
    assert again.state == "waiting"  # the place is not free yet
    end.set()
    assert stopping.wait(WAIT)
    assert jobs.get("p") is again
    assert running(jobs, POINTS) == {"p"}


def test_what_is_left_goes_on(jobs: Jobs, clock: Clock) -> None:
    load, own = task("m", kind=LOADS), task("a")
    jobs.start(load, ANN).leave(ANN)
    jobs.start(own, ANN).leave(ANN)
    clock.now += 299
    assert load.work.report()
    assert own.work.report()


def test_a_closed_tab_lets_a_load_go_on_and_a_map_stop(jobs: Jobs, clock: Clock) -> None:
    load, own, waiting = task("m", kind=LOADS), task("a"), task("c")
    jobs.start(load, ANN)
    job = jobs.start(own, ANN)
    jobs.start(task("b"), ANN)
    queued = jobs.start(waiting, ANN)
    clock.now += 301
    assert load.work.report()
    assert not own.work.report()
    assert job.wait(WAIT)
    assert queued.wait(WAIT)
    assert queued.was_stopped
    assert waiting.work.n_runs == 0


def test_who_closed_a_tab_does_not_hold_up_anothers_cancel(jobs: Jobs, clock: Clock) -> None:
    own = task("a")
    job = jobs.start(own, ANN)
    clock.now += 6
    jobs.start(own, BOB)
    job.cancel(BOB)
    assert not own.work.report()


def test_who_looks_goes_on_to_count(jobs: Jobs, clock: Clock) -> None:
    own = task("a")
    job = jobs.start(own, ANN)
    jobs.start(own, BOB)
    for _ in range(100):
        clock.now += 4
        job.poll(ANN)
        assert own.work.report()
    job.cancel(BOB)
    assert own.work.report()


def test_a_job_that_waits_is_over_as_soon_as_nobody_wants_it(jobs: Jobs) -> None:
    jobs.start(task("a"), ANN)
    jobs.start(task("b"), ANN)
    waiting = jobs.start(task("c"), ANN)
    assert waiting.state == "waiting"
    waiting.cancel(ANN)
    assert waiting.was_stopped
    assert waiting.done()
