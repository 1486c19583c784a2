"""Maps from a request to a picture: what they cost, which texts they take, what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import streamlit as st

from components.core import BUNDLED_ID, Encoding, ModelCard, Settings
from components.core.errors import RequestError
from components.core.service import LocalService
from components.corpus.bundled import ambiguous_corpus
from components.corpus.corpus import Corpus
from components.features.map import costs, drawing
from components.features.map.costs import Costs
from components.features.map.drawing import Picture
from components.features.map.request import MapRequest, with_layer
from components.maps import layer_maps, projection
from components.maps import stability as stabilities
from components.maps.points import UNITS
from components.maps.projection import MapSettings
from components.ui.models import services
from tests.support.pages import app_data, app_settings

WAIT = 60
LAST = 6
PCA = MapSettings(method="pca")


class CountingService(LocalService):
    """A real service that notes which texts were encoded."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.encoded: list[str] = []

    def encode(self, model: str, texts: Sequence[str], **arguments: Any) -> list[Encoding]:
        self.encoded += texts
        return super().encode(model, texts, **arguments)


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "open_service", CountingService)
        with app_settings(ALLOW_DOWNLOADS="0", DATA_DIR=str(app_data(tmp_path_factory))):
            yield


@pytest.fixture
def counting() -> CountingService:
    """The app's service: all that it encodes is noted."""
    own = services.service()
    assert isinstance(own, CountingService)
    return own


@pytest.fixture(scope="module")
def card() -> ModelCard:
    return services.service().load(BUNDLED_ID)


def request_for(corpus: Corpus, **changes: Any) -> MapRequest:
    usual = MapRequest(
        model=BUNDLED_ID,
        corpus=corpus.digest,
        source="file",
        unit="words",
        pooling="mean",
        only=(),
        every_word=False,
        special=False,
        most=5_000,
        footing="joint",
        layer=None,
        settings=PCA,
    )
    return replace(usual, **changes)


def draw(corpus: Corpus, card: ModelCard, **changes: Any) -> Picture:
    picture = drawing.draw(request_for(corpus, **changes), corpus, card).future.result(WAIT)
    assert isinstance(picture, Picture)
    return picture


def cost(corpus: Corpus, card: ModelCard, **changes: Any) -> Costs:
    return costs.costs(request_for(corpus, **changes), corpus, card)


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


# Which texts


def able(request: MapRequest, corpus: Corpus) -> list[int]:
    rows: list[int] = costs.able_texts(request, corpus).tolist()
    return rows


def test_texts_without_a_word_that_was_asked_for_are_not_read() -> None:
    assert able(request_for(FEW), FEW) == [0, 1, 2, 3]
    assert able(request_for(FEW, only=("python",)), FEW) == [0, 1, 3]
    assert able(request_for(FEW, only=("snake", "love")), FEW) == [0, 2, 3]
    assert able(request_for(FEW, only=("nothing",)), FEW) == []
    for unit in ("tokens", "sentences"):
        assert able(request_for(FEW, unit=unit, only=("python",)), FEW) == [0, 1, 2, 3]


def test_of_chosen_words_those_count_unless_all_words_do() -> None:
    corpus = replace(FEW, spans=((2, 6), (18, 25), (3, 8), (14, 20)))
    assert able(request_for(corpus, only=("python",)), corpus) == [1, 3]
    assert able(request_for(corpus, only=("python",), every_word=True), corpus) == [0, 1, 3]
    assert able(request_for(corpus), corpus) == [0, 1, 2, 3]


def test_a_word_of_the_ready_made_corpus_has_a_point_in_each_of_its_sentences(
    card: ModelCard,
) -> None:
    corpus = ambiguous_corpus()
    wanted = [i for i, word in enumerate(corpus.labels["word"]) if word == "python"]
    request = request_for(corpus, only=("python",))
    assert able(request, corpus) == wanted
    assert costs.costs(request, corpus, card).n_points == len(wanted)


# What it costs


def test_a_map_costs_more_with_more_points(card: ModelCard) -> None:
    corpus = many(30_000)
    found = [cost(corpus, card, unit="sentences", most=n) for n in (1_000, 5_000, 20_000)]
    for less, more in pairwise(found):
        assert less.n_points < more.n_points
        assert less.n_texts < more.n_texts
        assert less.n_tokens < more.n_tokens
        assert less.seconds < more.seconds
        assert less.n_bytes < more.n_bytes
    assert [own.n_points for own in found] == [1_000, 5_000, 7_142]  # 50,000 in seven layers
    alone = cost(corpus, card, unit="sentences", most=20_000, footing="one", layer=2)
    assert alone.n_points == 20_000
    vectors = alone.n_points * 384 * 4
    assert vectors < alone.n_bytes < 50 * vectors


def test_a_map_costs_more_where_more_is_done(card: ModelCard) -> None:
    corpus = many(3_000)
    one = cost(corpus, card, footing="one", layer=3, settings=MapSettings())
    joint = cost(corpus, card, settings=MapSettings())
    full = cost(corpus, card, settings=MapSettings(effort="full"))
    assert one.seconds < joint.seconds < full.seconds
    assert one.n_bytes < joint.n_bytes


def test_what_is_expected_comes_about(card: ModelCard) -> None:
    corpus = ambiguous_corpus()
    some = Corpus("some", corpus.texts[:60])
    for unit in UNITS:
        expected = cost(some, card, unit=unit, footing="one", layer=0)
        picture = draw(some, card, unit=unit, footing="one", layer=0)
        assert expected.n_texts == len(picture.points.texts) == 60
        assert picture.points.n_points == pytest.approx(expected.n_points, rel=0.3)


def test_texts_without_a_point_cost_next_to_nothing_and_are_refused(card: ModelCard) -> None:
    expected = cost(FEW, card, only=("nothing",))
    assert expected.n_points <= 1
    assert expected.n_tokens == 0
    job = drawing.draw(request_for(FEW, only=("nothing",)), FEW, card)
    assert str(job.future.exception(WAIT)) == (
        "No word here is “nothing”. Write it as in the texts, or empty the field to map them all."
    )
    signs = Corpus("signs", ("🐍", "...", "?"))
    job = drawing.draw(request_for(signs), signs, card)
    assert isinstance(job.future.exception(WAIT), RequestError)
    assert "no words to map" in str(job.future.exception())


def test_what_was_measured_counts_once_enough_was_read(card: ModelCard) -> None:
    with app_settings(ALLOW_DOWNLOADS="0"):
        before = costs._seconds_a_token(card)
        assert before == pytest.approx(24 * 6 * 384**2 / costs._FLOPS)
        draw(many(30), card, unit="sentences")
        assert costs._seconds_a_token(card) == before  # so few tokens say little
        draw(many(500), card, unit="sentences")
        after = costs._seconds_a_token(card)
        assert after != before
        assert 1e-6 < after < 1e-2


# Samples


def test_of_too_many_texts_the_same_random_ones_are_read(card: ModelCard) -> None:
    corpus = many(2_000)

    def drawn() -> list[Picture]:
        return [draw(corpus, card, unit=unit, most=1_000, footing="one", layer=0) for unit in UNITS]

    firsts = drawn()
    with app_settings(ALLOW_DOWNLOADS="0"):
        seconds = drawn()
    for unit, first, second in zip(UNITS, firsts, seconds, strict=True):
        assert first.points.n_points == 1_000
        assert first.points.texts == second.points.texts
        np.testing.assert_array_equal(first.vectors, second.vectors)
        assert first.passport.settings["sampling_seed"] == 0
        numbers = [int(text.split()[1]) for text in first.points.texts]
        assert len(set(numbers)) == len(numbers) < 2_000
        assert max(numbers) > 1_900
        assert min(numbers) < 100
        assert abs(np.mean(numbers) - 1_000) < 150
        assert (numbers == sorted(numbers)) == (unit == "sentences")
        for i in range(0, 1_000, 97):  # labels go with their texts
            text = first.points.texts[first.points.sentence[i]]
            assert first.points.labels["number"][i] == text.split()[1]


def test_all_texts_are_read_in_their_order_where_there_is_room(card: ModelCard) -> None:
    picture = draw(FEW, card, unit="sentences")
    assert picture.points.texts == FEW.texts
    assert picture.points.labels["kind"] == FEW.labels["kind"]


def test_fewer_points_are_drawn_where_each_stands_for_every_layer(
    card: ModelCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "_MAX_JOINT", 7 * 40)
    corpus = many(100)
    assert draw(corpus, card, unit="sentences").points.n_points == 40
    alone = draw(corpus, card, unit="sentences", footing="one", layer=4)
    assert alone.points.n_points == 100
    assert cost(corpus, card, unit="sentences").n_points == 40


# Pictures


def of_span(encoding: Encoding, start: int, end: int) -> list[int]:
    """The tokens that share characters with a span."""
    edges = enumerate(encoding.offsets.tolist())
    return [i for i, (a, b) in edges if a < end and b > start]


@pytest.mark.parametrize("pooling", ["mean", "first", "last"])
def test_word_vectors_are_those_of_their_tokens(
    card: ModelCard, counting: CountingService, pooling: str
) -> None:
    picture = draw(FEW, card, pooling=pooling)
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
    card: ModelCard, counting: CountingService, pooling: str
) -> None:
    layer = -1 if pooling == "pooler" else 2
    picture = draw(FEW, card, unit="sentences", pooling=pooling, footing="one", layer=layer)
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
    card: ModelCard, counting: CountingService, special: bool
) -> None:
    picture = draw(FEW, card, unit="tokens", special=special)
    encodings = counting.encode(BUNDLED_ID, FEW.texts)
    inner = slice(None) if special else slice(1, -1)
    own = np.concatenate([encoding.hidden[:, inner] for encoding in encodings], axis=1)
    np.testing.assert_allclose(picture.vectors, own, atol=2e-5)
    assert picture.points.names == tuple(t for e in encodings for t in e.tokens[inner])


def test_places_neighbours_and_measures_are_the_analysis_s(card: ModelCard) -> None:
    joint = draw(FEW, card)
    here = layer_maps.project_layers(joint.vectors, PCA, how="joint")
    np.testing.assert_array_equal(joint.coordinates, here.coordinates)
    assert joint.honesty == here.honesty
    for own, expected in zip(joint.neighbors, here.neighbors, strict=True):
        np.testing.assert_array_equal(own.indices, expected.indices)
    alone = draw(FEW, card, footing="one", layer=5)
    found = projection.project(joint.vectors[5], PCA)
    np.testing.assert_array_equal(alone.coordinates[0], found.coordinates)
    np.testing.assert_array_equal(alone.vectors[0], joint.vectors[5])
    assert alone.honesty == (found.honesty,)
    assert alone.as_map().honesty == found.honesty
    assert [alone.index_of(layer) for layer in (5, 3, None)] == [0, 0, 0]
    assert [joint.index_of(layer) for layer in (5, 0, None, 99)] == [5, 0, 6, 6]


def test_a_picture_s_passport_says_how_to_get_it_again(card: ModelCard) -> None:
    settings = MapSettings(method="tsne", seed=5, n_neighbors=3)
    picture = draw(FEW, card, unit="sentences", footing="one", layer=1, settings=settings)
    passport = picture.passport.as_dict()
    own = passport["settings"]
    assert own["map"] == settings.as_dict()
    assert own["method"] == "pca"  # so few points
    assert (own["unit"], own["pooling"], own["layers"]) == ("sentences", "mean", [1])
    assert (own["footing"], own["corpus"]) == ("one", "few")
    assert own["corpus_sha256"] == FEW.digest
    assert {"umap-learn", "openTSNE", "scikit-learn", "numpy", "torch"} <= set(passport["versions"])
    assert passport["checksum"] == card.checksum


def test_spots_are_alike_where_maps_have_the_same_words_of_the_same_texts(
    card: ModelCard,
) -> None:
    every, python = draw(FEW, card), draw(FEW, card, only=("python",))
    assert set(python.spots) < set(every.spots)
    assert len(set(every.spots)) < len(every.spots)  # two texts are the same


# What is computed once


def test_another_layer_seed_or_method_encodes_nothing_anew(
    card: ModelCard, counting: CountingService
) -> None:
    corpus = Corpus("once", tuple(f"a python number {i}" for i in range(20)))
    draw(corpus, card)
    assert counting.encoded[-20:] == list(corpus.texts)
    n = len(counting.encoded)
    for layer in range(LAST + 1):
        draw(corpus, card, footing="one", layer=layer)
    draw(corpus, card, settings=replace(PCA, seed=1))
    draw(corpus, card, footing="one", layer=2, settings=replace(PCA, n_components=3))
    request = request_for(corpus)
    assert drawing.draw(request, corpus, card) is drawing.draw(request, corpus, card)
    drawing.draw(with_layer(request, 3), corpus, card).future.result(WAIT)
    assert len(counting.encoded) == n
    draw(corpus, card, unit="sentences")
    assert len(counting.encoded) == n + 20


def test_a_picture_holds_about_as_much_as_it_says(card: ModelCard) -> None:
    picture = draw(FEW, card)
    assert picture.nbytes >= picture.vectors.nbytes + picture.coordinates.nbytes


# Stability


@pytest.mark.parametrize("footing", ["joint", "one"])
def test_stability_is_that_of_the_shown_layer_s_own_map(card: ModelCard, footing: Any) -> None:
    picture = draw(FEW, card, footing=footing, layer=None if footing == "joint" else 4)
    assert drawing.stability_job(picture, 4) is None
    drawing.check_stability(picture, 4)
    job = drawing.stability_job(picture, 4)
    assert job is not None
    checked = job.future.result(WAIT)
    vectors = picture.vectors[picture.index_of(4)]
    first = projection.project(vectors, PCA)
    assert checked.layer == 4
    assert checked.stability == stabilities.stability(vectors, PCA, first=first)
    assert drawing.stability_job(picture, 5) is None


def test_everything_is_forgotten_with_the_caches(card: ModelCard) -> None:
    draw(FEW, card)
    key = request_for(FEW).key
    assert drawing.jobs().get(key) is not None
    pid = drawing._processes().small._process
    assert pid is not None
    st.cache_resource.clear()
    assert pid.poll() is not None
    assert drawing.jobs().get(key) is None
