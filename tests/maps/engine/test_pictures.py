"""Maps from a request to a picture: what is in them, and what is computed once."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from components.core import BUNDLED_ID, Encoding, ModelCard
from components.core.errors import RequestError
from components.corpus.corpus import Corpus
from components.maps import layer_maps, plan, projection, vectors
from components.maps import stability as stabilities
from components.maps.engine import Maps
from components.maps.points import UNITS
from components.maps.projection import MapSettings
from components.maps.request import with_layer
from tests.maps.engine.counting import PCA, WAIT, Clock, CountingService, request_for

pytestmark = pytest.mark.slow  # what starts a process that draws maps

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


def test_of_too_many_texts_the_same_random_ones_are_read(
    draw: Any, counting: CountingService, card: ModelCard
) -> None:
    corpus = many(800)

    for unit in UNITS:
        first = draw(corpus, unit=unit, most=400, footing="one", layer=0)
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


def test_all_texts_are_read_in_their_order_where_there_is_room(draw: Any) -> None:
    picture = draw(FEW, unit="sentences")
    assert picture.points.texts == FEW.texts
    assert picture.points.labels["kind"] == FEW.labels["kind"]


def test_fewer_points_are_drawn_where_each_stands_for_every_layer(
    draw: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "_MAX_JOINT", 7 * 40)
    corpus = many(101)
    assert draw(corpus, unit="sentences").points.n_points == 40
    alone = draw(corpus, unit="sentences", footing="one", layer=4)
    assert alone.points.n_points == 101


# Pictures


def of_span(encoding: Encoding, start: int, end: int) -> list[int]:
    """The tokens that share characters with a span."""
    edges = enumerate(encoding.offsets.tolist())
    return [i for i, (a, b) in edges if a < end and b > start]


@pytest.mark.parametrize("pooling", ["mean", "first", "last"])
def test_word_vectors_are_those_of_their_tokens(
    draw: Any, counting: CountingService, pooling: str
) -> None:
    picture = draw(FEW, pooling=pooling)
    assert picture.layers == tuple(range(LAST + 1))
    assert picture.points.names[:5] == ("I", "love", "my", "pet", "python")
    encodings = counting.encode(BUNDLED_ID, FEW.texts)
    n_pieces = []
    for row in range(picture.points.n_points):
        start, end = picture.points.spans[row].tolist()
        text = int(picture.points.sentence[row])
        assert FEW.texts[text][start:end] == picture.points.names[row]
        inside = of_span(encodings[text], start, end)
        n_pieces.append(len(inside))
        inside = {"mean": inside, "first": inside[:1], "last": inside[-1:]}[pooling]
        own = encodings[text].hidden[:, inside].mean(axis=1)
        np.testing.assert_allclose(picture.vectors[:, row], own, atol=2e-5)
    assert max(n_pieces) > 1


@pytest.mark.parametrize("pooling", ["mean", "own", "cls", "max", "pooler"])
def test_sentence_vectors_are_what_their_pooling_says(
    draw: Any, counting: CountingService, pooling: str
) -> None:
    layer = -1 if pooling == "pooler" else 2
    picture = draw(FEW, unit="sentences", pooling=pooling, footing="one", layer=layer)
    assert picture.layers == (layer,)
    for row, encoding in enumerate(counting.encode(BUNDLED_ID, FEW.texts)):
        states = encoding.hidden[2]
        own = {
            "mean": states.mean(axis=0),
            "own": states[1:-1].mean(axis=0),
            "cls": states[0],
            "max": states.max(axis=0),
            "pooler": encoding.pooler_output,
        }[pooling]
        np.testing.assert_allclose(picture.vectors[0, row], own, atol=2e-5)


@pytest.mark.parametrize("special", [False, True])
def test_token_vectors_are_the_hidden_states(
    draw: Any, counting: CountingService, special: bool
) -> None:
    picture = draw(FEW, unit="tokens", special=special)
    encodings = counting.encode(BUNDLED_ID, FEW.texts)
    inner = slice(None) if special else slice(1, -1)
    own = np.concatenate([encoding.hidden[:, inner] for encoding in encodings], axis=1)
    np.testing.assert_allclose(picture.vectors, own, atol=2e-5)
    assert picture.points.names == tuple(t for e in encodings for t in e.tokens[inner])


def test_places_neighbours_and_measures_are_the_analysis_s(draw: Any) -> None:
    joint = draw(FEW)
    here = layer_maps.project_layers(joint.vectors, PCA, how="joint")
    np.testing.assert_array_equal(joint.coordinates, here.coordinates)
    assert joint.honesty == here.honesty
    for own, expected in zip(joint.neighbors, here.neighbors, strict=True):
        np.testing.assert_array_equal(own.indices, expected.indices)
    alone = draw(FEW, footing="one", layer=5)
    found = projection.project(joint.vectors[5], PCA)
    np.testing.assert_array_equal(alone.coordinates[0], found.coordinates)
    np.testing.assert_array_equal(alone.vectors[0], joint.vectors[5])
    assert alone.honesty == (found.honesty,)
    assert alone.as_map().honesty == found.honesty
    assert [alone.index_of(layer) for layer in (5, 3, None)] == [0, 0, 0]
    assert [joint.index_of(layer) for layer in (5, 0, None, 99)] == [5, 0, 6, 6]


def test_a_picture_s_passport_says_how_to_get_it_again(draw: Any, card: ModelCard) -> None:
    settings = MapSettings(method="tsne", seed=5, n_neighbors=3)
    picture = draw(FEW, unit="sentences", footing="one", layer=1, settings=settings)
    passport = picture.passport.as_dict()
    own = passport["settings"]
    assert own["map"] == settings.as_dict()
    assert own["method"] == "pca"  # so few points
    assert (own["unit"], own["pooling"], own["layers"]) == ("sentences", "mean", [1])
    assert (own["footing"], own["corpus"]) == ("one", "few")
    assert own["corpus_sha256"] == FEW.digest
    assert {"umap-learn", "openTSNE", "scikit-learn", "numpy", "torch"} <= set(passport["versions"])
    assert passport["checksum"] == card.checksum
    assert "placed_by" not in own
    arranged = replace(picture, method="umap").passport.settings
    assert arranged["placed_by"] == (
        "Contextlens' own optimiser of UMAP's objective, on umap-learn's graph"
    )


def test_spots_are_alike_where_maps_have_the_same_words_of_the_same_texts(draw: Any) -> None:
    every, python = draw(FEW), draw(FEW, only=("python",))
    assert set(python.spots) < set(every.spots)
    assert len(set(every.spots)) < len(every.spots)  # two texts are the same


# What is computed once


def test_another_layer_seed_or_method_encodes_nothing_anew(
    maps: Maps, draw: Any, card: ModelCard, counting: CountingService
) -> None:
    corpus = Corpus("once", tuple(f"a python number {i}" for i in range(20)))
    draw(corpus)
    assert counting.encoded[-20:] == list(corpus.texts)
    n = len(counting.encoded)
    for layer in range(LAST + 1):
        draw(corpus, footing="one", layer=layer)
    draw(corpus, settings=replace(PCA, seed=1))
    draw(corpus, footing="one", layer=2, settings=replace(PCA, n_components=3))
    request = request_for(corpus)
    assert maps.draw(request, corpus, card) is maps.draw(request, corpus, card)
    maps.draw(with_layer(request, 3), corpus, card).result(WAIT)
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


def test_a_picture_holds_about_as_much_as_it_says(draw: Any) -> None:
    picture = draw(FEW)
    assert picture.nbytes >= picture.vectors.nbytes + picture.coordinates.nbytes


def test_texts_without_a_point_are_refused(maps: Maps, card: ModelCard) -> None:
    job = maps.draw(request_for(FEW, only=("nothing",)), FEW, card)
    assert str(job.exception(WAIT)) == (
        "No word here is “nothing”. Write it as in the texts, or empty the field to map them all."
    )
    signs = Corpus("signs", ("🐍", "...", "?"))
    with pytest.raises(RequestError, match="no words to map"):
        maps.draw(request_for(signs), signs, card).result(WAIT)


# Stability


@pytest.mark.parametrize("footing", ["joint", "one"])
def test_stability_is_that_of_the_shown_layer_s_own_map(
    maps: Maps, draw: Any, footing: Any
) -> None:
    picture = draw(FEW, footing=footing, layer=None if footing == "joint" else 4)
    assert maps.find_check(picture, 4) is None
    checked = maps.check(picture, 4).result(WAIT)
    assert maps.find_check(picture, 4) is maps.check(picture, 4)
    vectors = picture.vectors[picture.index_of(4)]
    first = projection.project(vectors, PCA)
    assert checked.layer == 4
    assert checked.stability == stabilities.stability(vectors, PCA, first=first)
    assert maps.find_check(picture, 5) is None
