"""The frame of a map: rows above it, names and numbers in it, ranges that points fill."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core import EncoderService
from contextlens.corpus.bundled import sample_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.features.map.controls import MAX_GROUP_LABELS
from contextlens.features.map.display import map_display
from contextlens.features.map.frame import (
    SIDES,
    Ranges,
    cluster_notes,
    map_ranges,
    sides,
)
from contextlens.features.map.layer_frames import layers_scatter
from contextlens.features.map.scatter import map_scatter
from contextlens.maps.clusters import ClusterLabel
from contextlens.ui.state.view import DEFAULT
from tests.features.map.points import layers_of, points_of
from tests.support.maps import TEXTS, drawn_map, map_view


@pytest.mark.parametrize(("narrow", "width", "height"), [(False, 650, 430), (True, 340, 300)])
def test_names_of_clusters_do_not_touch_and_the_largest_stay(
    narrow: bool, width: int, height: int
) -> None:
    labels = [
        ClusterLabel(i, (f"word{i}", "another"), (float(x), float(y)), 100 - i)
        for i, (x, y) in enumerate(np.random.default_rng(0).uniform(0, [16, 9], (60, 2)))
    ]
    notes = cluster_notes(labels, [(0.0, 16.0), (0.0, 9.0)], narrow=narrow)
    assert 5 < len(notes) <= MAX_GROUP_LABELS
    assert notes[0]["text"].startswith("word0")
    spots = np.array([(note["x"] * width / 16, note["y"] * height / 9) for note in notes])
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
    bare = map_scatter(points, places[1], title="", subtitle="30 of 40", narrow=narrow).layout
    assert bare.margin.t == (62 if narrow else 36)  # a narrow map has its legend there, too
    assert bare.title.subtitle.text is None


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


# The frame that points fill


FEW = {"only": "python, the, a, river, bank, of"}


CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "the page's own": ((), {}),
    "t-SNE": ((), {"method": "tsne"}),
    "bank": ((), {"word": "bank"}),
    "Euclidean": ((), {"metric": "euclidean"}),
    "tokens, PCA": ((), {"unit": "tokens", "method": "pca", **FEW}),
    "own tokens, t-SNE": (TEXTS, {"unit": "tokens", "method": "tsne", "neighbors": 5}),
    "one layer": ((), {"at_most": "50000"}),
}


@pytest.mark.parametrize("name", CASES)
def test_points_fill_the_frame_each_way_at_every_layer(service: EncoderService, name: str) -> None:
    texts, controls = CASES[name]
    has_few = texts or ("unit" not in controls and controls.get("word") != "all")
    corpus = None if has_few else every_sixth(sample_corpus())
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


def fill(places: np.ndarray, frame: Ranges) -> np.ndarray:
    """The share of the frame's width and of its height that points span."""
    low, high = np.array(frame).T
    share: np.ndarray = np.ptp(places, axis=0) / (high - low)
    return share


def assert_holds(frame: Ranges, places: np.ndarray) -> None:
    """Every point is strictly inside the frame."""
    low, high = np.array(frame).T
    assert (places > low).all()
    assert (places < high).all()


def test_no_points_equal_points_and_points_on_a_line_have_a_frame() -> None:
    line = np.stack([np.arange(5), np.zeros(5)], axis=1)
    for places in (np.zeros((0, 2)), np.ones((4, 2)), line):
        for low, high in map_ranges(places):
            assert low < high
