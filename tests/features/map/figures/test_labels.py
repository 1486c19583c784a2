"""What is written on a map and around it has room, at any width and in space."""

from __future__ import annotations

import numpy as np
import pytest

from components.features.map.figures import MAX_LABELS, cluster_notes, coloring
from components.features.map.layer_figures import layers_scatter, map_scatter
from components.maps.clusters import ClusterLabel
from tests.features.map.points import layers_of, places_of, points_of

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
