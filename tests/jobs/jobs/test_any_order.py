"""Jobs in any order of events, beside a simple account of who wants what."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from contextlens.core.errors import BusyError, RequestError
from contextlens.jobs import Job, JobKind, Jobs, Task, Visitor
from tests.jobs.jobs.account import KINDS, LEASE, MAX_BYTES, OWN, POINTS, WHAT, Account
from tests.jobs.steps import WAIT, Clock, Result, Work, threads

keys = st.sampled_from(sorted(WHAT))
visitors = st.sampled_from([Visitor("ann"), Visitor("ann", "sidebar"), Visitor("bob"), None])
places = st.sampled_from([Visitor("ann"), Visitor("ann", "sidebar"), Visitor("bob")])


class Machine(Account):
    """Visitors come, look, leave and cancel; work reports, ends and fails; time passes."""

    # What visitors do

    @rule(key=keys, visitor=visitors)
    def start(self, key: str, visitor: Visitor | None) -> None:
        waiting = {kind: self.n_waiting(kind) for kind in KINDS}
        n_own = {kind: self.n_own(kind, visitor) for kind in KINDS}
        try:
            job = self.jobs.start(self.task(key), visitor)
        except BusyError:
            kinds = {WHAT[key][0], *([POINTS] if WHAT[key][2] else [])}
            assert any(waiting[k] >= k.n_waiting or n_own[k] >= k.n_waiting_each for k in kinds), (
                "refused though there is room"
            )
            return
        own = self.noted(key, visitor, job)
        own.is_given_up, own.looked = False, self.clock.now
        if visitor is not None:
            own.until[visitor] = self.clock.now + LEASE
            own.cancelled.discard(visitor)
            assert job.poll(visitor).state in {"waiting", "running", "done"}
        assert not job.was_stopped

    @rule(key=keys, visitor=places)
    def look(self, key: str, visitor: Visitor) -> None:
        if key in self.known:
            own = self.known[key]
            status = own.job.poll(visitor)
            if visitor in own.until:
                own.until[visitor] = self.clock.now + LEASE
                own.is_given_up, own.looked = False, self.clock.now
            assert (status.state == "cancelled") == (visitor in own.cancelled)
            assert 0 <= status.share <= 1

    @rule(key=keys, visitor=places)
    def leave(self, key: str, visitor: Visitor) -> None:
        if key in self.known:
            self.known[key].job.leave(visitor)
            self.known[key].until.pop(visitor, None)

    @rule(key=keys, visitor=places)
    def cancel(self, key: str, visitor: Visitor) -> None:
        if key in self.known:
            own = self.known[key]
            own.until.pop(visitor, None)
            own.cancelled.add(visitor)
            own.is_given_up = not self.is_waited_for(own)
            was_waiting = own.job.state == "waiting"
            own.job.cancel(visitor)
            assert own.job.poll(visitor).state == "cancelled"  # whatever the others do
            assert not (was_waiting and self.is_unwanted(own)) or own.job.was_stopped

    @rule(key=keys, visitor=places)
    def drop(self, key: str, visitor: Visitor) -> None:
        if key in self.known:
            own = self.known[key]
            own.until.pop(visitor, None)
            own.is_given_up = not self.is_waited_for(own)
            was_waiting = own.job.state == "waiting"
            own.job.drop(visitor)
            assert (own.job.poll(visitor).state == "cancelled") == (visitor in own.cancelled)
            assert not (was_waiting and self.is_unwanted(own)) or own.job.was_stopped

    @rule(seconds=st.sampled_from([1.0, 3.0, 6.0, 31.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds
        self.jobs.turn()  # what only time makes room for begins when something happens next

    # What work does

    @precondition(lambda self: self.running())
    @rule(data=st.data())
    def report(self, data: st.DataObject) -> None:
        own = data.draw(st.sampled_from(self.running()))
        should_stop = self.is_unwanted(own)
        goes_on = own.work.report("Working", 0.3)
        assert goes_on != should_stop
        if should_stop:
            own.was_told_to_stop = True
            assert own.job.wait(WAIT)

    @precondition(lambda self: self.running())
    @rule(data=st.data(), nbytes=st.sampled_from([0, 300_000, 700_000, 2_000_000]))
    def finish(self, data: st.DataObject, nbytes: int) -> None:
        own = data.draw(st.sampled_from(self.running()))
        result = Result(str(own.job.key), nbytes)
        own.work.finish(result)
        assert own.job.wait(WAIT)
        if own.job.poll().state == "done":
            assert own.job.result() is result

    @precondition(lambda self: self.running())
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        own = data.draw(st.sampled_from(self.running()))
        error = RequestError("no")
        own.work.fail(error)
        found = own.job.exception(WAIT)
        assert (type(found), str(found)) == (RequestError, "no")

    # What holds at any time

    @invariant()
    def never_more_run_than_may(self) -> None:
        for kind in KINDS:
            running = [own for own in self.running() if own.job.kind is kind]
            assert len(running) <= kind.n_at_once
            if kind.n_large is not None:
                large = [o for o in running if WHAT[str(o.job.key)][1] >= kind.large_seconds]
                assert len(large) <= kind.n_large

    @invariant()
    def what_someone_wants_is_not_stopped(self) -> None:
        for own in self.all:
            if own.job.was_stopped and not own.was_told_to_stop:
                own.was_told_to_stop = True  # it waited: seen now for the first time
                assert not self.waits(own), f"{own.job.key} was stopped"

    @invariant()
    def no_more_wait_than_may(self) -> None:
        for kind in KINDS:
            assert self.n_waiting(kind) <= kind.n_waiting

    @invariant()
    def results_stay_within_their_bound(self) -> None:
        kept = [o for o in self.all if o.job.state == "done" and o.job.kind.keeps]
        assert sum(o.job.nbytes for o in kept) <= MAX_BYTES or len(kept) == 1

    @invariant()
    def who_waits_holds_no_thread(self) -> None:
        n_running = len(self.running())
        end = time.monotonic() + WAIT
        while (
            len(threads(OWN)) - self.n_threads > n_running
        ):  # one whose job is over is about to end
            assert time.monotonic() < end
            time.sleep(0.0005)
        assert len(threads(OWN)) - self.n_threads == n_running

    @invariant()
    def no_place_is_empty_while_something_could_run(self) -> None:
        for kind in KINDS:
            jobs = self.jobs.under_way(kind)
            running = [job for job in jobs if job.state == "running"]
            if len(running) == kind.n_at_once:
                continue
            n_large = sum(job.task is not None and job.task.is_large for job in running)
            for job in jobs:
                is_held = job.given is None or (bool(job.others) and self.is_much_given())
                if job.state == "waiting" and not is_held and not self.have_enough(job):
                    assert job.task is not None
                    assert job.task.is_large
                    assert n_large == kind.n_large

    def teardown(self) -> None:
        """Nothing is left: all is told to stop, and stops."""
        running = self.running()
        self.jobs.stop()
        for own in running:
            assert not own.work.report()
            assert own.job.wait(WAIT)
        assert not any(self.jobs.under_way(kind) for kind in KINDS)
        super().teardown()


TestJobs = pytest.mark.slow(Machine.TestCase)
TestJobs.settings = settings(max_examples=100, stateful_step_count=50, deadline=None)
# Shares

ONE = JobKind("turns", n_at_once=1, n_waiting=1000, n_waiting_each=1000)
sizes = st.lists(st.integers(1, 50), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(ann=sizes, bob=sizes, eve=sizes)
def test_while_all_wait_nobody_is_ahead_of_another_by_more_than_two_jobs(
    ann: list[int], bob: list[int], eve: list[int]
) -> None:
    jobs, size_of = Jobs(MAX_BYTES, clock=Clock()), {}
    begin: Callable[[], Job] = lambda: jobs.under_way(ONE)[0]  # noqa: E731
    jobs.start(Task("first", ONE, Work()), None)
    for name, own in [("ann", ann), ("bob", bob), ("eve", eve)]:
        for i, size in enumerate(own):
            size_of[name, i] = size
            jobs.start(Task((name, i), ONE, Work(), size=size), Visitor(name))
    served = {"ann": 0, "bob": 0, "eve": 0}
    left = {"ann": len(ann), "bob": len(bob), "eve": len(eve)}
    job = begin()
    while True:
        assert job.task is not None
        job.task.work.finish(Result("done"))
        assert job.wait(WAIT)
        if not any(left.values()):
            break
        job = begin()
        name, i = job.key
        served[name] += size_of[name, i]
        left[name] -= 1
        waiting = [n for n in left if left[n]]
        for one in waiting:
            for other in waiting:
                assert abs(served[one] - served[other]) <= 2 * max(size_of.values())
    assert served == {"ann": sum(ann), "bob": sum(bob), "eve": sum(eve)}
