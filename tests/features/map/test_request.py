"""From a view to the map that it asks for: defaults, controls, wild addresses, names and words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from components.core import BUNDLED_ID, EncoderService, ModelCard
from components.corpus.bundled import ambiguous_corpus
from components.features.map.controls import (
    AT_MOST,
    DIMS,
    EFFORT,
    FOOTING,
    FOOTINGS,
    METHOD,
    METRIC,
    MIN_DIST,
    MOST,
    PAGE,
    SOURCES,
    UNIT,
    word_of,
)
from components.features.map.request import request_of, settings_of
from components.maps.points import UNITS
from components.maps.projection import METHODS, MapSettings
from components.maps.request import MapRequest, changes, with_layer
from components.maps.text_rows import SENTENCE_POOLINGS, WORD_POOLINGS
from components.ui.state.address import decode, encode
from components.ui.state.view import DEFAULT, ViewState

USUAL = MapRequest(
    model=BUNDLED_ID,
    corpus="digest",
    source="ambiguous",
    unit="words",
    pooling="mean",
    only=("python",),
    every_word=False,
    special=False,
    most=2_000,
    footing="joint",
    layer=None,
    settings=MapSettings(),
)

NAMES = (
    *("unit", "word", "only", "every_word", "special", "at_most", "footing", "method", "dims"),
    *("metric", "neighbors", "seed", "effort", "min_dist"),
    *("words_pooling", "sentences_pooling", "tokens_pooling"),
)
WORDS = (
    *UNITS, *FOOTINGS, *METHODS, *WORD_POOLINGS, *SENTENCE_POOLINGS, *map(str, MOST),
    *("2-D", "3-D", "cosine", "euclidean", "quick", "full", "0.1", "nan", "inf", "-1", "1e999"),
    *("all", "python, bank", ",,,", "", "9" * 200),
)  # fmt: skip
VALUES = (
    st.sampled_from(WORDS)
    | st.text(max_size=40)
    | st.integers(-(2**53), 2**53)
    | st.floats(-(2.0**53), 2.0**53, allow_nan=False)
    | st.booleans()
)


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


def view_of(layer: int | None = None, **controls: Any) -> ViewState:
    return replace(DEFAULT, layer=layer, controls={PAGE: controls})


def asked(card: ModelCard, source: str = "ambiguous", **controls: Any) -> MapRequest:
    own = controls if source == "ambiguous" else {"source": source, **controls}
    return request_of(view_of(**own), card, "digest")


# Controls


def test_the_default_view_asks_for_python_at_all_layers_in_one_umap(card: ModelCard) -> None:
    assert request_of(DEFAULT, card, "digest") == USUAL


@pytest.mark.parametrize(
    ("controls", "changed"),
    [
        ({"word": "bank"}, {"only": ("bank",)}),
        ({"word": "all"}, {"only": ()}),
        ({"word": "Bank"}, {}),
        ({"only": "ignored here"}, {}),
        ({"every_word": True}, {"every_word": True, "only": ()}),
        (
            {"every_word": True, "only": " Python ,bank,, python"},
            {"every_word": True, "only": ("python", "bank")},
        ),
        ({"unit": "tokens"}, {"unit": "tokens", "only": ()}),
        ({"unit": "tokens", "only": "##s"}, {"unit": "tokens", "only": ("##s",)}),
        ({"unit": "tokens", "special": True}, {"unit": "tokens", "only": (), "special": True}),
        ({"unit": "tokens", "every_word": True}, {"unit": "tokens", "only": ()}),
        ({"special": True}, {}),
        ({"unit": "sentences"}, {"unit": "sentences", "only": ()}),
        ({"unit": "sentences", "only": "python"}, {"unit": "sentences", "only": ()}),
        ({"words_pooling": "first"}, {"pooling": "first"}),
        ({"words_pooling": "cls"}, {}),
        ({"sentences_pooling": "cls"}, {}),
        (
            {"unit": "sentences", "sentences_pooling": "own"},
            {"unit": "sentences", "only": (), "pooling": "own"},
        ),
        (
            {"unit": "sentences", "sentences_pooling": "pooler"},
            {"unit": "sentences", "only": (), "pooling": "pooler", "footing": "one", "layer": -1},
        ),
        ({"unit": "tokens", "tokens_pooling": "first"}, {"unit": "tokens", "only": ()}),
        ({"at_most": "20000"}, {"most": 20_000}),
        ({"at_most": "20001"}, {}),
        ({"footing": "aligned"}, {"footing": "aligned"}),
        ({"footing": "one"}, {"footing": "one", "layer": 6}),
        ({"footing": "one", "layer": 0}, {"footing": "one", "layer": 0}),
        ({"footing": "one", "layer": 99}, {"footing": "one", "layer": 6}),
        ({"layer": 2}, {}),
        ({"method": "tsne"}, {"settings": MapSettings(method="tsne")}),
        ({"dims": "3-D"}, {"settings": MapSettings(n_components=3)}),
        ({"metric": "euclidean"}, {"settings": MapSettings(metric="euclidean")}),
        ({"neighbors": 200}, {"settings": MapSettings(n_neighbors=200)}),
        ({"seed": 2**31 - 1}, {"settings": MapSettings(seed=2**31 - 1)}),
        ({"effort": "full"}, {"settings": MapSettings(effort="full")}),
        ({"min_dist": "0.5"}, {"settings": MapSettings(min_dist=0.5)}),
    ],
    ids=str,
)
def test_every_control_changes_what_it_says_and_nothing_else(
    card: ModelCard, controls: dict[str, Any], changed: dict[str, Any]
) -> None:
    assert asked(card, **controls) == replace(USUAL, **changed)


def test_other_texts_are_mapped_by_the_words_that_are_typed(card: ModelCard) -> None:
    for source in ("sentences", "file"):
        assert asked(card, source, word="bank").only == ()
        assert asked(card, source, only="Bank").only == ("bank",)


# Addresses made by hand


@given(
    controls=st.dictionaries(st.sampled_from(NAMES), VALUES),
    layer=st.none() | st.integers(0, 1_000),
    source=st.sampled_from(sorted(SOURCES)),
)
def test_no_address_asks_for_what_there_is_not(
    card: ModelCard, controls: dict[str, Any], layer: int | None, source: str
) -> None:
    view = decode(encode(view_of(layer, **{"source": source, **controls})))
    request = request_of(view, card, "digest")
    assert request.source == source
    assert request.unit in UNITS
    assert request.pooling in {*WORD_POOLINGS, *SENTENCE_POOLINGS}
    assert request.most in MOST
    assert request.footing in FOOTINGS
    assert (request.layer is None) == (request.footing != "one")
    assert request.layer in {None, *range(-1, card.n_layers + 1)}
    assert (request.layer == -1) == (request.pooling == "pooler")
    assert all(word and word == word.strip().casefold() for word in request.only)
    assert request.in_words()
    assert len(request.key) == 24


@pytest.mark.parametrize(
    "controls",
    [
        {"method": 7},
        {"method": "tarot"},
        {"neighbors": "15"},
        {"neighbors": True},
        {"seed": 1.5},
        {"min_dist": "nan"},
        {"min_dist": "0.3"},
        {"min_dist": "1e999"},
        {"min_dist": "close"},
        {"min_dist": ""},
        {"min_dist": 0.5},
        {"metric": "manhattan"},
        {"effort": "none"},
        {"dims": "4-D"},
        {"dims": 3},
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_means_the_defaults(controls: dict[str, Any]) -> None:
    assert settings_of(view_of(**controls)) == MapSettings()


@pytest.mark.parametrize(
    ("controls", "expected"),
    [
        ({"neighbors": 1}, MapSettings(n_neighbors=2)),
        ({"neighbors": 2**53}, MapSettings(n_neighbors=200)),
        ({"seed": -1}, MapSettings(seed=0)),
        ({"seed": 2**31}, MapSettings(seed=2**31 - 1)),
    ],
    ids=str,
)
def test_a_number_beyond_its_bounds_means_the_bound(
    controls: dict[str, Any], expected: MapSettings
) -> None:
    assert settings_of(view_of(**controls)) == expected


def test_every_choice_of_a_control_is_one_that_maps_take(card: ModelCard) -> None:
    """What the toolbar offers can be drawn, and no two choices ask for the same."""
    for control in (METHOD, METRIC, MIN_DIST, DIMS, EFFORT, FOOTING, AT_MOST, UNIT):
        requests = [asked(card, **{control.name: value}) for value in control.options]
        assert len(set(requests)) == len(control.options)
        assert asked(card, **{control.name: control.default}) == USUAL
    words = word_of()
    assert next(iter(words.options)) == words.default == USUAL.only[0]
    assert set(words.options) == {*ambiguous_corpus().labels["word"], "all"}


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
