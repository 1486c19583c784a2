"""From a view and a corpus to what the page shows: groups, layers, what is beside, picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.analysis.separation import scaled
from components.core import BUNDLED_ID, EncoderService
from components.core.errors import CorpusError
from components.corpus.corpus import Corpus
from components.corpus.live import LiveCorpus
from components.features.senses.compute import (
    Senses,
    beside,
    linked_places,
    senses_of,
    table_of,
    word_map_of,
)
from components.features.senses.controls import corpus_among, other_model_among
from components.features.senses.words import MissingWord, groups_rows
from tests.features.senses.compute.live_senses import MODEL, SENSES, TEXTS, live, shown
from tests.support.senses import senses_view

# The default, on the bundled model


@pytest.mark.slow
def test_the_first_sight_shows_a_word_whose_senses_part(service: EncoderService) -> None:
    own = senses_of(senses_view(), service)
    assert isinstance(own, Senses)
    assert own.uses.word == "python"
    assert own.uses.senses == ("animal", "language")
    assert own.layers == tuple(range(7))
    assert own.layer == 6
    shares = [point.accuracy for point in own.course.curve]
    assert shares[0] < 0.75 < max(shares)
    assert len(own.grouping.descriptions) > 1
    assert own.grouping.rand > own.grouping.shuffled
    assert all(len(group.central) == 3 for group in own.grouping.descriptions)
    assert len(own.concordance.lines) == 25
    assert own.concordance.n_pages == 2
    assert not own.notes


@pytest.mark.slow
def test_a_sentence_about_snakes_falls_to_the_animal(service: EncoderService) -> None:
    texts = {
        "animal": "The python swallowed a rat and slept in its cage for a week.",
        "language": "My code in Python 3 raises an error when I import the module.",
    }
    for sense, text in texts.items():
        own = senses_of(senses_view(own=text), service)
        assert isinstance(own, Senses)
        assert own.sentence is not None
        assert own.sentence.match is not None
        assert own.sentence.match.names[0] == sense
        assert own.cosine_to == "own"
        assert own.uses.labels[own.sentence.near[0]] == sense


@pytest.mark.slow
def test_the_sentiment_set_is_held_out_by_its_split(service: EncoderService) -> None:
    own = senses_of(senses_view(corpus="sentiment", word="the"), service)
    assert isinstance(own, Senses)
    assert own.uses.column == "sentiment"
    assert own.uses.trial.how == "split"


# Few occurrences


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_occurrences_are_shown_without_groups(tiny_service: EncoderService, n: int) -> None:
    own = shown(tiny_service, live(tiny_service, TEXTS[:n]), groups="found")
    assert own.uses.n == n
    assert own.grouping.descriptions == ()
    assert own.grouping.problem
    assert own.grouping.groups.tolist() == [-1] * n
    assert own.places.shape == (n, 2)


def test_more_groups_than_occurrences_say_so(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service, TEXTS[:3]), groups="5")
    assert own.grouping.problem == (
        "3 different vectors cannot make 5 groups. Choose 3 groups at most."
    )


def test_a_chosen_number_of_groups_is_made(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), groups="3")
    assert [group.n for group in own.grouping.descriptions] == sorted(
        np.bincount(own.grouping.groups).tolist(), reverse=True
    )
    assert sum(group.n for group in own.grouping.descriptions) == 8
    assert np.isfinite(own.grouping.rand)
    for group in own.grouping.descriptions:
        assert set(group.central) <= set(np.flatnonzero(own.grouping.groups == group.number))
        assert "python" not in group.words
    assert len(groups_rows(own.uses, own.grouping)) == 3


# The layer


def test_a_layer_that_is_not_stored_is_said(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service), layer=9)
    assert own.layer == 3
    assert own.notes == ("This corpus has no vectors of layer 9, so layer 3 is shown.",)
    assert shown(tiny_service, live(tiny_service), layer=1).layer == 1


# Beside it


def test_another_word_layer_or_model_stands_beside(tiny_service: EncoderService) -> None:
    texts = ("my python and my snake", "a snake ate", "the python slept")
    view = replace(senses_view(*texts, word="python"), model=MODEL)
    one = senses_of(view, tiny_service)
    assert isinstance(one, Senses)

    def with_(**controls: Any) -> Senses | MissingWord | None:
        own = {**view.controls["senses"], **controls}
        return beside(replace(view, controls={"senses": own}), one, tiny_service)

    word = with_(beside="word", other_word="snake")
    assert isinstance(word, Senses)
    assert word.uses.word == "snake"
    assert linked_places(one, word, [0]) == ()
    layer = with_(beside="layer", other_layer=0)
    assert isinstance(layer, Senses)
    assert layer.layer == 0
    assert linked_places(one, layer, [1, 0]) == (1, 0)
    model = with_(beside="model", other_model="folder:roberta")
    assert isinstance(model, Senses)
    assert model.uses.model == "folder:roberta"
    assert linked_places(one, model, [0, 1]) == (0, 1)
    assert isinstance(with_(beside="word", other_word="lizard"), MissingWord)
    assert with_() is None
    assert with_(beside="word") is None
    assert with_(beside="model") is None


def test_the_word_table_has_one_point(tiny_service: EncoderService) -> None:
    texts = ("my python and my snake", "the python slept")
    view = replace(senses_view(*texts, word="python", beside="table"), model=MODEL)
    one = senses_of(view, tiny_service)
    assert isinstance(one, Senses)
    own = table_of(view, one, tiny_service)
    assert own is not None
    (tokens,) = tiny_service.tokenize(MODEL, ["python"])
    ids = tokens.token_ids[tokens.special_tokens_mask == 0]
    row = tiny_service.word_rows(MODEL, ids).mean(axis=0)
    vectors = LiveCorpus(Corpus("t", texts), tiny_service, MODEL)
    layer0 = scaled(vectors.vectors(vectors.occurrences("python"), 0))
    assert own.average == pytest.approx(float((layer0 @ scaled(row)).mean()), abs=1e-5)
    assert "".join(own.pieces).replace("##", "") == "python"


def test_a_word_table_of_another_width_is_said(tiny_service: EncoderService) -> None:
    view = replace(senses_view("a python", word="python", beside="table"), model="folder:albert")
    one = senses_of(view, tiny_service)
    assert isinstance(one, Senses)
    own = table_of(view, one, tiny_service)
    assert own is not None
    assert own.problem.startswith(
        "The rows of this model's word table have 16 numbers, but its layer 0"
    )


# Corpora


def test_a_corpus_that_is_not_there_says_so(tiny_service: EncoderService) -> None:
    with pytest.raises(CorpusError, match="There is no corpus “Zm9vYmFyYmF6cXV4” here"):
        senses_of(senses_view(corpus="Zm9vYmFyYmF6cXV4"), tiny_service)
    with pytest.raises(CorpusError, match="Your sentences are empty"):
        senses_of(senses_view(" ", "", word="a"), tiny_service)


def test_a_stored_corpus_is_opened_by_its_name(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, sense=SENSES)
    names: list[str] = []

    def opened(name: str) -> LiveCorpus:
        names.append(name)
        return corpus

    own = senses_of(senses_view(corpus="abc"), tiny_service, opened)
    assert isinstance(own, Senses)
    assert own.uses.word == "python"
    assert names == ["abc"]
    assert corpus_among({"abc": "My file"}).options["abc"] == "My file"


def test_other_models_leave_the_own_one_out(service: EncoderService) -> None:
    assert BUNDLED_ID not in other_model_among(service.models(), BUNDLED_ID).options


# The picture


def test_the_picture_has_every_layer_and_the_own_sentence(tiny_service: EncoderService) -> None:
    own = shown(tiny_service, live(tiny_service, sense=SENSES), own=TEXTS[0])
    picture = word_map_of(own, "sense")
    assert list(picture.places) == list(picture.titles) == [0, 1, 2, 3]
    assert picture.sentence_places is not None
    assert list(picture.sentence_places) == [0, 1, 2, 3]
    assert len(picture.spots) == 8
    assert picture.by == "sense"
    assert word_map_of(shown(tiny_service, live(tiny_service)), "sense").by == "group"


@pytest.mark.slow
def test_a_sample_is_taken_of_very_many_and_said(
    tiny_service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tuple(f"python {i} python" for i in range(1_020))
    own = shown(tiny_service, live(tiny_service, texts), layer=0, groups="2")
    assert own.uses.n == 2_000
    assert own.uses.occurrences.n_total == 2_040
    assert own.notes[0].startswith("2,000 of the word's 2,040 uses are shown and measured")
