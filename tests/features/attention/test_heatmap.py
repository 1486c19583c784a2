"""The attention heatmap: values, names, scale and mark."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from contextlens.features.attention.all_heads import all_heads_figure
from contextlens.features.attention.heatmap import attention_heatmap, weight_bound

WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(4), size=3).astype(np.float32)


def at(labels: Iterable[str]) -> list[tuple[int, str]]:
    """Items behind a hidden one."""
    return list(enumerate(labels, start=1))


def test_the_heatmap_holds_the_values_from_zero_on() -> None:
    figure = attention_heatmap(WEIGHTS, at("abc"), at("abcd"), title="A finding")
    trace = figure.data[0]
    np.testing.assert_array_equal(trace.z, WEIGHTS)
    assert trace.zmin == 0
    assert trace.zmax == pytest.approx(WEIGHTS.max())
    assert figure.layout.title.text == "A finding"
    assert figure.layout.yaxis.autorange == "reversed"


def test_names_are_text_and_equal_ones_are_kept_apart() -> None:
    figure = attention_heatmap(WEIGHTS[:2], at(["<b>x</b>", "x"]), at("xxxy"), title="")
    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;x&lt;/b&gt;", "x"]
    assert list(figure.data[0].x) == ["1 x", "2 x", "3 x", "4 y"]


def test_a_long_axis_names_some_with_their_places() -> None:
    weights = np.full((100, 100), 0.01, np.float32)
    figure = attention_heatmap(weights, at("t" * 100), at("t" * 100), title="")
    ticks = list(figure.layout.xaxis.tickvals)
    assert len(ticks) <= 12
    assert ticks[1] in figure.data[0].x
    assert figure.layout.xaxis.ticktext is None


def test_the_cell_of_the_two_chosen_words_has_a_frame() -> None:
    figure = attention_heatmap(WEIGHTS, at("abc"), at("abcd"), title="", marked=(1, 2))
    shape = figure.layout.shapes[0]
    assert (shape.x0, shape.x1, shape.y0, shape.y1) == (1.5, 2.5, 0.5, 1.5)


def test_each_head_is_a_square_of_its_own_in_the_picture_of_all() -> None:
    pictures = np.random.default_rng(0).random((2, 3, 4, 4)).astype(np.float32)
    figure = all_heads_figure(pictures, [(2, 1)], title="All heads")
    z = np.asarray(figure.data[0].z)
    assert z.shape == (2 * 5 - 1, 3 * 5 - 1)
    np.testing.assert_allclose(z[5:9, 5:9], np.sqrt(pictures[1, 1] / pictures[1, 1].max()))
    assert np.isnan(z[4]).all()
    assert list(figure.layout.xaxis.ticktext) == ["1", "2", "3"]
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].y0) == (4, 4)


def test_one_large_weight_of_a_long_text_does_not_take_the_colours() -> None:
    weights = np.full((100, 100), 0.01, np.float32)
    weights[0, 0] = 0.9
    assert weight_bound(weights) == pytest.approx(0.01)
    assert weight_bound(weights[:20, :20]) == pytest.approx(0.9)


@pytest.mark.parametrize("shape", [(2, 3), (0, 0), (50, 50)])
def test_zeros_and_nothing_have_a_scale_too(shape: tuple[int, int]) -> None:
    assert weight_bound(np.zeros(shape, np.float32)) == 1.0
