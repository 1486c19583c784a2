"""A run says at its end which tests its tier left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

TIERS = ("browser", "cluster", "slow")
_LEFT_OUT = pytest.StashKey[Counter[str]]()


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
