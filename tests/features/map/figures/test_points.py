"""Which point each mark of a trace is, and the colours that categories and measures keep."""

from __future__ import annotations

import numpy as np
import pytest

from components.core.errors import RequestError
from components.features.map.figures import (
    INK,
    MAX_COLORED,
    MAX_SVG,
    SHAPES,
    Coloring,
    Marks,
    coloring,
    groups,
)
from components.features.map.layer_figures import (
    layers_scatter,
    map_order,
    map_scatter,
    selected_points,
)
from components.figures.theme import CATEGORICAL
from tests.features.map.points import drawn_at, layers_of, places_of, points_of

# Which point is which


@pytest.mark.parametrize("n_axes", [2, 3])
@pytest.mark.parametrize("by", ["", "sense", "norm", "word"])
@pytest.mark.parametrize("n", [40, MAX_SVG + 1])
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
    """Every mark of every kind of trace, as its curve and index, gives its point."""
    points, places = points_of(60, n_senses=12), places_of(60)
    color = coloring(points, by)
    marks = Marks(rings={"hits": [3, 1], "pinned": [9]}, focus=5, neighbours=[6, 7])
    figure = map_scatter(points, places, color=color, marks=marks, title="T")
    order = map_order(color, 60, marks)
    assert len(order) == len(figure.data)
    for curve, trace in enumerate(figure.data):
        if trace.mode == "lines":
            assert not len(order[curve])
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


def test_chosen_points_stay_and_all_others_fade() -> None:
    points, chosen = points_of(50), [4, 7, 30]
    color = coloring(points, "sense")
    figure = map_scatter(points, places_of(50), color=color, marks=Marks(chosen=chosen), title="T")
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
    figure = map_scatter(points, places, marks=Marks(focus=3, neighbours=[5, 8]), title="T")
    (lines,) = [trace for trace in figure.data if trace.mode == "lines"]
    gap = [np.nan, np.nan]
    expected = [places[3], places[5], gap, places[3], places[8], gap]
    np.testing.assert_array_equal(np.stack([lines.x, lines.y], axis=1), expected)
    names = [trace.name for trace in figure.data if trace.marker.color == INK]
    assert names == ["the point", "its neighbours"]


def test_marked_points_have_the_number_of_the_table_each_once() -> None:
    points, places = points_of(20), layers_of(2, 20)
    labels = {5: "1", 8: "2", 9: "A"}
    marks = Marks(rings={"pinned": [9, 5], "hits": [11]}, focus=3, neighbours=[5, 8], labels=labels)
    still = map_scatter(points, places[1], marks=marks, title="T")
    plays = layers_scatter(
        points, places, (0, 1), layer=1, marks=marks, trails=[3, 9], titles=["T", "T"]
    )
    for figure in (still, plays):
        texts = [text for trace in figure.data for text in trace.text or () if text]
        assert sorted(texts) == ["1", "2", "A"]
    (near,) = [trace for trace in still.data if trace.name == "its neighbours"]
    assert list(near.text) == ["1", "2"]


# Colours


def test_categories_keep_their_colours_on_another_map() -> None:
    points = points_of(80, n_senses=6)
    left = coloring(points, "sense")
    rows = [i for i, sense in enumerate(points.labels["sense"]) if sense != left.order[0]]
    right = coloring(points.take(rows), "sense", order=left.order)
    colors = [
        {g.name: g.color for g in groups(own, n)} for own, n in ((left, 80), (right, len(rows)))
    ]
    assert colors[1] == {name: c for name, c in colors[0].items() if name != left.order[0]}
    assert len(colors[1]) == 6  # five senses, and one point without


def test_the_most_frequent_get_colours_and_the_others_are_grey() -> None:
    values = [f"c{i:02d}" for i in range(14) for _ in range(20 - i)]
    color = Coloring("c", "category", values, order=tuple(dict.fromkeys(values)))
    found = groups(color, len(values))
    assert found[0].name == f"other ({14 - MAX_COLORED})"
    assert found[0].color == CATEGORICAL[-1]
    assert [g.name for g in found[1:]] == [f"c{i:02d}" for i in range(MAX_COLORED)]
    assert [g.color for g in found[1:]] == list(CATEGORICAL[:MAX_COLORED])


def test_as_many_categories_as_colours_have_one_each() -> None:
    values = [f"c{i}" for i in range(10)]
    found = groups(Coloring("c", "category", values), 10)
    assert {g.name for g in found} == set(values)
    assert len({g.color for g in found}) == 10


def test_categories_are_ordered_by_number_and_points_without_one_are_apart() -> None:
    points = points_of(9)
    given = ["b", "a", "a", "", "c", "c", "b", "c", ""]
    color = coloring(points, "own", extra={"own": given})
    assert color.order == ("c", "a", "b")
    figure = map_scatter(points, places_of(9), color=color, title="T")
    assert [(t.name, len(t.x)) for t in figure.data] == [
        *[("no label", 2), ("c", 3), ("a", 2), ("b", 2)]
    ]
    assert figure.data[0].legendrank > figure.data[1].legendrank
    assert figure.layout.showlegend


def test_a_measure_has_a_bar_of_colours_and_what_has_none_is_grey() -> None:
    points = points_of(30)
    own = points.measures["norm"]
    figure = map_scatter(points, places_of(30), color=coloring(points, "norm"), title="T")
    grey, colored = figure.data
    assert len(grey.x) == np.isnan(own).sum() == 3
    np.testing.assert_array_equal(colored.marker.color, own[~np.isnan(own)])
    assert (colored.marker.cmin, colored.marker.cmax) == (np.nanmin(own), np.nanmax(own))
    fixed = coloring(points, "norm", scale=(-5, 5))
    other = map_scatter(points, places_of(30), color=fixed, title="T").data[1]
    assert (other.marker.cmin, other.marker.cmax) == (-5, 5)


@pytest.mark.parametrize("n_axes", [2, 3])
def test_shapes_tell_a_second_column_apart_and_the_legend_names_them(n_axes: int) -> None:
    points, places = points_of(60, n_senses=9), places_of(60, n_axes)
    shapes, color = coloring(points, "sense"), coloring(points, "source")
    figure = map_scatter(points, places, color=color, shapes=shapes, title="T")
    (own,), (drawn, *named) = map_order(color, 60), figure.data
    legend = {trace.name: trace.marker.symbol for trace in named}
    assert list(legend) == [*shapes.order[: len(SHAPES) - 1], "other"]
    senses = [points.labels["sense"][i] for i in own]
    assert list(drawn.marker.symbol) == [legend.get(sense, SHAPES[-1]) for sense in senses]
    assert all(not any(value is not None for value in trace.x) for trace in named)
    assert selected_points([{"curve_number": 1, "point_index": 0}], (own,)) == []


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
