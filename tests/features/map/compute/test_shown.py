"""A map as a view looks at it: every choice, few points, wild addresses, neighbours, marks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import silhouette_score
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import NearestNeighbors

from components.core import EncoderService
from components.corpus.corpus import Corpus
from components.features.map.compute import (
    GROUPS,
    LAYER,
    NOTHING,
    MapShown,
    asked_map,
    linked_points,
    map_shown,
    once,
    sense_tests,
)
from components.features.map.controls import PAGE
from components.features.map.layer_figures import map_order
from components.features.map.marks import Marked, Selection, name_of
from components.maps.picture import Picture
from components.ui.state.view import DEFAULT, ViewState
from tests.support.maps import QUICK, TEXTS, drawn_map, map_view

RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y} python'


def shown_of(service: EncoderService, view: ViewState) -> MapShown:
    return map_shown(view, drawn_map(service, view))


def marked_view(picture: Picture, **controls: Any) -> ViewState:
    return map_view(**QUICK, marks_of=name_of(picture), **controls)


# What is mapped

CHOICES: dict[str, tuple[dict[str, Any], int]] = {
    "words": ({}, 18),
    "some words": ({"only": "Python, pet"}, 4),
    "first sub-token": ({"words_pooling": "first"}, 18),
    "last sub-token": ({"words_pooling": "last"}, 18),
    "tokens": ({"unit": "tokens"}, 23),
    "all tokens": ({"unit": "tokens", "special": True}, 31),
    "some tokens": ({"unit": "tokens", "only": "##bel, python"}, 4),
    "sentences": ({"unit": "sentences"}, 4),
    "own tokens": ({"unit": "sentences", "sentences_pooling": "own"}, 4),
    "cls": ({"unit": "sentences", "sentences_pooling": "cls"}, 4),
    "max": ({"unit": "sentences", "sentences_pooling": "max"}, 4),
    "pooler": ({"unit": "sentences", "sentences_pooling": "pooler"}, 4),
    "Euclidean": ({"metric": "euclidean"}, 18),
    "one layer": ({"footing": "one", "layer": 2}, 18),
    "3-D": ({"dims": "3-D"}, 18),
    "one layer in 3-D": ({"dims": "3-D", "footing": "one"}, 18),
}


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_can_be_shown(service: EncoderService, name: str) -> None:
    controls, n = CHOICES[name]
    shown = shown_of(service, map_view(*TEXTS, **{**QUICK, **controls}))
    assert shown.points.n_points == n == len(shown.places)
    assert shown.places.shape[1] == (3 if "3-D" in name else 2)
    one_layer = name == "pooler" or "footing" in controls
    assert len(shown.picture.layers) == (1 if one_layer else 7)
    assert (shown.layer == -1) == (name == "pooler")
    assert shown.n_able == (3 if name == "some words" else 4)
    assert shown.title
    assert shown.finding.reading
    assert sum(map(len, map_order(shown.finding.color, n))) == n


@pytest.mark.parametrize("unit", ["words", "tokens", "sentences"])
@pytest.mark.parametrize(
    "texts",
    [("hello",), ("a python",), ("I love my pet python",) * 8, ("🐍 python",), (RUDE, RUDE)],
    ids=["one word", "two words", "identical", "emoji", "rude"],
)
def test_few_points_are_shown_with_the_reason(
    service: EncoderService, texts: tuple[str, ...], unit: str
) -> None:
    view = map_view(*texts, unit=unit, neighbors=5, footing="one", **QUICK)
    shown = shown_of(service, view)
    assert np.isfinite(shown.places).all()
    assert shown.title
    assert shown.finding.reading
    n = shown.points.n_points
    for point in (0, n - 1):
        assert len(shown.true_neighbors(point)) == len(shown.map_neighbors(point)) == min(10, n - 1)
        assert shown.called(point)
    assert "<img" not in " ".join(shown.finding.reading).replace(r"\<img", "")


def test_the_two_pythons_part_in_the_later_layers(pythons: Picture) -> None:
    senses = np.array(pythons.points.labels["sense"])
    scores = [silhouette_score(v, senses, metric="cosine") for v in pythons.vectors]
    assert abs(scores[0]) < 0.1  # one word is the same everywhere but for its position
    assert scores[-1] > scores[1] + 0.05
    shown = map_shown(DEFAULT, pythons)
    assert shown.title == (
        "Layer 6 gives 94% of the uses of “python” the right sense (guessing: 50%)"
    )
    assert shown.finding.course.startswith("Layer 6 separates the senses of “python” best")
    assert shown.finding.reading[0].startswith("Layer 6 separates the senses of “python” best")
    assert shown.finding.one_name


def test_a_split_column_tests_senses_on_the_map_as_on_senses(service: EncoderService) -> None:
    texts = tuple(f"my python {word} {i}" for i in range(4) for word in ("sleeps", "compiles"))
    labels = {"sense": ("animal", "language") * 4, "split": ("train",) * 4 + ("test",) * 4}
    view = map_view(only="python", every_word=True, **QUICK)
    points = drawn_map(service, view, Corpus("mine", texts, labels))
    tests = sense_tests(points.points, points.vectors, points.layers)
    assert tests is not None
    assert (tests.trial.how, tests.curve[0].n) == ("split", 4)


def test_another_layer_of_the_same_map_is_another_finding(pythons: Picture) -> None:
    last, first = map_shown(DEFAULT, pythons), map_shown(replace(DEFAULT, layer=1), pythons)
    assert (last.layer, first.layer) == (6, 1)
    assert first.title.startswith("Layer 1 gives 88% of the uses of “python”")
    assert first.finding.titles == last.finding.titles  # one for each frame that is played
    np.testing.assert_array_equal(first.places, pythons.coordinates[1])
    np.testing.assert_array_equal(first.vectors, pythons.vectors[1])
    assert first.finding.key != last.finding.key
    assert map_shown(replace(DEFAULT, layer=77), pythons).layer == 6
    assert map_shown(DEFAULT, pythons, layer=2).layer == 2


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
    service: EncoderService, pythons: Picture, controls: dict[str, Any]
) -> None:
    view = replace(DEFAULT, controls={PAGE: controls}, layer=77)
    asked = asked_map(view, service.load(view.model))
    assert asked.request is not None
    assert replace(asked.request, settings=pythons.request.settings) == pythons.request
    shown = map_shown(view, pythons)
    assert shown.finding is map_shown(DEFAULT, pythons).finding
    assert shown.found is None
    assert shown.marked == Marked(None, None, None, None)


def test_texts_that_cannot_be_used_are_a_problem_and_no_request(service: EncoderService) -> None:
    card = service.load(DEFAULT.model)
    asked = asked_map(map_view("", "  "), card)
    assert asked.problem.startswith("Your sentences are empty.")
    assert (asked.corpus, asked.request) == (None, None)
    asked = asked_map(map_view(source="file"), card)
    assert (asked.problem, asked.corpus, asked.request) == ("", None, None)


# Colours


@pytest.mark.parametrize(
    ("controls", "title"),
    [
        ({}, "sense"),
        ({"color": "part of text"}, "part of text"),
        ({"color": "position in the sentence"}, "position in the sentence"),
        ({"color": GROUPS}, GROUPS),
        ({"color": NOTHING}, ""),
        ({"color": LAYER}, ""),
        ({"color": "token"}, "sense"),  # what words do not have
        ({"color": "no such"}, "sense"),
    ],
    ids=str,
)
def test_points_are_coloured_by_what_they_have(
    pythons: Picture, controls: dict[str, Any], title: str
) -> None:
    shown = map_shown(map_view(**QUICK, **controls), pythons)
    assert shown.finding.color.title == title
    assert shown.finding.every_layer == (controls.get("color") == LAYER)
    assert shown.finding.column == (title if title in pythons.points.labels else None)


def test_every_colour_that_is_offered_is_one_that_the_points_have(service: EncoderService) -> None:
    card = service.load(DEFAULT.model)
    for unit in ("words", "tokens", "sentences"):
        view = map_view(*TEXTS, unit=unit, **QUICK)
        picture = drawn_map(service, view)
        for name in asked_map(view, card).color.options:
            color = map_shown(map_view(*TEXTS, unit=unit, color=name, **QUICK), picture).finding
            assert color.every_layer if name == LAYER else True
            assert name in {"", LAYER, NOTHING} or color.color.title == name


def test_a_label_named_like_a_column_of_the_points_can_be_chosen(service: EncoderService) -> None:
    corpus = Corpus("mine", TEXTS, {"word": ("a", "b", "a", "b"), "same": ("x",) * 4})
    view = map_view(*TEXTS, color="word (label)", **QUICK)
    shown = map_shown(view, drawn_map(service, view, corpus))
    assert shown.finding.color.title == "word (label)"
    view = map_view(*TEXTS, **QUICK)  # the first label of more than one kind
    assert map_shown(view, drawn_map(service, view, corpus)).finding.color.title == "word"


def test_the_other_map_keeps_the_colours_of_the_first(pythons: Picture) -> None:
    order = tuple(reversed(map_shown(DEFAULT, pythons).finding.color.order))
    assert map_shown(DEFAULT, pythons, order=order).finding.color.order == order


# Neighbours and marks


@pytest.mark.parametrize("neighbors", [5, 15])
def test_true_neighbours_and_cosines_are_those_of_the_full_space(
    service: EncoderService, neighbors: int
) -> None:
    view = map_view(layer=3, neighbors=neighbors, **QUICK)
    shown = shown_of(service, view)
    near = NearestNeighbors(n_neighbors=11, metric="cosine").fit(shown.vectors)
    distances, rows = near.kneighbors(shown.vectors[7:8])
    assert shown.true_neighbors(7) == rows[0, 1:].tolist()
    np.testing.assert_allclose(shown.cosines(7, rows[0, 1:]), 1 - distances[0, 1:], atol=1e-5)
    on_map = NearestNeighbors(n_neighbors=11).fit(shown.places).kneighbors(shown.places[7:8])[1]
    assert set(shown.map_neighbors(7)) == set(on_map[0, 1:].tolist())
    pair = cosine_similarity(shown.vectors[[2]], shown.vectors[[20]])[0, 0]
    assert shown.cosines(2, [20])[0] == pytest.approx(pair, abs=1e-5)


def test_marks_are_those_of_the_view(pythons: Picture) -> None:
    view = marked_view(pythons, point=7, pin_a=2, pin_b=20, find=" HOT-water ")
    shown = map_shown(view, pythons)
    marks = shown.marks("drawing")
    points = pythons.points
    wanted = [i for i, t in enumerate(points.sentence) if "hot-water" in points.texts[t]]
    assert shown.found == tuple(wanted)
    assert marks.rings == {"Found": tuple(wanted), "Pinned": (2, 20)}
    assert (marks.focus, marks.neighbours) == (7, tuple(shown.true_neighbors(7)))
    assert marks.chosen is None
    assert shown.marks("drawing", linked=(1, 2)).chosen == (1, 2)
    plain = map_shown(replace(view, controls={PAGE: {"find": "no such thing"}}), pythons)
    assert plain.found == ()
    assert plain.marks("drawing").rings == {}
    assert plain.marks("drawing").focus is None


def test_a_selection_is_told_and_drawn_where_it_was_not_made(pythons: Picture) -> None:
    def selected(*points: int) -> MapShown:
        selection = Selection(name_of(pythons), "map_chart", "here", points)
        marked = Marked(None, None, None, selection)
        return replace(map_shown(DEFAULT, pythons), marked=marked)

    shown = selected(3, 17, 21)
    assert shown.marks("here").chosen is None
    assert shown.marks("elsewhere").chosen == (3, 17, 21)
    assert "**3** of 32 points are selected" in " ".join(shown.selected_in_words())
    assert "**2** of 32 points are selected" in " ".join(selected(3, 17).selected_in_words())
    assert " ".join(selected().selected_in_words()) == "Nothing is selected."


def test_points_are_found_again_in_another_map_by_their_text(
    service: EncoderService, pythons: Picture
) -> None:
    def shown(corpus: Corpus) -> MapShown:
        view = map_view(every_word=True, only="python", **QUICK)
        return map_shown(view, drawn_map(service, view, corpus))

    one = shown(Corpus("one", (TEXTS[0], TEXTS[1], TEXTS[2])))
    other = shown(Corpus("other", (TEXTS[2], TEXTS[0])))
    assert linked_points(one, other, (0, 1)) == (1,)
    assert linked_points(one, other, (2,)) == (0,)
    assert linked_points(other, one, (0, 1)) == (0, 2)
    assert linked_points(one, map_shown(DEFAULT, pythons), (0, 1, 2)) == ()


# Thrift


def test_what_walks_over_all_points_is_done_once(service: EncoderService, pythons: Picture) -> None:
    """A run of the page after the first reads what was found; other maps have their own."""
    view = marked_view(pythons, point=7, find="python")
    first, again = map_shown(view, pythons), map_shown(view, pythons)
    assert again.finding is first.finding
    other = drawn_map(service, map_view(word="bank", **QUICK))
    assert map_shown(view, other).finding is not first.finding
    assert map_shown(view, other).found != first.found
    assert map_shown(view, other).n_able != 0


def test_the_same_map_drawn_elsewhere_has_its_own(pythons: Picture) -> None:
    """What a text gives differs in its last digits with the texts that it was encoded beside."""
    moved = replace(pythons, coordinates=-pythons.coordinates)
    assert once(pythons, "where", compute=lambda: "here") == "here"
    assert once(moved, "where", compute=lambda: "there") == "there"
    assert once(replace(pythons), "where", compute=lambda: "elsewhere") == "here"
