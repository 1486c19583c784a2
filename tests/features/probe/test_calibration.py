"""The probabilities beside the shares that are right."""

from __future__ import annotations

import pytest

from contextlens.features.probe.calibration import Calibration
from contextlens.features.probe.labels import LabelProbe


def test_groups_have_every_tested_text_once(moods: LabelProbe) -> None:
    groups, best = Calibration(moods).groups, moods.result.best
    assert sum(n for *_, n in groups) == best.n
    assert sum(share * n for _, share, n in groups) == pytest.approx(best.right)
    assert [chance for chance, *_ in groups] == sorted(chance for chance, *_ in groups)
