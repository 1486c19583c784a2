"""The picture of two words that part, and the small ones on the cards."""

from __future__ import annotations

import base64
from xml.etree import ElementTree

import numpy as np
import pytest

from components.features.home.figures import parting, thumbnail

DEGREES = np.array([0.0, 16.0, 39.0], np.float32)


def drawn(layer: int = 2, degrees: np.ndarray = DEGREES) -> dict:
    layers = list(range(len(degrees)))
    titles = [f"title {n}" for n in layers]
    figure = parting(degrees, layers, ("A <b>", "B python"), layer=layer, titles=titles)
    return figure.to_plotly_json()


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_dots_stand_at_the_layer_shown_and_are_its_angle_apart(layer: int) -> None:
    upper, lower, dots, *_ = drawn(layer)["data"]
    assert list(dots["x"]) == [layer, layer]
    assert dots["y"][0] - dots["y"][1] == pytest.approx(DEGREES[layer])
    assert len(upper["x"]) == len(lower["x"]) == layer + 1


def test_frames_move_what_comes_first_and_leave_the_ways_faint_behind() -> None:
    figure = parting(DEGREES, [0, 1, 2], ("A", "B"), layer=2, titles=["a", "b", "c"])
    assert [frame.name for frame in figure.frames] == ["0", "1", "2"]
    assert all(list(frame.traces) == [0, 1, 2] for frame in figure.frames)
    assert [len(trace.x) for trace in figure.data[3:]] == [3, 3]
    assert all(trace.opacity < 1 for trace in figure.data[3:])


def test_a_small_gap_looks_small_and_a_large_one_fits() -> None:
    for degrees in ([0.0, 2.0], [0.0, 180.0], [0.0, 0.0]):
        figure = drawn(1, np.array(degrees, np.float32))
        low, high = figure["layout"]["yaxis"]["range"]
        assert high == -low
        assert high >= 10
        assert degrees[-1] / 2 < high


def test_one_layer_alone_has_nothing_to_play_and_typed_text_stays_text() -> None:
    alone = drawn(0, DEGREES[:1])
    assert not alone.get("frames")
    assert not any("<b>" in note["text"] for note in alone["layout"]["annotations"])


@pytest.mark.parametrize("degrees", [[0.0], [0.0, 180.0], list(np.linspace(0, 60, 25))])
def test_a_card_s_picture_is_svg_within_its_frame(degrees: list[float]) -> None:
    kind, data = thumbnail(np.array(degrees)).split(",")
    assert kind == "data:image/svg+xml;base64"
    svg = ElementTree.fromstring(base64.b64decode(data))
    ways = [e for e in svg if e.tag.endswith("polyline")]
    assert len(ways) == 2
    for way in ways:
        places = [tuple(map(float, p.split(","))) for p in way.attrib["points"].split()]
        assert len(places) == len(degrees)
        assert all(0 <= x <= 96 and 0 <= y <= 44 for x, y in places)
