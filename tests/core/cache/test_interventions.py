"""Interventions and gradients through the cache: what is remembered, and what is told apart."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from contextlens.core.cache import CachedService
from contextlens.core.errors import RequestError
from contextlens.core.schema import Average, Block, Intervention, Patch, SwitchOff
from contextlens.core.service import LocalService
from tests.core.cache.cached import MODEL, TEXT, CountingService

OTHER = "The bank of the river was green"
OFF = (SwitchOff("head", 1, 0),)
SECONDS = 60.0


def test_each_reading_is_computed_once(cached: CachedService, inner: CountingService) -> None:
    first = cached.intervene(MODEL, [TEXT, OTHER], [OFF, ()])
    told: list[tuple[int, int]] = []
    again = cached.intervene(
        MODEL, [OTHER, TEXT, TEXT], [(), OFF, (Block(1),)], progress=lambda *both: told.append(both)
    )
    assert inner.intervened == [(TEXT, OTHER), (TEXT,)]
    assert told[-1] == (1, 1)
    assert again[0] is first[1]
    assert again[1] is first[0]
    assert [cached.intervene(MODEL, [TEXT], [iter(OFF)])[0] for _ in range(2)] == [first[0]] * 2


def test_whatever_changes_the_numbers_is_told_apart(
    cached: CachedService, inner: CountingService, local: LocalService
) -> None:
    mean = (SwitchOff("head", 1, 0, to="mean"),)
    asked: list[tuple[tuple[Intervention, ...], dict[str, Any]]] = [
        (OFF, {}),
        ((SwitchOff("head", 1, 1),), {}),
        ((SwitchOff("head", 2, 0),), {}),
        (mean, {"baseline": [TEXT]}),
        (mean, {"baseline": [OTHER]}),
        (OFF, {"layers": [3]}),
        (OFF, {"pairs": [OTHER]}),
        ((Patch(1, (1,), OTHER, (1,)),), {}),
        ((Patch(1, (1,), TEXT, (2,)),), {}),
        ((), {}),
    ]
    for _ in range(2):
        for row, more in asked:
            ours = cached.intervene(MODEL, [TEXT], [row], **more)[0]
            plain = local.intervene(MODEL, [TEXT], [row], **more)[0]
            np.testing.assert_array_equal(ours.hidden, plain.hidden, err_msg=str(row))
            assert ours.passport == plain.passport
    assert len(inner.intervened) == len(asked)


def test_a_mean_over_all_texts_counts_those_that_are_remembered(
    cached: CachedService, local: LocalService
) -> None:
    rows = [(Average(1, (1,), "batch"),), ()]
    alone = cached.intervene(MODEL, [TEXT], rows[:1])[0]
    both = cached.intervene(MODEL, [TEXT, OTHER], rows)
    plain_ones = local.intervene(MODEL, [TEXT, OTHER], rows)
    for ours, plain in zip(both, plain_ones, strict=True):
        np.testing.assert_array_equal(ours.hidden, plain.hidden)
    assert np.abs(both[0].hidden - alone.hidden).max() > 1e-3


@pytest.mark.parametrize("wrong", [SwitchOff("head", True, 0), SwitchOff("head", 1, 0.0)])  # type: ignore[arg-type]
def test_what_equals_a_kept_reading_but_is_wrong_is_refused(
    cached: CachedService, wrong: SwitchOff
) -> None:
    cached.intervene(MODEL, [TEXT], [OFF])
    assert wrong == OFF[0]
    with pytest.raises(RequestError):
        cached.intervene(MODEL, [TEXT], [[wrong]])


def test_who_is_told_to_stop_stops_nobody_else(cached: CachedService) -> None:
    """Another thread waits for the same reading, and gets it all the same."""
    begun, go_on = threading.Event(), threading.Event()

    def stop(*_: int) -> None:
        begun.set()
        go_on.wait(SECONDS)
        raise InterruptedError

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(cached.intervene, MODEL, [TEXT], [OFF], progress=stop)
        assert begun.wait(SECONDS)
        before = cached.cache_info().hits
        second = threads.submit(cached.intervene, MODEL, [TEXT], [OFF])
        while cached.cache_info().hits == before:  # it waits for the first
            threading.Event().wait(0.01)
        go_on.set()
        with pytest.raises(InterruptedError):
            first.result(SECONDS)
        assert second.result(SECONDS)[0].text == TEXT


def test_gradients_are_remembered_by_all_that_they_depend_on(cached: CachedService) -> None:
    n = cached.tokenize(MODEL, [TEXT])[0].n_tokens
    weights, toward = np.ones(n, np.float32), np.arange(32, dtype=np.float32)
    asked: list[dict[str, Any]] = [
        {},
        {"weights": np.eye(n, dtype=np.float32)[1]},
        {"toward": toward[::-1]},
        {"layer": 1},
        {"steps": 5},
        {"pair": OTHER, "weights": np.ones(n + 20, np.float32)[: cached.tokenize(
            MODEL, [TEXT], pairs=[OTHER])[0].n_tokens]},
    ]  # fmt: skip
    first, again = (
        [
            cached.integrated_gradients(
                MODEL, TEXT, **{"weights": weights, "toward": toward, "steps": 4, **more}
            )
            for more in asked
        ]
        for _ in range(2)
    )
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert len({one.shares.tobytes() for one in first}) == len(asked)
