"""The pictures of Layer by layer: values, frames, names, and what is sent to the browser."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from contextlens.analysis.baseline import Band
from contextlens.content.wording import two
from contextlens.features.layers.figures import (
    layers_heatmap,
    pairs_heatmap,
    random_pairs_lines,
    spaces_heatmap,
    token_lines,
    token_names,
    variance_lines,
)
from contextlens.features.layers.measures import LayerSimilarity, Measure
from contextlens.figures.theme import GROUND, INK

RANDOM = np.random.default_rng(0)
SCALE = (-0.2, 1.0)


def drawn(figure) -> np.ndarray:
    """The matrix that is seen: the one or two traces laid over each other."""
    layers = [np.array(trace.z, dtype=float) for trace in figure.data]
    return layers[0] if len(layers) == 1 else np.where(np.isnan(layers[0]), layers[1], layers[0])


def of_tokens(n: int, n_layers: int = 4):
    values = RANDOM.uniform(-0.2, 1, size=(n_layers, n)).astype(np.float32)
    measure = Measure("start", tuple(range(n_layers)), values, np.ones(n, bool), None)
    return measure, layers_heatmap(
        measure,
        [f"t{i}" for i in range(n)],
        layer=2,
        picked=1,
        name="cosine to layer 0",
        scale=SCALE,
        title="A finding",
    )


@pytest.mark.parametrize("n", [2, 16, 17, 120, 512])
def test_the_picture_has_every_token_at_every_layer(n: int) -> None:
    measure, figure = of_tokens(n)
    np.testing.assert_allclose(drawn(figure), measure.values, atol=1e-4)
    assert (figure.data[0].zmin, figure.data[0].zmax) == SCALE
    assert len(set(figure.data[0].x)) == n
    assert figure.layout.xaxis.type == "category"
    assert figure.layout.xaxis.tickvals is None
    assert len(figure.layout.shapes) == 2


@pytest.mark.parametrize("n", [1, 2, 9, 512])
def test_one_token_s_line_comes_to_each_layer_and_the_others_are_faint(n: int) -> None:
    measure, _ = of_tokens(n)
    band = Band(*np.sort(RANDOM.uniform(0, 0.5, size=(3, 4)), axis=0))
    labels = ["<b>", *(f"t{i}" for i in range(1, n))]
    figure = token_lines(
        measure, labels, picked=0, layers=measure.layers, layer=2, band=band, band_name="random",
        axis="cosine", titles=list("abcd"), color="blue",
    )  # fmt: skip
    assert [frame.name for frame in figure.frames] == list("0123")
    for row, frame in enumerate(figure.frames):
        way, dot = frame.data
        np.testing.assert_allclose(way.y, measure.values[: row + 1, 0], atol=1e-5)
        assert (dot.x, dot.y) == ((row,), (way.y[-1],))
        assert (frame.layout.title.text, frame.layout.shapes[0].x0) == ("abcd"[row], row)
    np.testing.assert_allclose(figure.data[0].y, measure.values[:3, 0], atol=1e-5)
    faint = np.array(figure.data[4].y, dtype=float).reshape(n - 1, 5)
    np.testing.assert_allclose(faint[:, :4], measure.values.T[1:], atol=1e-5)
    names = [note.text for note in figure.layout.annotations]
    assert names[0] == f"<b>&lt;b&gt; {two(float(measure.values[-1, 0]))}</b>"
    assert len(names) == min(n - 1, 8) + 2  # its own, and the band's
    heights = sorted(note.y for note in figure.layout.annotations[:-1])
    assert all(b - a > 0.06 for a, b in pairwise(heights))


def test_few_tokens_have_numbers_in_two_colours() -> None:
    high, low = of_tokens(16)[1].data
    (many,) = of_tokens(17)[1].data
    assert (many.texttemplate, many.showscale is False) == (None, False)
    assert high.texttemplate == low.texttemplate == "%{z:.2f}"
    assert (high.showscale, low.showscale) == (True, False)
    assert (high.textfont.color, low.textfont.color) == (GROUND, INK)
    assert np.nanmin(np.array(high.z, float)) > np.nanmax(np.array(low.z, float))


def test_names_are_safe_and_all_different() -> None:
    labels = ["the", "<b>", "the", "the (2)", "", "", "x" * 90, "x" * 90]
    names = token_names(labels)
    assert len(set(names)) == len(labels)
    assert names[0] == "the (0)"
    assert names[3] == "the (2) at 3"
    assert "&lt;b&gt;" in names
    assert not any("<" in name for name in names)
    assert max(map(len, names)) < 30


@pytest.mark.parametrize("n", [4, 30])
def test_pairs_show_their_matrix_and_title(n: int) -> None:
    pairs = RANDOM.uniform(-0.2, 1, size=(n, n)).astype(np.float32)
    names = [f"t{i}" for i in range(n)]
    figure = pairs_heatmap(pairs, names, scale=SCALE, title="Title <b>")
    np.testing.assert_allclose(drawn(figure), pairs, atol=1e-4)
    assert figure.layout.title.text == "Title &lt;b&gt;"
    assert list(figure.data[0].x) == list(figure.data[0].y) == names


def test_few_bytes_go_to_the_browser() -> None:
    pairs = RANDOM.uniform(size=(512, 512)).astype(np.float32)
    long = pairs_heatmap(pairs, ["t"] * 512, scale=SCALE, title="Title")
    assert len(long.to_json()) < 1_900_000
    assert "bdata" in json.loads(long.to_json())["data"][0]["z"]
    assert len(of_tokens(512, 7)[1].to_json()) < 80_000


def test_cka_shows_its_value_beside_that_of_shuffled_words() -> None:
    cka = RANDOM.uniform(size=(3, 5)).astype(np.float32)
    found = LayerSimilarity(cka, cka / 4, cka / 2, 9)
    figure = spaces_heatmap(found, names=("<X>", "Y"), title="A finding")
    np.testing.assert_allclose(drawn(figure), cka, atol=1e-4)
    beside = np.array(figure.data[0].customdata, float)
    np.testing.assert_allclose(beside[..., 0], cka / 4, atol=1e-4)
    np.testing.assert_allclose(beside[..., 1], cka / 2, atol=1e-4)
    assert figure.data[0].zmin == 0
    assert figure.data[0].zmax == 1
    assert "<X>" not in figure.to_json()


def test_what_is_not_a_number_is_a_gap() -> None:
    cka = np.array([[1, np.nan], [np.nan, 1]], np.float32)
    figure = spaces_heatmap(LayerSimilarity(cka, cka, cka, 2), names=("X", "Y"), title="")
    assert "NaN" not in figure.to_json()


def test_the_spread_s_lines_are_the_numbers() -> None:
    mean = np.array([0.1, 0.4, 0.2], np.float32)
    left = random_pairs_lines((0, 1, 2), Band(mean - 0.1, mean, mean + 0.1), layer=1, title="T")
    np.testing.assert_allclose(left.data[1].y, mean, atol=1e-5)
    assert not random_pairs_lines((0, 1, 2), None, layer=1, title="T").data
    shares = np.array([[0.1, 0.11, 0.5], [0.2, 0.3, 0.6], [0.1, 0.11, 0.12]], np.float32)
    right = variance_lines((0, 1, 2), shares, (1, 2, 3), layer=1, title="T")
    for i, line in enumerate(right.data):
        np.testing.assert_allclose(line.y, shares[:, i], atol=1e-5)
    spots = [note.y for note in right.layout.annotations]
    assert min(np.diff(spots)) >= 0.08 - 1e-9
