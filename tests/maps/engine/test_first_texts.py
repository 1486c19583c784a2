"""Maps of many texts: some are read and drawn first, and the others join them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import pdist

from contextlens.core import ModelCard
from contextlens.core.errors import RequestError
from contextlens.corpus.corpus import Corpus
from contextlens.jobs import Jobs, StoppedError, Visitor
from contextlens.maps import plan
from contextlens.maps.engine import Maps, first_request, last_layer
from contextlens.maps.plan import first_texts
from contextlens.maps.projection import project
from contextlens.maps.request import MapSettings
from contextlens.maps.result import MapResult
from tests.maps.engine.counting import PCA, WAIT, CountingService, request_for

ME, YOU = Visitor("me"), Visitor("you")
N, N_FIRST = 130, 40
ANIMALS = ("python", "snake", "boa", "cat", "old dog", "very small mouse")


@pytest.fixture(autouse=True)
def _some_are_read_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"_MIN_FIRST": 0, "_MAX_FIRST": N_FIRST, "_REST_SECONDS": 0}.items():
        monkeypatch.setattr(plan, name, value)


@pytest.fixture
def gate(counting: CountingService) -> Iterator[threading.Event]:
    """A gate, open for now, for the last of some texts."""
    yield counting.gate
    counting.gate.set()


def many(name: str, last: str = "") -> Corpus:
    """Sentences on animals, in groups; the last of all is another one."""
    texts = [f"{name} {i}: {'my ' * (i % 3)}{ANIMALS[i % 6]} sleeps" for i in range(N - 1)]
    labels = tuple(ANIMALS[i % 6] for i in range(N - 1))
    return Corpus(name, (*texts, f"{name} {last}"), {"animal": (*labels, "none")})


def the_whole_and_the_first(
    maps: Maps, card: ModelCard, corpus: Corpus, **changes: Any
) -> tuple[MapResult, MapResult]:
    request = request_for(corpus, **{"unit": "sentences", **changes})
    whole = maps.draw(request, corpus, card).result(WAIT)
    first = maps.result(first_request(request, card))
    assert first is not None
    return whole, first


# The texts that are read first


@pytest.mark.parametrize("seed", range(8))
def test_first_texts_stand_for_all(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_texts = int(random.integers(400, 3_000))
    n = int(random.integers(100, n_texts // 2))
    stars = random.choice(["1", "2", "3", "4", "5"], n_texts, p=[0.5, 0.3, 0.15, 0.049, 0.001])
    stars[random.integers(n_texts)] = "6"  # a single one
    topics = np.sort(random.choice([f"topic {i}" for i in range(20)], n_texts))
    names = [f"text {i}" for i in range(n_texts)]
    columns = [names, topics.tolist(), stars.tolist()]
    rows = first_texts(columns, n_texts, n)
    assert rows.tolist() == sorted(set(rows.tolist())) == first_texts(columns, n_texts, n).tolist()
    assert len(rows) == n
    assert 0 <= rows[0] <= rows[-1] < n_texts
    for column in (stars, topics):
        every, taken = Counter(column.tolist()), Counter(column[rows].tolist())
        assert set(taken) == set(every)
    every, taken = Counter(stars.tolist()), Counter(stars[rows].tolist())
    for label, count in every.items():
        assert abs(taken[label] - count * n / n_texts) <= 1 + len(set(topics)) * n / n_texts
    spread = np.histogram(rows, bins=10, range=(0, n_texts))[0]
    assert np.abs(spread - n / 10).max() <= 20


def test_first_texts_without_labels_are_evenly_spaced() -> None:
    for columns in ([], [["same"] * 1_000], [[str(i) for i in range(1_000)]]):
        gaps = np.diff(first_texts(columns, 1_000, 300))
        assert set(gaps.tolist()) <= {1, 2, 3, 4, 5}
        assert len(gaps) == 299
    assert first_texts([], 10, 10).tolist() == list(range(10))


def test_only_many_texts_that_take_long_are_read_in_two_parts(
    maps: Maps, card: ModelCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()

    def first_of(n: int, text: str) -> int:
        corpus = Corpus(f"{n} {text}", (text,) * n)
        request = request_for(corpus, unit="sentences", most=20_000)
        return len(maps.plan(request, corpus, card).first)

    sentence = "one of the many sentences of a file that all are about as long as this one is" * 2
    assert first_of(10_662, sentence) in range(1_200, 1_501)
    assert first_of(10_662, "short text") == 1_500
    assert first_of(4_000, "short text") == 0, "the others take a moment only"
    assert first_of(2_000, sentence) == 0
    assert first_of(2_000, sentence * 10) == 500


# The first map and the whole one


@pytest.mark.parametrize("layer", [None, 2])
def test_the_whole_map_is_as_without_a_first_one(
    maps: Maps, card: ModelCard, counting: CountingService, layer: int | None
) -> None:
    corpus = many(f"at {layer}")
    settings = MapSettings(n_neighbors=5)
    n = len(counting.encoded)
    whole, first = the_whole_and_the_first(maps, card, corpus, layer=layer, settings=settings)
    assert sorted(counting.encoded[n:]) == sorted(corpus.texts), "each text is read once"
    assert counting.encoded[n : n + N_FIRST] == list(first.points.texts)
    assert whole.points.texts == corpus.texts
    assert whole.points.labels["animal"] == corpus.labels["animal"]
    alone = counting.encode(card.id, corpus.texts)
    means = np.stack([encoding.hidden.mean(axis=1) for encoding in alone], axis=1)
    np.testing.assert_allclose(whole.vectors, means[list(whole.layers)], atol=2e-5)
    own = project(whole.vectors[-1], settings)
    drawn = whole.map.coordinates[-1]
    np.testing.assert_allclose(pdist(drawn), pdist(own.coordinates[0]), rtol=1e-3, atol=1e-4)
    assert whole.map.quality[-1] == own.quality[0]
    assert "first_texts" not in whole.passport.settings


@pytest.mark.parametrize("n_components", [2, 3])
def test_points_of_the_first_map_keep_their_direction(
    maps: Maps, card: ModelCard, n_components: int
) -> None:
    corpus = many(f"turned {n_components}")
    settings = MapSettings(n_neighbors=5, n_components=n_components)
    whole, first = the_whole_and_the_first(maps, card, corpus, layer=3, settings=settings)
    there = {text: i for i, text in enumerate(whole.points.texts)}
    rows = [there[text] for text in first.points.texts]
    places = whole.map.coordinates[0][rows].astype(float)
    earlier = first.map.coordinates[0].astype(float)
    turn, _ = orthogonal_procrustes(places - places.mean(axis=0), earlier - earlier.mean(axis=0))
    np.testing.assert_allclose(turn, np.eye(n_components), atol=1e-4)


def test_a_first_map_says_what_it_is(maps: Maps, card: ModelCard) -> None:
    corpus = many("so far")
    whole, first = the_whole_and_the_first(maps, card, corpus)
    assert first.is_first
    assert not whole.is_first
    assert (len(first.points.texts), first.n_able) == (N_FIRST, N)
    assert first.layers == (card.n_layers,)
    assert set(first.points.labels["animal"]) == {*ANIMALS, "none"}
    assert first.passport.settings["first_texts"] == [N_FIRST, N]
    rows = [whole.points.texts.index(text) for text in first.points.texts]
    np.testing.assert_array_equal(first.vectors[0], whole.vectors[-1][rows])


@pytest.mark.parametrize(
    "changes",
    [
        {"unit": "words", "most": 560},  # fewer than there are: texts at random until they suffice
        {"unit": "tokens", "special": True},
        {"unit": "words", "only": ("my",), "most": 90},  # more than one in a text
        {"unit": "sentences", "pooling": "cls"},
        {"unit": "sentences", "pooling": "recipe", "layer": -1},
    ],
)
def test_the_same_points_are_drawn_as_without_a_first_map(
    maps: Maps,
    card: ModelCard,
    counting: CountingService,
    changes: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    corpus = many("points")
    whole, first = the_whole_and_the_first(maps, card, corpus, **{"layer": 1, **changes})
    monkeypatch.setattr(plan, "_REST_SECONDS", 1e9)
    with Maps(counting, Jobs(10**9)) as others:
        monkeypatch.setattr(others, "plan", lambda *given: plan.plan(*given, counting, 1e-4))
        alone = others.draw(whole.request, corpus, card).result(WAIT)
        assert others.result(first.request) is None
    assert whole.points.names == alone.points.names
    assert whole.points.texts == alone.points.texts
    assert whole.points.labels == alone.points.labels
    np.testing.assert_array_equal(whole.points.sentence, alone.points.sentence)
    np.testing.assert_array_equal(whole.points.spans, alone.points.spans)
    for title, values in alone.points.measures.items():
        np.testing.assert_array_equal(whole.points.measures[title], values)
    np.testing.assert_allclose(whole.vectors, alone.vectors, atol=2e-5)


def test_texts_without_a_point_among_the_first_ones_do_not_matter(
    maps: Maps, card: ModelCard
) -> None:
    corpus = many("pointless", last="a zebra")
    texts = (*(text.replace("my", "zebras") for text in corpus.texts[:-1]), corpus.texts[-1])
    corpus = Corpus("pointless", texts)
    request = request_for(corpus, only=("zebra",))  # in most texts, but as a part of a word
    assert maps.plan(request, corpus, card).first.size
    whole = maps.draw(request, corpus, card).result(WAIT)
    assert whole.points.names == ("zebra",)
    nowhere = request_for(corpus, only=("ebra",))
    with pytest.raises(RequestError, match="No word here is “ebra”"):
        maps.draw(nowhere, corpus, card).result(WAIT)


# While the others are read


def test_the_first_map_is_there_while_the_others_are_read_and_cancel_stops_them(
    maps: Maps, card: ModelCard, counting: CountingService, gate: threading.Event
) -> None:
    gate.clear()
    corpus = many("cancelled", last="behind the gate")
    corpus = Corpus(corpus.name, corpus.texts)  # without the label that makes the last one a first
    request = request_for(corpus, unit="sentences")
    first = first_request(request, card)
    mine = maps.draw(request, corpus, card, ME)
    yours = maps.draw(request, corpus, card, YOU)
    assert mine is yours
    assert maps.draw(first, corpus, card, ME).result(WAIT).points.n_points == N_FIRST
    assert not mine.done()
    assert 0 < mine.poll(ME).share < 1
    mine.cancel(ME)
    assert mine.poll(ME).state == "cancelled"
    assert not mine.poll(YOU).is_over, "another visitor waits for it"
    mine.cancel(YOU)
    assert mine.poll(YOU).is_over, "at once"
    gate.set()
    assert isinstance(mine.exception(WAIT), StoppedError)
    assert maps.result(first) is not None, "what was drawn stays"
    assert maps.result(last_layer(request, card)) is None
    n = len(counting.encoded)
    again = maps.draw(request, corpus, card, ME).result(WAIT)
    assert again.points.n_points == N
    drawn = maps.result(first)
    assert drawn is not None
    assert not set(counting.encoded[n:]) & set(drawn.points.texts), "they are not read again"


def test_a_first_map_does_not_wait_for_another_visitor_s_large_reading(
    maps: Maps, card: ModelCard, gate: threading.Event
) -> None:
    gate.clear()
    other = Corpus("theirs", tuple(f"theirs {i} behind the gate" for i in range(20_000)))
    theirs = maps.draw(request_for(other, unit="sentences", most=20_000, layer=0), other, card, YOU)
    corpus = many("mine")
    mine = maps.draw(request_for(corpus, unit="sentences", settings=PCA), corpus, card, ME)
    first = first_request(request_for(corpus, unit="sentences", settings=PCA), card)
    assert maps.draw(first, corpus, card, ME).result(WAIT)
    theirs.cancel(YOU)
    mine.cancel(ME)
