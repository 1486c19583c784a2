"""The score that a view asks for, or the reason that it has none."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.bundled_texts import baseline_sentences
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.why.score import NoScore, random_pairs, score_of
from contextlens.ui.state.view import Sentence, ViewState
from tests.features.why.scores import PAIR, score_on, sentence, view_on

CAT, DOG = sentence("The cat slept", "cat"), sentence("A dog barked loudly", "dog")


def test_means_first_tokens_or_chosen_words_are_compared(service: EncoderService) -> None:
    encodings = service.encode(BUNDLED_ID, [CAT.text, DOG.text])
    for kind, part in (("mean", slice(None)), ("cls", slice(1)), ("word", slice(2, 3))):
        score = score_on(service, CAT, DOG, what=kind)
        first, second = (e.hidden[:, part].mean(axis=1, dtype=float) for e in encodings)
        expected = cosine_similarity(first, second).diagonal()
        assert score.cosines == pytest.approx(expected, abs=1e-6)
        assert score.vector_kind == kind
        assert (score.layer, score.cosine) == (6, score.cosines[6])
    assert score_on(service, CAT, DOG, layer=2, what="word").cosine == score.cosines[2]


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
    ("view", "problem"),
    [
        (view_on(CAT), "Add a second"),
        (view_on(CAT, Sentence("  ")), "Sentence B is empty"),
        (view_on(CAT, Sentence("No word"), what="word"), "No word of sentence B is chosen"),
        (ViewState(BUNDLED_ID, ()), "Add two"),
        (
            view_on(CAT, Sentence("python " * 600, word=(4193, 4199)), what="word"),
            "behind the part of the text that fits",
        ),
    ],
)
def test_what_is_missing_is_said(service: EncoderService, view: ViewState, problem: str) -> None:
    found = score_of(view, service, service.load(view.model))
    assert isinstance(found, NoScore)
    assert problem in found.problem


def test_what_is_kept_has_no_states_and_a_key_of_its_own(service: EncoderService) -> None:
    score = score_on(service, CAT, DOG)
    assert score.lean.first.encoding.hidden.nbytes == 0
    assert score.lean.first.encoding.tokens == score.first.encoding.tokens
    assert (score.lean.cosine, score.lean.key) == (score.cosine, score.key)
    assert score_on(service, CAT, DOG).key == score.key
    others = [score_on(service, DOG, CAT)]
    others += [score_on(service, CAT, DOG, **how) for how in ({"layer": 1}, {"what": "cls"})]
    assert len({score.key, *(other.key for other in others)}) == 4
    assert score.passport.settings["compared"] == "mean"


@pytest.mark.slow
def test_random_pairs_are_all_pairs_of_sample_sentences(tiny_service: EncoderService) -> None:
    found = random_pairs(tiny_service, tiny_service.load("folder:bert"))
    encodings = tiny_service.encode("folder:bert", list(baseline_sentences()), layers=[3])
    assert found.n_sentences == len(encodings)
    assert found.band("word") is None
    for band, vectors in (
        (found.mean, [encoding.hidden[0].mean(axis=0) for encoding in encodings]),
        (found.cls, [encoding.hidden[0, 0] for encoding in encodings]),
    ):
        cosines = cosine_similarity(vectors)[np.triu_indices(len(vectors), 1)]
        expected = [np.percentile(cosines, 5), cosines.mean(), np.percentile(cosines, 95)]
        assert [band.low[3], band.mean[3], band.high[3]] == pytest.approx(expected, abs=1e-5)
    assert (found.band("mean"), found.band("cls")) == (found.mean, found.cls)
