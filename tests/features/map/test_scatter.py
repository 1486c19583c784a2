"""A map of one layer: points at their places, marks, labels, density."""

from __future__ import annotations

import re

import numpy as np
import pytest

from contextlens.core.errors import RequestError
from contextlens.features.map import scatter
from contextlens.features.map.coloring import UNCOLORED, Coloring, coloring, groups
from contextlens.features.map.frame import map_ranges
from contextlens.features.map.layer_frames import layers_scatter
from contextlens.features.map.scatter import (
    MAX_SVG,
    MapMarks,
    add_density,
    map_order,
    map_scatter,
    selected_points,
)
from contextlens.figures.side_names import SideName
from contextlens.figures.theme import INK
from contextlens.maps.clusters import ClusterLabel
from contextlens.maps.points import Points
from tests.features.map.points import drawn_at, layers_of, places_of, points_of


@pytest.mark.parametrize(
    ("n", "by", "n_axes"),
    [(40, "", 2), (40, "word", 3), (40, "norm", 2), (MAX_SVG + 1, "sense", 2), (40, "sense", 3)],
)
def test_every_point_is_drawn_once_at_its_place(n: int, by: str, n_axes: int) -> None:
    points, places = points_of(n, n_senses=13), places_of(n, n_axes)
    color = coloring(points, by)
    figure = map_scatter(points, places, color=color, title="T")
    order = map_order(color, n)
    assert len(order) == len(figure.data)
    assert sorted(np.concatenate(order)) == list(range(n))
    assert drawn_at(figure, order) == {i: tuple(map(float, at)) for i, at in enumerate(places)}


@pytest.mark.parametrize("by", ["", "sense", "norm"])
def test_what_is_chosen_in_the_browser_is_found_again(by: str) -> None:
    """Every mark of a trace of points, as its curve and index, gives its point; rings give none."""
    points, places = points_of(60, n_senses=12), places_of(60)
    color = coloring(points, by)
    marks = MapMarks(rings={"hits": [3, 1], "pinned": [9]}, focus=5, neighbours=[6, 7])
    figure = map_scatter(points, places, color=color, marks=marks, title="T")
    order = map_order(color, 60)
    for curve, trace in enumerate(figure.data):
        if curve >= len(order):
            assert selected_points([{"curve_number": curve, "point_index": 0}], order) == []
            continue
        for index, at in enumerate(zip(trace.x, trace.y, strict=True)):
            (point,) = selected_points([{"curve_number": curve, "point_index": index}], order)
            assert tuple(places[point]) == at


def test_chosen_points_come_sorted_and_once_and_unknown_ones_not_at_all() -> None:
    order = (np.array([4, 2]), np.array([], dtype=int), np.array([0, 1, 3]))
    pairs = [(2, 1), (0, 0), (2, 1), (0, 2), (1, 0), (9, 0), (-1, 0), (0, -1), (2, 0)]
    events = [{"curve_number": c, "point_index": i, "x": 1.0} for c, i in pairs]
    assert selected_points(events, order) == [0, 1, 4]
    assert selected_points([], order) == []
    assert selected_points([{"x": 0}], order) == []
    assert selected_points(events, ()) == []
    forged = [(0, 10**30), (-(10**30), 0), ("0", 0), (0, None), (0, [1]), (True, 0), (0.0, 1)]
    events += [{"curve_number": c, "point_index": i} for c, i in forged]
    assert selected_points(events, order) == [0, 1, 4]


def test_chosen_points_stay_and_all_others_fade() -> None:
    points, chosen = points_of(50), [4, 7, 30]
    color = coloring(points, "sense")
    figure = map_scatter(
        points, places_of(50), color=color, marks=MapMarks(chosen=chosen), title="T"
    )
    order = map_order(color, 50)
    kept = [
        int(rows[i]) for t, rows in zip(figure.data, order, strict=True) for i in t.selectedpoints
    ]
    assert sorted(kept) == chosen
    assert all(trace.unselected.marker.opacity < 0.2 for trace in figure.data)
    plain = map_scatter(points, places_of(50), color=color, title="T")
    assert all(trace.selectedpoints is None for trace in plain.data)


def test_lines_go_from_the_point_to_each_neighbour() -> None:
    points, places = points_of(20), places_of(20)
    figure = map_scatter(points, places, marks=MapMarks(focus=3, neighbours=[5, 8]), title="T")
    (lines,) = [trace for trace in figure.data if trace.mode == "lines"]
    gap = [np.nan, np.nan]
    expected = [places[3], places[5], gap, places[3], places[8], gap]
    np.testing.assert_array_equal(np.stack([lines.x, lines.y], axis=1), expected)
    names = [trace.name for trace in figure.data if trace.marker.color == INK]
    assert names == ["the point", "its neighbours"]


def test_marked_points_have_the_number_of_the_table_each_once() -> None:
    points, places = points_of(20), layers_of(2, 20)
    labels = {5: "1", 8: "2", 9: "A"}
    marks = MapMarks(
        rings={"pinned": [9, 5], "hits": [11]}, focus=3, neighbours=[5, 8], labels=labels
    )
    still = map_scatter(points, places[1], marks=marks, title="T")
    plays = layers_scatter(
        points, places, (0, 1), layer=1, marks=marks, trails=[3, 9], titles=["T", "T"]
    )
    for figure in (still, plays):
        texts = [text for trace in figure.data for text in trace.text or () if text]
        assert sorted(texts) == ["1", "2", "A"]
    (near,) = [trace for trace in still.data if trace.name == "its neighbours"]
    assert list(near.text) == ["1", "2"]


def test_no_such_column_and_too_few_values_are_refused() -> None:
    points = points_of(5)
    with pytest.raises(RequestError, match="no column 'x'; they have: word, norm, sense, source"):
        coloring(points, "x")
    with pytest.raises(RequestError, match="5 points need as many values of 'c'; 1 were given"):
        groups(Coloring("c", "category", ["a"]), 5)
    with pytest.raises(RequestError, match=r"shape \(4, 2\)"):
        map_scatter(points, places_of(4), title="T")
    with pytest.raises(RequestError, match=r"shape \(5, 4\)"):
        map_scatter(points, places_of(5, 4), title="T")


EVIL = '<img src=x onerror="alert(1)"><b>%{x}</b>&lt;'


@pytest.mark.parametrize("unit", ["words", "tokens", "sentences"])
def test_nothing_that_a_user_wrote_is_drawn_as_html(unit: str) -> None:
    text = f"{EVIL} {EVIL} python {EVIL}"
    where = text.index("python")
    points = Points(
        unit,
        (text, EVIL),
        np.array([0, 1]),
        np.array([(where, where + 6), (0, len(EVIL))]),
        (EVIL, EVIL),
        {EVIL: (EVIL, "b"), "own": (EVIL, EVIL)},
    )
    marks = MapMarks(rings={EVIL: [0]}, focus=1)
    names = [SideName("k", EVIL, "#0072B2", (0.0, 0.0), 2)]
    color = coloring(points, EVIL)
    figure = map_scatter(points, places_of(2), color=color, names=names, marks=marks, title=EVIL)
    layers = layers_scatter(
        points,
        places_of(4).reshape(2, 2, 2),
        (0, 1),
        layer=0,
        color=color,
        trails=[0, 1],
        titles=[EVIL, EVIL],
    )
    for written in texts_in([figure.to_plotly_json(), layers.to_plotly_json()]):
        rest = re.sub(r"</?b>|<br>|<span style=.color:#\w{6}.>|</span>", "", written)
        rest = rest.replace("<extra></extra>", "")
        assert "<" not in rest
        assert not re.search(r"&(?!(lt|gt|amp);)", rest)
        if "%{" in written and "hovertext" in written:
            assert written == "%{hovertext}<extra></extra>"


def texts_in(part) -> list[str]:
    if isinstance(part, dict):
        return [text for own in part.values() for text in texts_in(own)]
    if isinstance(part, list | tuple):
        return [text for own in part for text in texts_in(own)]
    return [part] if isinstance(part, str) else []


def test_a_map_of_earlier_settings_is_paler() -> None:
    points, places = points_of(30), places_of(30)
    fresh, stale = (map_scatter(points, places, title="T", stale=own) for own in (False, True))
    assert stale.data[0].marker.opacity < fresh.data[0].marker.opacity


def test_space_has_names_in_space() -> None:
    label = ClusterLabel(0, ("snake",), (0.1, 0.2, 0.3), 9)
    figure = map_scatter(points_of(30), places_of(30, 3), clusters=[label], title="T")
    (note,) = figure.layout.scene.annotations
    assert (note.x, note.y, note.z) == label.place
    assert not figure.layout.annotations


def test_a_map_of_no_points_is_drawn() -> None:
    points = points_of(1).take([])
    assert map_scatter(points, np.zeros((0, 2)), color=coloring(points, "sense"), title="T")


# The density


@pytest.mark.parametrize("n_layers", [1, 3])
def test_density_is_where_the_points_are_and_moves_with_them(n_layers: int) -> None:
    n = 2_500
    random = np.random.default_rng(0)
    heap = random.normal(0, 0.2, (n_layers, n - 500, 2)) + np.arange(n_layers)[:, None, None]
    places = np.concatenate([heap, random.uniform(-3, 5, (n_layers, 500, 2))], axis=1)
    points, layers = points_of(n), tuple(range(n_layers))
    if n_layers == 1:
        figure = map_scatter(points, places[0], title="T")
    else:
        figure = layers_scatter(points, places, layers, layer=1, titles=["T"] * n_layers)
    n_before, row = len(figure.data), n_layers // 2
    add_density(figure, places, [map_ranges(own) for own in places], row)
    assert len(figure.data) == n_before + 1
    shades = [(row, figure.data[-1])]
    for i, frame in enumerate(figure.frames):
        assert frame.traces[-1] == n_before
        assert len(frame.traces) == len(frame.data)
        shades.append((i, frame.data[-1]))
    for i, shade in shades:
        z = np.asarray(shade.z)
        up, across = np.unravel_index(z.argmax(), z.shape)
        middle = places[i, : n - 500].mean(axis=0)
        np.testing.assert_allclose([shade.x[across], shade.y[up]], middle, atol=0.3)
        assert z.min() >= 0
        assert z.sum() > 0
    assert map_order(UNCOLORED, n)[0].tolist() == list(range(n))  # clicks find the same points


def test_a_crowd_is_sent_as_numbers_without_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 300
    points, places = points_of(n, n_senses=13), places_of(n)
    color = coloring(points, "sense")
    few = map_scatter(points, places, color=color, title="T")
    monkeypatch.setattr(scatter, "MAX_HOVERED", n - 1)
    many = map_scatter(points, places, color=color, title="T")
    assert drawn_at(many, map_order(color, n)) == drawn_at(few, map_order(color, n))
    for before, after in zip(few.data[:2], many.data[:2], strict=True):
        assert after.hovertext is None
        assert after.hoverinfo == "none", "clicks are heard"
        if isinstance(before.marker.color, str):
            assert after.marker.color == before.marker.color
            continue
        scale = [color for _, color in after.marker.colorscale]
        assert after.marker.color.dtype == np.uint16
        assert [scale[code] for code in after.marker.color] == list(before.marker.color)
    assert any(len(trace.marker.colorscale or ()) == 13 for trace in many.data[:2])
