"""What comes out of the cache: computed once for all threads, as without it, within bytes."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from components.core.cache import ByteCache, CachedService
from components.core.errors import RequestError
from components.core.service import LocalService
from tests.core.cache.cached import MODEL, TEXT, CountingService, assert_same
from tests.support.together import N_THREADS, together

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


@pytest.mark.slow
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
    service = CachedService(inner, ByteCache(60_000))
    for i in range(40):
        service.encode(MODEL, [f"python number {i} " + "and more " * (i % 7)])
        assert service.cache_info().n_bytes <= 60_000
    assert 0 < service.cache_info().n_entries < 40


def test_a_result_larger_than_the_bound_is_given_every_time(inner: CountingService) -> None:
    service = CachedService(inner, ByteCache(100))
    first, again = (service.encode(MODEL, [TEXT])[0] for _ in range(2))
    np.testing.assert_array_equal(first.hidden, again.hidden)
    assert inner.encoded == [TEXT, TEXT]
    assert service.cache_info().n_entries == 0


def test_one_large_result_does_not_push_out_the_others(inner: CountingService) -> None:
    service = CachedService(inner, ByteCache(800_000))
    long = "python " * 60  # all its heads are 3 x 4 x 62 x 62 x 4 = 185 kB
    service.encode(MODEL, [TEXT])
    for _ in range(2):
        (found,) = service.encode(MODEL, [long], attentions=True)
        assert found.attentions is not None
    service.encode(MODEL, [TEXT])
    assert inner.encoded == [TEXT, long, long]
    assert service.cache_info().n_entries == 1
