"""The colours of a map's points: the columns to choose from, and the points of each colour."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.features.map.coloring import (
    GROUPS,
    LAYER,
    NOTHING,
    Coloring,
    by_place,
    color_choice,
    coloring,
    groups,
)
from contextlens.features.map.controls import COLOR
from contextlens.features.map.display import map_display
from contextlens.features.map.request import requested_map
from contextlens.features.map.scatter import map_scatter
from contextlens.features.map.table import map_table
from contextlens.figures.theme import CATEGORICAL, MAX_COLORED
from contextlens.maps.result import MapResult
from contextlens.ui.state.view import DEFAULT
from tests.features.map.points import places_of, points_of
from tests.support.maps import QUICK, TEXTS, drawn_map, map_view, shown_map

# The columns


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


def test_a_label_with_a_title_of_the_map_s_own_keeps_its_values(service: EncoderService) -> None:
    titles = (LAYER, NOTHING, GROUPS, "group", "sentence", "x", "sentence length in characters")
    values = ("a", "b", "a", "b")
    corpus = Corpus("mine", TEXTS, dict.fromkeys(titles, values))
    view = map_view(source="file", unit="sentences", **QUICK)
    shown = shown_map(service, view, corpus)
    assert shown.finding.color.title == "layer (label)"  # the first label colours a file
    assert not shown.finding.every_layer
    for title in titles:
        assert map_table(shown)[f"{title} (label)"].tolist() == list(values)
    for title in (LAYER, NOTHING, GROUPS):
        chosen = map_display(COLOR.put(view, title), shown.result).finding
        assert chosen.column is None


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


# The points of each colour


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


def test_many_categories_share_a_trace_and_each_has_a_hue_seen_in_both_themes() -> None:
    values = [f"c{i:02d}" for i in range(214) for _ in range(3)]
    color = Coloring("c", "category", values, order=tuple(dict.fromkeys(values)))
    (found,) = groups(color, len(values))
    assert found.name == ""
    assert len(set(found.colors)) > 200
    for i, value in enumerate(values):
        assert found.color_at(i) == color.colors[value]
    for ink in set(found.colors):
        for ground in ("#FFFFFF", "#0E1117"):
            assert contrast(ink, ground) >= 3
    few = Coloring("c", "category", values[:27], order=tuple(dict.fromkeys(values[:27])))
    assert [group.color for group in groups(few, 27)] == list(CATEGORICAL[:MAX_COLORED])


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio of two colours."""
    channels = [np.frombuffer(bytes.fromhex(c[1:]), np.uint8) / 255 for c in (one, other)]
    linear = [np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in channels]
    low, high = sorted(float(c @ (0.2126, 0.7152, 0.0722)) for c in linear)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("title", "labels", "scale"),
    [
        ("review", ("5 stars", "1 star", "3 stars"), ("1 star", "3 stars", "5 stars")),
        ("stars", ("10", "9", "1"), ("1", "9", "10")),
        ("school", ("Grade 2", "Grade 10", "Grade 1"), ("Grade 1", "Grade 2", "Grade 10")),
        ("mark", ("C", "A", "B", "F"), ("A", "B", "C", "F")),
        ("tone", ("positive", "Negative", "neutral"), ("Negative", "neutral", "positive")),
        ("topic", ("1", "2", "3"), ()),
        ("tone", ("positive", "negative"), ()),
        ("stars", ("1", "2", "many"), ()),
        ("stars", ("1 star", "2 grades", "3 stars"), ()),
    ],
)
def test_a_scale_stands_in_its_order_in_one_hue(
    title: str, labels: tuple[str, ...], scale: tuple[str, ...]
) -> None:
    points = points_of(3)
    color = coloring(replace(points, labels={title: labels}), title)
    assert color.is_scale == bool(scale)
    if scale:
        assert color.order == scale
        lights = [contrast(color.colors[label], "#000000") for label in scale]
        assert lights == sorted(lights, reverse=True)


def test_senses_of_one_word_lose_its_name() -> None:
    one = Coloring("sense", "category", order=("bat: animal", "bat: sport"))
    assert list(one.shown.values()) == ["animal", "sport"]
    two = Coloring("sense", "category", order=("bat: animal", "bank: money", "other"))
    assert list(two.shown.values()) == ["bat · animal", "bank · money", "other"]


def test_hues_follow_the_place_on_the_map() -> None:
    turns = np.linspace(-3, 3, 13)
    places = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    names = [f"n{i}" for i in np.random.default_rng(0).permutation(13)]
    assert by_place(places, names) in {tuple(names[i:] + names[:i]) for i in range(13)}


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
