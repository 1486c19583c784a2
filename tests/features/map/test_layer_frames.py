"""A map of all layers: frames that move every point, trails, bounds."""

from __future__ import annotations

import numpy as np
import pytest
from plotly import graph_objects as go

from contextlens.core.errors import RequestError
from contextlens.features.map.coloring import coloring, groups
from contextlens.features.map.frame import map_ranges
from contextlens.features.map.layer_frames import MAX_PLAYED_POINTS, MAX_TRAILS, layers_scatter
from contextlens.features.map.scatter import MapMarks, map_order
from contextlens.figures.side_names import SideName
from tests.features.map.points import drawn_at, layers_of, points_of


def test_frames_move_every_point_in_the_frame_of_its_layer() -> None:
    points, places = points_of(40, n_senses=12), layers_of(4, 40)
    color = coloring(points, "sense")
    titles = [f"At {i}" for i in range(4)]
    look = {"color": color, "trails": [5, 6], "titles": titles, "subtitle": "some of many"}
    figure = go.Figure(layers_scatter(points, places, range(4), layer=2, **look))  # all checked
    order, ranges = map_order(color, 40), [map_ranges(own) for own in places]
    assert drawn_at(figure, order) == {i: tuple(map(float, at)) for i, at in enumerate(places[2])}
    assert figure.layout.title.text == "At 2"
    for layer, frame in enumerate(figure.frames):
        own = {i: tuple(map(float, at)) for i, at in enumerate(places[layer])}
        assert drawn_at(frame, order) == own
        assert frame.layout.title.text == titles[layer]
        assert frame.layout.title.subtitle.text == "some of many"
        assert len(frame.data) == len(figure.data)
        assert [t.type for t in frame.data] == [t.type for t in figure.data]
        axes = frame.layout.xaxis.range, frame.layout.yaxis.range
        assert axes == tuple(map(tuple, ranges[layer]))
    assert figure.layout.xaxis.range == ranges[2][0]
    assert [frame.name for frame in figure.frames] == ["0", "1", "2", "3"]


def test_groups_are_named_in_the_frame_of_the_shown_layer_only() -> None:
    points, places = points_of(40), layers_of(3, 40)
    names = {1: [SideName("k", "river · boat", "#0072B2", tuple(map(float, places[1, 0])), 9)]}
    strays = {0: [3], 1: [5, 6], 2: []}
    own = {"names": names, "strays": strays, "titles": ["T"] * 3}
    figure = layers_scatter(points, places, range(3), layer=1, **own)
    shown = [[note.visible for note in frame.layout.annotations] for frame in figure.frames]
    assert shown == [[False], [True], [False]]  # a frame without annotations would keep them
    assert [note.name for note in figure.layout.annotations] == ["k"]
    assert [[line.visible for line in own.layout.shapes] for own in figure.frames] == shown
    for layer, frame in enumerate(figure.frames):
        np.testing.assert_array_equal(frame.data[-1].x, places[layer, strays[layer], 0])


def test_trails_go_through_all_layers_up_to_the_shown_one_older_parts_fainter() -> None:
    points, places = points_of(9), layers_of(8, 9)
    figure = layers_scatter(points, places, range(8), layer=6, trails=[4], titles=["T"] * 8)
    for drawn, last in ((figure.data, 6), (figure.frames[0].data, 0), (figure.frames[7].data, 7)):
        *lines, ends = drawn[-4:]
        way = [at for line in lines for at in zip(line.x, line.y, strict=True)]
        assert list(dict.fromkeys(way)) == [tuple(at) for at in places[: last + 1, 4]]
        assert (ends.x[0], ends.x[1]) == (places[0, 4, 0], places[last, 4, 0])
    strengths = [line.opacity for line in figure.data[-4:-1]]
    assert strengths == sorted(strengths)
    assert strengths[0] < strengths[-1]


def test_trails_have_their_category_s_colour_and_the_number_of_their_point() -> None:
    points, places = points_of(12, n_senses=3), layers_of(2, 12)
    color = coloring(points, "sense")
    figure = layers_scatter(
        points,
        places,
        (0, 1),
        layer=1,
        color=color,
        marks=MapMarks(labels={3: "1", 5: "2"}),
        trails=[3, 5],
        titles=["T", "T"],
    )
    colors = {group.name: group.color for group in groups(color, 12)}
    ends = [trace for trace in figure.data if trace.text is not None]
    senses = [points.labels["sense"][i] for i in (3, 5)]
    assert [trace.text[1] for trace in ends] == ["1", "2"]
    assert [trace.marker.color for trace in ends] == [colors[sense] for sense in senses]


def test_too_many_points_are_not_played_and_bad_requests_are_refused() -> None:
    n = MAX_PLAYED_POINTS // 2 + 1
    figure = layers_scatter(points_of(n), layers_of(2, n), (0, 1), layer=0, titles=["T", "T"])
    assert not figure.frames
    points, places = points_of(20), layers_of(2, 20)
    with pytest.raises(RequestError, match="Layer 7"):
        layers_scatter(points, places, (0, 1), layer=7, titles=["T", "T"])
    with pytest.raises(RequestError, match=f"At most {MAX_TRAILS}"):
        layers_scatter(points, places, (0, 1), layer=0, trails=range(13), titles=["T", "T"])
    with pytest.raises(RequestError, match=r"shape \(2, 20, 2\)"):
        layers_scatter(points, places, (0, 1, 2), layer=0, titles=["T"] * 3)
