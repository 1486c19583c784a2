"""A map as a view shows it: every choice, colours, neighbours, marks, texts nearby, its files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import silhouette_score
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import NearestNeighbors

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.features.map import compute
from contextlens.features.map.compute import (
    N_NEAREST,
    MapDisplay,
    linked_points,
    map_arrays,
    map_display,
    map_shapes,
    map_table,
    nearest_to,
    requested_map,
    vectors_snippet,
)
from contextlens.features.map.controls import PAGE
from contextlens.features.map.finding import GROUPS, LAYER, NOTHING, color_choice, once, sense_tests
from contextlens.features.map.layer_figures import map_order
from contextlens.features.map.marks import MarkedPoints, PointSelection, name_of
from contextlens.maps.result import MapResult
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.maps import QUICK, TEXTS, drawn_map, map_view
from tests.support.pages import app_settings


@pytest.fixture(scope="module", autouse=True)
def _app() -> Iterator[None]:
    with app_settings(ALLOW_DOWNLOADS="0"):
        yield


@pytest.fixture(scope="module")
def pythons(service: EncoderService) -> MapResult:
    """The two pythons at all layers."""
    return drawn_map(service, map_view(**QUICK))


RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y} python'


def shown_of(service: EncoderService, view: ViewState) -> MapDisplay:
    return map_display(view, drawn_map(service, view))


def marked_view(picture: MapResult, **controls: Any) -> ViewState:
    return map_view(**QUICK, marks_of=name_of(picture), **controls)


CHOICES: dict[str, tuple[dict[str, Any], int]] = {
    "words": ({}, 18),
    "some words": ({"only": "Python, pet"}, 4),
    "tokens": ({"unit": "tokens"}, 23),
    "all tokens": ({"unit": "tokens", "special": True}, 31),
    "some tokens": ({"unit": "tokens", "only": "##bel, python"}, 4),
    "sentences": ({"unit": "sentences"}, 4),
    "pooler": ({"unit": "sentences", "sentences_pooling": "pooler"}, 4),
    "Euclidean": ({"metric": "euclidean"}, 18),
    "one layer": ({"at_most": "50000", "layer": 2}, 18),
    "3-D": ({"dims": "3-D"}, 18),
    "one layer in 3-D": ({"dims": "3-D", "at_most": "50000"}, 18),
}


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_can_be_shown(service: EncoderService, name: str) -> None:
    controls, n = CHOICES[name]
    shown = shown_of(service, map_view(*TEXTS, **{**QUICK, **controls}))
    assert shown.points.n_points == n == len(shown.places)
    assert shown.places.shape[1] == (3 if "3-D" in name else 2)
    one_layer = name == "pooler" or "at_most" in controls
    assert len(shown.result.layers) == (1 if one_layer else 7)
    assert (shown.layer == -1) == (name == "pooler")
    assert shown.result.n_able == (3 if name == "some words" else 4)
    assert shown.title
    assert shown.finding.reading
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
    shown = shown_of(service, view)
    assert np.isfinite(shown.places).all()
    assert shown.title
    assert shown.finding.reading
    n = shown.points.n_points
    for point in (0, n - 1):
        assert len(shown.true_neighbors(point)) == len(shown.map_neighbors(point)) == min(10, n - 1)
        assert shown.called(point)
    assert "<img" not in " ".join(shown.finding.reading).replace(r"\<img", "")


def test_the_two_pythons_part_in_the_later_layers(pythons: MapResult) -> None:
    senses = np.array(pythons.points.labels["sense"])
    scores = [silhouette_score(v, senses, metric="cosine") for v in pythons.vectors]
    assert abs(scores[0]) < 0.1  # one word is the same everywhere but for its position
    assert scores[-1] > scores[1] + 0.05
    shown = map_display(DEFAULT, pythons)
    assert shown.title == (
        "Layer 6 gives 94% of the uses of “python” the right sense (guessing: 50%)"
    )
    assert shown.finding.reading[0].startswith("Layer 6 separates the senses of “python” best")
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


def test_another_layer_of_the_same_map_is_another_finding(pythons: MapResult) -> None:
    last, first = map_display(DEFAULT, pythons), map_display(replace(DEFAULT, layer=1), pythons)
    assert (last.layer, first.layer) == (6, 1)
    assert first.title.startswith("Layer 1 gives 88% of the uses of “python”")
    assert first.finding.titles == last.finding.titles  # one for each frame that is played
    np.testing.assert_array_equal(first.places, pythons.map.coordinates[1])
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


def test_texts_that_cannot_be_used_are_a_problem_and_no_request(service: EncoderService) -> None:
    card = service.load(DEFAULT.model)
    asked = requested_map(map_view("", "  "), card)
    assert asked.problem.startswith("Your sentences are empty.")
    assert (asked.corpus, asked.request) == (None, None)
    asked = requested_map(map_view(source="file"), card)
    assert (asked.problem, asked.corpus, asked.request) == ("", None, None)


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
    pythons: MapResult, controls: dict[str, Any], title: str
) -> None:
    shown = map_display(map_view(**QUICK, **controls), pythons)
    assert shown.finding.color.title == title
    assert shown.finding.every_layer == (controls.get("color") == LAYER)
    assert shown.finding.column == (title if title in pythons.points.labels else None)


def test_every_colour_that_is_offered_is_one_that_the_points_have(service: EncoderService) -> None:
    card = service.load(DEFAULT.model)
    for unit in ("words", "tokens", "sentences"):
        view = map_view(*TEXTS, unit=unit, **QUICK)
        picture = drawn_map(service, view)
        for name in requested_map(view, card).color.options:
            color = map_display(map_view(*TEXTS, unit=unit, color=name, **QUICK), picture).finding
            assert color.every_layer if name == LAYER else True
            assert name in {"", LAYER, NOTHING} or color.color.title == name


def test_a_label_named_like_a_column_of_the_points_can_be_chosen(service: EncoderService) -> None:
    corpus = Corpus("mine", TEXTS, {"word": ("a", "b", "a", "b"), "same": ("x",) * 4})
    view = map_view(*TEXTS, color="word (label)", **QUICK)
    shown = map_display(view, drawn_map(service, view, corpus))
    assert shown.finding.color.title == "word (label)"
    view = map_view(*TEXTS, **QUICK)  # the first label of more than one kind
    assert map_display(view, drawn_map(service, view, corpus)).finding.color.title == "word"


def test_the_other_map_keeps_the_colours_of_the_first(pythons: MapResult) -> None:
    order = tuple(reversed(map_display(DEFAULT, pythons).finding.color.order))
    assert map_display(DEFAULT, pythons, order=order).finding.color.order == order


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


def test_a_selection_is_told_and_drawn_where_it_was_not_made(pythons: MapResult) -> None:
    def selected(*points: int) -> MapDisplay:
        selection = PointSelection(name_of(pythons), "map_chart", "here", points)
        marked = MarkedPoints(None, None, None, selection)
        return replace(map_display(DEFAULT, pythons), marked=marked)

    shown = selected(3, 17, 21)
    assert shown.marks("here").chosen is None
    assert shown.marks("elsewhere").chosen == (3, 17, 21)
    assert "**3** of 32 points are selected" in " ".join(shown.selected_in_words())
    assert "**2** of 32 points are selected" in " ".join(selected(3, 17).selected_in_words())
    assert " ".join(selected().selected_in_words()) == "Nothing is selected."


def test_points_are_found_again_in_another_map_by_their_text(
    service: EncoderService, pythons: MapResult
) -> None:
    def shown(corpus: Corpus) -> MapDisplay:
        view = map_view(every_word=True, only="python", **QUICK)
        return map_display(view, drawn_map(service, view, corpus))

    one = shown(Corpus("one", (TEXTS[0], TEXTS[1], TEXTS[2])))
    other = shown(Corpus("other", (TEXTS[2], TEXTS[0])))
    assert linked_points(one, other, (0, 1)) == (1,)
    assert linked_points(one, other, (2,)) == (0,)
    assert linked_points(other, one, (0, 1)) == (0, 2)
    assert linked_points(one, map_display(DEFAULT, pythons), (0, 1, 2)) == ()


def test_what_walks_over_all_points_is_done_once(
    service: EncoderService, pythons: MapResult
) -> None:
    """Later runs of the page reuse what the first found; other maps have their own."""
    view = marked_view(pythons, point=7, find="python")
    first, again = map_display(view, pythons), map_display(view, pythons)
    assert again.finding is first.finding
    other = drawn_map(service, map_view(word="bank", **QUICK))
    assert map_display(view, other).finding is not first.finding
    assert map_display(view, other).matches != first.matches
    assert map_display(view, other).result.n_able != 0


def test_the_same_map_drawn_elsewhere_has_its_own(pythons: MapResult) -> None:
    """A text's vectors differ in their last digits with the texts that are encoded beside it."""
    moved = replace(pythons, map=replace(pythons.map, coordinates=-pythons.map.coordinates))
    assert once(pythons, "where", compute=lambda: "here") == "here"
    assert once(moved, "where", compute=lambda: "there") == "there"
    assert once(replace(pythons), "where", compute=lambda: "elsewhere") == "here"


# The points nearest to a typed text


@pytest.mark.slow
def test_a_sentence_s_own_word_is_compared_with_the_map_s(
    service: EncoderService, pythons: MapResult
) -> None:
    text = "My python shed its skin"
    near = nearest_to(pythons, 6, text)
    (encoding,) = service.encode(pythons.request.model, [text], layers=[6])
    vector = encoding.hidden[0, 2]  # after [CLS] and "my"
    expected = cosine_similarity(vector[None], pythons.vectors[6])[0]
    assert (near.name, near.problem) == ("python", "")
    assert near.rows == tuple(np.argsort(-expected, kind="stable")[:N_NEAREST].tolist())
    np.testing.assert_allclose(near.cosines, expected[list(near.rows)], atol=1e-5)
    senses = [pythons.points.labels["sense"][row] for row in near.rows[:3]]
    assert senses == ["python: animal"] * 3


@pytest.mark.slow
@pytest.mark.parametrize("pooling", ["own", "cls", "pooler"])
def test_a_sentence_of_the_map_is_nearest_to_itself(service: EncoderService, pooling: str) -> None:
    view = map_view(*TEXTS, unit="sentences", sentences_pooling=pooling, **QUICK)
    picture = drawn_map(service, view)
    for row in range(len(picture.layers)):
        near = nearest_to(picture, row, TEXTS[3])
        assert near.cosines[0] == pytest.approx(1, abs=1e-5)
        own = dict(zip(near.rows, near.cosines, strict=True))[3]
        assert own == pytest.approx(1, abs=1e-5)  # at layer 0, [CLS] is the same everywhere
        assert len(near.rows) == len(TEXTS)


def test_one_token_is_taken_and_a_word_of_several_is_none(service: EncoderService) -> None:
    picture = drawn_map(service, map_view(*TEXTS, unit="tokens", **QUICK))
    assert picture.points.names[nearest_to(picture, 0, "snake").rows[0]] == "snake"
    problem = nearest_to(picture, 0, "unforgettably").problem
    assert problem.startswith("Each point is one token, and your text has 5: ")
    assert "just one token of this map" in problem


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "cats and dogs",
            "Points here are single words, but your text has 3 of them: “cats”, “and”, “dogs”.",
        ),
        ("!!!", "There is no word in “\\!\\!\\!”."),
        ("<b>*x* y", "“b”, “x”, “y”"),
    ],
)
def test_what_is_not_one_point_is_said(pythons: MapResult, text: str, said: str) -> None:
    near = nearest_to(pythons, 6, text)
    assert (near.rows, near.cosines) == ((), ())
    assert said in near.problem


def test_what_the_model_refuses_is_said_and_not_kept(pythons: MapResult) -> None:
    gone = replace(pythons, request=replace(pythons.request, model="no such model"))
    assert nearest_to(gone, 6, "snake").problem


# Tables, arrays and the snippet of the vectors


FEW = ("I love my pet python", "I love coding in python", "The snake sleeps")


@pytest.mark.parametrize("unit", ["words", "tokens", "sentences"])
def test_the_table_has_every_point_as_its_rows_tell_it(service: EncoderService, unit: str) -> None:
    shown = shown_of(service, map_view(*FEW, unit=unit, dims="3-D", layer=2, **QUICK))
    table = map_table(shown)
    expected = pd.DataFrame(shown.points.rows())
    pd.testing.assert_frame_equal(table[expected.columns], expected)
    assert table.columns.tolist() == [*expected.columns, "group", "x", "y", "z"]
    np.testing.assert_array_equal(table[["x", "y", "z"]].to_numpy(np.float32), shown.places)
    pd.testing.assert_frame_equal(map_table(shown, 2), table[:2])


@pytest.mark.slow
def test_the_table_names_groups_as_the_map_does(service: EncoderService) -> None:
    topics = ("My {} python ate a mouse", "This {} script is written in python")
    adjectives = ("old", "new", "long", "short", "slow", "fast", "odd", "good", "bad", "big")
    texts = [topic.format(f"{a} {b}") for topic in topics for a in adjectives for b in adjectives]
    corpus = Corpus("two topics", tuple(texts))
    view = map_view(source="file", unit="sentences", **QUICK)
    shown = map_display(view, drawn_map(service, view, corpus))
    labels = {own.cluster: " · ".join(own.words) for own in shown.finding.group_labels}
    assert any(labels.values())
    groups = map_table(shown)["group"].tolist()
    assert groups == [labels.get(group, "") for group in shown.finding.groups.tolist()]


def test_the_arrays_are_those_of_the_shown_layer_and_of_all(service: EncoderService) -> None:
    shown = shown_of(service, map_view(layer=2, **QUICK))
    picture, arrays = shown.result, map_arrays(shown)
    np.testing.assert_array_equal(arrays["vectors"], picture.vectors[2])
    np.testing.assert_array_equal(arrays["coordinates"], picture.map.coordinates[2])
    np.testing.assert_array_equal(arrays["all_vectors"], picture.vectors)
    np.testing.assert_array_equal(arrays["all_coordinates"], picture.map.coordinates)
    np.testing.assert_array_equal(arrays["neighbor_indices"], picture.map.neighbors[2].indices)
    np.testing.assert_array_equal(arrays["neighbor_distances"], picture.map.neighbors[2].distances)
    assert arrays["layers"].tolist() == list(range(7))
    assert arrays["texts"].tolist() == list(picture.points.texts)
    assert arrays["names"].tolist() == list(picture.points.names)
    assert [row["shape"] for row in map_shapes(shown)] == [
        "(32, 384)", "(32, 2)", "(32, 15)", "(7, 32, 2)",
    ]  # fmt: skip


@pytest.mark.parametrize("layer", [0, 6])
def test_the_snippet_computes_the_vectors_of_the_first_sentences(
    service: EncoderService, layer: int
) -> None:
    shown = shown_of(service, map_view(*FEW, *FEW, layer=layer, **QUICK))
    names: dict = {}
    exec(vectors_snippet(shown, service.load(BUNDLED_ID)), names)
    n = len(names["names"])
    assert names["names"] == list(shown.points.names[:n])
    assert n == sum(shown.points.sentence < 3)
    np.testing.assert_allclose(names["vectors"], shown.vectors[:n], atol=2e-5)


def test_a_long_text_at_many_points_is_cut_in_the_files(
    service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An array is as wide as its longest text: 50,000 texts, one of 20,000 characters, are 4 GB."""
    view = map_view("a short text", "snake " * 300, unit="sentences", layer=2, **QUICK)
    shown = shown_of(service, view)
    assert map_arrays(shown)["texts"].tolist() == list(shown.points.texts)
    monkeypatch.setattr(compute, "_MOST_CHARACTERS", 200)
    assert map_arrays(shown)["texts"].tolist() == ["a short text", ("snake " * 17)[:100]]
    assert map_table(shown)["sentence"].tolist() == ["a short text", ("snake " * 17)[:100]]


@pytest.mark.parametrize("controls", [{}, {"color": LAYER}])
def test_without_webgl_only_the_first_points_and_their_marks_are_drawn(
    pythons: MapResult, controls: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute, "MAX_SVG", 70)
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


def test_a_file_s_first_usable_label_colours_it() -> None:
    n = 60
    columns = {
        "id": tuple(f"row {i}" for i in range(n)),
        "source": ("web",) * n,
        "sent": tuple(f"2024-03-{1 + i % 20:02}" for i in range(n)),
        "score": tuple(str(i % 20 / 4) for i in range(n)),
        "topic": tuple(("sport", "law", "music")[i % 3] for i in range(n)),
    }
    request = SimpleNamespace(only=(), unit="sentences")
    texts = tuple(f"text {i}" for i in range(n))
    color = color_choice(request, Corpus("file", texts, columns))  # type: ignore[arg-type]
    assert (color.default, color.of(DEFAULT)) == ("topic", "topic")
    assert set(columns) < set(color.options)  # all others can be chosen
    del columns["topic"]
    color = color_choice(request, Corpus("file", texts, columns))  # type: ignore[arg-type]
    assert color.default == GROUPS
