"""The pictures of pairs hold the numbers, and no more than a browser can take."""

from __future__ import annotations

import json

import numpy as np
import pytest
from plotly import graph_objects as go

from contextlens.analysis.correlation import correlated
from contextlens.features.pairs.figures import (
    accuracy_lines,
    correlation_lines,
    cosine_bands,
    cosine_histogram,
    cosine_scale,
    roc_figure,
    score_scatter,
)
from contextlens.features.pairs.measures import SAME, UNKNOWN, Scores, judged, roc

GOLD = np.arange(200) % 2
COSINES = (np.random.default_rng(0).normal(size=(4, 200)) / 5 + 0.1 * GOLD).astype(np.float32)


def trace_of(figure: go.Figure, name: str) -> go.Scatter:
    return next(trace for trace in figure.data if trace.name == name)


def test_lines_are_accuracies_and_medians_of_each_layer() -> None:
    scores = judged(COSINES, GOLD, None)
    assert isinstance(scores, Scores)
    figure = accuracy_lines([0, 1, 2, 3], scores, row=2, title="a finding")
    np.testing.assert_allclose(trace_of(figure, "accuracy").y, scores.accuracy, atol=1e-5)
    assert {shape.y0 for shape in figure.layout.shapes} >= {scores.majority}
    assert {shape.x0 for shape in figure.layout.shapes} >= {2}
    low, high = figure.layout.yaxis.range
    assert low < scores.low.min() < scores.high.max() < high
    figure = cosine_bands([0, 1, 2, 3], COSINES, row=0, title="", scale=(-1, 1))
    np.testing.assert_allclose(trace_of(figure, "median").y, np.median(COSINES, axis=1), atol=1e-5)


def test_every_pair_is_in_one_bar() -> None:
    scale = cosine_scale(COSINES)
    both = cosine_histogram(COSINES[1], GOLD, threshold=0.1, scale=scale, band=(0.0, 0.2))
    assert {trace.name: sum(trace.y) for trace in both.data} == {"same": 100, "different": 100}
    plain = cosine_histogram(COSINES[1], np.full(200, UNKNOWN), threshold=None, scale=scale)
    assert [sum(trace.y) for trace in plain.data] == [200]


@pytest.mark.parametrize("cosines", [[[0.5]], [[-0.93, 1.0]], [[1.0, np.nan]], [[np.nan]]])
def test_the_scale_holds_all_cosines(cosines: list[list[float]]) -> None:
    low, high = cosine_scale(np.array(cosines))
    assert low < high == 1
    assert low <= np.nan_to_num(np.array(cosines), nan=1).min()


def test_a_long_roc_curve_is_thinned_and_keeps_its_ends() -> None:
    random = np.random.default_rng(0)
    gold = random.integers(0, 2, 50_000)
    curve = roc(random.normal(size=50_000) + gold, gold == SAME)
    assert curve is not None
    figure = roc_figure(*curve, at=(0.2, 0.6), title="AUC")
    line = trace_of(figure, "ROC")
    assert len(line.x) <= 600
    assert (line.x[0], line.y[0], line.x[-1], line.y[-1]) == (0, 0, 1, 1)
    assert len(json.dumps(figure.to_plotly_json(), default=list)) < 100_000


def test_every_scored_pair_is_a_point_with_its_number() -> None:
    groups = np.array([0, 1, -1, 0])
    figure = score_scatter(
        np.array([0.0, 5.0, 1.0, 2.0]),
        COSINES[0, :4],
        groups,
        numbers=np.array([1, 2, 5, 9]),
        texts=["a", "b", "c", "<d>"],
        shown=(5.0, 0.5),
        ends=(0.0, 5.0),
        scale=(-1, 1),
        title="",
        height=340,
    )
    points = [trace for trace in figure.data if trace.customdata is not None]
    numbers = {n[0]: (x, y) for t in points for n, x, y in zip(t.customdata, t.x, t.y, strict=True)}
    assert set(numbers) == {1, 2, 5, 9}
    assert numbers[2] == (5, pytest.approx(float(COSINES[0, 1]), abs=1e-5))
    assert len({trace.marker.color for trace in points}) == len(points) == 3
    assert (trace_of(figure, "this pair").x, trace_of(figure, "this pair").y) == ((5,), (0.5,))
    assert figure.layout.xaxis.range[0] < 0 < 5 < figure.layout.xaxis.range[1]


def test_correlations_are_lines_with_the_words_as_yardstick() -> None:
    grades, constant = np.arange(200.0), COSINES.copy()
    constant[1] = 0.5
    found = correlated(constant, grades, shared=grades**2)
    figure = correlation_lines([0, 1, 2, 3], found, row=2, title="a finding")
    np.testing.assert_allclose(trace_of(figure, "Spearman").y, found.spearman, atol=1e-5)
    np.testing.assert_allclose(trace_of(figure, "Pearson").y, found.pearson, atol=1e-5)
    assert {shape.y0 for shape in figure.layout.shapes} >= {0, found.shared_words}
    low, high = figure.layout.yaxis.range
    assert low < np.nanmin(found.spearman_low)
    assert high > 1
    nothing = correlated(COSINES[:, :2], grades[:2])
    assert len(correlation_lines([0, 1, 2, 3], nothing, row=0, title="").data) == 3
