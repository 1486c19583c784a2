"""The attention heatmap: values, names, scale and mark."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

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


@pytest.mark.parametrize(("side", "edge"), [("from", "y"), ("to", "x")])
def test_the_picked_row_or_column_has_a_frame(side: str, edge: str) -> None:
    figure = attention_heatmap(WEIGHTS, at("abc"), at("abcd"), title="", marked=(side, 1))
    shape = figure.layout.shapes[0]
    assert (shape[f"{edge}0"], shape[f"{edge}1"]) == (0.5, 1.5)


def test_one_large_weight_of_a_long_text_does_not_take_the_colours() -> None:
    weights = np.full((100, 100), 0.01, np.float32)
    weights[0, 0] = 0.9
    assert weight_bound(weights) == pytest.approx(0.01)
    assert weight_bound(weights[:20, :20]) == pytest.approx(0.9)


@pytest.mark.parametrize("shape", [(2, 3), (0, 0), (50, 50)])
def test_zeros_and_nothing_have_a_scale_too(shape: tuple[int, int]) -> None:
    assert weight_bound(np.zeros(shape, np.float32)) == 1.0
