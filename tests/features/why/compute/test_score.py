"""Which score a view asks for, and what it says where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from components.content.bundled_texts import baseline_sentences
from components.core import BUNDLED_ID, EncoderService
from components.features.why.score import NoScore, random_pairs, score_of
from components.ui.state.view import Sentence, ViewState
from tests.features.why.scores import PAIR, score_on, sentence, view_on

CAT, DOG = sentence("The cat slept", "cat"), sentence("A dog barked loudly", "dog")


def missing(service: EncoderService, view: ViewState) -> str:
    found = score_of(view, service, service.load(view.model))
    assert isinstance(found, NoScore)
    return found.problem


def test_sentence_vectors_are_compared_at_every_layer(service: EncoderService) -> None:
    score = score_on(service, CAT, DOG)
    both = service.encode(BUNDLED_ID, [CAT.text, DOG.text])
    means = [own.hidden.mean(axis=1, dtype=float) for own in both]
    for layer in range(7):
        expected = cosine_similarity(means[0][[layer]], means[1][[layer]])[0, 0]
        assert score.cosines[layer] == pytest.approx(expected, abs=1e-6)
    assert (score.layer, score.cosine) == (6, score.cosines[6])
    assert score_on(service, CAT, DOG, layer=2).cosine == score.cosines[2]


def test_cls_or_chosen_words_are_compared_where_asked(service: EncoderService) -> None:
    both = service.encode(BUNDLED_ID, [CAT.text, DOG.text])
    for what, place in (("cls", 0), ("word", 2)):
        first, second = (own.hidden[6, [place]] for own in both)
        score = score_on(service, CAT, DOG, what=what)
        assert score.cosine == pytest.approx(cosine_similarity(first, second)[0, 0], abs=1e-6)
        assert score.vector_kind == what


def test_any_two_of_the_sentences_can_be_chosen(service: EncoderService) -> None:
    score = score_on(service, CAT, DOG, PAIR, first="C", second="A")
    assert [side.letter for side in score.sides] == ["C", "A"]
    assert score.first.encoding.pair == PAIR.pair
    again = score_on(service, CAT, DOG, first="A", second="A")
    assert again.are_equal
    assert again.cosine == pytest.approx(1)
    gone = score_on(service, CAT, DOG, first="H", second="H")
    assert [side.letter for side in gone.sides] == ["A", "B"]


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (view_on(CAT), "Add a second"),
        (view_on(CAT, Sentence("  ")), "Sentence B is empty"),
        (view_on(Sentence(""), DOG), "Sentence A is empty"),
        (view_on(CAT, Sentence("No word"), what="word"), "No word of sentence B is chosen"),
        (ViewState(BUNDLED_ID, ()), "Add two"),
        (
            view_on(CAT, Sentence("python " * 600, word=(4193, 4199)), what="word"),
            "behind the part of the text that fits",
        ),
    ],
)
def test_what_is_missing_is_said(service: EncoderService, view: ViewState, said: str) -> None:
    assert said in missing(service, view)


def test_what_is_kept_has_no_states(service: EncoderService) -> None:
    score = score_on(service, CAT, DOG)
    assert score.lean.first.encoding.hidden.nbytes == 0
    assert score.lean.first.encoding.tokens == score.first.encoding.tokens
    assert (score.lean.cosine, score.lean.key) == (score.cosine, score.key)
    assert score_on(service, CAT, DOG).key == score.key
    others = [
        score_on(service, DOG, CAT),
        score_on(service, CAT, DOG, layer=1),
        score_on(service, CAT, DOG, what="cls"),
    ]
    assert len({score.key, *(other.key for other in others)}) == 4
    assert score.passport.settings["compared"] == "mean"


@pytest.mark.slow
def test_random_pairs_are_all_pairs_of_sample_sentences(tiny_service: EncoderService) -> None:
    found = random_pairs(tiny_service, tiny_service.load("folder:bert"))
    both = tiny_service.encode("folder:bert", list(baseline_sentences()), layers=[3])
    for what, own in (
        ("mean", [each.hidden[0].mean(axis=0) for each in both]),
        ("cls", [each.hidden[0, 0] for each in both]),
    ):
        cosines = cosine_similarity(own)[np.triu_indices(len(own), 1)]
        band = found.band(what)
        assert band is not None
        assert band.mean[3] == pytest.approx(cosines.mean(), abs=1e-5)
        assert band.low[3] == pytest.approx(np.percentile(cosines, 5), abs=1e-5)
        assert band.high[3] == pytest.approx(np.percentile(cosines, 95), abs=1e-5)
    assert found.band("word") is None
    assert found.n_sentences == len(both)
