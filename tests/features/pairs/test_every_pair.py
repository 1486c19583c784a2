"""The table of every pair."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.features.pairs.every_pair import EveryPair, PairRows
from contextlens.features.pairs.pair_set import DIFFERENT, SAME
from tests.features.pairs.examples import at_layer, separated


def test_every_pair_is_a_row_with_its_cosines_label_and_verdict() -> None:
    pairs = separated()
    rows = PairRows(pairs)
    assert len(rows) == len(list(rows)) == 40
    assert rows[39] == {
        "pair": 40,
        "text 1": "text 39",
        "text 2": "other 39",
        "label": "different",
        "split": "test",
        "verdict": "same",
        "layer 0": pytest.approx(float(pairs.every_layer.values[0, 39])),
        "layer 1": pytest.approx(0.9),
    }
    assert rows[-1] == rows[39]
    assert [row["pair"] for row in rows[:3]] == [1, 2, 3]
    with pytest.raises(IndexError):
        rows[40]
    assert len(EveryPair(pairs).rows()) == 40
    lost = at_layer([[np.nan, 0.1, *[0.9, 0.1] * 5]], [SAME, DIFFERENT] * 6)
    assert [PairRows(lost)[i]["verdict"] for i in (0, 2)] == ["", "same"]
