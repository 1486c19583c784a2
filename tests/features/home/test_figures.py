"""The picture of words that move apart, and the small ones on the cards."""

from __future__ import annotations

import base64
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plotly import graph_objects as go

from contextlens.features.home.figures import _FARTHEST, DrawnWord, parting, thumbnail

NEAR, FAR = np.array([1.0, 0.98, 0.93]), np.array([1.0, 0.8, 0.71])


def drawn(*others: np.ndarray, layer: int = 2, **more: object) -> go.Figure:
    words = [DrawnWord("A <b>", "A", 0, np.ones(len(others[0])))]
    words += [
        DrawnWord(f"{'BCDEFGH'[i]} <b>", "BCDEFGH"[i], i + 1, own) for i, own in enumerate(others)
    ]
    layers = list(range(len(others[0])))
    titles = [f"title {n}" for n in layers]
    return parting(words, layers, layer=layer, titles=titles, **more)


def pixels(figure: go.Figure, value: float) -> float:
    """The height of a value on the vertical axis above the lower end, in pixels."""
    low, high = figure.layout.yaxis.range
    margin = figure.layout.margin
    return (value - low) / (high - low) * (figure.layout.height - margin.t - margin.b)


def test_every_pair_has_the_same_pixels_for_the_same_difference() -> None:
    heights = {}
    for name, cosines in {"near": NEAR, "far": FAR, "both": np.array([1.0, -1.0])}.items():
        figure = drawn(cosines, layer=1)
        (dots,) = (trace for trace in figure.data if trace.mode == "markers")
        heights[name] = [pixels(figure, y) for y in dots.y]
    assert len({round(own[0], 6) for own in heights.values()}) == 1  # the first word's
    gaps = {name: own[1] - own[0] for name, own in heights.items()}
    assert gaps["far"] / gaps["near"] == pytest.approx(0.2 / 0.02)
    assert gaps["far"] > 25
    assert gaps["both"] / gaps["far"] == pytest.approx(_FARTHEST / 0.2)  # as far as it goes


def test_what_is_beyond_the_picture_is_said_and_only_then() -> None:
    texts = [note.text for note in drawn(np.array([1.0, -0.25]), layer=1).layout.annotations]
    assert "farther apart than drawn: down to −0.25" in texts
    assert not any("than drawn" in note.text for note in drawn(NEAR, FAR).layout.annotations)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_dots_stand_at_the_layer_shown(layer: int) -> None:
    figure = drawn(NEAR, FAR, layer=layer)
    first, second, third, dots, *still = figure.data
    assert list(dots.x) == [layer] * 3
    assert dots.y == pytest.approx([0, 1 - NEAR[layer], 1 - FAR[layer]])
    assert {len(own.x) for own in (first, second, third)} == {layer + 1}
    assert [(len(own.x), own.opacity < 1) for own in still] == [(3, True)] * 3
    assert [frame.name for frame in figure.frames] == ["0", "1", "2"]
    assert all(list(frame.traces) == [0, 1, 2, 3] for frame in figure.frames)


def test_unrelated_words_are_the_yardstick_at_each_layer() -> None:
    random = np.array([0.02, 0.1, 0.4])
    yardstick = drawn(NEAR, random=random).data[-1]
    assert yardstick.y == pytest.approx([0.98, 0.9, 0.6])
    texts = [note.text for note in drawn(NEAR, random=random).layout.annotations]
    assert "unrelated words" in texts
    assert "unrelated words" not in [note.text for note in drawn(NEAR).layout.annotations]


def test_one_layer_alone_has_nothing_to_play_and_typed_text_stays_text() -> None:
    alone = drawn(NEAR[:1], layer=0)
    assert not alone.frames
    notes = [note.text for note in alone.layout.annotations]
    assert not any("<b>" in text for text in notes)
    assert any("B &lt;b&gt;" in text for text in notes)


@pytest.mark.slow
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=7))
def test_names_cover_neither_each_other_nor_the_dots(ends: list[float]) -> None:
    figure = drawn(*(np.array([1.0, end]) for end in ends), layer=1)
    names = [note for note in figure.layout.annotations if "●" in note.text][1:]
    letters = re.findall("</span> ([B-H])", " ".join(note.text for note in names))
    assert sorted(letters) == list("BCDEFGH"[: len(ends)])
    bottoms = sorted(pixels(figure, note.y) + note.yshift for note in names)
    assert all(upper - lower >= 17 for lower, upper in pairwise(bottoms))
    (dots,) = (trace for trace in figure.data if trace.mode == "markers")
    for y in dots.y[1:]:
        assert all(abs(bottom + 9 - pixels(figure, y)) >= 16.9 for bottom in bottoms)


@pytest.mark.parametrize("along", [[1.0], [1.0, -1.0], list(np.linspace(1, 0.5, 25))])
def test_a_card_s_picture_is_svg_within_its_frame(along: list[float]) -> None:
    kind, data = thumbnail(np.array([np.ones(len(along)), along])).split(",")
    assert kind == "data:image/svg+xml;base64"
    svg = ElementTree.fromstring(base64.b64decode(data))
    ways = [e for e in svg if e.tag.endswith("polyline")]
    assert len(ways) == 2
    for way in ways:
        places = [tuple(map(float, p.split(","))) for p in way.attrib["points"].split()]
        assert len(places) == len(along)
        assert all(0 <= x <= 96 and 4 <= y <= 40 for x, y in places)
