"""The texts that the best vectors get wrong."""

from __future__ import annotations

import numpy as np

from contextlens.core import ModelCard
from contextlens.features.probe.labelled_texts import labelled_texts
from contextlens.features.probe.labels import LabelProbe
from contextlens.features.probe.mistakes import Mistakes
from tests.features.probe.examples import label_result, label_score, unsplit


def test_mistakes_are_all_wrong_texts_the_most_confident_first(card: ModelCard) -> None:
    labelled = labelled_texts(unsplit(6), "mood", card)
    tested = labelled.trial.tested
    predicted = labelled.trial.codes[tested].copy()
    predicted[[1, 4]] = 1 - predicted[[1, 4]]
    chances = np.linspace(0.5, 1, len(tested), dtype=np.float32)
    score = label_score(predicted == labelled.trial.codes[tested], predicted, chances)
    rows = Mistakes(LabelProbe(labelled, label_result([score]), card)).rows()
    assert [row["text"] for row in rows] == [labelled.texts[tested[i]] for i in (4, 1)]
    assert all(row["label"] != row["judged"] for row in rows)
