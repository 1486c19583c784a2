"""The confusion of labels, against scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import confusion_matrix

from contextlens.features.probe.labels import LabelProbe
from contextlens.features.probe.mixups import Mixups


def test_mix_ups_count_every_tested_text(moods: LabelProbe) -> None:
    trial, predicted = moods.labelled.trial, moods.result.best.predicted
    expected = confusion_matrix(trial.codes[trial.tested], predicted)
    np.testing.assert_array_equal(Mixups(moods).confusion, expected)
