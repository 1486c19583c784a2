"""Controls: what a view holds and a control does not allow counts as its default."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contextlens.content.examples import EXAMPLES
from contextlens.ui.state.controls import (
    PICKED_TOKENS,
    TEXTS,
    choice,
    number,
    of_example,
    sentence_choice,
    sentence_index,
    switch,
    text,
    without_left_tokens,
)
from contextlens.ui.state.view import DEFAULT, Sentence, Value, ViewState, from_example

COLOR = choice("masks", "color", ("Cosine", "Mask"))
CUT = number("masks", "cut", between=(1, 512), default=128)
MASK = switch("masks", "mask")
FIND = text("masks", "find")


def holding(name: str, value: Value) -> ViewState:
    return ViewState(DEFAULT.model, DEFAULT.sentences, controls={"masks": {name: value}})


@pytest.mark.parametrize(
    ("control", "value"), [(COLOR, "Mask"), (CUT, 7), (MASK, True), (FIND, "an")]
)
def test_what_is_put_is_read_back_and_the_default_takes_it_away(control, value):
    assert control.of(DEFAULT) == control.default
    assert control.key == f"masks_{control.name}"
    view = control.put(DEFAULT, value)
    assert control.of(view) == value
    assert view.controls == {"masks": {control.name: value}}
    assert control.put(view, control.default).controls == {}


@pytest.mark.parametrize(
    ("control", "value", "counts"),
    [
        (COLOR, "Segment", "Cosine"),
        (COLOR, 1, "Cosine"),
        (CUT, 9999, 512),
        (CUT, -3, 1),
        (CUT, True, 128),
        (CUT, 7.5, 128),
        (CUT, "7", 128),
        (MASK, 1, False),
        (FIND, 3, ""),
    ],
)
def test_what_is_not_allowed_counts_as_something_that_is(control, value, counts):
    assert control.of(holding(control.name, value)) == counts


def test_options_may_depend_on_a_model():
    view = holding("color", "Segment")
    wider = COLOR.among({"Cosine": "Cosine", "Segment": "By segment"})
    assert wider.of(view) == "Segment"
    assert COLOR.among(["Segment", "Mask"]).of(DEFAULT) == "Segment"  # its first, for want of ours
    assert COLOR.among(["Mask", "Cosine"], default="Mask").of(DEFAULT) == "Mask"
    assert COLOR.of(view) == "Cosine"  # the declaration is as it was


def test_bounds_may_depend_on_a_model():
    assert CUT.between(2, 64).of(DEFAULT) == 64
    assert CUT.between(2, 512, default=100).of(DEFAULT) == 100
    assert CUT.between(2, 64).of(holding("cut", 1)) == 2


def test_the_first_sentence_stands_in_for_one_that_is_gone():
    control = sentence_choice("masks")
    view = ViewState(DEFAULT.model, tuple(map(Sentence, "abc")))
    assert sentence_index(view, control) == 0
    assert sentence_index(control.put(view, "C"), control) == 2
    for gone in ("D", "", "AB", "a"):
        assert sentence_index(control.put(view, gone), control) == 0
    assert sentence_index(ViewState(DEFAULT.model, ()), control) == 0


@pytest.mark.parametrize(
    ("value", "asked"), [("Mask", "Mask"), ("Segment", "Segment"), (1, None), (True, None)]
)
def test_what_is_asked_is_told_even_where_it_is_not_allowed(value, asked):
    assert COLOR.asked(holding("color", value)) == asked
    assert COLOR.asked(DEFAULT) is None


@pytest.mark.parametrize("page", PICKED_TOKENS)
def test_a_picked_token_goes_with_its_sentence_alone(page: str) -> None:
    first, second = DEFAULT.sentences
    picked = {**dict.fromkeys(PICKED_TOKENS[page], 4), "show": "All"}
    view = replace(DEFAULT, controls={page: picked})
    for other in (replace(first, word=(2, 6)), Sentence("another"), replace(first, pair="more")):
        changed = replace(view, sentences=(other, second))
        assert without_left_tokens(changed, view).controls == {page: {"show": "All"}}
    shown = sentence_choice(page).put(view, "B")
    assert without_left_tokens(shown, view).controls == {page: {"show": "All", "sentence": "B"}}
    elsewhere = replace(view, sentences=(first, Sentence("another"), second), layer=2)
    assert without_left_tokens(elsewhere, view) == elsewhere


def test_an_example_keeps_the_model_and_the_texts_of_the_view() -> None:
    before = replace(DEFAULT, model="in/use", controls={TEXTS: {"word": "bank"}, "map": {"x": 1}})
    opened = of_example(EXAMPLES[1], before)
    assert (opened.model, opened.controls) == ("in/use", {TEXTS: {"word": "bank"}})
    assert opened.sentences == from_example(EXAMPLES[1]).sentences
    assert not of_example(EXAMPLES[1], DEFAULT).controls
