"""Jobs that each test has for itself, and their clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contextlens.jobs import Jobs
from tests.jobs.jobs.kinds import LOADS, MAPS, POINTS
from tests.jobs.steps import WAIT, Clock, threads


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
