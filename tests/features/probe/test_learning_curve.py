"""Learning from fewer texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from contextlens.features.probe.labels import LabelProbe
from contextlens.features.probe.learning_curve import LearningCurve, learning_curve
from tests.features.probe.examples import label_result, label_score


def test_ever_more_texts_are_learned_from_and_all_are_tested(moods: LabelProbe) -> None:
    numbers = [n for n, _ in moods.result.curve]
    assert numbers == sorted(numbers)
    assert numbers[-1] < moods.labelled.n_learned
    assert all(score.n == moods.result.best.n for _, score in moods.result.curve)


def test_the_vectors_are_chosen_anew_for_each_number_of_texts(moods: LabelProbe) -> None:
    trial, vectors = moods.labelled.trial, moods.result.vectors
    noise = np.random.default_rng(0).normal(size=vectors.shape).astype(np.float32)
    curves = [
        learning_curve(choices, trial, lambda _: None)
        for choices in ([noise], [vectors], [noise, vectors])
    ]
    for alone, other, both in zip(*curves, strict=True):
        assert both[1].value == max(alone[1].value, other[1].value)


@pytest.mark.parametrize(
    ("half", "best", "p_value", "verdict"),
    [(120, 150, 0.005, "helps"), (120, 150, 0.1, "unclear"), (146, 150, 0.005, "unclear"),
     (180, 150, 0.005, "hurts")],
)  # fmt: skip
def test_more_texts_help_if_more_of_the_same_answers_are_right(
    moods: LabelProbe, half: int, best: int, p_value: float, verdict: str
) -> None:
    scores = [label_score(np.arange(200) < right) for right in (half, best)]
    result = label_result(scores[1:], p_value=p_value, curve=((80, scores[0]),))
    (claim,) = LearningCurve(replace(moods, result=result)).claims()
    assert claim.key == f"probe.curve.{verdict}"
