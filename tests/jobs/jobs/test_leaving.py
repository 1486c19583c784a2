"""Jobs that are left, cancelled and forgotten: stopped when nobody wants them."""

from __future__ import annotations

import threading

import pytest

from components.jobs import Jobs, Report, StoppedError, Task
from tests.jobs.jobs.kinds import ANN, BOB, LOADS, POINTS, running, task
from tests.jobs.steps import WAIT, Clock


def test_cancel_answers_at_once_and_the_work_stops_when_it_next_reports(jobs: Jobs) -> None:
    own = task("a")
    job = jobs.start(own, ANN)
    job.cancel(ANN)
    assert job.look(ANN).state == "cancelled"
    assert job.look(BOB).state == "running"
    assert not own.work.report()
    assert job.wait(WAIT)
    assert job.was_stopped
    with pytest.raises(StoppedError):
        job.result()


def test_who_wants_it_again_before_it_stopped_finds_the_same_job(jobs: Jobs) -> None:
    own = task("m", kind=LOADS)
    job = jobs.start(own, ANN)
    job.cancel(ANN)
    assert jobs.start(task("m", kind=LOADS), ANN) is job
    assert job.look(ANN).state == "running"
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
    assert follower.look(ANN).state == "stopped"
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
