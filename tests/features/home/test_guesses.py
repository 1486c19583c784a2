"""The model's answers to the examples' questions, and the score, against plain cosines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contextlens.analysis.words import word_vectors
from contextlens.content.examples import EXAMPLES, Example
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.words import find_word
from contextlens.features.home.guesses import (
    Answer,
    Judgement,
    Score,
    judged,
    judgement_of,
    reason,
    reply,
    score,
    verdict,
)
from contextlens.ui.state.view import from_example
from contextlens.ui.widgets.comparison.compute import meaning_of

RIGHT = Judgement(Answer.RIGHT, 0, (0.9, 0.8))
FOOLED = Judgement(Answer.FOOLED, 1, (0.5, 0.7))
UNDECIDED = Judgement(Answer.UNDECIDED, None, (0.5, 0.51))
UNREAD = Judgement(Answer.UNREAD)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
def test_the_model_s_answer_is_the_more_similar_word(
    service: EncoderService, example: Example
) -> None:
    texts = [*example.sentences, *example.references]
    vectors = [
        word_vectors(
            service.encode(BUNDLED_ID, [s.text])[0], find_word(s.text, s.word or "") or (0, 0)
        )[-1]
        for s in texts
    ]
    units = [vector / np.linalg.norm(vector) for vector in vectors]
    question = example.question
    cosines = [float(units[question.word] @ units[other]) for other in question.others]
    found = judgement_of(example, service, service.load(BUNDLED_ID))
    assert found.cosines == pytest.approx(cosines, abs=1e-5)
    assert found.option == int(np.argmax(cosines))
    assert found.answer is (Answer.RIGHT if found.option == question.right else Answer.FOOLED)
    assert "{" not in f"{verdict(found)} {reason(example, found)}"


def test_words_that_the_model_cannot_read_are_no_answer(service: EncoderService) -> None:
    example = EXAMPLES[0]
    card = service.load(BUNDLED_ID)
    meaning = meaning_of(from_example(example, BUNDLED_ID), service, card, None)
    assert meaning.comparison is not None
    items = [replace(item, unknown=item.color == 2) for item in meaning.comparison.items]
    unreadable = replace(meaning, comparison=replace(meaning.comparison, items=tuple(items)))
    assert judged(example, unreadable) == UNREAD
    assert judged(example, replace(meaning, comparison=None)) == UNREAD
    assert reason(example, UNREAD) is None


def test_cosines_that_differ_by_less_than_noise_are_no_answer_either(
    service: EncoderService,
) -> None:
    example, card = EXAMPLES[0], service.load(BUNDLED_ID)
    meaning = meaning_of(from_example(example, BUNDLED_ID), service, card, None)
    assert meaning.comparison is not None
    cosines = np.full_like(meaning.comparison.cosines, 0.5)
    cosines[..., 2] += 0.029
    equal = replace(meaning, comparison=replace(meaning.comparison, cosines=cosines))
    assert judged(example, equal).answer is Answer.UNDECIDED


def test_the_score_counts_guesses_of_questions_that_can_be_read() -> None:
    judgements = {"a": RIGHT, "b": FOOLED, "c": UNDECIDED, "d": UNREAD, "e": RIGHT}
    assert score({}, judgements) == Score(0, 0, 0)
    guesses = {"a": 0, "b": 0, "c": 1, "d": 0, "e": None}
    assert score(guesses, judgements) == Score(n=3, visitor=1, model=1)
    assert score({"b": 1}, judgements) == Score(n=1, visitor=1, model=0)


def test_a_guess_is_answered_kindly_and_only_if_there_is_an_answer() -> None:
    assert str(reply(0, RIGHT)) == "You saw it coming."
    assert str(reply(1, RIGHT)) == "A fair guess, but the model differs."
    assert reply(None, RIGHT) is None
    assert reply(0, UNDECIDED) is None
    assert reply(0, UNREAD) is None
