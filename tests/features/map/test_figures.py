"""A map's figure: points at their places, colours, hover, labels, layers that play, frames."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.features.map.compute import map_display
from contextlens.features.map.figures import (
    INK,
    MAX_COLORED,
    MAX_LABELS,
    MAX_SVG,
    SHAPES,
    SIDES,
    UNCOLORED,
    Coloring,
    MapMarks,
    Ranges,
    add_density,
    cluster_notes,
    coloring,
    fill,
    groups,
    hover_texts,
    map_ranges,
    sides,
)
from contextlens.features.map.layer_figures import (
    MAX_PLAYED_POINTS,
    MAX_TRAILS,
    layers_scatter,
    map_order,
    map_scatter,
    selected_points,
)
from contextlens.figures.theme import CATEGORICAL
from contextlens.maps.clusters import ClusterLabel
from contextlens.maps.points import Points
from contextlens.ui.state.view import DEFAULT
from tests.features.map.points import SENTENCE, drawn_at, layers_of, places_of, points_of
from tests.support.maps import TEXTS, drawn_map, map_view
from tests.support.pages import app_settings

# Points and colours


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
    """Every mark of every kind of trace, as its curve and index, gives its point."""
    points, places = points_of(60, n_senses=12), places_of(60)
    color = coloring(points, by)
    marks = MapMarks(rings={"hits": [3, 1], "pinned": [9]}, focus=5, neighbours=[6, 7])
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


# Hover


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
    names = [ClusterLabel(0, (EVIL, EVIL), (0.0, 0.0), 2)]
    color = coloring(points, EVIL)
    figure = map_scatter(points, places_of(2), color=color, clusters=names, marks=marks, title=EVIL)
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
        rest = re.sub(r"</?b>|<br>", "", written).replace("<extra></extra>", "")
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


def test_hover_has_name_sentence_with_the_word_marked_labels_and_value() -> None:
    points = points_of(3)
    lines = hover_texts(points, coloring(points, "norm"))[1].split("<br>")
    assert lines[0] == "<b>python</b>"
    assert "hungry <b>python</b> swallowed" in " ".join(lines[1:])
    assert f"sense: {points.labels['sense'][1]}" in lines
    assert "source: book" in lines
    assert lines[-1] == f"norm: {points.measures['norm'][1]:.4f}"
    assert max(len(re.sub("<.*?>", "", line)) for line in lines) <= 48
    first = hover_texts(points, coloring(points, "norm"))[0]
    assert "norm" not in first  # it has no value
    assert "sense:" not in first  # nor a label


def test_sentences_are_their_own_hover_and_long_ones_without_blanks_are_broken() -> None:
    points = points_of(1, unit="sentences", sentence="語" * 100)
    (text,) = hover_texts(points, UNCOLORED)
    lines = text.split("<br>")
    assert lines[0] == "語" * 48
    assert "<b>" not in text
    assert text.count("語") == 89  # cut, and marked as cut


def test_a_word_marked_across_a_line_end_is_closed_on_each_line() -> None:
    sentence = "x" * 44 + " python " + "y" * 30
    points = points_of(1, sentence=sentence)
    (text,) = hover_texts(points, UNCOLORED)
    for line in text.split("<br>"):
        assert line.count("<b>") == line.count("</b>")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sentence", "by"),
    [
        (SENTENCE, "sense"),
        ("<&>/" * 40 + "python", "norm"),
        ("蛇" * 60 + "python" + "蛇" * 90, "sense"),
    ],
)
def test_fifty_thousand_points_are_under_8_mb(sentence: str, by: str) -> None:
    points = points_of(50_000, n_senses=12, sentence=sentence)
    marks = MapMarks(chosen=range(0, 50_000, 2))
    color = coloring(points, by)
    figure = map_scatter(points, places_of(50_000), color=color, marks=marks, title="T")
    assert len(figure.to_json(validate=False)) < 8_000_000
    assert all(trace.type == "scattergl" for trace in figure.data)
    shown = figure.data[-1].hovertext[0]
    assert re.search("[a-z蛇&]", shown)


def test_few_points_are_svg_and_have_all_their_words() -> None:
    points = points_of(MAX_SVG)
    figure = map_scatter(points, places_of(MAX_SVG), title="T")
    assert {trace.type for trace in figure.data} == {"scatter"}
    assert "source: book" in figure.data[0].hovertext[-1]


def test_a_budget_too_small_for_sentences_leaves_names() -> None:
    points = points_of(100)
    texts = hover_texts(points, UNCOLORED, budget=1_500)
    assert texts == ["python"] * 100
    assert hover_texts(points, UNCOLORED, budget=10) == [""] * 100


# Labels and what stands around the map


def test_names_of_clusters_do_not_touch_and_the_largest_stay() -> None:
    ranges = [(0.0, 16.0), (0.0, 9.0)]
    labels = [
        ClusterLabel(i, (f"word{i}", "another"), (float(x), float(y)), 100 - i)
        for i, (x, y) in enumerate(np.random.default_rng(0).uniform(0, [16, 9], (60, 2)))
    ]
    notes = cluster_notes(labels, ranges)
    assert 5 < len(notes) == MAX_LABELS
    assert notes[0]["text"].startswith("word0")
    spots = np.array([(note["x"] * 650 / 16, note["y"] * 430 / 9) for note in notes])
    for i, one in enumerate(spots):
        gaps = np.abs(spots[i + 1 :] - one)
        assert ((gaps[:, 0] > 80) | (gaps[:, 1] > 15)).all()
    narrow = cluster_notes(labels, ranges, narrow=True)
    spots = np.array([(note["x"] * 340 / 16, note["y"] * 300 / 9) for note in narrow])
    for i, one in enumerate(spots):
        gaps = np.abs(spots[i + 1 :] - one)
        assert ((gaps[:, 0] > 80) | (gaps[:, 1] > 15)).all()


def test_names_at_the_edge_are_moved_into_the_frame() -> None:
    labels = [
        ClusterLabel(i, ("something",), (x, y), 5) for i, (x, y) in enumerate([(0, 1), (16, 8)])
    ]
    left, right = cluster_notes(labels, [(0.0, 16.0), (0.0, 9.0)])
    assert left["xshift"] > 0 > right["xshift"]
    assert cluster_notes([ClusterLabel(0, (), (1.0, 1.0), 5)], [(0.0, 16.0), (0.0, 9.0)]) == []


@pytest.mark.parametrize("narrow", [False, True])
def test_rows_above_a_map_have_room_of_their_own(narrow: bool) -> None:
    """Title and subtitle do not overlap, and each takes its own height."""
    points, places = points_of(30), layers_of(2, 30)
    look = {"layer": 1, "titles": ["T", "T"], "narrow": narrow}
    plain, told = (
        layers_scatter(points, places, (0, 1), subtitle=own, **look).layout
        for own in ("", "30 of 40 texts, chosen at random")
    )
    still = map_scatter(points, places[1], title="T", narrow=narrow).layout
    assert still.yaxis.scaleanchor is None  # the frame fills the width
    assert not still.xaxis.showticklabels
    assert not still.yaxis.showticklabels
    assert still.margin.t == plain.margin.t < told.margin.t
    assert told.title.subtitle.text == "30 of 40 texts, chosen at random"
    assert plain.title.subtitle.text is None
    assert (plain.modebar.orientation == "v") == (not narrow)


def test_the_legend_is_headed_by_what_is_coloured() -> None:
    points, places = points_of(30), layers_of(2, 30)
    color = coloring(points, "sense")
    still = map_scatter(points, places[1], color=color, title="T")
    plays = layers_scatter(points, places, (0, 1), layer=1, color=color, titles=["T", "T"])
    assert still.layout.legend.title.text == plays.layout.legend.title.text == "sense"
    assert map_scatter(points, places[1], title="T").layout.legend.title.text is None


def test_a_map_of_earlier_settings_is_paler_and_says_so() -> None:
    points, places = points_of(30), places_of(30)
    fresh, stale = (map_scatter(points, places, title="T", stale=own) for own in (False, True))
    assert not fresh.layout.annotations
    assert stale.layout.annotations[0].text == "Drawn with earlier settings"
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


# Numbers beside points


FRAME = [(0.0, 650.0), (0.0, 430.0)]  # a unit is a pixel


def test_a_point_by_itself_has_its_number_above() -> None:
    places = np.array([(100, 100), (300, 300)], float)
    assert sides(places, {0: "1", 1: "2"}, FRAME) == dict.fromkeys((0, 1), "top center")


def test_of_two_points_one_above_the_other_the_lower_one_s_number_makes_way() -> None:
    places = np.array([(100, 118), (100, 100)], float)
    found = sides(places, {0: "1", 1: "2"}, FRAME)
    assert found == {0: "top center", 1: "middle right"}


def test_points_in_a_heap_use_all_sides() -> None:
    random = np.random.default_rng(0)
    places = 215 + 12 * random.normal(size=(6, 2))
    found = sides(places, {i: str(i) for i in range(6)}, FRAME)
    assert len(set(found.values())) > 3
    assert set(found.values()) <= set(SIDES)


def test_in_space_and_without_labels_there_is_nothing_to_choose() -> None:
    places = np.zeros((2, 3))
    assert sides(places, {0: "1", 1: "2"}, map_ranges(places)) == dict.fromkeys(
        (0, 1), "top center"
    )
    assert sides(np.zeros((2, 2)), {}, FRAME) == {}


# Layers that play


def test_frames_move_every_point_in_the_frame_of_its_layer() -> None:
    points, places = points_of(40, n_senses=12), layers_of(4, 40)
    color = coloring(points, "sense")
    titles = [f"At {i}" for i in range(4)]
    look = {"color": color, "trails": [5, 6], "titles": titles, "subtitle": "some of many"}
    figure = layers_scatter(points, places, range(4), layer=2, **look)
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
    names = [ClusterLabel(0, ("river", "boat"), tuple(map(float, places[1, 0])), 9)]
    figure = layers_scatter(points, places, range(3), layer=1, clusters=names, titles=["T"] * 3)
    shown = [[note.visible for note in frame.layout.annotations] for frame in figure.frames]
    assert shown == [[False], [True], [False]]  # a frame without annotations would keep them
    assert [note.text for note in figure.layout.annotations] == ["river · boat"]


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


@pytest.mark.slow
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


# The frame that points fill


FEW = {"only": "python, the, a, river, bank, of"}


CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "the page's own": ((), {}),
    "PCA": ((), {"method": "pca"}),
    "t-SNE": ((), {"method": "tsne"}),
    "bank": ((), {"word": "bank"}),
    "Euclidean": ((), {"metric": "euclidean"}),
    "tokens, PCA": ((), {"unit": "tokens", "method": "pca", **FEW}),
    "sentences": ((), {"unit": "sentences"}),
    "own words": (TEXTS, {}),
    "own tokens, t-SNE": (TEXTS, {"unit": "tokens", "method": "tsne", "neighbors": 5}),
    "own sentences": (TEXTS, {"unit": "sentences"}),
    "one layer": ((), {"at_most": "50000"}),
}


@pytest.fixture(scope="module", autouse=True)
def _app() -> Iterator[None]:
    with app_settings(ALLOW_DOWNLOADS="0"):
        yield


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_points_fill_the_frame_each_way_at_every_layer(service: EncoderService, name: str) -> None:
    texts, controls = CASES[name]
    has_few = texts or ("unit" not in controls and controls.get("word") != "all")
    corpus = None if has_few else every_sixth(ambiguous_corpus())
    picture = drawn_map(service, map_view(*texts, **controls), corpus)
    frames = map_display(DEFAULT, picture).frames
    assert len(frames) == len(picture.layers)
    for places, frame in zip(picture.map.coordinates, frames, strict=True):
        assert min(fill(places, frame)) >= 0.7
        assert_holds(frame, places)


def every_sixth(corpus: Corpus) -> Corpus:
    assert corpus.spans is not None
    labels = {title: own[::6] for title, own in corpus.labels.items()}
    return Corpus(corpus.name, corpus.texts[::6], labels, corpus.spans[::6])


@given(
    scale=st.tuples(*[st.floats(0.01, 100)] * 2), angle=st.floats(0, 3.2), seed=st.integers(0, 99)
)
def test_points_of_any_shape_fill_their_frame(
    scale: tuple[float, float], angle: float, seed: int
) -> None:
    turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    places = np.random.default_rng(seed).normal(size=(60, 2)) * scale @ turn
    frame = map_ranges(places)
    assert max(fill(places, frame)) >= 0.7
    assert_holds(frame, places)


def test_a_thin_cloud_of_points_is_not_drawn_as_a_wide_one() -> None:
    line = np.stack([np.linspace(0, 10, 50), np.tile([0.0, 0.1], 25)], axis=1)
    for places, most in ((line, 0.04), (line[:, ::-1], 0.04)):
        frame = map_ranges(places)
        assert min(fill(places, frame)) < most
        assert_holds(frame, places)


def assert_holds(frame: Ranges, places: np.ndarray) -> None:
    """Every point is strictly inside the frame."""
    low, high = np.array(frame).T
    assert (places > low).all()
    assert (places < high).all()


def test_how_much_is_filled_is_measured_within_the_frame() -> None:
    places = np.array([(0, 0), (2, 1), (10, 10)], float)
    assert fill(places, [(0.0, 4.0), (0.0, 10.0)]) == pytest.approx((1.0, 1.0))
    assert fill(places[:2], [(0.0, 4.0), (0.0, 10.0)]) == pytest.approx((0.5, 0.1))
    assert fill(places[:0], [(0.0, 4.0), (0.0, 10.0)]) == (0.0, 0.0)


def test_no_points_equal_points_and_points_on_a_line_have_a_frame() -> None:
    line = np.stack([np.arange(5), np.zeros(5)], axis=1)
    for places in (np.zeros((0, 2)), np.ones((4, 2)), line):
        for low, high in map_ranges(places):
            assert low < high


# Density, and browsers without WebGL


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


def test_dates_have_a_bar_with_dates() -> None:
    points = points_of(40)
    days = tuple(f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(40))
    points = replace(points, labels={"sent": (*days[:-1], "")})
    color = coloring(points, "sent")
    assert (color.kind, color.dates) == ("measure", True)
    figure = map_scatter(points, places_of(40), color=color, title="T")
    (bar,) = [t.marker.colorbar for t in figure.data if t.marker.colorbar.ticktext]
    assert (bar.ticktext[0], bar.ticktext[-1]) == (min(days[:-1]), max(days[:-1]))
    assert sum(len(trace.x) for trace in figure.data) == 40  # the one without a date is grey
    assert "sent: 2024-02-02" in figure.data[-1].hovertext[1]
