"""Lines and cells have the exact cosines, on one scale, and little else goes to the browser."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plotly import graph_objects as go

from components.analysis.similarity import Comparison
from components.features.meaning.figures import cosine_heatmap
from components.figures.similarity import cosine_lines, cosine_range
from components.figures.theme import CATEGORICAL, NEUTRAL, SEQUENTIAL
from tests.features.meaning.figures.cosine_figures import (
    band_of,
    comparison_of,
    heatmap,
    lines,
    pair_traces,
    strings,
)

# The numbers


def test_each_line_has_the_exact_cosines_of_its_pair(pythons: Comparison) -> None:
    check_lines(pythons, lines(pythons))


def test_many_lines_are_exact_too_however_faint() -> None:
    many = comparison_of(["a", "b", "c", "d"], ["e", "f", "g"])
    check_lines(many, lines(many))


def check_lines(comparison: Comparison, figure: go.Figure) -> None:
    traces = {trace["name"]: trace for trace in pair_traces(figure)}
    pairs = {comparison.pair_name(pair): pair for pair in comparison.pairs()}
    assert traces.keys() == pairs.keys()
    assert len(pair_traces(figure)) == len(pairs)
    for name, pair in pairs.items():
        assert traces[name]["x"] == list(comparison.layers)
        np.testing.assert_allclose(
            traces[name]["y"], comparison.along(pair), rtol=0, atol=5.1e-6, err_msg=name
        )


def test_only_the_asked_pairs_are_drawn(pythons: Comparison) -> None:
    some = pythons.pairs("references")
    figure = cosine_lines(pythons, some, layer=0, band=None, scale=(-1.0, 1.0), title="")
    assert [t["name"] for t in pair_traces(figure)] == [pythons.pair_name(p) for p in some]


def test_the_heatmap_has_the_exact_matrix(pythons: Comparison) -> None:
    (trace,) = heatmap(pythons, layer=5).to_plotly_json()["data"]
    np.testing.assert_allclose(trace["z"], pythons.cosines[5], rtol=0, atol=5.1e-6)
    assert trace["x"] == trace["y"] == [0, 1, 2, 3]
    assert trace["colorscale"] is not None
    assert SEQUENTIAL == "Viridis"


def test_hovering_a_cell_tells_both_words_and_four_decimals(pythons: Comparison) -> None:
    (trace,) = heatmap(pythons, layer=5).to_plotly_json()["data"]
    names = [item.name for item in pythons.items]
    for row, (name, texts) in enumerate(zip(names, trace["text"], strict=True)):
        for column, (other, text) in enumerate(zip(names, texts, strict=True)):
            assert text.startswith(f"{name} ~ {other}<br>")
            assert text.endswith(f"{pythons.cosines[5, row, column]:.4f}")


def test_hovering_a_line_tells_pair_layer_and_four_decimals(pythons: Comparison) -> None:
    for trace in pair_traces(lines(pythons)):
        assert "%{x}" in trace["hovertemplate"]
        assert "%{y:.4f}" in trace["hovertemplate"]
        text = trace.get("text", trace["name"])
        assert {text} if isinstance(text, str) else set(text) == {trace["name"]}


def test_the_band_has_its_values_behind_the_lines(pythons: Comparison) -> None:
    band = band_of(7)
    area, mean, *rest = lines(pythons, band=band).to_plotly_json()["data"]
    assert len(rest) == len(pythons.pairs())
    assert area["fill"] == "toself"
    np.testing.assert_array_equal(area["x"], [*range(7), *reversed(range(7))])
    np.testing.assert_allclose(area["y"], [*band.high, *band.low[::-1]], rtol=0, atol=5.1e-6)
    np.testing.assert_allclose(mean["y"], band.mean, rtol=0, atol=5.1e-6)
    assert mean["x"] == list(range(7))


def test_without_a_band_there_are_only_the_lines(pythons: Comparison) -> None:
    figure = lines(pythons).to_plotly_json()
    assert len(figure["data"]) == len(pythons.pairs())
    assert not any("random" in text for text in strings(figure))


@pytest.mark.parametrize("layer", [0, 3, 6])
def test_the_chosen_layer_is_marked(pythons: Comparison, layer: int) -> None:
    (mark,) = lines(pythons, layer=layer).to_plotly_json()["layout"]["shapes"]
    assert mark["x0"] == mark["x1"] == layer
    assert (mark["y0"], mark["y1"], mark["yref"]) == (0, 1, "paper")


def test_the_axis_says_what_kind_of_cosine() -> None:
    centred = comparison_of(["python", "python"], ["snake"], centred=True)
    figure = lines(centred, band=band_of(7)).to_plotly_json()
    assert figure["layout"]["yaxis"]["title"]["text"] == "centred cosine"
    cells = heatmap(centred).to_plotly_json()["data"][0]
    assert cells["colorbar"]["title"]["text"] == "centred cosine"
    hovers = [t["hovertemplate"] for t in figure["data"] if "hovertemplate" in t]
    hovers += [text for row in cells["text"] for text in row]
    assert all("centred cosine" in hover for hover in hovers)


# The scale


@pytest.mark.parametrize("seed", range(3))
def test_lines_and_both_matrices_share_one_scale_that_holds_everything(seed: int) -> None:
    comparison = comparison_of(["a", "b", "c"], ["d"], seed=seed)
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


def test_the_scale_is_the_same_for_ordinary_pages() -> None:
    assert cosine_range(np.array([0.05, 1.0], np.float32)) == (-0.2, 1.0)
    assert cosine_range(np.array([-0.19], np.float32)) == (-0.2, 1.0)
    assert cosine_range(np.array([-0.21], np.float32)) == pytest.approx((-0.4, 1.0))


# What goes to the browser


@pytest.mark.parametrize("word", ["python", "a phrase of ordinary length & <signs>, said twice"])
def test_eight_sentences_and_references_over_25_layers_stay_small(word: str) -> None:
    most = comparison_of([word] * 8, [f"{word} {i}" for i in range(8)], n_layers=25)
    whole = lines(most, band=band_of(25), title="A and B part most at layer 3")
    assert len(pair_traces(whole)) == 92
    for figure in (whole, heatmap(most)):
        text = figure.to_json()
        assert len(text.encode()) < 150_000
        parsed = json.loads(text)
        assert "bdata" not in text
        assert parsed["data"]


def test_figures_do_not_depend_on_streamlits_template(pythons: Comparison) -> None:
    """Importing Streamlit sets plotly's default template: colours must not come from there."""
    for trace in pair_traces(lines(pythons)):
        assert trace["line"]["color"] in {*CATEGORICAL, NEUTRAL}
