"""The ruler's picture: bars at what was measured, one line at the pair's own cosine."""

from __future__ import annotations

import pytest

from components.analysis.ruler import KINDS, Range
from components.figures.ruler import ruler_figure

RANGES = [Range(KINDS[0], -0.09, 0.02, 0.24, 9), Range(KINDS[1], 0.63, 0.81, 0.91, 9)]


@pytest.mark.parametrize("cosine", [-1.0, -0.3, 0.0, 0.78, 1.0])
def test_bars_medians_and_the_own_cosine_are_in_the_picture(cosine: float) -> None:
    drawn = ruler_figure(RANGES, cosine, scale=(-0.2, 1.0)).to_plotly_json()
    bars, medians = drawn["data"]
    ends = [(low, low + size) for low, size in zip(bars["base"], bars["x"], strict=True)]
    assert ends == [pytest.approx((r.low, r.high)) for r in RANGES]
    assert list(medians["x"]) == [r.median for r in RANGES]
    assert list(bars["y"]) == list(KINDS[:2])
    (line,) = drawn["layout"]["shapes"]
    assert line["x0"] == line["x1"] == cosine
    low, high = drawn["layout"]["xaxis"]["range"]
    assert low <= cosine <= high
    assert f"{cosine:.2f}" in drawn["layout"]["annotations"][0]["text"]


def test_without_labelled_pairs_the_line_stands_alone() -> None:
    drawn = ruler_figure([], 0.5, scale=(-0.2, 1.0)).to_plotly_json()
    assert list(drawn["data"][0]["y"]) == []
