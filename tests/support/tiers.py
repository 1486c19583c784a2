"""Two tiers of tests: what takes long is marked `slow`, and a run says at its end what it left out.

A test that is not marked fails where its set-up and its call take more than `LIMIT` seconds of
processor time. What a whole session shares does not count, nor a test that imports a library
first; the first test of a file may take longer, as it often makes what all of them use; a machine
that is slower at the moment gets more.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

__all__ = ["LIMIT"]

LIMIT = 4.0
"""Seconds of processor time of this process."""
TIERS = ("browser", "cluster", "slow")
_FIRST = 5.0
"""The factor of the limit for the first test of a file."""
_LOOPS, _LOOP_SECONDS = 2_000_000, 0.015
"""A loop in Python, and the processor time that it takes on the machine that set the limit."""
_MANY_MODULES = 100
"""A test that imports so many modules for the first time is not judged."""
_LEFT_OUT = pytest.StashKey[Counter[str]]()
_SHARED = pytest.StashKey[list[float]]()
_SPENT = pytest.StashKey[float]()
_FILE = pytest.StashKey[Path]()
_N_MODULES = pytest.StashKey[int]()


def processor_seconds() -> float:
    """The processor time of this process; a child's counts only at its end, for all of its life."""
    return sum(os.times()[:2])


def slowness() -> float:
    """How much slower this machine is now than the one that set the limit; at least 1."""

    def loop() -> float:
        start = time.process_time()
        for _ in range(_LOOPS):
            pass
        return time.process_time() - start

    return max(1.0, min(loop() for _ in range(5)) / _LOOP_SECONDS)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Any:
    """Note the time of what a whole session shares."""
    shared = request.session.stash.setdefault(_SHARED, [0.0])
    if fixturedef.scope != "session":
        return (yield)
    start, inner = processor_seconds(), shared[0]
    try:
        return (yield)
    finally:
        shared[0] = inner + processor_seconds() - start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Set the watch to zero."""
    item.session.stash[_SHARED] = [0.0]
    item.stash[_SPENT] = processor_seconds()
    item.stash[_N_MODULES] = len(sys.modules)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that is not marked and took too long."""
    result = yield
    is_first = item.session.stash.get(_FILE, None) != item.path
    item.session.stash[_FILE] = item.path
    if any(item.get_closest_marker(name) for name in TIERS):
        return result
    spent = processor_seconds() - item.stash[_SPENT] - item.session.stash[_SHARED][0]
    limit = LIMIT * (_FIRST if is_first else 1.0)
    if spent > limit and len(sys.modules) - item.stash[_N_MODULES] < _MANY_MODULES:
        limit *= slowness()
        if spent > limit:
            pytest.fail(
                f"It took {spent:.1f} s of processor time with its set-up (here at most "
                f"{limit:.1f}). Make it quicker, or mark it: @pytest.mark.slow."
            )
    return result


# --- What was left out


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count the tests that the marks left out, each under the first of its marks."""
    for item in items:
        counts = item.config.stash.setdefault(_LEFT_OUT, Counter())
        counts[next((name for name in TIERS if item.get_closest_marker(name)), "others")] += 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts of a worker: each of them counts all tests."""
    if counts := getattr(node, "workeroutput", {}).get("left_out"):
        node.config.stash[_LEFT_OUT] = Counter(counts)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the counts of a worker on."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash.get(_LEFT_OUT, {}))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many tests were left out."""
    counts = config.stash.get(_LEFT_OUT, Counter())
    named = [f"{counts[name]} {name}" for name in TIERS if counts[name]]
    if named:
        terminalreporter.write_line(f"Left out: {', '.join(named)}. make test-all runs all tests.")
