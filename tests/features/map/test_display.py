"""A map as a view shows it: every choice, neighbours, marks, another map's points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import NearestNeighbors

from contextlens.core import EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.features.map import display
from contextlens.features.map.coloring import LAYER
from contextlens.features.map.controls import PAGE
from contextlens.features.map.display import (
    MapDisplay,
    MarkedPoints,
    linked_points,
    map_display,
    marked,
)
from contextlens.features.map.identity import name_of, once
from contextlens.features.map.request import requested_map
from contextlens.features.map.scatter import map_order
from contextlens.features.map.selection import PointSelection
from contextlens.maps.request import MapSettings
from contextlens.maps.result import MapResult
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.maps import QUICK, TEXTS, map_view, shown_map

RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y} python'


def marked_view(picture: MapResult, **controls: Any) -> ViewState:
    return map_view(**QUICK, marks_of=name_of(picture), **controls)


CHOICES: dict[str, tuple[dict[str, Any], int]] = {
    "some words": ({"only": "Python, pet"}, 4),
    "all tokens": ({"unit": "tokens", "special": True}, 31),
    "some tokens": ({"unit": "tokens", "only": "##bel, python"}, 4),
    "pooler": ({"unit": "sentences", "sentences_pooling": "pooler"}, 4),
    "Euclidean": ({"metric": "euclidean"}, 18),
    "one layer in 3-D": ({"dims": "3-D", "at_most": "50000", "layer": 2}, 18),
}


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_can_be_shown(service: EncoderService, name: str) -> None:
    controls, n = CHOICES[name]
    shown = shown_map(service, map_view(*TEXTS, **{**QUICK, **controls}))
    assert shown.points.n_points == n == len(shown.positions)
    assert shown.positions.shape[1] == (3 if "3-D" in name else 2)
    one_layer = name == "pooler" or "at_most" in controls
    assert len(shown.result.layers) == (1 if one_layer else 7)
    assert (shown.layer == -1) == (name == "pooler")
    assert shown.result.n_able == (3 if name == "some words" else 4)
    assert shown.title
    assert shown.finding.claims
    assert sum(map(len, map_order(shown.finding.color, n))) == n


@pytest.mark.parametrize(
    ("texts", "unit"),
    [
        (("hello",), "words"),
        (("a python",), "tokens"),
        (("I love my pet python",) * 8, "sentences"),
        (("🐍 python",), "words"),
        ((RUDE, RUDE), "sentences"),
    ],
    ids=["one word", "two words", "identical", "emoji", "rude"],
)
def test_few_points_are_shown_with_the_reason(
    service: EncoderService, texts: tuple[str, ...], unit: str
) -> None:
    view = map_view(*texts, unit=unit, neighbors=5, **QUICK)
    shown = shown_map(service, view)
    assert np.isfinite(shown.positions).all()
    assert shown.title
    assert shown.finding.claims
    n = shown.points.n_points
    for point in (0, n - 1):
        assert len(shown.true_neighbors(point)) == len(shown.map_neighbors(point)) == min(10, n - 1)
        assert shown.called(point)
    assert "<img" not in " ".join(shown.finding.claims).replace(r"\<img", "")


def test_another_layer_of_the_same_map_is_another_finding(pythons: MapResult) -> None:
    last, first = map_display(DEFAULT, pythons), map_display(replace(DEFAULT, layer=1), pythons)
    assert (last.layer, first.layer) == (6, 1)
    assert first.title.startswith("Layer 1 gives 88% of the uses of “python”")
    assert first.finding.titles == last.finding.titles  # one for each frame that is played
    np.testing.assert_array_equal(first.positions, pythons.map.coordinates[1])
    np.testing.assert_array_equal(first.vectors, pythons.vectors[1])
    assert first.finding.key != last.finding.key
    assert map_display(replace(DEFAULT, layer=77), pythons).layer == 6
    assert map_display(DEFAULT, pythons, layer=2).layer == 2


@pytest.mark.parametrize(
    "controls",
    [
        {"source": "nowhere", "unit": "letters", "footing": "all", "method": "tarot"},
        {"source": 1, "unit": True, "neighbors": -5, "seed": 2**53, "min_dist": "nan"},
        {"method": "pca", "point": 2**53, "pin_a": -7, "marks_of": "x", "color": "no such"},
        {"method": "pca", "beside": "nothing", "dims": "9-D", "at_most": "1e9", "find": " "},
    ],
    ids=str,
)
def test_broken_controls_from_an_address_mean_the_defaults(
    service: EncoderService, pythons: MapResult, controls: dict[str, Any]
) -> None:
    view = replace(DEFAULT, controls={PAGE: controls}, layer=77)
    asked = requested_map(view, service.load(view.model))
    assert asked.request is not None
    assert replace(asked.request, settings=pythons.request.settings) == pythons.request
    shown = map_display(view, pythons)
    assert shown.finding is map_display(DEFAULT, pythons).finding
    assert shown.matches is None
    assert shown.marked == MarkedPoints(None, None, None, None)


def test_the_other_map_keeps_the_colours_of_the_first(pythons: MapResult) -> None:
    order = tuple(reversed(map_display(DEFAULT, pythons).finding.color.order))
    assert map_display(DEFAULT, pythons, order=order).finding.color.order == order


@pytest.mark.parametrize("neighbors", [5, 15])
def test_true_neighbours_and_cosines_are_those_of_the_full_space(
    service: EncoderService, neighbors: int
) -> None:
    view = map_view(layer=3, neighbors=neighbors, **QUICK)
    shown = shown_map(service, view)
    near = NearestNeighbors(n_neighbors=11, metric="cosine").fit(shown.vectors)
    distances, rows = near.kneighbors(shown.vectors[7:8])
    assert shown.true_neighbors(7) == rows[0, 1:].tolist()
    np.testing.assert_allclose(shown.cosines(7, rows[0, 1:]), 1 - distances[0, 1:], atol=1e-5)
    on_map = (
        NearestNeighbors(n_neighbors=11).fit(shown.positions).kneighbors(shown.positions[7:8])[1]
    )
    assert set(shown.map_neighbors(7)) == set(on_map[0, 1:].tolist())
    pair = cosine_similarity(shown.vectors[[2]], shown.vectors[[20]])[0, 0]
    assert shown.cosines(2, [20])[0] == pytest.approx(pair, abs=1e-5)


def test_points_are_found_again_in_another_map_by_their_text(
    service: EncoderService, pythons: MapResult
) -> None:
    view = map_view(every_word=True, only="python", **QUICK)
    one = shown_map(service, view, Corpus("one", (TEXTS[0], TEXTS[1], TEXTS[2])))
    other = shown_map(service, view, Corpus("other", (TEXTS[2], TEXTS[0])))
    assert linked_points(one, other, (0, 1)) == (1,)
    assert linked_points(one, other, (2,)) == (0,)
    assert linked_points(other, one, (0, 1)) == (0, 2)
    assert linked_points(one, map_display(DEFAULT, pythons), (0, 1, 2)) == ()


def test_the_same_map_drawn_elsewhere_has_its_own(pythons: MapResult) -> None:
    """A text's vectors differ in their last digits with the texts that are encoded beside it."""
    moved = replace(pythons, map=replace(pythons.map, coordinates=-pythons.map.coordinates))
    assert once(pythons, "where", compute=lambda: "here") == "here"
    assert once(moved, "where", compute=lambda: "there") == "there"
    assert once(replace(pythons), "where", compute=lambda: "elsewhere") == "here"


@pytest.mark.parametrize("controls", [{}, {"color": LAYER}])
def test_without_webgl_only_the_first_points_and_their_marks_are_drawn(
    pythons: MapResult, controls: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display, "MAX_SVG", 70)
    view = map_view(marks_of=name_of(pythons), point=3, pin_a=20, find="python", **controls)
    n = 70 // 7 if controls else 32
    shown = map_display(view, pythons, has_webgl=False)
    assert shown.drawn.names == shown.points.names[:n]
    assert len(shown.drawn_color.values) == (0 if controls else n)  # one colour has no values
    marks = shown.drawn_marks(shown.marks("chart"))
    assert marks.focus == 3
    rows = [*marks.neighbours, *(row for ring in marks.rings.values() for row in ring)]
    assert max(rows) < n
    assert ("Pinned" in marks.rings) == (not controls)
    whole = map_display(view, pythons)
    assert whole.drawn is whole.points


# Marks


def test_marks_are_those_of_the_view(pythons: MapResult) -> None:
    view = marked_view(pythons, point=7, pin_a=2, pin_b=20, find=" HOT-water ")
    shown = map_display(view, pythons)
    marks = shown.marks("drawing")
    points = pythons.points
    wanted = [i for i, t in enumerate(points.sentence) if "hot-water" in points.texts[t]]
    assert shown.matches == tuple(wanted)
    assert marks.rings == {"Found": tuple(wanted), "Pinned": (2, 20)}
    assert (marks.focus, marks.neighbours) == (7, tuple(shown.true_neighbors(7)))
    assert marks.chosen is None
    assert shown.marks("drawing", linked=(1, 2)).chosen == (1, 2)
    plain = map_display(replace(view, controls={PAGE: {"find": "no such thing"}}), pythons)
    assert plain.matches == ()
    assert plain.marks("drawing").rings == {}
    assert plain.marks("drawing").focus is None
    beyond = marked(marked_view(pythons, point=32, pin_a=-1, pin_b=31), pythons, None)
    assert beyond == MarkedPoints(None, None, 31, None)


def test_a_selection_is_told_and_drawn_where_it_was_not_made(pythons: MapResult) -> None:
    def selected(*points: int) -> MapDisplay:
        selection = PointSelection(name_of(pythons), "map_chart", "here", points)
        marked = MarkedPoints(None, None, None, selection)
        return replace(map_display(DEFAULT, pythons), marked=marked)

    shown = selected(3, 17, 21)
    assert shown.marks("here").chosen is None
    assert shown.marks("elsewhere").chosen == (3, 17, 21)
    assert "**3** of 32 points are selected" in " ".join(shown.selected_in_words())
    assert selected().selected_in_words() == ("Nothing is selected.",)


def test_marks_do_not_count_for_another_sample_of_the_same_texts(pythons: MapResult) -> None:
    def among(*rows: int) -> MapResult:
        points = pythons.points.take(rows)
        texts = tuple(points.texts[i] for i in points.sentence)
        return replace(
            pythons, gathered=replace(pythons.gathered, points=replace(points, texts=texts))
        )

    view = map_view(marks_of=name_of(pythons), point=3)
    for other in (among(*range(30)), among(*range(31, -1, -1))):
        assert marked(view, other, None).point is None
    moved = replace(pythons, request=replace(pythons.request, settings=MapSettings(seed=1)))
    assert marked(view, moved, None).point == 3
