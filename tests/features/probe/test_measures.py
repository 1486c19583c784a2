"""The verdict on the best of several scores, case by case."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.features.probe.measures import Score, best_of, verdict_of


def score(right: int, n: int = 200) -> Score:
    return Score("mean", 0, np.zeros(n, np.int64), np.ones(n, np.float32), right, 0.5)


@pytest.mark.parametrize(
    ("right", "words", "verdict"),
    [(180, 120, "better"), (150, 145, "like_words"), (130, 170, "worse_than_words"),
     (110, 90, "unclear"), (110, 190, "unclear")],
)  # fmt: skip
def test_the_verdict_needs_an_interval_clear_of_guessing_and_of_words(
    right: int, words: int, verdict: str
) -> None:
    scores = [score(90), score(right), score(right)]
    assert best_of(scores) is scores[1]
    assert verdict_of(scores, score(words), 0.5) == verdict


def test_the_more_choices_the_clearer_the_best_must_be() -> None:
    assert verdict_of([score(116)], score(90), 0.5) == "better"
    assert verdict_of([score(116)] * 20, score(90), 0.5) == "unclear"
