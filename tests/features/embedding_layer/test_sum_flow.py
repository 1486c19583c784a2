"""The picture of the sum: values, scales and names that are text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from plotly import graph_objects as go

from contextlens.features.embedding_layer.arithmetic import Contribution
from contextlens.features.embedding_layer.sum_flow import SumStep, sum_flow

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(3, 40)).astype(np.float32)
NAMES = ["[CLS]", "<b>x</b>", "y"]
LAYER_0 = RANDOM.normal(size=(3, 80)).astype(np.float32)
STEPS = [
    SumStep("", "word", ROWS, 2.0),
    SumStep("+", "position", ROWS / 2, 2.0),
    SumStep("=", "sum", ROWS * 1.5, 2.0),
    SumStep("→", "layer 0", LAYER_0, 5.0),
]
PARTS = {
    name: Contribution(np.array(share), *RANDOM.uniform(size=(3, 3)))
    for name, share in {"word": [0.7, 1.2, 0.9], "position": [0.3, -0.2, 0.1]}.items()
}


def flow(focus: int = 1, steps: Sequence[SumStep] = STEPS) -> go.Figure:
    names = NAMES[: len(steps[0].rows)]
    return sum_flow(steps, PARTS, names, focus=focus, first=10)


@pytest.mark.parametrize("focus", range(3))
def test_each_step_is_a_column_with_the_followed_row_strong(focus: int) -> None:
    figure = flow(focus)
    strips = [trace for trace in figure.data if trace.type == "heatmap"]
    for muted, strong, step in zip(strips[::2], strips[1::2], STEPS, strict=True):
        others = np.delete(step.rows, focus, axis=0)
        np.testing.assert_allclose(np.delete(muted.z, focus, axis=0), others, atol=1e-5)
        assert np.isnan(muted.z[focus]).all()
        np.testing.assert_allclose(strong.z, step.rows[focus : focus + 1], atol=1e-5)
        assert (strong.opacity, muted.opacity < 0.5) == (None, True)
        assert (strong.zmin, strong.zmax) == (-step.bound, step.bound)
        assert tuple(strong.y) == (muted.y[focus], muted.y[focus + 1])
    widths = [
        end - start for start, end in (figure.layout[f"xaxis{i}"].domain for i in (1, 2, 3, 4))
    ]
    np.testing.assert_allclose(widths, widths[0], atol=1e-9)
    bold = [i for i, name in enumerate(figure.layout.yaxis.ticktext) if name.startswith("<b style")]
    assert bold == [focus]
    assert "&lt;b&gt;x&lt;/b&gt;" in figure.layout.yaxis.ticktext[1]


def test_heads_are_on_one_level_and_signs_beside_the_followed_row() -> None:
    figure = flow(2)
    notes = list(figure.layout.annotations)
    signs = [note for note in notes if note.yref == "y"]
    assert [note.text for note in signs] == ["<b>+</b>", "<b>=</b>", "<b>→</b>"]
    assert {note.y for note in signs} == {figure.layout.yaxis.tickvals[2]}
    heads = [note for note in notes if note.y == 1.01]
    words = ["the<br>word", "its place<br>(position)", "sum", "rescaled:<br>layer 0"]
    assert [note.text for note in heads] == words
    assert "±2" in notes[-1].text
    assert "±5" in notes[-1].text


def test_the_followed_token_s_shares_stand_in_their_bars_and_may_be_negative() -> None:
    figure = flow(1)
    bars = {trace.name: trace for trace in figure.data if trace.type == "bar"}
    assert {name: bar.x[0] for name, bar in bars.items()} == {
        "word": 1.2, "position": -0.2, "sum": 1.0,
    }  # fmt: skip
    assert [bar.text[0] for bar in bars.values()] == ["120%", "−20%", "100%"]
    for bar in bars.values():
        low, high = figure.layout[bar.xaxis.replace("x", "xaxis")].range
        assert low <= -0.2 < 1.2 <= high


def test_every_row_can_be_clicked_and_tells_its_numbers() -> None:
    figure = flow(0)
    points = {trace.name: trace for trace in figure.data if trace.type == "scatter"}
    assert list(points) == ["word", "position", "sum", "layer 0"]
    for step in STEPS:
        trace = points[step.name]
        assert [entry[0] for entry in trace.customdata] == [10, 11, 12]
        assert trace.customdata[1][1] == "&lt;b&gt;x&lt;/b&gt;"
        lengths = [entry[2] for entry in trace.customdata]
        np.testing.assert_allclose(lengths, np.linalg.norm(step.rows, axis=1), rtol=1e-5)
        part = PARTS.get(step.name)
        if part is not None:
            numbers = [part.share[2], part.moved[2], part.turned[2]]
            np.testing.assert_allclose(trace.customdata[2][3:], numbers, atol=1e-5)


def test_a_projected_sum_has_one_more_column_and_one_token_no_muted_rows() -> None:
    only = [replace(step, rows=step.rows[:1]) for step in STEPS]
    only[2:2] = [SumStep("+", "segment", ROWS[:1], 2.0)]
    only.insert(4, SumStep("→", "LayerNorm", ROWS[:1], 3.0))
    figure = flow(0, only)
    assert sum(trace.type == "heatmap" for trace in figure.data) == 6
    heads = [note.text for note in figure.layout.annotations if note.y == 1.01]
    assert heads[2:] == ["seg-<br>ment", "sum", "normal-<br>ised", "layer 0"]
