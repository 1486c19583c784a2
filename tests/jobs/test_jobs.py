"""Jobs without any page: shared, in fair turns, stopped when nobody wants them, bounded."""

from __future__ import annotations

import gc
import threading
import traceback
import weakref
from collections.abc import Iterator
from functools import partial

import pytest

from components.core.errors import BusyError, JobError, RequestError
from components.jobs import Job, Jobs, Kind, Report, StoppedError, Task, Visitor
from tests.jobs.steps import WAIT, Clock, Result, Work, threads

ANN, BOB = Visitor("ann"), Visitor("bob")
MAPS = Kind("maps", n_at_once=2, n_large=1, large_seconds=10, forgotten_seconds=300)
POINTS = Kind("sets of points", n_at_once=1, forgotten_seconds=300)
LOADS = Kind("models", n_at_once=2, keeps=False, first_words="Looking for the model")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def jobs(clock: Clock) -> Iterator[Jobs]:
    """Jobs of which nothing is left in the end; those still running are told to report."""
    own, before = Jobs(10**6, clock=clock), threads()
    yield own
    running = [job for kind in (MAPS, POINTS, LOADS) for job in own.under_way(kind)]
    own.stop()
    for job in running:
        if job.task is not None:
            job.task.work.report()
        assert job.wait(WAIT)
    for thread in set(threads()) - set(before):
        thread.join(WAIT)
        assert not thread.is_alive()


def task(key: str, *, kind: Kind = MAPS, size: float = 1, after: Task | None = None) -> Task:
    return Task(key, kind, Work(), size=size, after=after, split=0.25 if after else 0.0)


def finish(job: Job, result: Result | None = None) -> None:
    """Have a job's work end, and wait until it has."""
    assert job.task is not None
    job.task.work.finish(result or Result(str(job.key)))
    assert job.wait(WAIT)


def running(jobs: Jobs, kind: Kind = MAPS) -> set[object]:
    return {job.key for job in jobs.under_way(kind) if job.state == "running"}


# Shared


def test_all_who_want_the_same_get_one_job_and_its_result_is_kept(jobs: Jobs) -> None:
    own = task("a")
    job = jobs.start(own, ANN)
    assert jobs.start(task("a"), BOB) is jobs.start(own) is jobs.get("a") is job
    assert jobs.start(task("b"), ANN) is not job
    finish(job)
    assert job.result() == Result("a")
    assert job.look(ANN).state == "done"
    assert job.look(ANN).share == 1
    assert jobs.start(task("a"), BOB) is job
    assert own.work.n_runs == 1


def test_what_is_kept_does_not_remember_all_who_ever_wanted_it(jobs: Jobs) -> None:
    finish(jobs.start(task("a"), ANN))
    for i in range(100):
        assert jobs.start(task("a"), Visitor(f"visitor {i}")).look().state == "done"
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
    assert failed.look(ANN).state == "failed"
    assert not failed.was_stopped
    again = jobs.start(task("a"), ANN)
    assert again is not failed
    finish(again)
    assert again.result() == Result("a")


def test_a_result_that_is_not_there_yet_is_not_waited_for_longer_than_said(jobs: Jobs) -> None:
    with pytest.raises(TimeoutError):
        jobs.start(task("a"), ANN).result(0)


# Left, cancelled and forgotten


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


def test_who_cancels_stops_nothing_that_another_wants(jobs: Jobs) -> None:
    own = task("a")
    job = jobs.start(own, ANN)
    jobs.start(own, BOB)
    job.cancel(ANN)
    assert job.look(ANN).state == "cancelled"
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
    assert job.look(ANN).state == "running"
    assert own.work.report()
    job.drop(BOB)
    assert not own.work.report()
    assert job.wait(WAIT)
    assert job.look(ANN).state == "stopped"


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
        job.look(ANN)
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


# What comes after something else


def test_two_maps_of_the_same_points_share_them_and_one_is_cancelled(jobs: Jobs) -> None:
    points = task("points", kind=POINTS)
    first = jobs.start(task("first", after=points), ANN)
    second_task = task("second", after=task("points", kind=POINTS))
    second = jobs.start(second_task, BOB)
    assert points.work.report("Reading 600 texts", 0.4)
    assert first.look(ANN).stage == "Reading 600 texts"
    assert second.look(BOB).share == pytest.approx(0.25 * 0.4)
    first.cancel(ANN)
    assert first.was_stopped
    assert points.work.report()
    own = jobs.get("points")
    assert own is not None
    finish(own, Result("the points"))
    assert second_task.work.report("Placing the points", 0.5)
    assert second.look(BOB).share == pytest.approx(0.25 + 0.75 * 0.5)
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


# Turns


def test_a_small_map_does_not_wait_for_five_large_ones_of_another(jobs: Jobs) -> None:
    large = [jobs.start(task(f"large {i}", size=60), ANN) for i in range(5)]
    assert running(jobs) == {"large 0"}
    small = jobs.start(task("small"), BOB)
    assert small.state == "running"
    finish(small)
    assert running(jobs) == {"large 0"}
    finish(large[0])
    assert running(jobs) == {"large 1"}


def test_visitors_take_turns_and_small_comes_before_large(jobs: Jobs) -> None:
    one = Kind("reports", n_at_once=1)
    began: list[object] = []
    for key, size, who in [
        ("first", 5, ANN), ("ann 30", 30, ANN), ("ann 5", 5, ANN), ("ann 6", 6, ANN),
        ("bob 20", 20, BOB), ("bob 3", 3, BOB),
    ]:  # fmt: skip
        jobs.start(task(key, kind=one, size=size), who)
    while under_way := [j for j in jobs.under_way(one) if j.state == "running"]:
        began += [job.key for job in under_way]
        finish(under_way[0])
    assert began == ["first", "bob 3", "ann 5", "ann 6", "bob 20", "ann 30"]


def test_who_comes_anew_is_not_ahead_for_all_that_another_had_before(jobs: Jobs) -> None:
    one = Kind("reports", n_at_once=1)
    finish(jobs.start(task("early", kind=one), BOB))
    for i in range(7):
        jobs.start(task(f"ann {i}", kind=one, size=10), ANN)
    for _ in range(4):
        finish(next(job for job in jobs.under_way(one) if job.state == "running"))
    for i in range(2):
        jobs.start(task(f"bob {i}", kind=one, size=10), BOB)
    began = []
    while under_way := [j for j in jobs.under_way(one) if j.state == "running"]:
        began.append(under_way[0].key)
        finish(under_way[0])
    assert began == ["ann 4", "ann 5", "bob 0", "ann 6", "bob 1"]


def test_one_visitor_does_not_take_all_places_of_what_may_take_long(
    jobs: Jobs, clock: Clock
) -> None:
    fetches = Kind("fetches", n_at_once=3, n_at_once_each=2)
    for i in range(4):
        jobs.start(task(f"ann {i}", kind=fetches), ANN)
    assert running(jobs, fetches) == {"ann 0", "ann 1"}
    clock.now += 60  # a closed tab has its places still
    jobs.start(task("bob", kind=fetches), BOB)
    assert running(jobs, fetches) == {"ann 0", "ann 1", "bob"}
    jobs.start(task("ann 2", kind=fetches), BOB)  # shared: his turn as well as hers
    bob = jobs.get("bob")
    assert bob is not None
    finish(bob)
    assert running(jobs, fetches) == {"ann 0", "ann 1", "ann 2"}
    for i in range(4):
        job = jobs.get(f"ann {i}")
        assert job is not None
        finish(job)


def test_what_the_server_begins_itself_may_have_all_places(jobs: Jobs) -> None:
    fetches = Kind("fetches", n_at_once=3, n_at_once_each=1)
    for i in range(3):
        jobs.start(task(f"m{i}", kind=fetches))
    assert len(running(jobs, fetches)) == 3
    for job in jobs.under_way(fetches):
        finish(job)


def test_what_nobody_waits_for_any_more_comes_last(jobs: Jobs, clock: Clock) -> None:
    one = Kind("reports", n_at_once=1)
    first = jobs.start(task("first", kind=one), ANN)
    left = jobs.start(task("left", kind=one), ANN)
    clock.now += 6
    wanted = jobs.start(task("wanted", kind=one, size=50), BOB)
    assert wanted.look(BOB).n_before == 0
    finish(first)
    assert (left.state, wanted.state) == ("waiting", "running")
    finish(wanted)
    finish(left)


def test_who_waits_holds_no_thread(jobs: Jobs) -> None:
    before = len(threads())
    for i in range(8):
        jobs.start(task(f"map {i}", after=task(f"points {i}", kind=POINTS)), ANN)
    assert len(threads()) - before == 1


def test_too_many_of_one_visitor_and_too_many_of_all_are_refused_in_words(jobs: Jobs) -> None:
    few = Kind("maps", n_at_once=1, n_waiting=3, n_waiting_each=2)
    all_jobs = [jobs.start(task(f"ann {i}", kind=few), ANN) for i in range(3)]
    with pytest.raises(BusyError, match=r"You have 2 maps waiting already.*cancel one"):
        jobs.start(task("ann 3", kind=few), ANN)
    all_jobs.append(jobs.start(task("bob 0", kind=few), BOB))
    with pytest.raises(BusyError, match="This server has 3 maps waiting already"):
        jobs.start(task("bob 1", kind=few), BOB)
    assert jobs.start(task("ann 1", kind=few), BOB) is all_jobs[1]
    all_jobs[2].cancel(ANN)
    all_jobs[2] = jobs.start(task("bob 1", kind=few), BOB)
    for _ in all_jobs:
        finish(next(job for job in jobs.under_way(few) if job.state == "running"))


def test_what_the_server_begins_itself_is_bounded_as_that_of_all(jobs: Jobs) -> None:
    few = Kind("models", n_at_once=1, n_waiting=3, n_waiting_each=1)
    for i in range(4):
        jobs.start(task(f"m{i}", kind=few))
    with pytest.raises(BusyError, match="This server has 3 models waiting already"):
        jobs.start(task("m4", kind=few))
    while under_way := jobs.under_way(few):
        finish(under_way[0])


def test_what_nobody_waits_for_makes_room_in_a_full_line(jobs: Jobs, clock: Clock) -> None:
    few = Kind("maps", n_at_once=1, n_waiting=2, forgotten_seconds=300)
    first = jobs.start(task("first", kind=few), ANN)
    left = jobs.start(task("left", kind=few), ANN)
    wanted = jobs.start(task("wanted", kind=few), ANN)
    clock.now += 6
    wanted.look(ANN)
    new = jobs.start(task("new", kind=few), BOB)
    assert left.was_stopped
    assert (wanted.state, new.state) == ("waiting", "waiting")
    for _ in range(3):
        finish(next(job for job in jobs.under_way(few) if job.state == "running"))
    assert not first.was_stopped


# Bounds and the end


def test_results_are_forgotten_beyond_the_bound_the_least_used_first(jobs: Jobs) -> None:
    done = {}
    for name in "abc":
        done[name] = jobs.start(task(name), ANN)
        finish(done[name], Result(name, 300_000))
    jobs.start(task("a"), ANN)
    done["d"] = jobs.start(task("d"), ANN)
    finish(done["d"], Result("d", 300_000))
    assert jobs.get("b") is None
    assert done["b"].look(ANN).state == "forgotten"
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
    """Something that can be seen to be gone."""


def failing(large: list[weakref.ref[Large]], report: Report) -> None:
    """Work with something large at hand when it fails, for a reason that had it too."""

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
    job.look(ANN)
    assert waiting.was_stopped
    assert not own.work.report()
    with pytest.raises(BusyError, match="shutting down"):
        jobs.start(task("c"), ANN)


def test_results_that_do_not_say_their_size_make_room_too() -> None:
    """What lists and numbers take counts, not only what stands beside a job."""
    jobs = Jobs(1_000_000)
    found = [
        jobs.start(Task(n, POINTS, lambda _: [float(i) for i in range(10_000)]), ANN)
        for n in range(6)
    ]
    for job in found:
        assert job.wait(WAIT)
    assert sum(jobs.get(n) is not None for n in range(6)) < 5
