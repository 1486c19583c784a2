"""Heat strips of vectors: values, scale and names."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.figures.frames import signed_bound, vector_strips

ROWS = np.random.default_rng(0).normal(size=(3, 50)).astype(np.float32)


def test_strips_hold_the_values_on_a_scale_centred_on_zero() -> None:
    figure = vector_strips(ROWS, ["a", "b", "c"], title="A finding", first=10)
    trace = figure.data[0]
    np.testing.assert_allclose(np.array(trace.z), ROWS, atol=1e-5)
    assert trace.zmin == -trace.zmax == -signed_bound(ROWS)
    assert list(trace.x) == list(range(10, 60))
    assert figure.layout.title.text == "A finding"


def test_one_outlier_does_not_take_the_colours() -> None:
    rows = ROWS.copy()
    rows[0, 0] = 1000.0
    assert signed_bound(rows) < 10
    assert np.array(vector_strips(rows, ["a", "b", "c"], title="").data[0].z)[0, 0] == 1000.0


@pytest.mark.parametrize("rows", [np.zeros((2, 4), np.float32), np.zeros((0, 4), np.float32)])
def test_zeros_and_nothing_have_a_scale_too(rows: np.ndarray) -> None:
    assert signed_bound(rows) == 1.0
    assert vector_strips(rows, ["x"] * len(rows), title="").data[0].zmax == 1.0


def test_names_are_text_and_the_chosen_row_is_marked() -> None:
    figure = vector_strips(ROWS, ["<b>x</b>", "y", "z"], title="", chosen=1)
    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;x&lt;/b&gt;", "▸ y", "z"]
