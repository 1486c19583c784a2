"""Loads and tokenizers as jobs: one for all who want it, told in bytes, stopped between two."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from components.core.errors import FetchError
from components.core.schema import Progress, ProgressEvent
from components.core.service import LocalService
from components.core.settings import Settings
from components.jobs import Jobs, StoppedError, Visitor, in_words
from components.ui.models import tasks

SECONDS = 300
ME, YOU = Visitor("me"), Visitor("you")


class Steps(LocalService):
    """A service whose load tells its progress when the test says so, and ends as it says."""

    def __init__(self) -> None:
        super().__init__(Settings(allow_downloads=False))
        self.error: Exception | None = None
        self.n_loads = 0
        self.go_on = threading.Event()
        self.begun = threading.Event()

    def load(self, model: str, *, progress: Progress | None = None) -> str:  # type: ignore[override]
        assert progress is not None
        self.n_loads += 1
        progress(ProgressEvent(f"Fetching {model}", 12_300_000, 441_000_000))
        self.begun.set()
        assert self.go_on.wait(SECONDS)
        progress(ProgressEvent(f"Loading {model}"))
        if self.error is not None:
            raise self.error
        return f"the card of {model}"


@pytest.fixture
def steps() -> Iterator[Steps]:
    own = Steps()
    yield own
    own.go_on.set()


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    own = Jobs(10**6, lease_seconds=SECONDS)
    yield own
    own.stop(SECONDS)


def test_how_far_a_load_is_is_told_in_bytes(jobs: Jobs, steps: Steps) -> None:
    job = jobs.start(tasks.load("m", steps), ME)
    assert steps.begun.wait(SECONDS)
    assert in_words(job.look(ME)) == "Fetching m: 12.3 of 441.0 MB"
    steps.go_on.set()
    assert job.result(SECONDS) == "the card of m"
    assert job.look(ME).stage == "Loading m"


def test_a_load_stops_where_the_hub_is_next_heard_of(jobs: Jobs, steps: Steps) -> None:
    job = jobs.start(tasks.load("m", steps), ME)
    assert jobs.start(tasks.load("m", steps), YOU) is job
    assert steps.begun.wait(SECONDS)
    job.cancel(ME)
    job.cancel(YOU)
    assert not job.done(), "the hub has not said a word since"
    steps.go_on.set()
    with pytest.raises(StoppedError):
        job.result(SECONDS)


def test_a_load_goes_on_when_those_who_wait_leave(jobs: Jobs, steps: Steps) -> None:
    job = jobs.start(tasks.load("m", steps), ME)
    job.leave(ME)
    steps.go_on.set()
    assert job.result(SECONDS) == "the card of m"


def test_what_failed_or_left_memory_is_loaded_anew(jobs: Jobs, steps: Steps) -> None:
    steps.go_on.set()
    steps.error = FetchError("no")
    error = jobs.start(tasks.load("m", steps), ME).exception(SECONDS)
    assert (type(error), str(error)) == (FetchError, "no")
    steps.error = None
    for _ in range(2):
        assert jobs.start(tasks.load("m", steps), ME).result(SECONDS) == "the card of m"
    assert steps.n_loads == 3
