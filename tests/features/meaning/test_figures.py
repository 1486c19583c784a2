"""The pictures of Meaning in context: exact cosines on one scale, with legible labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.colors
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plotly import graph_objects as go

from contextlens.analysis.baseline import Band
from contextlens.analysis.similarity import Comparison, Item, compare
from contextlens.content.wording import number, two
from contextlens.features.meaning.figures import cosine_heatmap
from contextlens.figures.frames import spread
from contextlens.figures.similarity import cosine_lines, cosine_range
from contextlens.figures.theme import CATEGORICAL, INK, NEUTRAL, SEQUENTIAL

HEIGHT = 430


def comparison_of(
    sentences: Sequence[str],
    references: Sequence[str] = (),
    *,
    n_layers: int = 7,
    centred: bool = False,
) -> Comparison:
    own = [Item("ABCDEFGH"[i], word, "sentence", i) for i, word in enumerate(sentences)]
    others = [Item("", w, "reference", len(own) + i) for i, w in enumerate(references)]
    random = np.random.default_rng(0)
    n = len(own) + len(others)
    vectors = random.normal(size=(n, n_layers, 24)).astype(np.float32) + 0.3
    static = random.normal(size=(n, 16)).astype(np.float32)
    zero = np.zeros((n_layers, 24), np.float32), np.zeros(16, np.float32)
    return compare(
        [*own, *others], vectors, static, layers=range(n_layers), centre=zero if centred else None
    )


def band_of(n_layers: int) -> Band:
    steps = np.linspace(0, 0.2, n_layers, dtype=np.float32)
    return Band(steps - 0.123456, steps, steps + 0.234567)


def lines(
    comparison: Comparison, *, layer: int = 3, band: Band | None = None, title: str = ""
) -> go.Figure:
    lows = [] if band is None else [band.low]
    return cosine_lines(
        comparison,
        comparison.pairs(),
        layer=layer,
        band=band,
        scale=cosine_range(comparison.cosines, comparison.static, *lows),
        title=title,
        height=HEIGHT,
    )


def heatmap(comparison: Comparison, *, layer: int = 3, title: str = "") -> go.Figure:
    scale = cosine_range(comparison.cosines, comparison.static)
    return cosine_heatmap(comparison, comparison.cosines[layer], scale=scale, title=title)


def pair_traces(figure: go.Figure) -> list[dict[str, Any]]:
    return [trace for trace in figure.to_plotly_json()["data"] if trace.get("name")]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


@pytest.fixture
def pythons() -> Comparison:
    return comparison_of(["python", "python"], ["snake", "programming"])


# The numbers


@pytest.mark.parametrize(
    ("sentences", "references"), [("ab", "cd"), ("abcd", "efg")], ids=["few", "many, some faint"]
)
def test_each_line_has_the_exact_cosines_of_its_pair(sentences: str, references: str) -> None:
    comparison = comparison_of(sentences, references)
    drawn = pair_traces(lines(comparison))
    pairs = {comparison.pair_name(pair): pair for pair in comparison.pairs()}
    assert {trace["name"] for trace in drawn} == pairs.keys()
    assert len(drawn) == len(pairs)
    for trace in drawn:
        assert trace["x"] == list(comparison.layers)
        expected = comparison.along(pairs[trace["name"]])
        np.testing.assert_allclose(trace["y"], expected, rtol=0, atol=5.1e-6)
        assert "%{x}" in trace["hovertemplate"]
        assert "%{y:.4f}" in trace["hovertemplate"]
        assert trace["text"] == trace["name"]


def test_a_cell_has_its_exact_cosine_and_on_hover_both_words(pythons: Comparison) -> None:
    (trace,) = heatmap(pythons, layer=5).to_plotly_json()["data"]
    np.testing.assert_allclose(trace["z"], pythons.cosines[5], rtol=0, atol=5.1e-6)
    assert trace["x"] == trace["y"] == [0, 1, 2, 3]
    names = [item.name for item in pythons.items]
    for row, name in enumerate(names):
        for column, other in enumerate(names):
            value = number(pythons.cosines[5, row, column], ".4f")
            assert trace["text"][row][column] == f"{name} ~ {other}<br>cosine {value}"


def test_the_band_has_its_values_behind_the_lines(pythons: Comparison) -> None:
    band = band_of(7)
    area, mean, *rest = lines(pythons, band=band).to_plotly_json()["data"]
    assert len(rest) == len(pythons.pairs())
    assert area["fill"] == "toself"
    np.testing.assert_array_equal(area["x"], [*range(7), *reversed(range(7))])
    np.testing.assert_allclose(area["y"], [*band.high, *band.low[::-1]], rtol=0, atol=5.1e-6)
    np.testing.assert_allclose(mean["y"], band.mean, rtol=0, atol=5.1e-6)
    assert mean["x"] == list(range(7))
    without = lines(pythons).to_plotly_json()
    assert len(without["data"]) == len(pythons.pairs())
    assert not any("random" in text for text in strings(without))


def test_the_chosen_layer_is_marked(pythons: Comparison) -> None:
    (mark,) = lines(pythons, layer=2).to_plotly_json()["layout"]["shapes"]
    assert mark["x0"] == mark["x1"] == 2
    assert (mark["y0"], mark["y1"], mark["yref"]) == (0, 1, "paper")


def test_the_axis_says_what_kind_of_cosine() -> None:
    centred = comparison_of(["python", "python"], ["snake"], centred=True)
    figure = lines(centred, band=band_of(7)).to_plotly_json()
    assert figure["layout"]["yaxis"]["title"]["text"] == "how alike (centred cosine)"
    cells = heatmap(centred).to_plotly_json()["data"][0]
    assert cells["colorbar"]["title"]["text"] == "centred cosine"
    hovers = [t["hovertemplate"] for t in figure["data"] if "hovertemplate" in t]
    hovers += [text for row in cells["text"] for text in row]
    assert all("centred cosine" in hover for hover in hovers)


# The scale


def test_lines_and_both_matrices_share_one_scale_that_holds_everything() -> None:
    comparison = comparison_of(["a", "b", "c"], ["d"])
    band = band_of(7)
    scale = cosine_range(comparison.cosines, comparison.static, band.low)
    axis = lines(comparison, band=band).to_plotly_json()["layout"]["yaxis"]
    assert axis["range"][0] == scale[0]
    assert axis["range"][1] >= scale[1]
    for matrix in (*comparison.cosines, comparison.static):
        figure = cosine_heatmap(comparison, matrix, scale=scale, title="")
        (trace,) = figure.to_plotly_json()["data"]
        assert (trace["zmin"], trace["zmax"]) == scale
        assert scale[0] <= matrix.min()
        assert matrix.max() <= scale[1]
    assert scale[0] <= band.low.min()


@given(st.lists(st.lists(st.floats(-1, 1, width=32), max_size=5), max_size=4))
@settings(deadline=None)
def test_the_scale_holds_all_cosines_and_starts_at_a_round_number(rows: list[list[float]]) -> None:
    low, high = cosine_range(*(np.array(row, np.float32) for row in rows))
    everything = [value for row in rows for value in row]
    assert high == 1
    assert low <= min(everything, default=0)
    assert low <= -0.2
    assert low >= -1.2
    assert float(low) * 5 == pytest.approx(round(float(low) * 5))


def test_eight_sentences_and_references_over_25_layers_stay_small() -> None:
    word = "a phrase of ordinary length & <signs>, said twice"
    most = comparison_of([word] * 8, [f"{word} {i}" for i in range(8)], n_layers=25)
    whole = lines(most, band=band_of(25), title="A and B part most at layer 3")
    assert len(pair_traces(whole)) == 92
    for figure in (whole, heatmap(most)):
        text = figure.to_json()
        assert len(text.encode()) < 150_000
        assert "bdata" not in text


LABEL_PIXELS = 17
RUDE = '<b>%{y}</b> & "x" $z$'


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


def test_one_line_is_strong_and_the_others_are_muted_in_their_sentences_colors() -> None:
    comparison = comparison_of(["python", "python", "python"], ["snake", "programming"])
    drawn = {trace["name"]: trace for trace in pair_traces(lines(comparison))}
    strong, *others = comparison.pairs()
    first = drawn[comparison.pair_name(strong)]
    assert (first["line"]["color"], first["line"]["dash"], first["mode"]) == (
        INK, "solid", "lines+markers",
    )  # fmt: skip
    for pair in others:
        trace = drawn[comparison.pair_name(pair)]
        assert trace["line"]["width"] < first["line"]["width"] / 2
        assert trace["mode"] == "lines"
        expected = NEUTRAL if pair.second < 3 else CATEGORICAL[pair.first]
        assert trace["line"]["color"] == expected
    dashes = {pair.second: drawn[comparison.pair_name(pair)]["line"]["dash"] for pair in others}
    assert dashes[3] != dashes[4]
    labels = lines(comparison).to_plotly_json()["layout"]["annotations"]
    assert [label["text"][-5:] for label in labels if label["font"].get("weight")] == ["A ~ B"]


scales = st.tuples(st.sampled_from([-1.0, -0.4, -0.2]), st.just(1.0))


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.3), scales)
@settings(deadline=None)
def test_labels_keep_their_gaps_their_order_and_stay_on_the_scale(
    shares: list[float], gap: float, scale: tuple[float, float]
) -> None:
    spots = [scale[0] + share * (scale[1] - scale[0]) for share in shares]
    placed = spread(spots, gap, scale)
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
    assert spread(spots, 0.099, (-0.2, 1.0)) == spots


def test_few_lines_are_all_named_and_of_many_the_strong_one_and_the_extremes() -> None:
    few = comparison_of(["a", "b", "c"], ["d", "e"])
    labels = lines(few).to_plotly_json()["layout"]["annotations"]
    assert len(labels) == len(few.pairs()) == 9
    many = comparison_of(["a", "b", "c", "d"], ["e", "f"])
    figure = lines(many).to_plotly_json()
    named = [re.sub(r"<.*?>[^<]*</span> ", "", a["text"]) for a in figure["layout"]["annotations"]]
    first, *others = many.pairs()
    ends = sorted(others, key=lambda pair: float(many.along(pair)[-1]))
    shown = (first, *ends[:3], *ends[-3:])
    assert len(named) == 7
    assert set(named) == {
        f"{many.items[p.first].label} ~ {many.items[p.second].label or many.items[p.second].word}"
        for p in shown
    }
    clear = [t["name"] for t in figure["data"] if t.get("name") and t.get("opacity", 1) == 1]
    assert sorted(clear) == sorted(many.pair_name(p) for p in shown)


def test_cells_show_two_decimals_while_there_is_room(pythons: Comparison) -> None:
    layout = heatmap(pythons, layer=2).to_plotly_json()["layout"]
    shown = {(a["x"], a["y"]): a["text"] for a in layout["annotations"]}
    for row in range(4):
        for column in range(4):
            value = pythons.cosines[2, row, column]
            assert shown[column, row] == two(value)
    crowded = heatmap(comparison_of(["a"] * 8, ["b"])).to_plotly_json()["layout"]
    assert not crowded.get("annotations")


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
