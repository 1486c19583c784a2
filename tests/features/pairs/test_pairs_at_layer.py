"""Pairs without labels: the scale and the chart of their cosines."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.features.pairs.pair_set import UNKNOWN
from contextlens.features.pairs.pairs_at_layer import cosine_scale
from tests.features.pairs.examples import at_layer, trace_of


def test_the_chart_has_the_median_of_each_layer() -> None:
    cosines = np.random.default_rng(0).uniform(-1, 1, (4, 200))
    figure = at_layer(cosines, [UNKNOWN] * 200).figure()
    medians = np.median(cosines, axis=1)
    np.testing.assert_allclose(trace_of(figure, "median").y, medians, atol=1e-5)


@pytest.mark.parametrize("cosines", [[[0.5]], [[-0.93, 1.0]], [[1.0, np.nan]], [[np.nan]]])
def test_the_scale_holds_all_cosines(cosines: list[list[float]]) -> None:
    low, high = cosine_scale(np.array(cosines))
    assert low < high == 1
    assert low <= np.nan_to_num(np.array(cosines), nan=1).min()
