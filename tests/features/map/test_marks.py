"""Marks of the Map page: they count for the points that they were chosen among; search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core import EncoderService
from contextlens.features.map.marks import MarkedPoints, marked, name_of, search, span_of
from contextlens.maps.points import Points
from contextlens.maps.request import MapSettings
from contextlens.maps.result import MapResult
from tests.support.maps import QUICK, drawn_map, map_view
from tests.support.pages import app_settings


@pytest.fixture(scope="module")
def pythons(service: EncoderService) -> Iterator[MapResult]:
    with app_settings(ALLOW_DOWNLOADS="0"):
        yield drawn_map(service, map_view(**QUICK))


def marked_on(result: MapResult, **controls: Any) -> MarkedPoints:
    return marked(map_view(marks_of=name_of(result), **controls), result)


def test_marks_are_those_of_the_view_among_the_points_that_there_are(pythons: MapResult) -> None:
    assert marked_on(pythons, point=3, pin_a=0, pin_b=31) == MarkedPoints(3, 0, 31, None)
    assert marked_on(pythons, point=32, pin_a=-1) == MarkedPoints(None, None, None, None)


def test_marks_do_not_count_for_another_sample_of_the_same_texts(pythons: MapResult) -> None:
    def among(*rows: int) -> MapResult:
        points = pythons.points.take(rows)
        texts = tuple(points.texts[i] for i in points.sentence)
        return replace(
            pythons, gathered=replace(pythons.gathered, points=replace(points, texts=texts))
        )

    view = map_view(marks_of=name_of(pythons), point=3)
    for other in (among(*range(30)), among(*range(31, -1, -1))):
        assert marked(view, other).point is None
    moved = replace(pythons, request=replace(pythons.request, settings=MapSettings(seed=1)))
    assert marked(view, moved).point == 3


# Search


def points(names: list[str], texts: list[str], sentence: list[int]) -> Points:
    return Points(
        unit="words",
        texts=tuple(texts),
        sentence=np.array(sentence),
        spans=np.array([(0, len(name)) for name in names]),
        names=tuple(names),
        labels={},
        measures={},
    )


OWN = points(
    ["Python", "python", "love", "pythons", "Straße", "a.b"],
    ["Python in love", "a python, pythons", "Straße a.b <b>"],
    [0, 1, 0, 1, 2, 2],
)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("python", (0, 1)),
        ("  PYTHON ", (0, 1)),
        ("strasse", (4,)),
        ("pytho", (0, 1, 2, 3)),
        ("in love", (0, 2)),
        ("a.b", (5,)),
        ("a,b", ()),
        ("<B>", (4, 5)),
        (".*", ()),
        ("nothing of this", ()),
        ("", ()),
        ("   ", ()),
    ],
)
def test_words_are_found_by_name_first_and_else_by_their_sentence(
    wanted: str, expected: tuple[int, ...]
) -> None:
    assert search(OWN, wanted) == expected


def test_search_finds_every_point_of_a_sentence_once() -> None:
    many = replace(OWN, names=("x",) * 6)
    assert search(many, "python") == (0, 1, 2, 3)


@given(st.text(), st.text(max_size=4))
def test_a_found_span_casefolds_to_the_search(text: str, wanted: str) -> None:
    span, needle = span_of(text, wanted), wanted.strip().casefold()
    assert (span is None) == (not needle or needle not in text.casefold())
    if span is not None:
        start, end = span
        assert needle in text[start:end].casefold()
        assert needle not in text[: end - 1].casefold()


def test_found_spans_are_code_points() -> None:
    assert span_of("😀 Die STRASSE, die Straße", "straße") == (6, 13)
    assert span_of("😀 eine Straße", "STRASSE") == (7, 13)
    assert span_of("e\u0301toile", "E\u0301T") == (0, 3)
    assert span_of("text", " ") is None
