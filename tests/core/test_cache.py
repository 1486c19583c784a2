from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.byte_cache import _OVERHEAD, ByteCache
from components.core.cache import CachedService
from components.core.errors import ContextlensError, RequestError, TextError
from components.core.schema import Encoding, Tokens
from components.core.service import LocalService
from components.core.settings import Settings

MODEL = "folder:bert"
TEXT = "A python slept under the warm lamp"
N_THREADS = 20
SECONDS = 60.0


class CountingService(LocalService):
    """A real service that notes which texts were encoded."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.encoded: list[str] = []
        self.seconds = 0.0  # to wait, so that other threads ask meanwhile

    def encode(self, model: str, texts: Sequence[str], **arguments: Any) -> list[Encoding]:
        self.encoded += texts
        time.sleep(self.seconds)
        return super().encode(model, texts, **arguments)


@pytest.fixture(scope="module")
def local(tiny_root: Path) -> LocalService:
    """The same service without a cache."""
    return LocalService(Settings(model_folder=tiny_root, allow_downloads=False))


@pytest.fixture(scope="module")
def counting(tiny_root: Path) -> CountingService:
    service = CountingService(Settings(model_folder=tiny_root, allow_downloads=False))
    service.load(MODEL)
    return service


@pytest.fixture
def inner(counting: CountingService) -> CountingService:
    counting.encoded = []
    counting.seconds = 0.0
    return counting


@pytest.fixture
def cached(inner: CountingService) -> CachedService:
    return CachedService(inner, max_bytes=50_000_000)


def together(n: int, call: Callable[[int], Any]) -> list[Any]:
    """What n threads that start at once get; an exception counts as a result."""
    start = threading.Barrier(n)

    def one(i: int) -> Any:
        start.wait(SECONDS)
        try:
            return call(i)
        except ContextlensError as exc:
            return exc

    with ThreadPoolExecutor(n) as pool:
        return [future.result(SECONDS) for future in [pool.submit(one, i) for i in range(n)]]


# The store


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


def test_the_least_used_leaves_first() -> None:
    cache = ByteCache(3 * (_OVERHEAD + 100))
    kept = {key: store(cache, key, 100) for key in (1, 2, 3)}
    assert store(cache, 1, 100) is kept[1]  # used again: 2 is the least used now
    store(cache, 4, 100)
    assert store(cache, 1, 100) is kept[1]
    assert store(cache, 3, 100) is kept[3]
    assert store(cache, 2, 100) is not kept[2]


def test_what_is_larger_than_the_bound_is_given_but_not_kept() -> None:
    cache = ByteCache(_OVERHEAD + 100)
    small = store(cache, 1, 100)
    assert store(cache, 2, 101).nbytes == 101
    assert cache.info().n_entries == 1
    assert store(cache, 1, 100) is small  # nothing was thrown out for it


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


# Once for all threads


def test_twenty_threads_compute_the_same_thing_once(
    cached: CachedService, inner: CountingService
) -> None:
    inner.seconds = 0.3
    results = together(N_THREADS, lambda _: cached.encode(MODEL, [TEXT])[0])
    assert inner.encoded == [TEXT]
    assert all(result is results[0] for result in results)
    info = cached.cache_info()
    assert (info.hits, info.misses) == (N_THREADS - 1, 1)


def test_twenty_threads_with_overlapping_texts_compute_each_once(
    cached: CachedService, inner: CountingService
) -> None:
    inner.seconds = 0.05
    texts = [f"python number {i}" for i in range(30)]
    results = together(N_THREADS, lambda i: cached.encode(MODEL, texts[i : i + 10]))
    assert sorted(inner.encoded) == sorted(texts[: N_THREADS + 9])
    for i, result in enumerate(results):
        assert [encoding.text for encoding in result] == texts[i : i + 10]
        assert result[0] is results[max(0, i - 1)][1 if i else 0]


def test_an_error_reaches_every_waiting_thread_and_is_not_kept(
    cached: CachedService, inner: CountingService
) -> None:
    inner.seconds = 0.3
    results = together(N_THREADS, lambda _: cached.encode(MODEL, [TEXT], pad_to=2))
    assert all(isinstance(result, RequestError) for result in results)
    assert len(inner.encoded) < N_THREADS
    before = len(inner.encoded)
    with pytest.raises(RequestError):
        cached.encode(MODEL, [TEXT], pad_to=2)
    assert len(inner.encoded) == before + 1
    assert cached.cache_info().n_entries == 0
    assert cached.encode(MODEL, [TEXT], pad_to=40)[0].n_tokens == 40


# Keys

VARIATIONS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "padded": {"pad_to": 20},
    "padded more": {"pad_to": 21},
    "padded without mask": {"pad_to": 20, "mask": "ones"},
    "layers": {"layers": [1]},
    "other layers": {"layers": [2]},
    "layers in another order": {"layers": [2, 1]},
    "layers the other way": {"layers": [1, 2]},
    "all attentions": {"attentions": True},
    "one head": {"attentions": [(1, 0)]},
    "another head": {"attentions": [(1, 1)]},
    "a head of another layer": {"attentions": [(2, 0)]},
    "fast": {"precision": "fast"},
    "a pair": {"pairs": ["Which one?"]},
    "another pair": {"pairs": ["The other one"]},
    "an empty pair": {"pairs": [""]},
}


def test_every_argument_that_changes_the_result_is_in_the_key(
    cached: CachedService, local: LocalService
) -> None:
    for _ in range(2):
        for name, arguments in VARIATIONS.items():
            (ours,) = cached.encode(MODEL, [TEXT], **arguments)
            (plain,) = local.encode(MODEL, [TEXT], **arguments)
            assert_same(ours, plain, name)
    info = cached.cache_info()
    assert (info.misses, info.hits) == (len(VARIATIONS), len(VARIATIONS))


def assert_same(ours: Tokens, plain: Tokens, name: str) -> None:
    assert type(ours) is type(plain)
    for field in fields(plain):
        one, other = getattr(ours, field.name), getattr(plain, field.name)
        if isinstance(other, np.ndarray):
            np.testing.assert_array_equal(one, other, err_msg=f"{name}: {field.name}")
            assert one.dtype == other.dtype
        else:
            assert one == other, f"{name}: {field.name}"


def test_models_do_not_share_entries(cached: CachedService, local: LocalService) -> None:
    for model in (MODEL, "folder:electra", "folder:roberta"):
        for _ in range(2):
            assert_same(cached.encode(model, [TEXT])[0], local.encode(model, [TEXT])[0], model)
            assert_same(cached.tokenize(model, [TEXT])[0], local.tokenize(model, [TEXT])[0], model)
    assert cached.cache_info().misses == 6


def test_tokens_and_encodings_do_not_share_entries(cached: CachedService) -> None:
    assert type(cached.tokenize(MODEL, [TEXT])[0]) is Tokens
    assert type(cached.encode(MODEL, [TEXT])[0]) is Encoding
    assert type(cached.tokenize(MODEL, [TEXT])[0]) is Tokens


def test_what_is_asked_in_another_form_gets_the_same(
    cached: CachedService, local: LocalService
) -> None:
    """Iterators too: they all look alike once they are used up."""
    forms: list[dict[str, Any]] = [
        {"layers": [2, 1]},
        {"layers": (2, 1)},
        {"layers": np.array([2, 1])},
        {"layers": iter([2, 1])},
    ]
    (plain,) = local.encode(MODEL, [TEXT], layers=[2, 1])
    for form in forms:
        assert_same(cached.encode(MODEL, [TEXT], **form)[0], plain, str(form))
    for layer in (1, 2, 3):
        (ours,) = cached.encode(MODEL, [TEXT], layers=iter([layer]))
        assert ours.layers == (layer,)
    for head in range(4):
        (ours,) = cached.encode(MODEL, [TEXT], attentions=zip([1], [head], strict=True))
        (plain,) = local.encode(MODEL, [TEXT], attentions=[(1, head)])
        assert_same(ours, plain, f"head {head}")


@pytest.mark.parametrize(
    "wrong",
    [
        {"layers": [True]},
        {"layers": [1.0]},
        {"layers": 1},
        {"attentions": 1},
        {"attentions": [(1.0, 0)]},
        {"attentions": None},
        {"pad_to": 20.0},
        {"pad_to": True},
        {"mask": ["model"]},
        {"precision": None},
    ],
    ids=str,
)
def test_what_equals_a_kept_key_but_is_wrong_is_refused_all_the_same(
    cached: CachedService, local: LocalService, wrong: dict[str, Any]
) -> None:
    cached.encode(MODEL, [TEXT], layers=[1])
    cached.encode(MODEL, [TEXT], attentions=True)
    cached.encode(MODEL, [TEXT], attentions=[(1, 0)])
    cached.encode(MODEL, [TEXT], pad_to=20)
    cached.encode(MODEL, [TEXT])
    for service in (local, cached):
        with pytest.raises(RequestError):
            service.encode(MODEL, [TEXT], **wrong)


def test_one_unusable_text_does_not_block_the_others(
    cached: CachedService, local: LocalService
) -> None:
    """A list is no key: the text beside it must not stay "being computed" for ever."""
    for wrong in (["x"], None, 5, b"bytes"):
        texts: list[Any] = ["a text never seen before", wrong]
        for service in (local, cached):
            with pytest.raises(TextError):
                service.encode(MODEL, texts)
    (result,) = together(1, lambda _: cached.encode(MODEL, ["a text never seen before"]))
    assert result[0].text == "a text never seen before"


# What comes out


def test_cached_equals_uncached(cached: CachedService, local: LocalService) -> None:
    texts = ["A snake", TEXT, "", "🐍 \x00 <b>"]
    pairs = [None, "Which one?", None, ""]
    vector = local.word_rows(MODEL, [7])[0]
    for _ in range(2):
        for ours, plain in zip(
            cached.encode(MODEL, texts, pairs=pairs),
            local.encode(MODEL, texts, pairs=pairs),
            strict=True,
        ):
            assert_same(ours, plain, plain.text)
        for ours, plain in zip(
            cached.tokenize(MODEL, texts, pad_to=30),
            local.tokenize(MODEL, texts, pad_to=30),
            strict=True,
        ):
            assert_same(ours, plain, plain.text)
        one, other = (s.embedding_parts(MODEL, TEXT, pair="x") for s in (cached, local))
        assert_same(one.tokens, other.tokens, "embedding parts")
        np.testing.assert_array_equal(one.total, other.total)
        np.testing.assert_array_equal(one.output, other.output)
        assert cached.nearest_rows(MODEL, vector, 4) == local.nearest_rows(MODEL, vector, 4)
        assert len(cached.nearest_rows(MODEL, vector, 3)) == 3
        assert cached.parameters(MODEL) == local.parameters(MODEL)
        assert cached.load(MODEL) == local.load(MODEL)
        name = local.parameters(MODEL)[0].name
        np.testing.assert_array_equal(cached.matrix(MODEL, name), local.matrix(MODEL, name))
        np.testing.assert_array_equal(cached.word_rows(MODEL, [7])[0], vector)
    assert [spec.id for spec in cached.models()] == [spec.id for spec in local.models()]
    assert cached.cache_info().hits > 0


def test_asking_again_gives_the_very_same_result(cached: CachedService) -> None:
    first = cached.encode(MODEL, [TEXT, "A snake"])
    again = cached.encode(MODEL, ["A snake", TEXT])
    assert again[0] is first[1]
    assert again[1] is first[0]


def test_the_same_text_twice_in_one_call_is_computed_once(
    cached: CachedService, inner: CountingService
) -> None:
    results = cached.encode(MODEL, [TEXT, "A snake", TEXT, TEXT], pairs=None)
    assert inner.encoded == [TEXT, "A snake"]
    assert results[0] is results[2] is results[3]
    assert results[1].text == "A snake"


def test_only_what_is_missing_is_computed_with_its_own_pair(
    cached: CachedService, inner: CountingService
) -> None:
    cached.encode(MODEL, ["one", "two"], pairs=["first", None])
    results = cached.encode(MODEL, ["zero", "one", "two", "one"], pairs=["a", "first", None, "b"])
    assert inner.encoded == ["one", "two", "zero", "one"]
    assert [(r.text, r.pair) for r in results] == [
        ("zero", "a"),
        ("one", "first"),
        ("two", None),
        ("one", "b"),
    ]


def test_results_are_read_only(cached: CachedService) -> None:
    (encoding,) = cached.encode(MODEL, [TEXT], attentions=True)
    (tokens,) = cached.tokenize(MODEL, [TEXT])
    parts = cached.embedding_parts(MODEL, TEXT)
    for result in (encoding, tokens, parts, parts.tokens):
        for field in fields(result):
            value = getattr(result, field.name)
            if isinstance(value, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    value[...] = 0
    for array in (cached.word_rows(MODEL, [1]), cached.matrix(MODEL, "embeddings.LayerNorm.bias")):
        assert not array.flags.writeable


def test_a_list_that_was_given_out_can_be_changed_without_harm(cached: CachedService) -> None:
    vector = cached.word_rows(MODEL, [7])[0]
    cached.nearest_rows(MODEL, vector, 3).clear()
    assert len(cached.nearest_rows(MODEL, vector, 3)) == 3
    cached.encode(MODEL, [TEXT]).clear()
    assert len(cached.encode(MODEL, [TEXT])) == 1


# Within bytes


def test_entries_count_at_least_the_bytes_of_their_arrays(cached: CachedService) -> None:
    (encoding,) = cached.encode(MODEL, [TEXT], attentions=True)
    arrays = [getattr(encoding, field.name) for field in fields(encoding)]
    held = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    assert held <= cached.cache_info().n_bytes <= held + 4096


def test_long_texts_of_other_scripts_count_with_their_bytes(cached: CachedService) -> None:
    cached.tokenize(MODEL, ["🐍" * 10_000])
    assert cached.cache_info().n_bytes >= 40_000


def test_many_results_stay_within_the_bound(inner: CountingService) -> None:
    service = CachedService(inner, max_bytes=60_000)
    for i in range(40):
        service.encode(MODEL, [f"python number {i} " + "and more " * (i % 7)])
        assert service.cache_info().n_bytes <= 60_000
    assert 0 < service.cache_info().n_entries < 40


def test_a_result_larger_than_the_bound_is_given_every_time(inner: CountingService) -> None:
    service = CachedService(inner, max_bytes=100)
    first, again = (service.encode(MODEL, [TEXT])[0] for _ in range(2))
    np.testing.assert_array_equal(first.hidden, again.hidden)
    assert inner.encoded == [TEXT, TEXT]
    assert service.cache_info().n_entries == 0


def test_one_large_result_does_not_push_out_the_others(inner: CountingService) -> None:
    service = CachedService(inner, max_bytes=800_000)
    long = "python " * 60  # all its heads are 3 x 4 x 62 x 62 x 4 = 185 kB
    service.encode(MODEL, [TEXT])
    for _ in range(2):
        (found,) = service.encode(MODEL, [long], attentions=True)
        assert found.attentions is not None
    service.encode(MODEL, [TEXT])
    assert inner.encoded == [TEXT, long, long]
    assert service.cache_info().n_entries == 1
