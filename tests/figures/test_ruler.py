"""The ruler's picture: bars at what was measured, one line at the pair's own cosine."""

from __future__ import annotations

import pytest

from contextlens.analysis.ruler import KINDS, Range
from contextlens.content.wording import two
from contextlens.figures.ruler import Stretch, line_ruler, ruler_figure

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
    assert two(cosine) in drawn["layout"]["annotations"][0]["text"]


def test_without_labelled_pairs_the_line_stands_alone() -> None:
    drawn = ruler_figure([], 0.5, scale=(-0.2, 1.0)).to_plotly_json()
    assert list(drawn["data"][0]["y"]) == []


@pytest.mark.parametrize(("low", "cut"), [(-0.2, 0.85), (0.2, 0.21), (0.0, 1.0), (0.0, 0.5)])
def test_names_of_two_parts_stand_at_the_ends_of_one_line(low: float, cut: float) -> None:
    parts = [Stretch("called different", low, cut), Stretch("called the same", cut, 1.0)]
    layout = line_ruler(parts, 0.58, scale=(low, 1.0), cut=cut).layout
    own, *names = layout.annotations
    assert (own.x, own.text) == (0.58, "<b>this pair 0.58</b>")
    assert [(name.x, name.xanchor) for name in names] == [(low, "left"), (1.0, "right")]
    assert [shape.x0 for shape in layout.shapes] == [low, low, cut, cut]


@pytest.mark.parametrize("cosine", [-1.0, 0.07, 1.0])
def test_a_name_stands_under_its_part_and_the_line_holds_any_cosine(cosine: float) -> None:
    part = Stretch("unrelated sentences", -0.07, 0.41)
    drawn = line_ruler([part], cosine, scale=(-0.4, 1.0))
    name = drawn.layout.annotations[1]
    assert (name.x, name.xanchor) == (pytest.approx(0.17), "center")
    low, high = drawn.layout.xaxis.range
    assert low <= cosine <= high
