"""Jobs in fair turns: who comes next, how many may wait, and who makes room."""

from __future__ import annotations

import pytest

from contextlens.core.errors import BusyError
from contextlens.jobs import JobKind, Jobs
from tests.jobs.jobs.kinds import ANN, BOB, POINTS, finish, running, task
from tests.jobs.steps import Clock, threads


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
    one = JobKind("reports", n_at_once=1)
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
    one = JobKind("reports", n_at_once=1)
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
    fetches = JobKind("fetches", n_at_once=3, n_at_once_each=2)
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
    fetches = JobKind("fetches", n_at_once=3, n_at_once_each=1)
    for i in range(3):
        jobs.start(task(f"m{i}", kind=fetches))
    assert len(running(jobs, fetches)) == 3
    for job in jobs.under_way(fetches):
        finish(job)


def test_what_nobody_waits_for_any_more_comes_last(jobs: Jobs, clock: Clock) -> None:
    one = JobKind("reports", n_at_once=1)
    first = jobs.start(task("first", kind=one), ANN)
    left = jobs.start(task("left", kind=one), ANN)
    clock.now += 6
    wanted = jobs.start(task("wanted", kind=one, size=50), BOB)
    assert wanted.poll(BOB).n_before == 0
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
    few = JobKind("maps", n_at_once=1, n_waiting=3, n_waiting_each=2)
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
    few = JobKind("models", n_at_once=1, n_waiting=3, n_waiting_each=1)
    for i in range(4):
        jobs.start(task(f"m{i}", kind=few))
    with pytest.raises(BusyError, match="This server has 3 models waiting already"):
        jobs.start(task("m4", kind=few))
    while under_way := jobs.under_way(few):
        finish(under_way[0])


def test_what_nobody_waits_for_makes_room_in_a_full_line(jobs: Jobs, clock: Clock) -> None:
    few = JobKind("maps", n_at_once=1, n_waiting=2, forgotten_seconds=300)
    first = jobs.start(task("first", kind=few), ANN)
    left = jobs.start(task("left", kind=few), ANN)
    wanted = jobs.start(task("wanted", kind=few), ANN)
    clock.now += 6
    wanted.poll(ANN)
    new = jobs.start(task("new", kind=few), BOB)
    assert left.was_stopped
    assert (wanted.state, new.state) == ("waiting", "waiting")
    for _ in range(3):
        finish(next(job for job in jobs.under_way(few) if job.state == "running"))
    assert not first.was_stopped
