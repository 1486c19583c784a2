"""Predict, then reveal: the model's answer to the question of an example, and the score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from contextlens.content.examples import Example
from contextlens.content.language import Claim, claim
from contextlens.core import EncoderService, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.ui.state.view import from_example
from contextlens.ui.widgets.comparison.compute import Meaning, meaning_of
from contextlens.ui.widgets.comparison.reading import NOISE

Guesses = Mapping[str, int | None]
"""By the key of an example whose answer was seen, the guessed option; None without a guess."""


class Answer(Enum):
    """How the model's answer to a question compares with people's."""

    RIGHT = "right"
    FOOLED = "fooled"
    UNDECIDED = "undecided"
    UNREAD = "unread"


@dataclass(frozen=True)
class Judgement:
    """The model's answer to the question of an example.

    Attributes:
        answer: how it compares.
        option: the option that the model holds more similar; None if neither.
        cosines: those of the word in question with each option's word; none if one is unreadable.
    """

    answer: Answer
    option: int | None = None
    cosines: tuple[float, float] | None = None


def judgement_of(example: Example, service: EncoderService, card: ModelCard) -> Judgement:
    """Return a model's answer to an example's question, at its last layer."""

    def compute() -> Judgement:
        return judged(example, meaning_of(from_example(example, card.id), service, card, None))

    return remembered("judgement", example.key, card.id, card.checksum, compute=compute)


def judged(example: Example, meaning: Meaning) -> Judgement:
    """Return the answer in the comparison of an example's words, at the last layer.

    Args:
        example: the example.
        meaning: the comparison of its words.
    """
    comparison, question = meaning.comparison, example.question
    if comparison is None:
        return Judgement(Answer.UNREAD)
    # An item's colour is its place among the sentences and references, unreadable ones included.
    place = {item.color: i for i, item in enumerate(comparison.items) if not item.unknown}
    if not {question.word, *question.others} <= set(place):
        return Judgement(Answer.UNREAD)
    row = comparison.cosines[-1, place[question.word]]
    first, second = (float(row[place[other]]) for other in question.others)
    if abs(first - second) < NOISE:
        return Judgement(Answer.UNDECIDED, None, (first, second))
    option = int(second > first)
    answer = Answer.RIGHT if option == question.right else Answer.FOOLED
    return Judgement(answer, option, (first, second))


@dataclass(frozen=True)
class Score:
    """How many of `n` guessed questions a visitor foresaw, and how many the model got right."""

    n: int
    visitor: int
    model: int


def score(guesses: Guesses, judgements: Mapping[str, Judgement]) -> Score:
    """Return the score over the guessed questions that the model can read."""
    counted = {
        key: (guess, judgements[key])
        for key, guess in guesses.items()
        if guess is not None and judgements[key].answer is not Answer.UNREAD
    }
    return Score(
        n=len(counted),
        visitor=sum(guess == judgement.option for guess, judgement in counted.values()),
        model=sum(judgement.answer is Answer.RIGHT for _, judgement in counted.values()),
    )


def verdict(judgement: Judgement) -> Claim:
    """Return the model's result in a few words."""
    return claim(f"home.cards.{judgement.answer.value}")


def reason(example: Example, judgement: Judgement) -> Claim | None:
    """Return the two similarities that decide; None if there are none."""
    if judgement.cosines is None:
        return None
    options, cosines = example.question.options, judgement.cosines
    near = judgement.option or 0
    names = {"near": options[near], "far": options[1 - near]}
    values = {"high": cosines[near], "low": cosines[1 - near]}
    case = "about" if judgement.option is None else "nearer"
    return claim(f"home.cards.{case}", **names, **values)


def reply(guess: int | None, judgement: Judgement) -> Claim | None:
    """Return what to say to a visitor's guess; None without one, or without an answer to it."""
    if guess is None or judgement.option is None:
        return None
    return claim(f"home.cards.{'foreseen' if guess == judgement.option else 'surprise'}")
