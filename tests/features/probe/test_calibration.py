"""The probabilities beside the shares that are right."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.features.probe.calibration import Calibration, calibration_verdict
from contextlens.features.probe.labels import LabelProbe
from tests.features.probe.examples import label_result, label_score


def test_groups_have_every_tested_text_once(moods: LabelProbe) -> None:
    groups, best = Calibration(moods).groups, moods.result.best
    assert sum(n for *_, n in groups) == best.n
    assert sum(share * n for _, share, n in groups) == pytest.approx(best.right)
    assert [chance for chance, *_ in groups] == sorted(chance for chance, *_ in groups)


@pytest.mark.parametrize(
    ("n", "right", "chance", "verdict"),
    [(12, 7, 0.73, "too_few"), (40, 28, 0.7, "too_few"), (40, 28, 0.99, "too_sure"),
     (600, 420, 0.71, "fits"), (600, 420, 0.8, "too_sure"), (600, 420, 0.6, "too_shy")],
)  # fmt: skip
def test_probabilities_fit_only_if_enough_texts_show_it(
    n: int, right: int, chance: float, verdict: str
) -> None:
    score = label_score(np.arange(n) < right, chances=np.full(n, chance, np.float32))
    assert calibration_verdict(label_result([score] * 15)) == verdict
