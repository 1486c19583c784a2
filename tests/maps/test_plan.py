"""A map's plan: its texts, its points, and a cost that grows with them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.maps.plan import Plan, plan, usual_token_seconds
from contextlens.maps.points import UNITS
from contextlens.maps.request import MapRequest, MapSettings

FEW = Corpus(
    "few",
    (
        "I love my pet python",
        "Unbelievably, the pythons slept. Python!",
        "No snake here",
        "I love my pet python",
    ),
)


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


@pytest.fixture(scope="module")
def planned(service: EncoderService, card: ModelCard) -> Any:
    def planned(corpus: Corpus, **changes: Any) -> Plan:
        usual = MapRequest(
            BUNDLED_ID, corpus.digest, most=5_000, settings=MapSettings(method="pca")
        )
        request = replace(usual, **changes)
        return plan(request, corpus, card, service, usual_token_seconds(card))

    return planned


def many(n: int) -> Corpus:
    """Short sentences, no two alike."""
    return Corpus("many", tuple(f"number {i} of many" for i in range(n)))


def read(own: Plan) -> list[int]:
    rows: list[int] = own.order.tolist()
    assert len(rows) == own.n_able
    return rows


def test_texts_without_a_word_that_was_asked_for_are_not_read(planned: Any) -> None:
    assert read(planned(FEW)) == [0, 1, 2, 3]
    assert read(planned(FEW, only=("python",))) == [0, 1, 3]
    assert read(planned(FEW, only=("snake", "love"))) == [0, 2, 3]
    assert read(planned(FEW, only=("nothing",))) == []
    for unit in ("tokens", "sentences"):
        assert read(planned(FEW, unit=unit, only=("python",))) == [0, 1, 2, 3]


def test_of_chosen_words_those_count_unless_all_words_do(planned: Any) -> None:
    corpus = replace(FEW, spans=((2, 6), (18, 25), (3, 8), (14, 20)))
    assert read(planned(corpus, only=("python",))) == [1, 3]
    assert read(planned(corpus, only=("python",), every_word=True)) == [0, 1, 3]
    assert read(planned(corpus)) == [0, 1, 2, 3]


def test_a_word_of_the_ready_made_corpus_has_a_point_in_each_of_its_sentences(
    planned: Any,
) -> None:
    corpus = ambiguous_corpus()
    wanted = [i for i, word in enumerate(corpus.labels["word"]) if word == "python"]
    own = planned(corpus, only=("python",))
    assert read(own) == wanted
    assert own.n_points == len(wanted)


def test_a_map_costs_more_with_more_points(planned: Any) -> None:
    corpus = many(30_000)
    found = [planned(corpus, unit="sentences", most=n) for n in (1_000, 5_000, 20_000)]
    for less, more in pairwise(found):
        assert less.n_points < more.n_points
        assert less.n_texts < more.n_texts
        assert less.n_tokens < more.n_tokens
        assert less.seconds < more.seconds
        assert less.n_bytes < more.n_bytes
    assert [own.n_points for own in found] == [1_000, 5_000, 20_000]
    assert [own.n_texts for own in found] == [1_000, 5_000, 20_000]
    alone = planned(corpus, unit="sentences", most=25_000, layer=2)
    assert alone.n_points == 25_000
    assert alone.layers == (2,), "all layers of so many are too much to keep"
    vectors = alone.n_points * 384 * 4
    assert vectors < alone.n_bytes < 50 * vectors


def test_a_map_costs_more_where_more_is_done(planned: Any) -> None:
    corpus = many(3_000)
    one = planned(corpus, layer=3, settings=MapSettings())
    every = planned(corpus, settings=MapSettings())
    full = planned(corpus, settings=MapSettings(effort="full"))
    assert one.seconds < every.seconds < full.seconds
    assert one.n_bytes < every.n_bytes
    assert one.layers is None, "another layer then needs no encoding"


def test_what_is_read_and_what_is_placed_add_up(planned: Any, card: ModelCard) -> None:
    for unit in UNITS:
        own = planned(many(60), unit=unit)
        assert own.n_texts == 60
        assert own.reading == pytest.approx(own.n_tokens * 24 * 6 * 384**2 / 1.2e11)
        assert own.seconds == own.reading + own.placing
        assert 0.05 <= own.split <= 0.95


def test_texts_without_a_point_cost_next_to_nothing(planned: Any) -> None:
    own = planned(FEW, only=("nothing",))
    assert own.n_points <= 1
    assert (own.n_texts, own.n_tokens, own.reading) == (0, 0, 0)
