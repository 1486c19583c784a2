"""The score that a view asks for, or the reason that it has none."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import RequestError
from contextlens.features.why.score import NoScore, score_of, weights_of
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
    for first, second in ("HH", "BC", "CA"):  # a sentence was removed
        gone = score_on(service, CAT, DOG, first=first, second=second)
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
    others = [score_on(service, DOG, CAT), score_on(service, PAIR, CAT, DOG, first="B", second="C")]
    others += [score_on(service, CAT, DOG, **how) for how in ({"layer": 1}, {"what": "cls"})]
    assert len({score.key, *(other.key for other in others)}) == 5
    assert score.passport.settings["compared"] == "mean"


def test_weights_say_what_is_compared(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["Its unbelievability is overrated"], pad_to=20)[0]
    n = int(tokens.attention_mask.sum())
    assert weights_of(tokens, "mean") == pytest.approx([1 / n] * n + [0] * (20 - n))
    assert weights_of(tokens, "cls").tolist() == [1.0, *[0.0] * 19]
    positions = np.flatnonzero((tokens.word_ids == 1) & (tokens.text_ids == 0))
    expected = np.zeros(20)
    expected[positions] = 1 / len(positions)
    assert len(positions) > 1
    assert weights_of(tokens, "word", (4, 19)) == pytest.approx(expected)
    with pytest.raises(RequestError, match="Choose one"):
        weights_of(tokens, "word")
