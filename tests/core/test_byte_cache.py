"""The store within bytes: who leaves first, and one computation for all who wait for it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core.byte_cache import _OVERHEAD, ByteCache, remembered, shared_cache
from contextlens.core.errors import TextError
from tests.support.together import N_THREADS, SECONDS, together


def store(cache: ByteCache, key: int, size: int) -> np.ndarray:
    """The value of a key, made with this size where it is not there."""
    value: np.ndarray = cache.get(key, lambda: np.zeros(size, np.uint8))
    return value


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 6000)), max_size=60),
    st.integers(0, 20_000),
)
@settings(deadline=None)
def test_the_store_does_what_a_simple_one_does(
    steps: list[tuple[int, int]], max_bytes: int
) -> None:
    """Bound, order of leaving, hits and misses, against a model of a few lines."""
    cache = ByteCache(max_bytes)
    model: OrderedDict[int, int] = OrderedDict()
    hits = misses = 0
    for key, size in steps:
        got = store(cache, key, size)
        if key in model:
            hits += 1
            model.move_to_end(key)
            assert got.nbytes == model[key] - _OVERHEAD
        else:
            misses += 1
            assert got.nbytes == size
            if size + _OVERHEAD <= max_bytes:
                model[key] = size + _OVERHEAD
            while sum(model.values()) > max_bytes:
                model.popitem(last=False)
        info = cache.info()
        assert info.n_bytes == sum(model.values()) <= max_bytes
        assert (info.hits, info.misses, info.n_entries) == (hits, misses, len(model))
        assert info.max_bytes == max_bytes


def test_one_call_computes_each_missing_key_once_and_keeps_the_order() -> None:
    cache = ByteCache(100_000)
    store(cache, 2, 5)
    asked: list[list[int]] = []

    def compute(missing: list[int]) -> list[str]:
        asked.append(missing)
        return [f"value {i}" for i in missing]

    values = cache.get_many([1, 2, 1, 3, 3], compute)
    assert asked == [[0, 3]]
    assert [v if isinstance(v, str) else v.nbytes for v in values] == [
        "value 0",
        5,
        "value 0",
        "value 3",
        "value 3",
    ]
    assert cache.get_many([], compute) == []
    assert (cache.info().hits, cache.info().misses) == (3, 3)


def test_an_error_leaves_nothing_behind() -> None:
    cache = ByteCache(100_000)

    def fail() -> Any:
        raise TextError("no")

    for _ in range(2):
        with pytest.raises(TextError):
            cache.get("key", fail)
    assert cache.info().n_entries == 0
    assert cache.get("key", lambda: "value") == "value"
    assert cache.info().n_entries == 1


def test_who_is_ended_while_it_computes_leaves_the_work_to_who_waits() -> None:
    """As Streamlit ends a script whose tab is closed: by an exception that is no `Exception`."""
    cache, begun, gone = ByteCache(100_000), threading.Event(), threading.Event()

    class EndedError(BaseException):
        pass

    def leave() -> Any:
        begun.set()
        gone.wait(SECONDS)
        raise EndedError

    with ThreadPoolExecutor(2) as pool:
        leaver = pool.submit(cache.get, "key", leave)
        begun.wait(SECONDS)
        stayer = pool.submit(cache.get, "key", lambda: "value")
        while cache.info().hits == 0:
            threading.Event().wait(0.001)
        gone.set()
        with pytest.raises(EndedError):
            leaver.result(SECONDS)
        assert stayer.result(SECONDS) == "value"


def test_too_few_values_are_an_error_and_hang_no_one() -> None:
    cache = ByteCache(100_000)
    waiting = threading.Event()
    outcome: list[Any] = []

    def too_few(missing: list[int]) -> list[Any]:
        waiting.set()
        time.sleep(0.2)
        return []

    def ask(compute: Callable[[list[int]], list[Any]]) -> None:
        try:
            outcome.append(cache.get_many(["key"], compute))
        except ValueError as exc:
            outcome.append(exc)

    first = threading.Thread(target=ask, args=(too_few,), daemon=True)
    second = threading.Thread(target=ask, args=(lambda _: ["value"],), daemon=True)
    first.start()
    waiting.wait(SECONDS)
    second.start()
    first.join(5)
    second.join(5)
    assert not second.is_alive()
    assert isinstance(outcome[0], ValueError)


def test_threads_that_need_each_others_keys_do_not_block() -> None:
    cache = ByteCache(1_000_000)
    orders = [np.random.default_rng(i).permutation(8).tolist() for i in range(N_THREADS)]

    def compute_for(keys: list[int]) -> Callable[[list[int]], list[str]]:
        def compute(missing: list[int]) -> list[str]:
            time.sleep(0.005)
            return [str(keys[i]) for i in missing]

        return compute

    got = together(N_THREADS, lambda i: cache.get_many(orders[i], compute_for(orders[i])))
    assert got == [[str(key) for key in order] for order in orders]
    assert cache.info().misses == 8


def test_a_value_of_more_than_its_part_of_the_bound_is_not_cached() -> None:
    cache = ByteCache(8 * (_OVERHEAD + 1000))
    for size, n_entries in ((1001, 0), (1000, 1)):
        cache.get(size, lambda: np.zeros(size, np.uint8), part=8)  # noqa: B023
        assert cache.info().n_entries == n_entries


def test_results_held_elsewhere_take_their_part_of_the_bound_and_no_more_than_half() -> None:
    size = _OVERHEAD + 1000
    cache = ByteCache(4 * size)
    for key in range(4):
        store(cache, key, 1000)
    cache.hold(size)
    assert (cache.info().n_entries, cache.info().n_bytes) == (3, 4 * size)
    cache.hold(100 * size)
    assert (cache.info().n_entries, cache.info().n_bytes) == (2, 4 * size)
    store(cache, 4, 1000)
    assert cache.info().n_entries == 2
    cache.hold(0)
    assert (cache.info().n_entries, cache.info().n_bytes) == (2, 2 * size)


def test_a_process_remembers_by_name_and_all_that_is_given() -> None:
    values = iter(range(10))

    def of(*key: Hashable) -> int:
        return remembered("a test", *key, compute=lambda: next(values))

    keys: list[tuple[Hashable, ...]] = [(1,), ("1",), (1, 2), ((1, 2),), ("\ud800",), (None,)]
    first = [of(*key) for key in keys]
    assert first == list(range(6))
    assert [of(*key) for key in keys] == first
    assert shared_cache().info().n_entries >= len(keys)
