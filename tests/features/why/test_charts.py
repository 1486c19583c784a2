"""Charts of Why alike?: values, names and scales, also of very many words and of none."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.content.wording import signed
from contextlens.features.why.charts import (
    MAX_BARS,
    MIN_SHARE_END,
    WordBar,
    layer_axis,
    signed_matrix,
    word_axis,
    word_bars,
)
from contextlens.figures.frames import MIN_END, signed_end

RUDE, PLAIN = "<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"
CELLS = np.array([[0.2, -0.05, 0.0], [0.1, 0.3, np.nan]])


def test_a_signed_scale_is_symmetric_and_never_nothing() -> None:
    assert (signed_end(CELLS), signed_end(CELLS, -2 * CELLS)) == (0.3, 0.6)
    assert signed_end(np.zeros((2, 2))) == signed_end(np.full(3, np.nan)) == signed_end() == MIN_END
    assert signed_end(np.zeros(0), min_end=MIN_SHARE_END) == MIN_SHARE_END
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
    figure = signed_matrix(cells, words, words, quantity="share", title="", min_end=MIN_SHARE_END)
    assert figure.data[0].zmax == pytest.approx(2e-6)
    assert figure.data[0].colorbar.ticktext[2] == "≥+2e-06"
    assert len(figure.layout.xaxis.tickvals) <= 9
    assert len(figure.to_json()) < 1_500_000


def test_bars_stand_by_size_whatever_their_sign() -> None:
    bars = [WordBar("a", "A", 0.1), WordBar(RUDE, "B", -0.3, beside=-0.2), WordBar("c", "A", 0.0)]
    figure = word_bars(bars, quantity="change", mark="its share", title="t")
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
    assert list(trace.x) == list(range(n - 1, max(-1, n - 1 - MAX_BARS), -1))


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
