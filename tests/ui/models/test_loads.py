"""Loads without any page: who waits, who stops them, and how long they still take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from components.core.errors import FetchError
from components.core.schema import ProgressEvent
from components.ui.models import loads as module
from components.ui.models.loads import Load, Loads, NotWantedError, Status, in_words, time_left

SECONDS = 20


class Steps:
    """A service whose load tells its progress when the test says so, and ends as it says."""

    def __init__(self, *, error: Exception | None = None) -> None:
        self.error = error
        self.n_loads = 0
        self.go_on = threading.Event()
        self.begun = threading.Event()

    def load(self, model: str, *, progress: Callable[[ProgressEvent], None]) -> str:
        self.n_loads += 1
        progress(ProgressEvent(f"Fetching {model}", 10, 100))
        self.begun.set()
        assert self.go_on.wait(SECONDS)
        progress(ProgressEvent(f"Fetching {model}", 100, 100))
        if self.error is not None:
            raise self.error
        return f"the card of {model}"


@pytest.fixture
def loads() -> Loads:
    return Loads()


def test_all_who_want_a_model_get_one_load(loads: Loads) -> None:
    steps = Steps()
    first = loads.start("m", steps, "a")
    assert loads.start("m", steps, "b") is loads.start("m", steps) is first
    assert loads.start("other", steps) is not first
    steps.go_on.set()
    assert first.result(SECONDS) == "the card of m"
    assert steps.n_loads == 2


def test_it_stops_when_the_last_who_waits_gives_up(loads: Loads) -> None:
    steps = Steps()
    load = loads.start("m", steps, "a")
    loads.start("m", steps, "b")
    assert steps.begun.wait(SECONDS)
    load.give_up("a")
    load.give_up("b")
    steps.go_on.set()
    assert isinstance(load.exception(SECONDS), NotWantedError)
    assert load.was_stopped


def test_one_who_gives_up_does_not_stop_it_for_another(loads: Loads) -> None:
    steps = Steps()
    load = loads.start("m", steps, "a")
    loads.start("m", steps, "b")
    load.give_up("a")
    steps.go_on.set()
    assert load.result(SECONDS) == "the card of m"


def test_it_goes_on_when_those_who_wait_leave(loads: Loads) -> None:
    steps = Steps()
    load = loads.start("m", steps, "a")
    load.leave("a")
    steps.go_on.set()
    assert load.result(SECONDS) == "the card of m"


def test_who_wants_it_again_before_it_stopped_finds_the_same_load(loads: Loads) -> None:
    steps = Steps()
    load = loads.start("m", steps, "a")
    assert steps.begun.wait(SECONDS)
    load.give_up("a")
    assert loads.start("m", steps, "a") is load
    steps.go_on.set()
    assert load.result(SECONDS) == "the card of m"
    assert steps.n_loads == 1


def test_after_it_stopped_or_failed_it_is_loaded_anew(loads: Loads) -> None:
    steps = Steps()
    stopped = loads.start("m", steps, "a")
    assert steps.begun.wait(SECONDS)
    stopped.give_up("a")
    steps.go_on.set()
    stopped.exception(SECONDS)
    steps.error = FetchError("no")
    failed = loads.start("m", steps, "a")
    assert failed is not stopped
    assert failed.exception(SECONDS) is steps.error
    assert not failed.was_stopped
    steps.error = None
    assert loads.start("m", steps, "a").result(SECONDS) == "the card of m"


def test_what_ended_long_ago_is_forgotten(loads: Loads) -> None:
    steps = Steps()
    steps.go_on.set()
    for i in range(100):
        loads.start(f"m{i}", steps).result(SECONDS)
    assert len(list(loads)) < 50
    assert loads.get("m99") is not None


def test_a_hanging_load_does_not_hold_up_others(loads: Loads) -> None:
    hanging, quick = Steps(), Steps()
    quick.go_on.set()
    for i in range(8):
        loads.start(f"hangs {i}", hanging)
    assert loads.start("m", quick).result(SECONDS) == "the card of m"
    hanging.go_on.set()


# How long it still takes


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that loads see, for the test to set."""
    now = [1000.0]

    class Time:
        monotonic = staticmethod(lambda: now[0])

    monkeypatch.setattr(module, "time", Time)
    return now


def fed(load: Load, clock: list[float], seconds: float, done: int, total: int = 1000) -> Status:
    clock[0] += seconds
    load._note(ProgressEvent("Fetching m", done, total))
    return load.status()


def test_the_estimate_follows_from_the_bytes_that_came_lately(clock: list[float]) -> None:
    load = Load("m")
    assert load.status() == Status()
    assert fed(load, clock, 0, 500).seconds_left is None  # what was here already says nothing
    for i in range(1, 6):
        status = fed(load, clock, 2, 500 + 20 * i)
    assert status.seconds_left == pytest.approx((1000 - 600) / 10)
    for i in range(1, 21):
        status = fed(load, clock, 2, 600 + 2 * i)
    assert status.seconds_left == pytest.approx((1000 - 640) / 1, rel=0.1)


def test_a_hub_that_sends_nothing_is_said_instead_of_an_estimate(clock: list[float]) -> None:
    load = Load("m")
    for i in range(5):
        fed(load, clock, 1, 100 * i)
    clock[0] += 30
    assert load.status().is_silent
    assert in_words(load.status()) == "Fetching m: 0.0 of 0.0 MB, waiting for the hub"
    assert not fed(load, clock, 0, 500).is_silent


def test_many_small_steps_are_not_all_kept(clock: list[float]) -> None:
    load = Load("m")
    for i in range(10_000):
        fed(load, clock, 0.001, i, 10_000)
    assert len(load._samples) < 200
    assert load.status().seconds_left == pytest.approx(0, abs=0.1)


def test_loading_from_disk_has_no_bytes_and_no_estimate(clock: list[float]) -> None:
    load = Load("m")
    fed(load, clock, 0, 500)
    load._note(ProgressEvent("Loading m"))
    clock[0] += 60
    assert in_words(load.status()) == "Loading m…"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a few seconds left"),
        (4.9, "a few seconds left"),
        (12, "about 10 seconds left"),
        (54, "about 55 seconds left"),
        (60, "about a minute left"),
        (120, "about 2 minutes left"),
        (1700, "about 28 minutes left"),
        (3500, "about an hour left"),
        (9000, "about 2 hours left"),
        (10**9, "about 277778 hours left"),
    ],
)
def test_time_left_in_words(seconds: float, words: str) -> None:
    assert time_left(seconds) == words


def test_the_line_has_bytes_and_time() -> None:
    event = ProgressEvent("Fetching m", 12_300_000, 441_000_000)
    assert in_words(Status(event, 130.0)) == ("Fetching m: 12.3 of 441.0 MB, about 2 minutes left")
    assert in_words(Status(event)) == "Fetching m: 12.3 of 441.0 MB"
    assert in_words(Status()) == "Looking for the model…"


def test_a_status_costs_little() -> None:
    load = Load("m")
    started = time.perf_counter()
    for i in range(1000):
        load._note(ProgressEvent("Fetching m", i, 1000))
        load.status()
    assert time.perf_counter() - started < 1
