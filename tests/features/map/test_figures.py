"""Maps: which point a trace draws, colours that stay, bounded bytes, texts that are safe."""

from __future__ import annotations

import re

import numpy as np
import pytest

from components.core.errors import RequestError
from components.features.map.figures.axes import INK
from components.features.map.figures.colors import (
    MAX_COLORED,
    UNCOLORED,
    Coloring,
    coloring,
    groups,
)
from components.features.map.figures.frame import map_frames
from components.features.map.figures.hover import hover_texts
from components.features.map.figures.labels import MAX_LABELS, cluster_notes
from components.features.map.figures.layers import MAX_PLAYED_POINTS, MAX_TRAILS, layers_scatter
from components.features.map.figures.marks import Marks
from components.features.map.figures.one_layer import map_order, map_scatter, selected_points
from components.features.map.figures.points import MAX_SVG, SHAPES
from components.figures.theme import CATEGORICAL
from components.maps.clusters import ClusterLabel
from components.maps.points import Points

SENTENCE = (
    "The keeper said that a hungry python swallowed the rabbit near the old river bank at dawn"
)


def points_of(n: int, *, n_senses: int = 4, unit="words", sentence: str = SENTENCE) -> Points:
    """Points with a label, a second label and a measure; some have none."""
    random = np.random.default_rng(n)
    texts = tuple(f"{sentence} {i}." for i in range(n))
    start = sentence.find("python")
    spans = np.tile([start, start + 6], (n, 1))
    senses = tuple(f"sense {int(v)}" for v in random.integers(0, n_senses, n))
    measure = random.normal(size=n).astype(np.float32)
    measure[::10] = np.nan
    labels = {"sense": ("", *senses[1:]), "source": ("book",) * n}
    return Points(unit, texts, np.arange(n), spans, ("python",) * n, labels, {"norm": measure})


def places_of(n: int, n_axes: int = 2) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, n_axes)).astype(np.float32)


def layers_of(n_layers: int, n: int) -> np.ndarray:
    return places_of(n_layers * n).reshape(n_layers, n, 2)


def drawn_at(figure, order) -> dict[int, tuple[float, ...]]:
    """Where each point is, as the figure's first traces have it."""
    found = {}
    for trace, rows in zip(figure.data, order, strict=False):
        axes = [trace[axis] for axis in ("xyz" if trace.type == "scatter3d" else "xy")]
        found |= {int(row): tuple(map(float, at)) for row, *at in zip(rows, *axes, strict=True)}
    return found


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


# Texts


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
    marks = Marks(rings={EVIL: [0]}, focus=1)
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
    assert text.count("語") == 89  # cut, with a sign for it


def test_a_word_marked_across_a_line_end_is_closed_on_each_line() -> None:
    sentence = "x" * 44 + " python " + "y" * 30
    points = points_of(1, sentence=sentence)
    (text,) = hover_texts(points, UNCOLORED)
    for line in text.split("<br>"):
        assert line.count("<b>") == line.count("</b>")


# Bytes


@pytest.mark.slow
@pytest.mark.parametrize("by", ["sense", "norm"])
@pytest.mark.parametrize(
    "sentence", [SENTENCE, "<&>/" * 40 + "python", "蛇" * 60 + "python" + "蛇" * 90]
)
def test_fifty_thousand_points_are_under_8_mb(sentence: str, by: str) -> None:
    points = points_of(50_000, n_senses=12, sentence=sentence)
    marks = Marks(chosen=range(0, 50_000, 2))
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


# Clusters' names, the frame


def test_names_of_clusters_do_not_touch_and_the_largest_stay() -> None:
    ranges = [(0.0, 16.0), (0.0, 9.0)]
    labels = [
        ClusterLabel(i, (f"word{i}", "another"), (float(x), float(y)), 100 - i)
        for i, (x, y) in enumerate(np.random.default_rng(0).uniform(0, [16, 9], (60, 2)))
    ]
    notes = cluster_notes(labels, ranges)
    assert 5 < len(notes) <= MAX_LABELS
    assert notes[0]["text"].startswith("word0")
    spots = np.array([(note["x"], note["y"]) for note in notes]) * 900 / 16
    for i, one in enumerate(spots):
        gaps = np.abs(spots[i + 1 :] - one)
        assert ((gaps[:, 0] > 80) | (gaps[:, 1] > 15)).all()
    assert len(cluster_notes(labels, ranges, narrow=True)) < len(notes)


def test_names_at_the_edge_are_moved_into_the_frame() -> None:
    labels = [
        ClusterLabel(i, ("something",), (x, y), 5) for i, (x, y) in enumerate([(0, 1), (16, 8)])
    ]
    left, right = cluster_notes(labels, [(0.0, 16.0), (0.0, 9.0)])
    assert left["xshift"] > 0 > right["xshift"]
    assert cluster_notes([ClusterLabel(0, (), (1.0, 1.0), 5)], [(0.0, 16.0), (0.0, 9.0)]) == []


def test_axes_have_one_scale_and_no_numbers() -> None:
    layout = map_scatter(points_of(30), places_of(30), title="A finding").layout
    assert layout.yaxis.scaleanchor == "x"
    assert not layout.xaxis.showticklabels
    assert not layout.yaxis.showticklabels
    assert layout.title.text == "A finding"


@pytest.mark.parametrize("narrow", [False, True])
def test_rows_above_a_map_have_room_of_their_own(narrow: bool) -> None:
    """Title and subtitle do not stand in one another's place, and each costs its height."""
    points, places = points_of(30), layers_of(2, 30)
    look = {"layer": 1, "titles": ["T", "T"], "narrow": narrow}
    plain, told = (
        layers_scatter(points, places, (0, 1), subtitle=own, **look).layout
        for own in ("", "30 of 40 texts, chosen at random")
    )
    still = map_scatter(points, places[1], title="T", narrow=narrow).layout
    assert still.margin.t == plain.margin.t < told.margin.t
    assert told.title.subtitle.text == "30 of 40 texts, chosen at random"
    assert plain.title.subtitle.text is None
    assert (plain.modebar.orientation == "v") == (not narrow)


def test_every_frame_has_the_line_below_its_title() -> None:
    figure = layers_scatter(
        points_of(9), layers_of(2, 9), (0, 1), layer=1, titles=["A", "B"], subtitle="some of many"
    )
    assert [frame.layout.title.subtitle.text for frame in figure.frames] == ["some of many"] * 2
    assert [frame.layout.title.text for frame in figure.frames] == ["A", "B"]


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


# Layers


def test_frames_move_every_point_in_the_frame_of_its_layer() -> None:
    points, places = points_of(40, n_senses=12), layers_of(4, 40)
    color = coloring(points, "sense")
    titles = [f"At {i}" for i in range(4)]
    figure = layers_scatter(
        points, places, range(4), layer=2, color=color, trails=[5, 6], titles=titles
    )
    order, ranges = map_order(color, 40), map_frames(places)
    assert drawn_at(figure, order) == {i: tuple(map(float, at)) for i, at in enumerate(places[2])}
    assert figure.layout.title.text == "At 2"
    for layer, frame in enumerate(figure.frames):
        own = {i: tuple(map(float, at)) for i, at in enumerate(places[layer])}
        assert drawn_at(frame, order) == own
        assert frame.layout.title.text == titles[layer]
        assert len(frame.data) == len(figure.data)
        assert [t.type for t in frame.data] == [t.type for t in figure.data]
        axes = frame.layout.xaxis.range, frame.layout.yaxis.range
        assert axes == tuple(map(tuple, ranges[layer]))
    assert figure.layout.xaxis.range == ranges[2][0]
    assert [frame.name for frame in figure.frames] == ["0", "1", "2", "3"]


def test_what_is_enlarged_is_said_in_its_frame_alone() -> None:
    places = layers_of(1, 40)
    both = np.concatenate([places, places / 4])
    figure = layers_scatter(points_of(40), both, (0, 1), layer=1, titles=["T", "T"])
    told = [[note.text for note in part.layout.annotations] for part in (*figure.frames, figure)]
    assert told[0] == []
    assert told[1] == told[2] == ["enlarged 3.2 times"]
    assert (figure.layout.xaxis.constrain, figure.layout.yaxis.scaleanchor) == ("domain", "x")


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
        marks=Marks(labels={3: "1", 5: "2"}),
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
