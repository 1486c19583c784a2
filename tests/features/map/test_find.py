"""Points by a typed text: those that have it, and those nearest to it."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.core import EncoderService
from contextlens.features.map.controls import N_NEAREST_POINTS
from contextlens.features.map.find import (
    NearestPoints,
    nearest_to,
    not_one_claim,
    search,
    span_of,
)
from contextlens.maps.points import Points
from contextlens.maps.result import MapResult
from tests.support.maps import QUICK, TEXTS, drawn_map, map_view
from tests.support.odd import Said


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


# The points nearest to a typed text


def test_a_sentence_s_own_word_is_compared_with_the_map_s(
    service: EncoderService, pythons: MapResult
) -> None:
    text = "My python shed its skin"
    near = nearest_to(service, pythons, 6, text)
    (encoding,) = service.encode(pythons.request.model, [text], layers=[6])
    vector = encoding.hidden[0, 2]  # after [CLS] and "my"
    expected = cosine_similarity(vector[None], pythons.vectors[6])[0]
    assert (near.name, near.problem) == ("python", "")
    assert near.point_ids == tuple(np.argsort(-expected, kind="stable")[:N_NEAREST_POINTS].tolist())
    np.testing.assert_allclose(near.cosines, expected[list(near.point_ids)], atol=1e-5)
    senses = [pythons.points.labels["sense"][row] for row in near.point_ids[:3]]
    assert senses == ["python: animal"] * 3


def test_the_nearest_of_very_many_points_take_little_memory(
    service: EncoderService, pythons: MapResult
) -> None:
    text = "One python sleeps"
    (encoding,) = service.encode(pythons.request.model, [text], layers=[6])
    vector = encoding.hidden[0, 2]
    rows = np.random.default_rng(0).random((50_001, len(vector)), np.float32) - np.float32(0.5)
    rows[50_000] = 3 * vector
    many = replace(pythons, vectors=np.broadcast_to(rows, (7, *rows.shape)))
    tracemalloc.start()
    try:
        near = nearest_to(service, many, 6, text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    expected = cosine_similarity(vector[None], rows)[0]
    order = np.argsort(-expected, kind="stable")[: len(near.point_ids)]
    assert near.point_ids[0] == 50_000
    np.testing.assert_allclose(near.cosines, expected[order], atol=1e-5)
    np.testing.assert_allclose(expected[list(near.point_ids)], near.cosines, atol=1e-5)
    assert peak < rows.nbytes


@pytest.mark.parametrize("pooling", ["own", "cls", "pooler"])
def test_a_sentence_of_the_map_is_nearest_to_itself(service: EncoderService, pooling: str) -> None:
    view = map_view(*TEXTS, unit="sentences", sentences_pooling=pooling, **QUICK)
    picture = drawn_map(service, view)
    for row in range(len(picture.layers)):
        near = nearest_to(service, picture, row, TEXTS[3])
        assert near.cosines[0] == pytest.approx(1, abs=1e-5)
        own = dict(zip(near.point_ids, near.cosines, strict=True))[3]
        assert own == pytest.approx(1, abs=1e-5)  # at layer 0, [CLS] is the same everywhere
        assert len(near.point_ids) == len(TEXTS)


def test_one_token_is_taken_and_a_word_of_several_is_none(service: EncoderService) -> None:
    picture = drawn_map(service, map_view(*TEXTS, unit="tokens", **QUICK))
    assert picture.points.names[nearest_to(service, picture, 0, "snake").point_ids[0]] == "snake"
    problem = nearest_to(service, picture, 0, "unforgettably").problem
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
def test_what_is_not_one_point_is_said(
    service: EncoderService, pythons: MapResult, text: str, said: str
) -> None:
    near = nearest_to(service, pythons, 6, text)
    assert (near.point_ids, near.cosines) == ((), ())
    assert said in near.problem


def test_what_the_model_refuses_is_said_and_not_kept(
    service: EncoderService, pythons: MapResult
) -> None:
    gone = replace(pythons, request=replace(pythons.request, model="no such model"))
    assert nearest_to(service, gone, 6, "snake").problem


def test_what_is_near_to_a_typed_text_is_told() -> None:
    (said,) = NearestPoints("a{0}", (4, 7, 1), (0.9, 0.5, -0.004)).claims()
    assert str(said) == (
        r"The 3 points most similar to “a\{0\}” in the full space have similarities (cosine) from "
        "**0.90** down to 0.00."
    )
    several = not_one_claim("words", "x", ["a", "b", "c", "d", "e", "f"])
    assert str(several).startswith(
        "Points here are single words, but your text has 6 of them: “a”, “b”, “c”"
    )
    none = not_one_claim("tokens", "??", [])
    said_all = Said()
    said_all([said, *NearestPoints("a", (0,), (0.2,)).claims(), several, none])
    said_all([not_one_claim("words", "", []), not_one_claim("tokens", "a b", ["a", "b"])])
    said_all.assert_all("map.near")
