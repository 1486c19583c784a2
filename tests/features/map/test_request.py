"""From a view to the requested map: controls, addresses made by hand, names, words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.corpus.table import Table
from contextlens.features.map.controls import (
    AT_MOST,
    DIMS,
    EFFORT,
    METHOD,
    METRIC,
    MIN_DIST,
    PAGE,
    UNIT,
    at_most_of,
    pooling_of,
    word_of,
)
from contextlens.features.map.request import of_file, request_of, requested_map, settings_of
from contextlens.maps.points import UNITS
from contextlens.maps.request import METHODS, MapRequest, MapSettings
from contextlens.maps.vectors import RECIPE, SENTENCE_POOLINGS, WORD_POOLINGS, recipe_prompt
from contextlens.ui.corpora.controls import POINT_LIMITS
from contextlens.ui.corpora.own_file import on_collection, opened
from contextlens.ui.state.address import decode, encode
from contextlens.ui.state.old_controls import renamed_controls
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.maps import map_view

USUAL = MapRequest(BUNDLED_ID, "digest", source="ambiguous", only=("python",))


NAMES = (
    *("unit", "word", "only", "every_word", "special", "at_most", "footing", "method", "dims"),
    *("metric", "neighbors", "seed", "effort", "min_dist"),
    *("words_pooling", "sentences_pooling", "tokens_pooling"),
)


WORDS = (
    *UNITS, "joint", "one", *METHODS, *WORD_POOLINGS, *SENTENCE_POOLINGS, *map(str, POINT_LIMITS),
    *("2-D", "3-D", "cosine", "euclidean", "quick", "full", "0.1", "nan", "inf", "-1", "1e999"),
    *("all", "python, bank", ",,,", "", "9" * 200, "aligned"),
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
    return replace(DEFAULT, layer=layer, controls=renamed_controls({PAGE: controls}, PAGE))


def requested(card: ModelCard, **controls: Any) -> MapRequest:
    return request_of(view_of(**controls), card, "digest", 0)


@pytest.mark.parametrize(
    ("controls", "changed"),
    [
        ({}, {}),
        ({"word": "bank"}, {"only": ("bank",)}),
        ({"word": "*"}, {"only": ()}),
        ({"word": "Bank", "only": "ignored here", "special": True}, {}),
        (
            {"every_word": True, "only": " Python ,bank,, python"},
            {"every_word": True, "only": ("python", "bank")},
        ),
        ({"unit": "tokens", "only": "##s"}, {"unit": "tokens", "only": ("##s",)}),
        ({"unit": "tokens", "special": True}, {"unit": "tokens", "only": (), "special": True}),
        ({"unit": "tokens", "every_word": True}, {"unit": "tokens", "only": ()}),
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
            {"unit": "sentences", "only": (), "pooling": "pooler", "layer": -1},
        ),
        ({"unit": "tokens", "words_pooling": "first"}, {"unit": "tokens", "only": ()}),
        ({"at_most": "20000"}, {"most": 20_000}),
        ({"at_most": "20001", "footing": "one"}, {}),  # as old addresses have it
        ({"at_most": "50000"}, {"most": 50_000, "layer": 6}),  # too many to keep at all layers
        ({"at_most": "50000", "layer": 0}, {"most": 50_000, "layer": 0}),
        ({"at_most": "50000", "layer": 99}, {"most": 50_000, "layer": 6}),
        ({"layer": 2}, {}),
        (
            {"source": "file", "word": "bank", "only": "Bank"},
            {"source": "file", "only": ("bank",)},
        ),
    ],
    ids=str,
)
def test_every_control_changes_what_it_says_and_nothing_else(
    card: ModelCard, controls: dict[str, Any], changed: dict[str, Any]
) -> None:
    assert requested(card, **controls) == replace(USUAL, checksum=card.checksum, **changed)


def test_weights_saved_anew_under_one_id_are_another_map(card: ModelCard) -> None:
    one, other = requested(card), requested(replace(card, checksum="saved anew"))
    assert one.key != other.key
    assert of_file(one) == of_file(other)


@pytest.mark.parametrize(
    ("controls", "expected"),
    [
        ({"method": "tsne"}, {"method": "tsne"}),
        ({"dims": "3-D"}, {"n_components": 3}),
        ({"metric": "euclidean"}, {"metric": "euclidean"}),
        ({"effort": "full"}, {"effort": "full"}),
        ({"min_dist": "0.5"}, {"min_dist": 0.5}),
        ({"neighbors": 1}, {"n_neighbors": 2}),
        ({"neighbors": 2**53}, {"n_neighbors": 200}),
        ({"seed": -1}, {"seed": 0}),
        ({"seed": 2**31}, {"seed": 2**31 - 1}),
        ({"method": 7, "neighbors": "15", "seed": 1.5, "min_dist": "nan", "dims": "4-D"}, {}),
        ({"method": "tarot", "neighbors": True, "min_dist": "0.3", "metric": "manhattan"}, {}),
        ({"min_dist": 0.5, "effort": "none"}, {}),
    ],
    ids=str,
)
def test_settings_are_those_of_the_view_within_their_bounds(
    controls: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert settings_of(view_of(**controls)) == MapSettings(**expected)


def test_every_choice_of_a_control_is_one_that_maps_take(card: ModelCard) -> None:
    """The toolbar offers only what can be drawn, and no two choices ask for the same."""
    for control in (METHOD, METRIC, MIN_DIST, DIMS, EFFORT, AT_MOST, UNIT):
        requests = [requested(card, **{control.name: value}) for value in control.options]
        assert len(set(requests)) == len(control.options)
        assert requested(card, **{control.name: control.default}) == requested(card)
    words = word_of()
    assert next(iter(words.options)) == words.default == USUAL.only[0]
    assert set(words.options) == {*ambiguous_corpus().labels["word"], "*"}


@given(
    controls=st.dictionaries(st.sampled_from(NAMES), VALUES),
    layer=st.none() | st.integers(0, 1_000),
    source=st.sampled_from(["ambiguous", "file", "sentences"]),
)
def test_no_address_asks_for_what_there_is_not(
    card: ModelCard, controls: dict[str, Any], layer: int | None, source: str
) -> None:
    view = decode(encode(view_of(layer, **{"source": source, **controls})))
    request = request_of(view, card, "digest", 0)
    assert request.source == source
    assert request.unit in UNITS
    assert request.pooling in {*WORD_POOLINGS, *SENTENCE_POOLINGS, RECIPE}
    assert request.most in POINT_LIMITS
    assert request.layer in {None, *range(-1, card.n_layers + 1)}
    assert (request.layer == -1) == (request.pooling in {"pooler", RECIPE})
    assert all(word and word == word.strip().casefold() for word in request.only)
    assert request.in_words(request.settings.method)


def test_only_a_models_own_recipe_and_its_prompts_can_be_chosen(card: ModelCard) -> None:
    assert card.recipe is not None
    prompts = (("query", "query: "), ("none", ""))
    asks = replace(card, recipe=replace(card.recipe, prompts=prompts))
    by_recipe = {
        name: list(pooling_of("sentences", of).options)[len(SENTENCE_POOLINGS) :]
        for name, of in (("own", card), ("asks", asks), ("bare", replace(card, recipe=None)))
    }
    assert by_recipe == {"own": [RECIPE], "asks": [RECIPE, f"{RECIPE}:query"], "bare": []}
    view = view_of(None, unit="sentences", sentences_pooling=f"{RECIPE}:query")
    assert request_of(view, asks, "digest", 0).pooling == f"{RECIPE}:query"
    assert request_of(view, card, "digest", 0).pooling == "mean"
    assert recipe_prompt(asks, f"{RECIPE}:query") == "query: "


@pytest.mark.parametrize("same_points", [False, True])
def test_other_points_have_another_key(same_points: bool) -> None:
    changes: list[dict[str, Any]] = [
        *({"model": "another"}, {"corpus": "another"}, {"unit": "tokens"}, {"pooling": "last"}),
        *({"only": ()}, {"every_word": True}, {"special": True}, {"most": 1_000}),
    ]
    if same_points:
        changes = [{"source": "file"}, {"layer": 2}, {"exact": True}]
        changes.append({"settings": MapSettings(seed=1)})
    for changed in changes:
        other = replace(USUAL, **changed)
        assert (other.points_key == USUAL.points_key) == same_points
        assert other.key != USUAL.key


@pytest.mark.parametrize(
    ("changed", "method", "words"),
    [
        (
            {},
            "umap",
            "words · all layers · UMAP (own optimiser) · 15 neighbours, minimum distance 0.1 · "
            "cosine distance, seed 0",
        ),
        (
            {"settings": MapSettings(method="tsne", n_neighbors=30, metric="euclidean", seed=4)},
            "tsne",
            "words · all layers · t-SNE · perplexity 30 · euclidean distance, seed 4",
        ),
        ({"layer": 0}, "pca", "words · layer 0 · PCA"),  # too few points for UMAP
        ({"unit": "sentences", "layer": -1}, "pca", "sentences · last layer only · PCA"),
    ],
    ids=["usual", "t-SNE", "one layer", "pooler"],
)
def test_a_request_in_words(changed: dict[str, Any], method: Any, words: str) -> None:
    assert replace(USUAL, **changed).in_words(method) == words


# Problems with the texts


def test_texts_that_cannot_be_used_are_a_problem_and_no_request(service: EncoderService) -> None:
    card = service.load(DEFAULT.model)
    asked = requested_map(map_view("", "  "), card)
    assert asked.problem.startswith("Your sentences are empty.")
    assert (asked.corpus, asked.request) == (None, None)
    asked = requested_map(map_view(source="file"), card)
    assert (asked.problem, asked.corpus, asked.request) == ("", None, None)


@pytest.mark.parametrize(
    ("n_texts", "most"),
    [(3, 2_000), (2_000, 2_000), (2_001, 5_000), (10_662, 20_000), (50_000, 20_000)],
)
def test_all_texts_of_a_chosen_file_are_on_its_map_up_to_20000(
    n_texts: int, most: int, card: ModelCard
) -> None:
    sheet = Table("films.txt", "TXT", {"text": ("a film",) * n_texts})
    view = opened(map_view(), sheet, "digest", "text", ())
    assert request_of(view, card, "digest", n_texts).most == most
    assert request_of(view, card, "digest", n_texts).layer is None
    ready = on_collection(view, "sentiment")
    assert request_of(ready, card, "digest", n_texts).most == 2_000


@pytest.mark.parametrize("asked", [1_000, 2_000, 100_000])
def test_the_number_of_points_that_was_chosen_stays_with_another_file(
    asked: int, card: ModelCard
) -> None:
    sheet = Table("films.txt", "TXT", {"text": ("a film",) * 5_000})
    view = at_most_of(5_000).put(map_view(source="file"), str(asked))
    for chosen in (view, opened(view, sheet, "digest", "text", ()), on_collection(view, "file")):
        assert request_of(chosen, card, "digest", 5_000).most == asked
