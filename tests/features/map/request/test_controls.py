"""From a view to the map that it asks for: defaults, controls, addresses made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core import ModelCard
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
    SOURCES,
    UNIT,
    word_of,
)
from components.features.map.request import request_of, settings_of
from components.maps.points import UNITS
from components.maps.projection import METHODS, MapSettings
from components.maps.vectors import SENTENCE_POOLINGS, WORD_POOLINGS
from components.ui.state.address import decode, encode
from components.ui.state.view import DEFAULT
from tests.features.map.request.requests import USUAL, asked, view_of

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
