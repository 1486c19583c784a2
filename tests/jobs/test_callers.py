"""As whom a job's work asks for what it needs."""

from __future__ import annotations

import threading

import pytest

from contextlens.core.caller import Caller, StoppedError, current
from contextlens.jobs import JobKind, Jobs, Report, Task, Visitor

SECONDS = 60
KIND = JobKind("things", n_at_once=2)


def test_work_is_long_work_of_its_visitor_until_nobody_wants_it() -> None:
    jobs, visitor = Jobs(1_000_000), Visitor("ada")
    begun, callers = threading.Event(), list[Caller]()

    def work(report: Report) -> None:
        callers.append(current())
        begun.set()
        wanted = callers[0].is_cancelled
        assert wanted is not None
        while not wanted():
            threading.Event().wait(0.001)
        report("this raises", 0.5)

    job = jobs.start(Task("key", KIND, work), visitor)
    assert begun.wait(SECONDS)
    (caller,) = callers
    assert (caller.name, caller.bulk) == ("ada", True)
    job.poll(visitor)
    assert not caller.is_cancelled()  # type: ignore[misc]
    job.cancel(visitor)
    with pytest.raises(StoppedError):
        job.result(SECONDS)
    assert job.was_stopped
    assert caller.is_cancelled()  # type: ignore[misc]
    assert current() == Caller()


def test_what_ends_because_its_caller_is_gone_was_stopped_and_did_not_fail() -> None:
    def work(_: Report) -> None:
        raise StoppedError("as a service says it")

    job = Jobs(1_000_000).start(Task("key", KIND, work))
    assert job.wait(SECONDS)
    assert job.state == "stopped"
