"""Loads and tokenizers as jobs: one for all who want it, and none behind the downloads of others.

And what the set-up makes ready is there before the first page.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextlens.core import BUNDLED_ID
from contextlens.core.errors import BusyError, FetchError
from contextlens.core.schema import Progress, ProgressEvent
from contextlens.core.service import LocalService
from contextlens.core.settings import Settings
from contextlens.jobs import Jobs, StoppedError, Visitor, in_words
from contextlens.ui.models import prepare, tasks
from contextlens.ui.models.tasks import FETCHES, LOADS
from tests.support.app_server import ROOT
from tests.support.pages import app_settings

SECONDS = 300
ME, YOU = Visitor("me"), Visitor("you")


class Steps(LocalService):
    """A service whose fetch tells its progress, and ends when and as the test says."""

    def __init__(self) -> None:
        super().__init__(Settings(allow_downloads=False))
        self.error: Exception | None = None
        self.n_loads = 0
        self.go_on = threading.Event()
        self.begun = threading.Event()

    def load(self, model: str, *, progress: Progress | None = None) -> str:  # type: ignore[override]
        assert progress is not None
        self.n_loads += 1
        if model != BUNDLED_ID:
            progress(ProgressEvent(f"Fetching {model}", 12_300_000, 441_000_000))
            self.begun.set()
            assert self.go_on.wait(SECONDS)
        progress(ProgressEvent(f"Loading {model}"))
        if self.error is not None:
            raise self.error
        return f"the card of {model}"


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def steps() -> Iterator[Steps]:
    own = Steps()
    yield own
    own.go_on.set()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def jobs(clock: Clock, steps: Steps) -> Iterator[Jobs]:
    own = Jobs(10**6, clock=clock)
    yield own
    steps.go_on.set()
    own.stop(SECONDS)


def test_how_far_a_load_is_is_told_in_bytes(jobs: Jobs, steps: Steps) -> None:
    job = jobs.start(tasks.load("m", steps), ME)
    assert steps.begun.wait(SECONDS)
    assert in_words(job.poll(ME)) == "Fetching m: 12.3 of 441.0 MB"
    steps.go_on.set()
    assert job.result(SECONDS) == "the card of m"
    assert job.poll(ME).stage == "Loading m"


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


def test_what_failed_or_left_memory_is_loaded_anew(jobs: Jobs, steps: Steps) -> None:
    steps.go_on.set()
    steps.error = FetchError("no")
    error = jobs.start(tasks.load("m", steps), ME).exception(SECONDS)
    assert (type(error), str(error)) == (FetchError, "no")
    steps.error = None
    for _ in range(2):
        assert jobs.start(tasks.load("m", steps), ME).result(SECONDS) == "the card of m"
    assert steps.n_loads == 3


def running(jobs: Jobs) -> set[object]:
    return {job.key[1] for job in jobs.under_way(FETCHES) if job.state == "running"}


def test_a_model_that_is_here_does_not_wait_for_any_that_is_fetched(
    jobs: Jobs, steps: Steps
) -> None:
    for i in range(2 * FETCHES.n_at_once):
        jobs.start(tasks.load(f"org/m{i}", steps), Visitor(f"tab {i}"))
    assert len(running(jobs)) == FETCHES.n_at_once
    here = jobs.start(tasks.load(BUNDLED_ID, steps), ME)
    assert here.kind is LOADS
    assert here.result(SECONDS) == f"the card of {BUNDLED_ID}"
    assert len(running(jobs)) == FETCHES.n_at_once


def test_one_visitor_does_not_take_all_places_for_downloads(jobs: Jobs, steps: Steps) -> None:
    for i in range(4):
        jobs.start(tasks.load(f"org/m{i}", steps), ME)
    assert running(jobs) == {"org/m0", "org/m1"}
    jobs.start(tasks.load("org/yours", steps), YOU)
    assert "org/yours" in running(jobs)


def test_a_download_that_only_a_closed_tab_wanted_is_let_go(
    jobs: Jobs, steps: Steps, clock: Clock
) -> None:
    closed = jobs.start(tasks.load("org/closed", steps), ME)
    looked_at = jobs.start(tasks.load("org/looked-at", steps), YOU)
    both = jobs.start(tasks.load("org/both", steps), ME)
    jobs.start(tasks.load("org/both", steps), YOU)
    for _ in range(6):  # a hidden tab looks once a minute
        clock.now += 60
        looked_at.poll(YOU)
        both.poll(YOU)
    steps.go_on.set()
    assert isinstance(closed.exception(SECONDS), StoppedError)
    assert looked_at.result(SECONDS) == "the card of org/looked-at"
    assert both.result(SECONDS) == "the card of org/both"


def test_too_many_downloads_are_refused_in_a_sentence(jobs: Jobs, steps: Steps) -> None:
    most = FETCHES.n_at_once_each or 0
    for i in range(most + FETCHES.n_waiting_each):
        jobs.start(tasks.load(f"org/m{i}", steps), ME)
    with pytest.raises(BusyError, match="You have 4 models to fetch waiting already, as many as"):
        jobs.start(tasks.load("org/more", steps), ME)
    n_more = FETCHES.n_at_once - most + FETCHES.n_waiting - FETCHES.n_waiting_each
    for i in range(n_more):
        jobs.start(tasks.load(f"org/t{i}", steps), Visitor(f"tab {i}"))
    with pytest.raises(BusyError, match="This server has 30 models to fetch waiting already"):
        jobs.start(tasks.load("org/more", steps), YOU)
    assert jobs.start(tasks.load(BUNDLED_ID, steps), YOU).result(SECONDS)


_OPEN = """
import sys
from streamlit.testing.v1 import AppTest
from contextlens.ui.state.services import uncached
uncached().is_starting = True
for name in sys.argv[1:]:
    page = AppTest.from_file(f"{name}.py", default_timeout=60).run()
    assert page.title[0].value and not page.exception and not page.error
    print(name, len(page.get("plotly_chart")), "torch" in sys.modules)
"""


@pytest.mark.slow
def test_the_set_up_makes_first_pages_quick(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with app_settings(DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0"):
        prepare.main()
    kept = {path.name.rpartition("-")[2] for path in (tmp_path / "baselines").iterdir()}
    assert kept == {"2.npz", "ruler.npz", "sentences.npz", "python.npz"}
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["Compiling", "Measuring", "Opening"]
    pages = [str(ROOT / "pages" / name) for name in ("meaning", "tokens", "layers", "blank")]
    environment = {**os.environ, "CONTEXTLENS_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-c", _OPEN, *pages]
    opened = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    shown = [line.rpartition("/")[2] for line in opened.stdout.splitlines()]
    assert shown == ["meaning 2 False", "tokens 0 False", "layers 2 False", "blank 0 False"]


def test_settings_that_cannot_be_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTLENS_CACHE_MB", "much")
    with pytest.raises(SystemExit, match="CONTEXTLENS_CACHE_MB"):
        prepare.main()
