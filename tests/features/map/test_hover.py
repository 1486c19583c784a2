"""The hover text of a map's points: what it has, its lines, its size."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from contextlens.content.wording import number
from contextlens.features.map.coloring import LAYER, UNCOLORED, Coloring, coloring
from contextlens.features.map.hover import hover_texts, point_text
from contextlens.features.map.scatter import MAX_SVG, MapMarks, map_scatter
from tests.features.map.points import SENTENCE, places_of, points_of


def test_hover_has_name_sentence_with_the_word_marked_labels_and_value() -> None:
    points = points_of(3)
    lines = hover_texts(points, coloring(points, "norm"))[1].split("<br>")
    assert lines[0] == "<b>python</b>"
    assert "hungry <b>python</b> swallowed" in " ".join(lines[1:])
    assert f"sense: {points.labels['sense'][1]}" in lines
    assert "source: book" in lines
    assert lines[-1] == f"norm: {number(points.measures['norm'][1], '.4f')}"
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


def test_the_text_of_one_point_is_in_three_parts_with_its_labels() -> None:
    word = point_text(points_of(3), 1, UNCOLORED, 1)
    assert (word["before"], word["marked"]) == ("The keeper said that a hungry ", "python")
    assert word["after"] == SENTENCE.partition("python")[2] + " 1."
    assert word["labels"] == [f"sense: {points_of(3).labels['sense'][1]}", "source: book"]
    sentence = point_text(points_of(1, unit="sentences", sentence="語" * 200), 0, UNCOLORED, 0)
    assert (sentence["before"], sentence["marked"]) == ("", "")
    assert sentence["after"] == "語" * 159 + "…"
    token = point_text(replace(points_of(1, unit="tokens"), names=("##thon",)), 0, UNCOLORED, 0)
    assert token["labels"] == ["##thon", "source: book"]  # its own label is empty


def test_the_text_of_one_point_ends_with_what_colours_it() -> None:
    points = points_of(3)
    labels = points.labels | {f"column {i}": ("x", "y", "z") for i in range(4)}
    points = replace(points, labels=labels | {"last": ("1", "2.50", "")})
    first = ["source: book", "column 0: y", "column 1: y"]

    def labels_in(color: Coloring, point: int, row: int) -> list[str]:
        return point_text(points, point, color, row)["labels"]

    sense = f"sense: {points.labels['sense'][1]}"
    assert labels_in(coloring(points, "sense"), 1, 1) == [*first, "column 2: y", sense]
    assert labels_in(coloring(points, "last"), 1, 1) == [sense, *first, "last: 2.50"]
    assert "last" not in " ".join(labels_in(coloring(points, "last"), 2, 2))  # it has none
    norm = f"norm: {number(points.measures['norm'][1], '.4f')}"
    assert labels_in(coloring(points, "norm"), 1, 1) == [sense, *first, norm]
    assert "norm" not in " ".join(labels_in(coloring(points, "norm"), 0, 0))
    groups = coloring(points, "group", extra={"group": ("", "pets", "code")})
    assert labels_in(groups, 1, 1) == [sense, *first, "group: pets"]
    layers = Coloring(LAYER, "measure", np.repeat([4.0, 5.0], 3))
    assert labels_in(layers, 1, 4) == [sense, *first, "layer: 5.0000"]


def test_a_word_marked_across_a_line_end_is_closed_on_each_line() -> None:
    sentence = "x" * 44 + " python " + "y" * 30
    points = points_of(1, sentence=sentence)
    (text,) = hover_texts(points, UNCOLORED)
    for line in text.split("<br>"):
        assert line.count("<b>") == line.count("</b>")


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
