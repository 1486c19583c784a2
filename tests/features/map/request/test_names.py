"""Requests have names of their own, and say in words what they are and how they differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from components.core import ModelCard
from components.features.map.controls import FOOTINGS
from components.features.map.request import request_of
from components.maps.points import UNITS
from components.maps.projection import METHODS, MapSettings
from components.maps.request import changes, with_layer
from components.maps.vectors import SENTENCE_POOLINGS, WORD_POOLINGS
from tests.features.map.request.requests import USUAL, asked, view_of

# Names


CONTROLS = st.fixed_dictionaries(
    {},
    optional={
        "unit": st.sampled_from(UNITS),
        "word": st.sampled_from(["python", "bank", "all"]),
        "at_most": st.sampled_from(["1000", "5000"]),
        "footing": st.sampled_from(list(FOOTINGS)),
        "method": st.sampled_from(METHODS),
        "neighbors": st.integers(2, 5),
        "seed": st.integers(0, 3),
        "words_pooling": st.sampled_from(WORD_POOLINGS),
        "sentences_pooling": st.sampled_from(list(SENTENCE_POOLINGS)),
    },
)


@given(
    first=CONTROLS,
    second=CONTROLS,
    digests=st.tuples(st.sampled_from("ab"), st.sampled_from("ab")),
    layers=st.tuples(st.integers(0, 6), st.integers(0, 6)),
)
def test_only_equal_requests_share_a_name(
    card: ModelCard,
    first: dict[str, Any],
    second: dict[str, Any],
    digests: tuple[str, str],
    layers: tuple[int, int],
) -> None:
    one, other = (
        request_of(view_of(layer, **controls), card, digest)
        for controls, digest, layer in zip((first, second), digests, layers, strict=True)
    )
    assert (one.key == other.key) == (one == other)
    assert bool(changes(one, other)) == (one != other)


@given(first=CONTROLS, second=CONTROLS)
def test_the_same_points_are_known_however_they_are_placed(
    card: ModelCard, first: dict[str, Any], second: dict[str, Any]
) -> None:
    placing = ("footing", "method", "neighbors", "seed")
    assume(first.get("sentences_pooling") != "pooler")
    moved = {**first, **{name: second[name] for name in placing if name in second}}
    assert asked(card, **first).points_key == asked(card, **moved).points_key
    for name in ("unit", "at_most"):
        other = {**first, name: second.get(name, first.get(name))}
        if other[name] is not None and asked(card, **other) != asked(card, **first):
            assert asked(card, **other).points_key != asked(card, **first).points_key


def test_marks_and_titles_of_other_texts_have_another_name() -> None:
    for changed in (
        replace(USUAL, model="another"),
        replace(USUAL, corpus="another"),
        replace(USUAL, only=("bank",)),
        replace(USUAL, every_word=True),
        replace(USUAL, special=True),
        replace(USUAL, pooling="first"),
    ):
        assert changed.points_key != USUAL.points_key
        assert changed.key != USUAL.key


# In words


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, ()),
        ({"model": "another"}, ("the model",)),
        ({"corpus": "another"}, ("the texts",)),
        ({"unit": "tokens"}, ("what a point is",)),
        ({"pooling": "last"}, ("how vectors are pooled",)),
        ({"only": ("bank",)}, ("which words",)),
        ({"only": (), "every_word": True}, ("which words",)),
        ({"special": True}, ("special tokens",)),
        ({"most": 1_000}, ("how many points",)),
        ({"footing": "aligned"}, ("how layers are drawn",)),
        ({"footing": "one", "layer": 2}, ("how layers are drawn", "the layer")),
        ({"settings": MapSettings(seed=1)}, ("the map's settings",)),
        (
            {"unit": "tokens", "settings": MapSettings(seed=1)},
            ("what a point is", "the map's settings"),
        ),
    ],
    ids=str,
)
def test_changes_are_named(changed: dict[str, Any], words: tuple[str, ...]) -> None:
    assert changes(USUAL, replace(USUAL, **changed)) == words


def test_another_place_of_the_same_texts_is_named(card: ModelCard) -> None:
    """Two requests that are not equal differ in something that can be said."""
    own = asked(card, "sentences", only="python")
    same_texts = replace(own, source="file")
    assert own != same_texts
    assert changes(own, same_texts)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {},
            "words · all layers · UMAP with an optimiser of our own · 15 neighbours, minimum "
            "distance 0.1 · cosine distance, seed 0",
        ),
        (
            {"settings": MapSettings(method="tsne", n_neighbors=30, metric="euclidean", seed=4)},
            "words · all layers · t-SNE · perplexity 30 · euclidean distance, seed 4",
        ),
        (
            {"settings": MapSettings(method="pca"), "layer": 0, "footing": "one"},
            "words · layer 0 · PCA",
        ),
        (
            {"unit": "sentences", "layer": -1, "settings": MapSettings(method="pca")},
            "sentences · pooler output · PCA",
        ),
    ],
    ids=["usual", "t-SNE", "one layer", "pooler"],
)
def test_a_request_in_words(changed: dict[str, Any], words: str) -> None:
    assert replace(USUAL, **changed).in_words() == words


def test_one_layer_of_a_map_is_a_map_of_that_layer_alone() -> None:
    assert with_layer(USUAL, 3) == replace(USUAL, footing="one", layer=3)
