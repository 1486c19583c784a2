"""Maps from a request to a result: what is in them, and what is computed once."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService, Encoding, ModelCard
from contextlens.core.cache import ByteCache, CachedService
from contextlens.corpus.corpus import Corpus
from contextlens.maps import engine, plan, precision, projection, vectors
from contextlens.maps import stability as stabilities
from contextlens.maps.engine import Maps, last_layer
from contextlens.maps.points import UNITS
from contextlens.maps.request import MapSettings
from tests.maps.engine.counting import PCA, WAIT, Clock, CountingService, request_for

LAST = 6


def many(n: int) -> Corpus:
    """Short sentences, no two alike, each labelled with its number."""
    texts = tuple(f"number {i} of many" for i in range(n))
    return Corpus("many", texts, {"number": tuple(map(str, range(n)))})


FEW = Corpus(
    "few",
    (
        "I love my pet python",
        "Unbelievably, the pythons slept. Python!",
        "No snake here",
        "I love my pet python",
    ),
    {"kind": ("pet", "pet", "", "again")},
)


# Samples


@pytest.mark.slow
def test_of_too_many_texts_the_same_random_ones_are_read(
    draw: Any, counting: CountingService, card: ModelCard
) -> None:
    corpus = many(800)

    for unit in UNITS:
        first = draw(corpus, unit=unit, most=400, layer=0)
        assert first.points.n_points == 400
        with Maps(counting) as others:
            own = others.plan(first.request, corpus, card)
        n = len(first.points.texts)
        assert first.points.texts == tuple(corpus.texts[i] for i in own.order[:n])
        assert first.passport.settings["sampling_seed"] == 0
        numbers = [int(text.split()[1]) for text in first.points.texts]
        assert len(set(numbers)) == len(numbers) < 800
        assert max(numbers) > 760
        assert min(numbers) < 40
        assert abs(np.mean(numbers) - 400) < 60
        assert (numbers == sorted(numbers)) == (unit == "sentences")
        for i in range(0, 400, 37):  # labels go with their texts
            text = first.points.texts[first.points.sentence[i]]
            assert first.points.labels["number"][i] == text.split()[1]


# Pictures


@pytest.mark.parametrize(
    ("unit", "pooling", "special"),
    [
        ("words", "first", False),
        ("tokens", "mean", True),
        ("sentences", "cls", False),
        ("sentences", "pooler", False),
    ],
)
def test_points_are_gathered_as_requested(
    draw: Any, counting: CountingService, unit: Any, pooling: str, special: bool
) -> None:
    layer = -1 if pooling == "pooler" else None
    result = draw(FEW, unit=unit, pooling=pooling, special=special, layer=layer)
    layers = [LAST] if layer else None
    encodings = counting.encode(BUNDLED_ID, FEW.texts, layers=layers)
    expected = vectors.gather(encodings, unit=unit, pooling=pooling, special=special)
    assert result.layers == expected.layers
    assert result.points.names == expected.points.names
    assert result.points.spans.tolist() == expected.points.spans.tolist()
    np.testing.assert_allclose(result.vectors, expected.vectors, atol=2e-5)


def test_places_neighbours_and_measures_are_the_analysis_s(draw: Any) -> None:
    every = draw(FEW)
    expected = projection.project(every.vectors, PCA)
    np.testing.assert_array_equal(every.map.coordinates, expected.coordinates)
    assert every.map.quality == expected.quality
    for near, other in zip(every.map.neighbors, expected.neighbors, strict=True):
        np.testing.assert_array_equal(near.indices, other.indices)
    alone = draw(FEW, layer=5)
    expected = projection.project(every.vectors[5], PCA)
    np.testing.assert_array_equal(alone.map.coordinates, expected.coordinates)
    np.testing.assert_array_equal(alone.vectors[0], every.vectors[5])
    assert alone.map.quality == expected.quality
    assert [alone.index_of(layer) for layer in (5, 3, None)] == [0, 0, 0]
    assert [every.index_of(layer) for layer in (5, 0, None, 99)] == [5, 0, 6, 6]


def test_a_map_of_all_layers_continues_from_that_of_the_last_one(
    maps: Maps, draw: Any, card: ModelCard
) -> None:
    corpus = many(20)
    every = draw(corpus, settings=MapSettings(n_neighbors=5))
    last = maps.result(last_layer(every.request, card))
    assert last is not None, "it has a job of its own"
    assert last is draw(corpus, settings=MapSettings(n_neighbors=5), layer=LAST)
    assert last.gathered is every.gathered
    np.testing.assert_array_equal(every.map.coordinates[LAST], last.map.coordinates[0])
    assert every.map.quality[LAST] == last.map.quality[0]
    assert every.map.method == "umap"
    assert len(every.map.moved) == LAST


def test_a_picture_s_passport_says_how_to_get_it_again(draw: Any, card: ModelCard) -> None:
    settings = MapSettings(method="tsne", seed=5, n_neighbors=3)
    picture = draw(FEW, unit="sentences", layer=1, settings=settings)
    passport = picture.passport.as_dict()
    own = passport["settings"]
    assert own["map"] == settings.as_dict()
    assert own["method"] == "pca"  # so few points
    assert (own["unit"], own["pooling"], own["layers"]) == ("sentences", "mean", [1])
    assert own["corpus"] == "few"
    assert own["corpus_sha256"] == FEW.digest
    assert {"umap-learn", "openTSNE", "scikit-learn", "numpy", "torch"} <= set(passport["versions"])
    assert passport["checksum"] == card.checksum
    assert "placed_by" not in own
    arranged = replace(picture, map=replace(picture.map, method="umap")).passport.settings
    assert arranged["placed_by"] == (
        "Contextlens' own optimiser of UMAP's objective, on umap-learn's graph"
    )


def test_spots_are_alike_where_maps_have_the_same_words_of_the_same_texts(draw: Any) -> None:
    every, python = draw(FEW), draw(FEW, only=("python",))
    assert set(python.point_ids) < set(every.point_ids)
    assert len(set(every.point_ids)) < len(every.point_ids)  # two texts are the same


# What is computed once


def test_another_layer_seed_or_method_encodes_nothing_anew(
    maps: Maps, draw: Any, card: ModelCard, counting: CountingService
) -> None:
    corpus = Corpus("once", tuple(f"a python number {i}" for i in range(20)))
    draw(corpus)
    assert counting.encoded[-20:] == list(corpus.texts)
    n = len(counting.encoded)
    for layer in range(LAST + 1):
        draw(corpus, layer=layer)
    draw(corpus, settings=replace(PCA, seed=1))
    draw(corpus, layer=2, settings=replace(PCA, n_components=3))
    request = request_for(corpus)
    assert maps.draw(request, corpus, card) is maps.draw(request, corpus, card)
    maps.draw(replace(request, layer=3), corpus, card).result(WAIT)
    assert len(counting.encoded) == n
    draw(corpus, unit="sentences")
    assert len(counting.encoded) == n + 20


def test_a_plan_is_made_once_for_a_request(maps: Maps, card: ModelCard) -> None:
    request = request_for(FEW)
    assert maps.plan(request, FEW, card) is maps.plan(replace(request), FEW, card)


def test_what_was_measured_counts_once_enough_was_read(
    counting: CountingService, card: ModelCard
) -> None:
    with Maps(counting) as maps:
        before = maps.token_seconds(card)
        maps.draw(request_for(many(30), unit="sentences"), many(30), card).result(WAIT)
        assert maps.token_seconds(card) == before  # so few tokens say little
        maps.draw(request_for(many(500), unit="sentences"), many(500), card).result(WAIT)
        after = maps.token_seconds(card)
    assert after not in {0, before}


@pytest.mark.slow
def test_a_call_that_had_to_wait_does_not_make_the_next_maps_seem_large(
    counting: CountingService, card: ModelCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(vectors, "time", SimpleNamespace(monotonic=clock))
    took = iter([600.0, 600.0, *[0.5] * 6])  # others came first, or the model was not yet warm
    encode = counting.encode

    def slow(*given: Any, **settings: Any) -> list[Encoding]:
        clock.now += next(took)
        return encode(*given, **settings)

    monkeypatch.setattr(counting, "encode", slow)
    with Maps(counting) as maps:
        maps.draw(request_for(many(150), unit="sentences"), many(150), card).result(WAIT)
        assert maps.token_seconds(card) == plan.usual_token_seconds(card)
        maps.draw(request_for(many(500), unit="sentences"), many(500), card).result(WAIT)
        assert maps.token_seconds(card) <= 0.5 / 500


# Stability


@pytest.mark.parametrize("layer", [None, 4])
def test_stability_is_that_of_the_shown_layer_s_own_map(
    maps: Maps, draw: Any, layer: int | None
) -> None:
    picture = draw(FEW, layer=layer)
    assert maps.find_check(picture, 4) is None
    checked = maps.check(picture, 4).result(WAIT)
    assert maps.find_check(picture, 4) is maps.check(picture, 4)
    vectors = picture.vectors[picture.index_of(4)]
    first = projection.project(vectors, PCA)
    assert checked == stabilities.stability(vectors, PCA, first=first)
    assert maps.find_check(picture, 5) is None


def test_fast_and_exact_maps_are_kept_apart(
    fast_service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision, "_MIN_SECONDS", 0.0)
    corpus, card = many(37), fast_service.load(BUNDLED_ID)  # planned by no other test
    fast = request_for(corpus, unit="sentences", layer=6)
    exact = replace(fast, exact=True)
    assert exact.key != fast.key
    with Maps(fast_service) as maps:
        results = [maps.draw(request, corpus, card).result(WAIT) for request in (exact, fast)]
        assert maps.draw(exact, corpus, card).result(WAIT) is results[0]
        assert maps.normalised(exact, corpus, card) is exact
    assert [result.passport.precision for result in results] == ["exact", "fast"]
    assert results[0].passport.cosine_errors is None
    assert results[1].passport.cosine_errors is not None
    assert results[1].passport.settings["speed"] == card.fast.reason
    one, other = (result.vectors[0] for result in results)
    assert not np.array_equal(one, other)
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    assert ((one * other).sum(axis=1) / norms).min() > 0.999


def test_asking_for_exact_reading_where_it_is_exact_makes_no_other_map(
    maps: Maps, card: ModelCard
) -> None:
    corpus = many(38)  # too few to read fast
    unasked = request_for(corpus, unit="sentences", layer=6)
    asked = replace(unasked, exact=True)
    assert maps.normalised(asked, corpus, card) == unasked
    assert maps.normalised(unasked, corpus, card) is unasked


def test_texts_that_would_fill_the_cache_are_read_past_it(
    counting: CountingService, card: ModelCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = CachedService(counting, ByteCache(10**9))
    sizes = []
    with Maps(service) as maps:
        for corpus in (many(23), many(43)):
            maps.draw(request_for(corpus, unit="sentences", layer=6), corpus, card).result(WAIT)
            sizes.append(service.cache_info().n_bytes)
            monkeypatch.setattr(engine, "shared_cache", lambda: ByteCache(100_000))
    assert sizes[0] > 1_000_000
    assert sizes[1] - sizes[0] < 100_000, "only their tokens are kept"
