"""What is written in the figures is safe, stands where it belongs and can be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.colors
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.analysis.similarity import Comparison
from components.features.meaning.figures import cosine_heatmap
from components.figures.similarity import _spread
from components.figures.theme import CATEGORICAL, NEUTRAL, SEQUENTIAL
from tests.features.meaning.figures.cosine_figures import (
    HEIGHT,
    comparison_of,
    heatmap,
    lines,
    pair_traces,
    strings,
)

LABEL_PIXELS = 17
RUDE = '<b>%{y}</b> & "x" $z$'


# Text


@pytest.mark.parametrize("build", [lines, heatmap])
def test_what_was_typed_cannot_become_markup(build: Any) -> None:
    rude = comparison_of([RUDE, RUDE], [RUDE, "<a href='x'>y</a>"])
    figure = build(rude, title=RUDE).to_plotly_json()
    ours = re.compile(
        r'<br>|<extra></extra>|<span style="color:#[0-9A-Fa-f]{6}"><b>[-–—· ]+</b></span>'
    )
    found = list(strings(figure))
    assert not any("<" in ours.sub("", text) for text in found)
    assert any("&lt;b&gt;" in text for text in found)
    assert figure["layout"]["title"]["text"] == '&lt;b&gt;%{y}&lt;/b&gt; &amp; "x" $z$'
    for trace in figure["data"]:
        assert "&lt;" not in trace["hovertemplate"]  # where %{y} would be filled in


def test_ticks_of_the_heatmap_are_words(pythons: Comparison) -> None:
    layout = heatmap(pythons).to_plotly_json()["layout"]
    for axis in ("xaxis", "yaxis"):
        assert layout[axis]["ticktext"] == ["A python", "B python", "snake", "programming"]
        assert layout[axis]["tickvals"] == [0, 1, 2, 3]
    assert layout["yaxis"]["autorange"] == "reversed"


@pytest.mark.parametrize("n_layers", [1, 2, 7, 13, 25])
def test_layer_ticks_are_layers_and_not_too_many(n_layers: int) -> None:
    comparison = comparison_of(["python", "python"], n_layers=n_layers)
    axis = lines(comparison, layer=0).to_plotly_json()["layout"]["xaxis"]
    assert 1 <= len(axis["tickvals"]) <= 13
    assert axis["tickvals"][0] == 0
    assert set(axis["tickvals"]) <= set(range(n_layers))
    assert axis["range"][0] < 0
    assert axis["range"][1] > n_layers - 1


def test_a_sentences_lines_have_its_color_and_a_references_its_dash() -> None:
    comparison = comparison_of(["python", "python"], ["snake", "programming"])
    drawn = {trace["name"]: trace["line"] for trace in pair_traces(lines(comparison))}
    styles = {pair: drawn[comparison.pair_name(pair)] for pair in comparison.pairs()}
    for pair, line in styles.items():
        if pair.second < 2:
            assert (line["color"], line["dash"]) == (NEUTRAL, "solid")
        else:
            assert line["color"] == CATEGORICAL[pair.first]
    dashes = {pair.second: line["dash"] for pair, line in styles.items() if pair.second >= 2}
    assert len(set(dashes.values())) == 2


# Labels


scales = st.tuples(st.sampled_from([-1.0, -0.4, -0.2]), st.just(1.0))


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.3), scales)
@settings(deadline=None)
def test_labels_keep_their_gaps_their_order_and_stay_on_the_scale(
    shares: list[float], gap: float, scale: tuple[float, float]
) -> None:
    spots = [scale[0] + share * (scale[1] - scale[0]) for share in shares]
    placed = _spread(spots, gap, scale)
    assert len(placed) == len(spots)
    order = sorted(range(len(spots)), key=lambda i: spots[i])
    for lower, upper in pairwise(order):
        assert placed[upper] - placed[lower] >= gap - 1e-9
    if placed:
        assert max(placed) <= scale[1] + 1e-9
        if (len(spots) - 1) * gap <= scale[1] - scale[0]:
            assert min(placed) >= scale[0] - 1e-9


@given(st.lists(st.integers(0, 9), max_size=8, unique=True))
@settings(deadline=None)
def test_labels_with_room_stay_at_their_lines(places: list[int]) -> None:
    spots = [place / 10 for place in places]
    assert _spread(spots, 0.099, (-0.2, 1.0)) == spots


@pytest.mark.parametrize("n", [2, 3, 8])
def test_labels_of_equal_lines_do_not_overlap(n: int) -> None:
    same = comparison_of(["python"] * n)
    same.cosines[:] = 1.0
    layout = lines(same).to_plotly_json()["layout"]
    low, high = layout["yaxis"]["range"]
    plot = HEIGHT - layout["margin"]["t"] - layout["margin"]["b"]
    spots = sorted(label["y"] for label in layout["annotations"])
    per_unit = plot / (high - low)
    assert all((b - a) * per_unit >= LABEL_PIXELS - 1 for a, b in pairwise(spots))
    assert spots[-1] <= 1
    assert spots[0] >= low


def test_few_lines_are_all_named_and_of_many_the_extremes() -> None:
    few = comparison_of(["a", "b", "c"], ["d", "e"])
    labels = lines(few).to_plotly_json()["layout"]["annotations"]
    assert len(labels) == len(few.pairs()) == 9
    many = comparison_of(["a", "b", "c", "d"], ["e", "f"])
    figure = lines(many).to_plotly_json()
    named = [re.sub(r"<.*?>[^<]*</span> ", "", a["text"]) for a in figure["layout"]["annotations"]]
    ends = sorted(many.pairs(), key=lambda pair: float(many.along(pair)[-1]))
    assert len(named) == 6
    assert set(named) == {
        f"{many.items[p.first].label} ~ {many.items[p.second].label or many.items[p.second].word}"
        for p in (*ends[:3], *ends[-3:])
    }
    clear = [t["name"] for t in figure["data"] if t.get("name") and t.get("opacity", 1) == 1]
    assert sorted(clear) == sorted(many.pair_name(p) for p in (*ends[:3], *ends[-3:]))


def test_labels_stand_at_the_ends_of_their_lines_where_there_is_room() -> None:
    pair = comparison_of(["python", "python"], ["snake"])
    ends = [0.9, 0.5, 0.1]
    for p, end in zip(pair.pairs(), ends, strict=True):
        pair.cosines[-1, p.first, p.second] = end
    labels = lines(pair).to_plotly_json()["layout"]["annotations"]
    np.testing.assert_allclose([label["y"] for label in labels], ends, atol=1e-6)
    assert {label["xanchor"] for label in labels} == {"left"}


def test_the_margin_grows_with_the_names_up_to_a_bound() -> None:
    short = lines(comparison_of(["a", "b"], ["c"])).layout.margin.r
    long = lines(comparison_of(["a", "b"], ["programming languages"])).layout.margin.r
    longest = lines(comparison_of(["a", "b"], ["x" * 500])).layout.margin.r
    assert short < long <= longest <= 200


def test_cells_show_two_decimals_while_there_is_room(pythons: Comparison) -> None:
    layout = heatmap(pythons, layer=2).to_plotly_json()["layout"]
    shown = {(a["x"], a["y"]): a["text"] for a in layout["annotations"]}
    for row in range(4):
        for column in range(4):
            value = pythons.cosines[2, row, column]
            assert shown[column, row] == f"{value:.2f}".replace("-0.00", "0.00")
    crowded = heatmap(comparison_of(["a"] * 8, ["b"])).to_plotly_json()["layout"]
    assert not crowded.get("annotations")


def test_a_cell_shows_no_minus_zero(pythons: Comparison) -> None:
    matrix = np.full((4, 4), -0.001, np.float32)
    figure = cosine_heatmap(pythons, matrix, scale=(-0.2, 1.0), title="").to_plotly_json()
    assert {a["text"] for a in figure["layout"]["annotations"]} == {"0.00"}


@pytest.mark.parametrize("scale", [(-0.2, 1.0), (-1.0, 1.0)])
def test_the_number_on_a_cell_has_the_ink_that_reads_better(
    pythons: Comparison, scale: tuple[float, float]
) -> None:
    """Of the inks in use; by WCAG 2's contrast ratio, with a little room around the turn."""
    steps = np.linspace(*scale, 16).reshape(4, 4).astype(np.float32)
    figure = cosine_heatmap(pythons, steps, scale=scale, title="").to_plotly_json()
    inks = {a["font"]["color"] for a in figure["layout"]["annotations"]}
    assert len(inks) == 2
    for label in figure["layout"]["annotations"]:
        share = (steps[label["y"], label["x"]] - scale[0]) / (scale[1] - scale[0])
        (cell,) = plotly.colors.sample_colorscale(SEQUENTIAL, [float(share)], colortype="tuple")
        best = max(contrast(cell, rgb(ink)) for ink in inks)
        assert contrast(cell, rgb(label["font"]["color"])) >= 0.8 * best, label


def rgb(color: str) -> tuple[float, float, float]:
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: Sequence[float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
