"""The threads, workers and garbage of a test run; shared fixtures are in support/fixtures.py."""

from __future__ import annotations

import os

# Read once, when numpy, torch and numba are loaded. Tiny models in many processes: more threads
# than cores would wait for each other most of the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import gc
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no finding: no example has a deadline, and none is given up for being slow.
# Every run has the same examples; `--hypothesis-profile=thorough` takes others, and many more.
_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
settings.register_profile(
    "any_machine", deadline=None, derandomize=True, suppress_health_check=_SLOW
)
settings.register_profile(
    "thorough", deadline=None, max_examples=5_000, suppress_health_check=_SLOW
)
settings.load_profile("any_machine")


def pytest_configure(config: pytest.Config) -> None:
    """Takes the shared fixtures, except in the process that hands tests out to workers.

    That one runs none, and the workers start when it is ready: torch would keep them waiting.
    """
    config.pluginmanager.import_plugin("tests.support.tiers")
    hands_out = config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")
    if not hands_out:
        config.pluginmanager.import_plugin("tests.support.fixtures")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers more than processors: some always wait for a browser or a process."""
    return (os.cpu_count() or 1) + 2


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is imported and collected: a search in it for garbage takes a third of that time.

    It is not looked through later either, when tests leave some; and what they leave, a twentieth
    as often as Python would, which took a twentieth of all time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20 * gc.get_threshold()[0])
        gc.enable()
