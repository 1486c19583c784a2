"""What models wait for: not for each other's downloads, and nobody's download for a closed tab."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from components.core import BUNDLED_ID
from components.core.errors import BusyError
from components.core.schema import Progress, ProgressEvent
from components.core.service import LocalService
from components.core.settings import Settings
from components.jobs import Jobs, StoppedError, Visitor
from components.ui.models import tasks
from components.ui.models.tasks import FETCHES, LOADS

SECONDS = 300
ME, YOU = Visitor("me"), Visitor("you")


class Slow(LocalService):
    """A service to which the hub sends nothing until the test says so."""

    def __init__(self) -> None:
        super().__init__(Settings(allow_downloads=False))
        self.go_on = threading.Event()

    def load(self, model: str, *, progress: Progress | None = None) -> str:  # type: ignore[override]
        assert progress is not None
        if model != BUNDLED_ID:
            assert self.go_on.wait(SECONDS)
            progress(ProgressEvent(f"Fetching {model}", 1, 1_000_000))
        return f"the card of {model}"


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def slow() -> Iterator[Slow]:
    own = Slow()
    yield own
    own.go_on.set()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def jobs(clock: Clock, slow: Slow) -> Iterator[Jobs]:
    own = Jobs(10**6, clock=clock)
    yield own
    slow.go_on.set()
    own.stop(SECONDS)


def running(jobs: Jobs) -> set[object]:
    return {job.key[1] for job in jobs.under_way(FETCHES) if job.state == "running"}


def test_a_model_that_is_here_does_not_wait_for_any_that_is_fetched(jobs: Jobs, slow: Slow) -> None:
    for i in range(2 * FETCHES.n_at_once):
        jobs.start(tasks.load(f"org/m{i}", slow), Visitor(f"tab {i}"))
    assert len(running(jobs)) == FETCHES.n_at_once
    here = jobs.start(tasks.load(BUNDLED_ID, slow), ME)
    assert here.kind is LOADS
    assert here.result(SECONDS) == f"the card of {BUNDLED_ID}"
    assert len(running(jobs)) == FETCHES.n_at_once


def test_one_visitor_does_not_take_all_places_for_downloads(jobs: Jobs, slow: Slow) -> None:
    for i in range(4):
        jobs.start(tasks.load(f"org/m{i}", slow), ME)
    assert running(jobs) == {"org/m0", "org/m1"}
    jobs.start(tasks.load("org/yours", slow), YOU)
    assert "org/yours" in running(jobs)


def test_a_download_that_only_a_closed_tab_wanted_is_let_go(
    jobs: Jobs, slow: Slow, clock: Clock
) -> None:
    closed = jobs.start(tasks.load("org/closed", slow), ME)
    looked_at = jobs.start(tasks.load("org/looked-at", slow), YOU)
    both = jobs.start(tasks.load("org/both", slow), ME)
    jobs.start(tasks.load("org/both", slow), YOU)
    for _ in range(6):  # a hidden tab looks once a minute
        clock.now += 60
        looked_at.look(YOU)
        both.look(YOU)
    slow.go_on.set()
    assert isinstance(closed.exception(SECONDS), StoppedError)
    assert looked_at.result(SECONDS) == "the card of org/looked-at"
    assert both.result(SECONDS) == "the card of org/both"


def test_too_many_downloads_are_refused_in_a_sentence(jobs: Jobs, slow: Slow) -> None:
    most = FETCHES.n_at_once_each or 0
    for i in range(most + FETCHES.n_waiting_each):
        jobs.start(tasks.load(f"org/m{i}", slow), ME)
    with pytest.raises(BusyError, match="You have 4 models to fetch waiting already, as many as"):
        jobs.start(tasks.load("org/more", slow), ME)
    n_more = FETCHES.n_at_once - most + FETCHES.n_waiting - FETCHES.n_waiting_each
    for i in range(n_more):
        jobs.start(tasks.load(f"org/t{i}", slow), Visitor(f"tab {i}"))
    with pytest.raises(BusyError, match="This server has 30 models to fetch waiting already"):
        jobs.start(tasks.load("org/more", slow), YOU)
    assert jobs.start(tasks.load(BUNDLED_ID, slow), YOU).result(SECONDS)
