"""The verdict on the best of several scores, case by case."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.features.probe.labels import LabelScore
from tests.features.probe.examples import label_result, label_score


def score(right: int, n: int = 200) -> LabelScore:
    return label_score(np.zeros(n, np.int64), np.ones(n, np.float32), right)


@pytest.mark.parametrize(
    ("right", "words", "verdict"),
    [(180, 120, "better"), (150, 145, "like_words"), (130, 170, "worse_than_words"),
     (110, 90, "unclear"), (110, 190, "unclear")],
)  # fmt: skip
def test_the_verdict_needs_an_interval_clear_of_guessing_and_of_words(
    right: int, words: int, verdict: str
) -> None:
    scores = [score(90), score(right), score(right)]
    result = label_result(scores, score(words))
    assert result.best is scores[1]
    assert result.verdict == verdict


def test_the_more_choices_the_clearer_the_best_must_be() -> None:
    assert label_result([score(116)], score(90)).verdict == "better"
    assert label_result([score(116)] * 20, score(90)).verdict == "unclear"
