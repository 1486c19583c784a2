"""Results from the cache: computed once for all threads, unchanged, within bytes."""

from __future__ import annotations

from contextlens.core.cache import ByteCache, CachedService
from tests.core.cache.cached import MODEL, TEXT, CountingService
from tests.support.together import N_THREADS, together

# Once for all threads


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


# Results


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


def test_a_list_that_was_given_out_can_be_changed_without_harm(cached: CachedService) -> None:
    vector = cached.word_rows(MODEL, [7])[0]
    cached.nearest_rows(MODEL, vector, 3).clear()
    assert len(cached.nearest_rows(MODEL, vector, 3)) == 3
    cached.encode(MODEL, [TEXT]).clear()
    assert len(cached.encode(MODEL, [TEXT])) == 1


# Within bytes


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
