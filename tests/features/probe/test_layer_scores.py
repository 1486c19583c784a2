"""The verdict on the best of several scores, case by case."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from contextlens.features.probe.labels import LabelScore, gets_more_right
from tests.features.probe.examples import label_result, label_score


def score(right: int, *, first: int = 0, n: int = 200) -> LabelScore:
    """A score that gets some texts in a row right, from the first on."""
    is_right = np.zeros(n, np.bool_)
    is_right[first : first + right] = True
    return label_score(is_right)


@pytest.mark.parametrize(
    ("right", "words", "p_value", "verdict"),
    [(180, 120, 0.005, "better"), (150, 145, 0.005, "like_words"),
     (150, 150, 0.025, "words_as_good"), (150, 160, 0.005, "words_as_good"),
     (130, 170, 0.005, "worse_than_words"), (180, 120, 0.03, "unclear"),
     (100, 90, 0.005, "unclear")],
)  # fmt: skip
def test_the_verdict_needs_labels_beyond_luck_and_answers_beyond_those_of_words(
    right: int, words: int, p_value: float, verdict: str
) -> None:
    scores = [score(90), score(right, first=200 - right), score(right)]
    result = label_result(scores, score(words), p_value=p_value)
    assert result.best is scores[1]
    assert result.verdict == verdict


def test_answers_to_the_same_texts_are_compared_by_mcnemar_s_exact_test() -> None:
    first, second = score(120), score(60, first=90)  # 90 right only by the first, 30 by the second
    p_value = binomtest(90, 120, alternative="greater").pvalue
    assert gets_more_right(first, second, risk=p_value * 1.001)
    assert not gets_more_right(first, second, risk=p_value * 0.999)
    assert not gets_more_right(first, first, risk=1.0)


def test_the_more_choices_the_clearer_the_best_must_be() -> None:
    best, words = score(110), score(102)  # 8 more, none fewer: by luck in 0.4%
    assert label_result([best], words).verdict == "better"
    assert label_result([best] * 20, words).verdict == "like_words"
