"""The pictures of pairs hold the numbers, and no more than a browser can take."""

from __future__ import annotations

import json

import numpy as np
import pytest

from components.features.pairs.figures import (
    accuracy_lines,
    cosine_bands,
    cosine_histogram,
    cosine_scale,
    roc_figure,
)
from components.features.pairs.measures import SAME, UNKNOWN, Scores, judged, roc


def scores() -> tuple[np.ndarray, np.ndarray, Scores]:
    random = np.random.default_rng(0)
    gold = np.arange(200) % 2
    cosines = random.normal(size=(4, 200)).astype(np.float32) / 5 + 0.1 * gold
    found = judged(cosines, gold, None)
    assert isinstance(found, Scores)
    return cosines, gold, found


def test_accuracy_stands_in_its_interval_above_the_majority_line() -> None:
    _, _, found = scores()
    figure = accuracy_lines([0, 1, 2, 3], found, row=2, title="a finding")
    line = next(trace for trace in figure.data if trace.name == "accuracy")
    np.testing.assert_allclose(line.y, found.accuracy, atol=1e-5)
    assert {shape.y0 for shape in figure.layout.shapes} >= {found.majority}
    assert {shape.x0 for shape in figure.layout.shapes} >= {2}
    low, high = figure.layout.yaxis.range
    assert low < found.low.min()
    assert high > found.high.max()


def test_every_pair_is_in_one_bar() -> None:
    cosines, gold, found = scores()
    figure = cosine_histogram(
        cosines[1], gold, threshold=0.1, scale=cosine_scale(cosines), band=(0.0, 0.2)
    )
    counts = {trace.name: sum(trace.y) for trace in figure.data}
    assert counts == {"same": 100, "different": 100}
    alone = cosine_histogram(
        cosines[1], np.full(200, UNKNOWN), threshold=None, scale=cosine_scale(cosines)
    )
    assert [sum(trace.y) for trace in alone.data] == [200]
    del found


@pytest.mark.parametrize("cosines", [[[0.5]], [[-0.93, 1.0]], [[1.0, np.nan]], [[np.nan]]])
def test_the_scale_holds_all_cosines(cosines: list[list[float]]) -> None:
    low, high = cosine_scale(np.array(cosines))
    assert high == 1
    assert low < 1
    assert low <= np.nan_to_num(np.array(cosines), nan=1).min()


def test_bands_are_percentiles() -> None:
    cosines, _, _ = scores()
    figure = cosine_bands([0, 1, 2, 3], cosines, row=0, title="", scale=(-1, 1))
    line = next(trace for trace in figure.data if trace.name == "median")
    np.testing.assert_allclose(line.y, np.median(cosines, axis=1), atol=1e-5)


def test_a_long_roc_curve_is_thinned_and_keeps_its_ends() -> None:
    random = np.random.default_rng(0)
    gold = random.integers(0, 2, 50_000)
    curve = roc(random.normal(size=50_000) + gold, gold == SAME)
    assert curve is not None
    figure = roc_figure(*curve, at=(0.2, 0.6), title="AUC")
    line = next(trace for trace in figure.data if trace.name == "ROC")
    assert len(line.x) <= 600
    assert (line.x[0], line.y[0], line.x[-1], line.y[-1]) == (0, 0, 1, 1)
    assert len(json.dumps(figure.to_plotly_json(), default=list)) < 100_000
