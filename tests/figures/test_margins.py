"""Room for names beside an axis: as wide as a browser draws them, and never too little."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.figures.margins import below, beside, width
from contextlens.figures.theme import SMALLEST, plain

WIDTHS = {  # pixels, of 13-pixel texts as Chromium draws them
    "4": 8,
    "python": 39,
    "programming": 76,
    "A · 7 tokens": 61,
    "one word, two senses": 117,
    "random English sentences": 141,
    "bert-large-uncased-whole-word-mas…": 210,
}
names = st.lists(st.text(max_size=16), max_size=8)


@pytest.mark.parametrize(("text", "measured"), WIDTHS.items())
def test_texts_are_as_wide_as_in_a_browser(text: str, measured: int) -> None:
    assert width(text) * 13 / SMALLEST == pytest.approx(measured, abs=2.5)  # kerning is not counted


def test_what_is_drawn_counts_not_how_it_is_written() -> None:
    assert width("<b>a &lt; b</b>") == width("a < b")
    assert width(plain("<b>")) == width("b") + width("&lt;") + width("&gt;")


def test_chinese_needs_more_than_latin() -> None:
    assert width("中文") > 1.5 * width("ab")


@given(names)
def test_the_longest_name_has_room(labels: list[str]) -> None:
    longest = min(max(map(width, labels), default=0.0), 150)
    assert longest + 20 <= beside(labels) <= longest + 23


@given(names, st.floats(-90, 90))
def test_turned_names_have_room_whichever_way(labels: list[str], angle: float) -> None:
    assert below(labels, angle) == below(labels, -angle)
    longest, line = min(max(map(width, labels), default=0.0), 150), 17
    assert below(labels, angle) >= math.hypot(longest, line) * math.sin(
        math.radians(abs(angle)) + math.atan2(line, longest)
    )


def test_endless_names_leave_room_for_the_plot_and_none_need_little() -> None:
    assert beside([]) < 24
    assert below([], 0) < 44
    assert beside(["W" * 99]) <= 172
    assert beside(["W" * 99], most=220) <= 242
    assert below(["W" * 99], 90) <= 174
