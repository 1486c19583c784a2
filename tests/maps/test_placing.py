"""Maps drawn in other processes: the same numbers as here, refused, stopped, replaced."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from contextlens.core import Settings
from contextlens.core.errors import RequestError, WorkerError
from contextlens.maps import projection, stability
from contextlens.maps.placing import Placing
from contextlens.maps.prepare import compiled_folder
from contextlens.maps.request import MapSettings

PCA = MapSettings(method="pca")


class StopError(Exception):
    """Raised by whoever no longer wants a map."""


def vectors(*shape: int, seed: int = 0) -> np.ndarray:
    """Random float32 vectors in some groups."""
    random = np.random.default_rng(seed)
    centres = 3 * random.normal(size=(5, shape[-1]))
    groups = centres[random.integers(0, 5, shape[:-1])]
    return (groups + random.normal(size=shape)).astype(np.float32)


def assert_same(here: Any, there: Any) -> None:
    """Both are the same, field by field and bit by bit."""
    assert type(here) is type(there)
    if is_dataclass(here):
        for each in fields(here):
            assert_same(getattr(here, each.name), getattr(there, each.name))
    elif isinstance(here, tuple):
        assert len(here) == len(there)
        for one, other in zip(here, there, strict=True):
            assert_same(one, other)
    elif isinstance(here, np.ndarray):
        assert here.dtype == there.dtype
        np.testing.assert_array_equal(here, there)
    else:
        assert here == there


def long_task() -> tuple[np.ndarray, MapSettings]:
    """A task that takes many seconds unless stopped."""
    return vectors(6_000, 32), MapSettings(effort="full", n_neighbors=50)


@pytest.fixture(scope="module")
def placing() -> Iterator[Placing]:
    """The processes, with the code that all tests share compiled."""
    with Placing(compiled_folder(Settings())) as own:
        own.warm_up()
        yield own


# The same as here


@pytest.mark.parametrize("method", ["umap", "pca", "tsne"])
@pytest.mark.parametrize("n_components", [2, 3])
def test_a_map_is_the_one_that_is_drawn_here(
    placing: Placing, method: Any, n_components: int
) -> None:
    own = vectors(90, 12)
    settings = MapSettings(method=method, n_components=n_components, n_neighbors=9, seed=4)
    told: list[tuple[str, float]] = []
    there = placing.project(own, settings, lambda stage, share: told.append((stage, share)))
    assert_same(projection.project(own, settings), there)
    assert there.method == method
    assert all(0 <= share <= 1 for _, share in told)


def test_few_points_and_their_reason_come_through(placing: Placing) -> None:
    there = placing.project(vectors(3, 6), MapSettings())
    assert_same(projection.project(vectors(3, 6), MapSettings()), there)
    assert "at least 15 points" in there.reason
    assert there.quality == (None,)


def test_maps_of_all_layers_are_those_drawn_here(placing: Placing) -> None:
    own = vectors(3, 60, 12)
    settings = MapSettings(metric="euclidean", seed=2)
    there = placing.project(own, settings)
    assert_same(projection.project(own, settings), there)
    assert len(there.neighbors) == len(there.quality) == 3


@pytest.mark.parametrize("method", ["umap", "pca"])
def test_stability_is_the_one_measured_here(placing: Placing, method: Any) -> None:
    own, settings = vectors(80, 10), MapSettings(method=method, seed=7)
    first = projection.project(own, settings)
    there = placing.stability(own, settings, first)
    assert_same(stability.stability(own, settings, first=first), there)
    assert there.seeds == (7, 8, 9)
    assert bool(there.reason) == (method == "pca")


# What cannot be done


def test_refusals_are_the_same_sentences(placing: Placing) -> None:
    broken = vectors(20, 4)
    broken[3, 1] = np.nan
    with pytest.raises(RequestError, match="1 of 20 vectors hold values that are not finite"):
        placing.project(broken, PCA)
    drawn = projection.project(vectors(20, 4), PCA)
    with pytest.raises(RequestError, match="21 vectors do not go with it"):
        placing.stability(vectors(21, 4), PCA, drawn)


# Stopped, killed


def test_a_map_that_is_stopped_ends_and_the_next_one_works(placing: Placing) -> None:
    def stop(stage: str, share: float) -> None:
        if stage == "Arranging the points":
            raise StopError(stage)

    with pytest.raises(StopError):
        placing.project(*long_task(), stop)
    small = vectors(40, 5)
    assert_same(projection.project(small, MapSettings()), placing.project(small, MapSettings()))


@pytest.mark.slow
def test_a_process_that_dies_in_the_middle_is_said_and_replaced(placing: Placing) -> None:
    killed: list[int] = []

    def kill(stage: str, share: float) -> None:
        if stage == "Arranging the points" and not killed:
            for worker in placing.processes._all:
                if worker.pid is not None:
                    killed.append(worker.pid)
                    os.kill(worker.pid, signal.SIGKILL)

    with pytest.raises(WorkerError, match=r"ended unexpectedly.*draw again, with fewer points"):
        placing.project(*long_task(), kill)
    assert killed
    own = vectors(30, 6)
    assert_same(projection.project(own, PCA), placing.project(own, PCA))
