"""The points nearest to a typed text: encoded as the map's points are, or a reason in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from components.core import EncoderService
from components.features.map.compute import N_NEAREST, nearest_to
from components.maps.picture import Picture
from tests.support.maps import QUICK, TEXTS, drawn_map, map_view


@pytest.mark.slow
def test_a_sentence_s_own_word_is_compared_with_the_map_s(
    service: EncoderService, pythons: Picture
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
@pytest.mark.parametrize("pooling", ["mean", "own", "cls", "max", "pooler"])
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
def test_what_is_not_one_point_is_said(pythons: Picture, text: str, said: str) -> None:
    near = nearest_to(pythons, 6, text)
    assert (near.rows, near.cosines) == ((), ())
    assert said in near.problem


def test_a_word_that_the_map_does_not_have_is_near_to_something(pythons: Picture) -> None:
    assert len(nearest_to(pythons, 2, "snake").rows) == N_NEAREST


def test_what_the_model_refuses_is_said_and_not_kept(pythons: Picture) -> None:
    gone = replace(pythons, request=replace(pythons.request, model="no such model"))
    assert nearest_to(gone, 6, "snake").problem
