"""Attention in words, where the expected story fails too; and the numbers of the snippet."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.features.attention.compute import (
    DIRECTIONS,
    LOOKS,
    PAGE,
    SPECIALS,
    UNITS,
    AttentionView,
    compute,
)
from components.features.attention.measures.grid import Grid, Item
from components.features.attention.reading.weights import (
    AttentionShown,
    attention_reading,
    attention_title,
    special_note,
)
from components.features.attention.snippet import attention_snippet
from components.ui.state.view import Sentence, ViewState
from tests.features.meaning.test_snippet import run
from tests.support.tiny_models import FAMILIES

EVEN = {"previous": 0.14, "next": 0.14, "first": 0.14, "separators": 0.14, "word": 0.14}
LOW = dict.fromkeys(EVEN, 0.1)
SHOWN = AttentionShown(
    show="head",
    layer=1,
    head=2,
    shares={**LOW, "previous": 1.0},
    even=EVEN,
    names={"first": "[CLS]", "separators": "[SEP]"},
)
WEIGHTS = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.0, 0.0, 1.0]], np.float32)


def grid(*labels: str, weights: np.ndarray = WEIGHTS, kinds: str = "ttt", **more: Any) -> Grid:
    names = {"t": "token", "p": "padding", "s": "special"}
    items = tuple(
        Item(label, (i,), names[kind], 0)  # type: ignore[arg-type]
        for i, (label, kind) in enumerate(zip(labels, kinds, strict=True))
    )
    settings = {"hidden": (), "renormalised": False, **more}
    return Grid(rows=items, columns=items, weights=weights, **settings)


def said(
    shown: AttentionShown = SHOWN, which: Grid | None = None, picked: Any = ("from", 1)
) -> str:
    return " ".join(attention_reading(shown, which or grid("a", "b", "c"), picked))


def test_a_habit_is_told_with_its_share_and_what_even_attention_gives() -> None:
    text = said()
    assert "**1.00** of the attention goes to the token before" in text
    assert "it would be 0.14" in text
    assert "“b” looks most at “b” (**0.50**), then “c” (**0.30**)" in text
    assert text.endswith("it does not explain what the model concludes.")
    assert attention_title(SHOWN, grid("a", "b", "c")) == "Layer 1, head 2: previous token 1.00"


@pytest.mark.parametrize(
    ("habit", "place"),
    [
        ("next", "the token after"),
        ("first", r"\[CLS\]"),
        ("separators", r"\[SEP\]"),
        ("word", "the token itself or its own word"),
    ],
)
def test_each_habit_has_its_words(habit: str, place: str) -> None:
    text = said(replace(SHOWN, shares={**LOW, habit: 0.6}))
    assert f"**0.60** of the attention goes to {place} (" in text


@pytest.mark.parametrize("share", [0.2, 0.29])
def test_a_small_share_is_no_habit(share: float) -> None:
    shown = replace(SHOWN, shares={**LOW, "next": share})
    assert f"no single habit here: the largest share, **{share:.2f}**" in said(shown)
    assert attention_title(shown, grid("a", "b", "c")).endswith("no single habit")


def test_a_share_that_is_nearly_even_is_no_habit() -> None:
    """With three tokens half of the attention is hardly more than a third of it."""
    shown = replace(SHOWN, shares={**LOW, "first": 0.45}, even=dict.fromkeys(EVEN, 0.33))
    assert "no single habit" in said(shown)


def test_in_a_long_text_even_attention_is_told_by_its_first_digits() -> None:
    assert "it would be 0.002)" in said(replace(SHOWN, even=dict.fromkeys(EVEN, 1 / 512)))


def test_a_second_weight_that_rounds_to_zero_is_not_told() -> None:
    assert "“c” looks most at “c” (**1.00**)." in said(picked=("from", 2))


def test_a_column_says_who_looks_at_it() -> None:
    assert "“c” gets most from “c” (**1.00**), then “b” (**0.30**)." in said(picked=("to", 2))


def test_nothing_looks_at_padding_and_that_is_said() -> None:
    weights = np.array([[0.9, 0.1, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]], np.float32)
    which = grid("a", "b", "[PAD]", weights=weights, kinds="ttp")
    assert "is padding: nothing looks at it" in said(which=which, picked=("to", 2))


def test_a_mean_says_who_gets_most_and_leaves_the_rows_of_padding_out() -> None:
    weights = np.array([[0.2, 0.8, 0], [0.4, 0.6, 0], [1, 0, 0]], np.float32)
    which = grid("a", "b", "[PAD]", weights=weights, kinds="ttp")
    text = said(replace(SHOWN, show="layer", layer=3), which)
    assert "Averaged over the heads of layer 3, “b” gets most: **0.70**" in text
    assert attention_title(replace(SHOWN, show="all"), which) == "Mean of all heads: b 0.70"


def test_rollout_is_told_as_what_a_position_is_made_of() -> None:
    text = said(replace(SHOWN, show="rollout", layer=6))
    assert "Followed through layers 1 to 6, a position takes in most of" in text
    assert "“b” is made most of “b” (**0.50**)" in text


def test_the_patterns_of_an_untrained_encoder_are_called_chance() -> None:
    assert said(replace(SHOWN, trained=False)).startswith("The encoder of this model is untrained")


def test_typed_markup_is_shown_as_typed() -> None:
    assert r"“\<b\>\*x\*”" in said(which=grid("<b>*x*", "b", "c"), picked=("from", 0))


def test_hiding_is_said_with_what_it_does_to_the_rows() -> None:
    assert special_note(grid("a", "b", "c"), [], asked=False) == ""
    assert "nothing would be left" in special_note(grid("a", "b", "c"), [], asked=True)
    hidden = grid("a", "b", "c", hidden=(3,))
    assert "went to them" in special_note(hidden, ["[CLS]", "[SEP]", "[SEP]"], asked=True)
    again = special_note(replace(hidden, renormalised=True), ["[CLS]"], asked=True)
    assert "rows sum to 1 again" in again


# The snippet


TEXT, PAIR = "The teacher's unbelievable python", "Seventeen umbrellas"


def viewed(service: EncoderService, model: str, sentence: Sentence, **own: Any) -> AttentionView:
    view = ViewState(model, (sentence,), layer=own.pop("layer", None), controls={PAGE: own})
    return compute(view, service, service.load(model))


def snippet_of(what: AttentionView, folder: Path | None = None) -> np.ndarray:
    code = attention_snippet(
        what.card,
        (what.sentence.text, what.sentence.pair),
        (what.shown.show, what.shown.layer, what.shown.head),
        what.grid,
        what.pad_to or 0,
    )
    if folder is not None:
        code = code.replace(f"path/to/{folder.name}", str(folder))
    return run(code)["attention"].numpy()


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_snippet_gives_the_pages_weights(
    tiny_service: EncoderService, tiny_root: Path, family: str, look: str
) -> None:
    own = {"show": look, "special": "Hide, rows to 1", "unit": "Words", "head": "2.1"}
    what = viewed(tiny_service, f"folder:{family}", Sentence(TEXT, PAIR), layer=2, **own)
    np.testing.assert_allclose(snippet_of(what, tiny_root / family), what.grid.weights, atol=2e-5)


@pytest.mark.parametrize("special", SPECIALS)
@pytest.mark.parametrize(("unit", "direction"), [*product(UNITS, DIRECTIONS)])
def test_the_snippet_arranges_as_the_page_does(
    service: EncoderService, special: str, unit: str, direction: str
) -> None:
    own = {"special": special, "unit": unit, "direction": direction, "pad": 30, "sort": "next"}
    what = viewed(service, BUNDLED_ID, Sentence(TEXT, PAIR), **own)
    assert what.pad_to == 30
    np.testing.assert_allclose(snippet_of(what), what.grid.weights, atol=1e-5)


@pytest.mark.parametrize("text", ["", " ", "\U0001f984", 'a "quoted"\n\\text', "word " * 600])
def test_the_snippet_reads_any_text(service: EncoderService, text: str) -> None:
    what = viewed(service, BUNDLED_ID, Sentence(text), show="Rollout")
    np.testing.assert_allclose(snippet_of(what), what.grid.weights, atol=1e-5)


def test_a_head_that_was_not_kept_is_asked_for(service: EncoderService) -> None:
    sentence = Sentence("the bank of the river " * 120)
    first = viewed(service, BUNDLED_ID, sentence)
    other = next(place for place in first.order if first.heads.whole(*place) is None)
    what = viewed(service, BUNDLED_ID, sentence, head=f"{other[0]}.{other[1]}")
    assert (what.shown.layer, what.shown.head) == other
    np.testing.assert_allclose(snippet_of(what), what.attention, atol=1e-5)
