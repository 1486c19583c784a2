"""The pictures of Why alike?: values, names, scales, and what is there where little is."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from contextlens.features.why.figures import (
    LEAST,
    LEAST_SHARE,
    MOST,
    WordBar,
    layer_axis,
    signed,
    signed_end,
    signed_matrix,
    swap_heatmap,
    switched_off,
    word_axis,
    word_bars,
    words_svg,
)

RUDE, PLAIN = "<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"
CELLS = np.array([[0.2, -0.05, 0.0], [0.1, 0.3, np.nan]])


def test_a_signed_scale_is_symmetric_and_never_nothing() -> None:
    assert (signed_end(CELLS), signed_end(CELLS, -2 * CELLS)) == (0.3, 0.6)
    assert signed_end(np.zeros((2, 2))) == signed_end(np.full(3, np.nan)) == signed_end() == LEAST
    assert signed_end(np.zeros(0), least=LEAST_SHARE) == LEAST_SHARE
    assert list(map(signed, (0.1234, -0.1234, -0.001, 0))) == ["+0.12", "−0.12", "0.00", "0.00"]


def test_the_matrix_holds_the_values_on_a_scale_around_zero_that_is_stated() -> None:
    figure = signed_matrix(
        CELLS, [RUDE, " "], ["a", "a", "b"], quantity="share", title="A finding", marked=(1, None)
    )
    trace, layout = figure.data[0], figure.layout
    np.testing.assert_allclose(trace.z, CELLS, atol=1e-7)
    assert (trace.zmin, trace.zmax, trace.autocolorscale) == (-0.3, 0.3, True)
    assert list(trace.colorbar.ticktext) == ["−0.3", "0", "+0.3"]
    assert list(layout.yaxis.ticktext) == [PLAIN, "␣"]
    assert tuple(layout.yaxis.range) == (1.5, -0.5)
    assert (layout.shapes[0].y0, layout.shapes[0].y1) == (0.5, 1.5)
    assert layout.title.text == "A finding"


def test_shares_of_long_texts_keep_their_colours_and_travel_in_binary() -> None:
    cells, words = np.full((512, 512), 2e-6), ["word"] * 512
    cells[0, 0] = 0.5
    figure = signed_matrix(cells, words, words, quantity="share", title="", least=LEAST_SHARE)
    assert figure.data[0].zmax == pytest.approx(2e-6)
    assert figure.data[0].colorbar.ticktext[2] == "≥+2e-06"
    assert len(figure.layout.xaxis.tickvals) <= 9
    assert len(figure.to_json()) < 1_500_000


def test_bars_stand_by_size_whatever_their_sign() -> None:
    bars = [WordBar("a", "A", 0.1), WordBar(RUDE, "B", -0.3, beside=-0.2), WordBar("c", "A", 0.0)]
    figure = word_bars(bars, quantity="change", beside="its share", title="t")
    assert [list(trace.x) for trace in figure.data] == [[-0.3, 0.1, 0.0], [-0.2, None, None]]
    labels = [f"{PLAIN} · B  −0.30", "a · A  +0.10", "c · A  0.00"]
    assert list(figure.layout.yaxis.ticktext) == labels
    low, high = figure.layout.xaxis.range
    assert low < -0.3 < 0.1 < high
    assert "its share" in figure.layout.xaxis.title.text


@pytest.mark.parametrize("n", [0, 400])
def test_of_very_many_words_the_strongest_are_drawn(n: int) -> None:
    bars = [WordBar("w", "A", float(i)) for i in range(n)]
    (trace,) = word_bars(bars, quantity="change", title="t").data
    assert list(trace.x) == list(range(n - 1, max(-1, n - 1 - MOST), -1))


@pytest.mark.parametrize("shape", [(1, 1), (24, 16)])
def test_the_grid_has_a_cell_for_each_head_and_a_bar_for_each_part(shape: tuple[int, int]) -> None:
    heads = np.random.default_rng(0).normal(size=shape)
    parts = np.arange(shape[0]) / 100
    figure = switched_off(heads, parts, -parts, title="A finding")
    grid, attention, forward = figure.data
    np.testing.assert_allclose(grid.z, heads, atol=1e-6)
    assert grid.zmax == -grid.zmin == pytest.approx(np.abs(heads).max())
    assert (attention.name, forward.name) == ("attention", "feed-forward")
    np.testing.assert_allclose([attention.x, forward.x], [parts, -parts])
    low, _, high = figure.layout.xaxis2.tickvals
    assert 0 < high == -low <= max(parts.max(), LEAST) + 1e-12
    assert figure.layout.yaxis.ticktext[0] == "layer 1"


def test_parts_of_the_way_are_coloured_from_none_to_all() -> None:
    fractions = np.array([[0.0, 1.3], [-0.2, np.nan]])
    figure = swap_heatmap(fractions, ["the", f"{RUDE} / b"], [0, 1], title="A finding")
    trace = figure.data[0]
    np.testing.assert_allclose(trace.z, fractions, atol=1e-7)
    assert (trace.zmin, trace.zmax) == (0, 1)
    assert figure.layout.xaxis.ticktext[1] == f"{PLAIN} / b"
    hovers = [[cell[2] for cell in row] for row in trace.customdata]
    assert hovers == [["0% of the way", "beyond B"], ["away from B", ""]]


def test_long_axes_name_some_and_a_long_finding_stands_in_two_lines() -> None:
    assert len(word_axis(["w"] * 512)["tickvals"]) <= 24
    assert layer_axis(range(25))["ticktext"] == [f"layer {n}" for n in range(0, 25, 2)]
    finding = "The largest shares: extraordinarily in A and uncommonly in B"
    short, long, huge = (
        word_bars([], quantity="", title=title).layout
        for title in ("", finding, f"{'antidisestablishmentarianism ' * 3}in A")
    )
    assert "<br>" in long.title.text
    assert long.margin.t > short.margin.t
    assert huge.title.text.count("<br>") == 1
    assert huge.title.text.endswith("…")


@pytest.mark.parametrize("n", [3, 600])
def test_the_drawing_has_each_word_with_its_colour_and_stays_in_its_frame(n: int) -> None:
    words = [("up", 0.2), ("down", -0.1), (RUDE, None)] * (n // 3)
    svg = "{http://www.w3.org/2000/svg}"
    root = ET.fromstring(words_svg([("A", "#111111", words)] * 2, end=0.2, title=RUDE))
    assert {element.tag for element in root.iter()} == {
        svg + tag for tag in ("svg", "rect", "text")
    }
    texts = [text.text for text in root.iter(f"{svg}text")]
    assert texts[:7] == [RUDE, "A", "up", "+0.20", "down", "−0.10", RUDE]
    boxes = [box for box in root.iter(f"{svg}rect") if box.get("rx")]
    assert [box.get("fill-opacity") for box in boxes[:3]] == ["0.72", "0.36", "0.00"]
    assert len({box.get("fill") for box in boxes[:2]}) == 2
    assert (len(boxes) == 2 * n) == (n == 3)
    assert ("…" in texts) == (n > 3)
    for box in boxes:
        x, y, width = (float(box.get(name) or "nan") for name in ("x", "y", "width"))
        assert 0 < x <= x + width <= 928
        assert y + 49 <= float(root.get("height") or "nan") <= 440
