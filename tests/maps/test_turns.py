"""The order of maps, with the bounds that maps really have: by what begins, without clocks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import Queue

import pytest

from contextlens.jobs import Job, JobKind, Jobs, Report, Task, Visitor
from contextlens.maps.engine import LARGE_SECONDS, MAPS, READINGS

WAIT = 300
ME, YOU = Visitor("me"), Visitor("you")
LARGE, SMALL = 20 * LARGE_SECONDS, 0.5


class Turns:
    """Tasks that say when they begin, and end when a test says so."""

    def __init__(self) -> None:
        self.jobs = Jobs(10**6)
        self.begun: Queue[str] = Queue()
        self._ends: dict[str, threading.Event] = {}

    def start(self, name: str, kind: JobKind, size: float, visitor: Visitor) -> Job:
        end = self._ends[name] = threading.Event()

        def work(_: Report) -> str:
            self.begun.put(name)
            assert end.wait(WAIT)
            return name

        return self.jobs.start(Task(name, kind, work, size=size), visitor)

    def end(self, name: str) -> None:
        self._ends[name].set()
        job = self.jobs.get(name)
        assert job is not None
        assert job.wait(WAIT)

    def next(self) -> str:
        """The next task to begin."""
        return self.begun.get(timeout=WAIT)

    def close(self) -> None:
        for end in self._ends.values():
            end.set()
        self.jobs.stop(WAIT)


@pytest.fixture
def turns() -> Iterator[Turns]:
    own = Turns()
    yield own
    own.close()


@pytest.mark.parametrize("kind", [READINGS, MAPS], ids=["reading", "placing"])
def test_a_small_map_begins_before_the_second_large_one_of_another_visitor(
    turns: Turns, kind: JobKind
) -> None:
    for i in range(5):
        turns.start(f"large {i}", kind, LARGE, ME)
    assert turns.next() == "large 0"
    turns.start("small", kind, SMALL, YOU)
    assert turns.next() == "small"  # while the first large one goes on
    turns.end("small")
    turns.end("large 0")
    assert turns.next() == "large 1"


@pytest.mark.parametrize("kind", [READINGS, MAPS], ids=["reading", "placing"])
def test_a_small_map_waits_for_one_small_map_of_who_has_many_at_most(
    turns: Turns, kind: JobKind
) -> None:
    many: Callable[[int], str] = "mine {}".format
    for i in range(kind.n_at_once + 4):
        turns.start(many(i), kind, LARGE_SECONDS - 0.1, ME)
    assert {turns.next() for _ in range(kind.n_at_once)} == {many(0), many(1)}
    turns.start("small", kind, SMALL, YOU)
    assert turns.begun.empty()
    turns.end(many(1))
    assert turns.next() == "small"


def test_twenty_tabs_with_large_maps_leave_a_place_for_a_small_one(turns: Turns) -> None:
    for i in range(20):
        turns.start(f"tab {i}", MAPS, LARGE, Visitor(f"tab {i}"))
    assert turns.next() == "tab 0"
    turns.start("small", MAPS, SMALL, YOU)
    assert turns.next() == "small"
