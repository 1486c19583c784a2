"""How far a map is, how it is ended in the middle, and how long it will take."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from components.maps.compiled import WAITING, umap_functions
from components.maps.plan import stage_seconds
from components.maps.progress import Stages
from components.maps.projection import estimate, project
from components.maps.request import MapSettings, Method
from tests.maps.projection.projections import blobs, by_method


class CancelledError(Exception):
    pass


def listened(make: Callable[[Callable[[str, float], None]], Any]) -> list[tuple[str, float]]:
    calls: list[tuple[str, float]] = []
    make(lambda stage, share: calls.append((stage, share)))
    return calls


@pytest.mark.slow
@by_method
def test_progress_names_each_stage_once_and_rises_to_one(method: Method) -> None:
    settings = MapSettings(method=method, effort="full")
    calls = listened(lambda tell: project(blobs(500), settings, on_progress=tell))
    shares = [share for _, share in calls]
    assert shares == sorted(shares)
    assert shares[0] >= 0.0
    assert shares[-1] == 1.0
    seen = [stage for i, (stage, _) in enumerate(calls) if i == 0 or calls[i - 1][0] != stage]
    assert seen == list(stage_seconds(500, 12, settings, method=method))


@pytest.mark.slow
@by_method
def test_what_on_progress_raises_ends_the_work(method: Method) -> None:
    settings = MapSettings(method=method, effort="full")
    stages = list(stage_seconds(500, 12, settings, method=method))
    for wanted in stages:
        told_after: list[str] = []

        def stop(
            stage: str, share: float, wanted: str = wanted, after: list[str] = told_after
        ) -> None:
            after.append(stage)
            if stage == wanted:
                raise CancelledError(stage)

        with pytest.raises(CancelledError, match=wanted):
            project(blobs(500), settings, on_progress=stop)
        assert told_after[-1] == wanted
        assert told_after.count(wanted) == 1  # nothing is told after it raised
    # The next map is as if nothing had happened, in this thread and in others.
    assert project(blobs(60), settings).method == method


def test_umap_can_be_ended_in_the_middle_of_arranging() -> None:
    calls = 0

    def stop(stage: str, share: float) -> None:
        nonlocal calls
        calls += stage == "Arranging the points"
        if calls == 4:
            raise CancelledError

    with pytest.raises(CancelledError):
        project(blobs(3000), MapSettings(effort="full"), on_progress=stop)
    assert calls == 4


def test_waiting_for_another_map_is_told_and_can_be_ended() -> None:
    def stop(stage: str, share: float) -> None:
        if stage == WAITING:
            raise CancelledError

    caught: list[BaseException] = []

    def wait() -> None:
        try:
            project(blobs(50), MapSettings(), on_progress=stop)
        except CancelledError as error:
            caught.append(error)

    with umap_functions():
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(timeout=60)
    assert len(caught) == 1


def test_shares_of_stages_never_fall() -> None:
    calls: list[tuple[str, float]] = []
    stages = Stages(lambda *call: calls.append(call), {"a": 1.0, "b": 3.0})
    first = stages.stage("a")
    for share in (-1.0, 0.5, 0.2, 7.0):
        first(share)
    stages.waiting(WAITING, 0.0)
    stages.stage("b")(0.5)
    stages.done("b")
    assert [round(share, 3) for _, share in calls] == [
        0.0, 0.0, 0.125, 0.125, 0.25, 0.25, 0.25, 0.625, 1.0,
    ]  # fmt: skip


@by_method
def test_estimates_grow_with_everything_that_costs(method: Method) -> None:
    settings = MapSettings(method=method)
    sizes = [estimate(n, 384, settings) for n in (1, 10, 100, 1000, 10_000, 50_000, 200_000)]
    assert all(a.seconds < b.seconds for a, b in pairwise(sizes))
    assert all(a.n_bytes < b.n_bytes for a, b in pairwise(sizes))
    wide = estimate(10_000, 1024, settings)
    assert wide.seconds > sizes[4].seconds
    assert wide.n_bytes > sizes[4].n_bytes
    layers = estimate(1000, 384, settings, n_layers=7)
    assert 3 * sizes[3].seconds < layers.seconds < 2 * estimate(7000, 384, settings).seconds
    if method == "umap":
        full = estimate(10_000, 384, MapSettings(effort="full"))
        assert full.seconds > sizes[4].seconds
