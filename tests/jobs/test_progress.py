"""Progress: bytes, silence, time left, and all of it in words."""

from __future__ import annotations

import pytest

from contextlens.jobs import Status, in_words, time_left
from contextlens.jobs.progress import Meter
from tests.jobs.steps import Clock

HUB = "waiting for the hub"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def meter(clock: Clock) -> Meter:
    return Meter("Looking for the model", clock)


def fed(meter: Meter, clock: Clock, seconds: float, done: int, total: int = 1000) -> Status:
    clock.now += seconds
    meter.count("Fetching m", done, total)
    return meter.status("running", HUB)


def test_how_far_it_is_never_goes_back_and_never_beyond_all(meter: Meter) -> None:
    told = []
    for stage, share in [("One", 0.4), ("Two", 0.2), ("Three", 7.0)]:
        meter.share(stage, share)
        status = meter.status("running", HUB)
        told.append((status.stage, status.share))
    assert told == [("One", 0.4), ("Two", 0.4), ("Three", 1.0)]


def test_the_estimate_follows_from_the_bytes_that_came_lately(meter: Meter, clock: Clock) -> None:
    assert meter.status("running", HUB) == Status("running", "Looking for the model")
    assert fed(meter, clock, 0, 500).seconds_left is None  # bytes already here say nothing
    for i in range(1, 6):
        status = fed(meter, clock, 2, 500 + 20 * i)
    assert status.seconds_left == pytest.approx((1000 - 600) / 10)
    assert status.share == pytest.approx(0.6)
    for i in range(1, 21):
        status = fed(meter, clock, 2, 600 + 2 * i)
    assert status.seconds_left == pytest.approx((1000 - 640) / 1, rel=0.1)


def test_silence_is_said_instead_of_an_estimate(meter: Meter, clock: Clock) -> None:
    for i in range(5):
        fed(meter, clock, 1, 100 * i)
    clock.now += 30
    status = meter.status("running", HUB)
    assert status.seconds_left is None
    assert in_words(status) == "Fetching m: 0.0 of 0.0 MB, waiting for the hub"
    assert not fed(meter, clock, 0, 500).silence


def test_many_small_steps_are_not_all_kept(meter: Meter, clock: Clock) -> None:
    for i in range(10_000):
        fed(meter, clock, 0.001, i, 10_000)
    assert len(meter._samples) < 200
    assert meter.status("running", HUB).seconds_left == pytest.approx(0, abs=0.1)


def test_a_stage_without_bytes_has_no_estimate(meter: Meter, clock: Clock) -> None:
    fed(meter, clock, 0, 500)
    meter.count("Loading m", 0, None)
    clock.now += 60
    assert in_words(meter.status("running", HUB)) == "Loading m…"
    fed(meter, clock, 0, 500)
    meter.share("Placing the points", 0.1)
    assert in_words(meter.status("running", HUB)) == "Placing the points…"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a few seconds left"),
        (4.9, "a few seconds left"),
        (5, "about 5 seconds left"),
        (12, "about 10 seconds left"),
        (54, "about 55 seconds left"),
        (55, "about a minute left"),
        (89, "about a minute left"),
        (90, "about 2 minutes left"),
        (1700, "about 28 minutes left"),
        (3500, "about an hour left"),
        (9000, "about 2 hours left"),
        (10**9, "about 277778 hours left"),
    ],
)
def test_time_left_in_words(seconds: float, words: str) -> None:
    assert time_left(seconds) == words


def test_the_line_has_bytes_and_time() -> None:
    status = Status("running", "Fetching m", 0.0, 12_300_000, 441_000_000, 130.0)
    assert in_words(status) == "Fetching m: 12.3 of 441.0 MB, about 2 minutes left"
    status = Status("running", "Fetching m", 0.0, 12_300_000, 441_000_000)
    assert in_words(status) == "Fetching m: 12.3 of 441.0 MB"


def test_who_waits_hears_how_many_are_before() -> None:
    assert in_words(Status("waiting", "Starting")) == "Waiting for its turn…"
    assert in_words(Status("waiting", "Starting", n_before=3)) == (
        "Waiting for its turn, 3 before it…"
    )
