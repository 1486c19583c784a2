"""The pictures of the embedding layer: values, scales and names that are text."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from components.features.embedding_layer.figures import (
    PART_COLORS,
    Panel,
    moved_bars,
    neighbour_bars,
    position_curve,
    position_heatmap,
    sum_strips,
    token_strips,
    word_row_heatmap,
)
from components.features.embedding_layer.measures import Contribution, RandomBand, SharedToken

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(3, 40)).astype(np.float32)
NAMES = ["[CLS]", "<b>x</b>", "y"]
PANELS = [
    Panel("", "word", ROWS, 10, 2.0),
    Panel("+", "position", ROWS / 2, 10, 2.0),
    Panel("→", "layer 0", RANDOM.normal(size=(3, 80)).astype(np.float32), 20, 5.0),
]
PARTS = {
    name: Contribution(np.array(share), *RANDOM.uniform(size=(3, 3)))
    for name, share in {"word": [0.7, 1.2, 0.9], "position": [0.3, -0.2, 0.1]}.items()
}


def test_strips_share_their_rows_and_keep_their_own_dimensions_and_scales() -> None:
    figure = sum_strips(PANELS, PARTS, NAMES, title="A finding", chosen=1)
    strips = figure.data[:3]
    for trace, panel in zip(strips, PANELS, strict=True):
        np.testing.assert_allclose(trace.z, panel.rows, atol=1e-5)
        assert trace.z.dtype == np.float32
        assert (trace.zmin, trace.zmax) == (-panel.bound, panel.bound)
        assert (trace.x0, trace.dx, trace.yaxis) == (panel.first, 1, "y")
    assert list(figure.layout.yaxis.ticktext) == ["[CLS]", "▸ &lt;b&gt;x&lt;/b&gt;", "y"]
    assert figure.layout.title.text == "A finding"
    ends = [figure.layout[f"xaxis{i}"].domain for i in range(1, 5)]
    assert all(a[1] < b[0] for a, b in pairwise(ends))
    assert ends[-1][1] == 1


def test_shares_stand_beside_their_tokens_and_may_be_negative() -> None:
    figure = sum_strips(PANELS, PARTS, NAMES, title="")
    for trace, (name, part) in zip(figure.data[3:], PARTS.items(), strict=True):
        np.testing.assert_allclose(trace.x, part.share)
        told = np.stack([part.norm, part.moved, part.turned], axis=1)
        np.testing.assert_allclose(trace.customdata, told, atol=1e-5)
        assert trace.marker.color == PART_COLORS[name]
    low, high = figure.layout.xaxis4.range
    assert low <= -0.2 < 1.2 <= high
    texts = [note.text for note in figure.layout.annotations]
    assert any("±2" in text and "layer 0 ±5" in text for text in texts)


def test_one_token_has_numbers_on_its_cells_only_where_they_fit() -> None:
    wide = [Panel("", "word", ROWS[:1], 0, 1.0)]
    narrow = [Panel("", "word", ROWS[:1, :8], 0, 1.0)]
    assert token_strips(wide, title="").data[0].texttemplate is None
    assert token_strips(narrow, title="").data[0].texttemplate == "%{z:.3f}"
    np.testing.assert_allclose(token_strips(narrow, title="").data[0].z, ROWS[:1, :8], atol=1e-5)


def test_equal_rows_are_marked_in_the_matrix() -> None:
    cosines = np.array([[1, 0.2], [0.1, -0.3]])
    figure = word_row_heatmap(
        cosines,
        (["<i>", "b"], ["<i>", "c"]),
        [SharedToken(0, 0, 5, 0, 0)],
        labels=("A", "B"),
        title="",
    )
    (trace,) = figure.data
    np.testing.assert_allclose(trace.z, cosines, atol=1e-5)
    assert [list(row) for row in trace.text] == [["=", ""], ["", ""]]
    assert (trace.zmin, trace.zmax) == (-1, 1)
    assert figure.layout.yaxis.ticktext[0] == "&lt;i&gt;"


def test_neighbours_have_the_band_behind_them() -> None:
    band = RandomBand(-0.1, 0.0, 0.2)
    figure = neighbour_bars(["<b>  5", "c  6"], np.array([0.4, 0.3]), band, title="")
    assert list(figure.data[0].x) == [0.4, 0.3]
    assert figure.layout.yaxis.ticktext[0].startswith("&lt;b&gt;")
    (shape,) = figure.layout.shapes
    assert (shape.x0, shape.x1, shape.layer) == (-0.1, 0.2, "below")


def test_positions_keep_their_numbers_when_only_some_are_drawn() -> None:
    cosines, curve = np.eye(4), RANDOM.normal(size=(12, 2))
    (trace,) = position_heatmap(cosines, range(8, 24, 4), title="").data
    assert (trace.x0, trace.dx, trace.y0, trace.dy) == (8, 4, 8, 4)
    assert position_heatmap(cosines[:1, :1], range(1), title="").data[0].dx == 1
    figure = position_curve(curve, (0.5, 0.25), title="")
    np.testing.assert_allclose(figure.data[0].x, curve[:, 0], atol=1e-5)
    assert [note.text for note in figure.layout.annotations] == ["0", "1", "10", "11"]


def test_bars_have_a_scale_where_nothing_moved_too() -> None:
    moved = moved_bars(["a", "<b>"], np.array([0.2, 0.4]), second=True, title="")
    assert moved.layout.yaxis.range[1] == pytest.approx(0.46)
    assert moved.layout.xaxis.ticktext[1] == "&lt;b&gt;"
    still = moved_bars([], np.zeros(0), second=False, title="")
    assert list(still.layout.yaxis.range) == [0, 0.1]
