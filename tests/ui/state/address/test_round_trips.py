"""A view in an address or a state file, and back."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.content.bundled_texts import baseline_sentences
from components.core import BUNDLED_ID
from components.core.words import split_words
from components.ui.state.address import MAX_ADDRESS, decode, encode, from_json, to_json
from components.ui.state.session import is_too_long
from components.ui.state.view import DEFAULT, MAX_CHARACTERS, MAX_SENTENCES, Sentence, ViewState
from tests.ui.state.views import address, any_character, packed, unhurried, views


@pytest.mark.slow
@unhurried
@given(views())
def test_a_view_comes_back_from_a_state_file_as_it_was(view: ViewState) -> None:
    again = from_json(to_json(view))
    assert again == view
    assert repr(again) == repr(view)  # True and 1 and 1.0 are kept apart


def test_a_view_without_sentences_has_an_empty_one() -> None:
    assert from_json(json.dumps(packed(s=[]))).sentences == (Sentence(""),)


@pytest.mark.slow
@unhurried
@given(views())
def test_a_view_comes_back_from_its_address_as_it_was(view: ViewState) -> None:
    parameter = encode(view)
    if len(parameter) <= MAX_ADDRESS:
        assert repr(decode(parameter)) == repr(view)


@pytest.mark.slow
@unhurried
@given(views())
def test_an_address_has_only_characters_that_no_browser_or_mail_changes(view: ViewState) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]*", encode(view))


@pytest.mark.slow
@unhurried
@given(views())
def test_an_address_is_the_packed_state_file(view: ViewState) -> None:
    assert encode(view) in {address(to_json(view)), ""}


def test_the_default_view_needs_no_address() -> None:
    assert encode(DEFAULT) == ""
    assert decode("") == DEFAULT


@pytest.mark.slow
@unhurried
@given(views(st.text(any_character, max_size=20)))
def test_half_characters_are_replaced_and_nothing_moves(view: ViewState) -> None:
    again = decode(encode(view))
    for old, new in zip(view.sentences, again.sentences, strict=True):
        new.text.encode()
        assert (len(new.text), new.word) == (len(old.text), old.word)


def test_all_that_the_fields_take_of_a_language_fits_or_is_said_not_to_fit() -> None:
    words = sorted({text[a:b] for text in baseline_sentences() for a, b in split_words(text)})
    choose = random.Random(0)
    texts = [" ".join(choose.choices(words, k=100)) for _ in range(MAX_SENTENCES)]
    view = ViewState(BUNDLED_ID, tuple(Sentence(text, word=split_words(text)[5]) for text in texts))
    assert len(encode(view)) <= MAX_ADDRESS
    assert not is_too_long(view)
    assert decode(encode(view)) == view


def test_a_view_too_long_for_an_address_is_said_to_be() -> None:
    choose = random.Random(0)
    signs = [chr(code) for code in range(0x4E00, 0x9FA5)]
    text = "".join(choose.choices(signs, k=8 * 400))
    view = ViewState(BUNDLED_ID, (Sentence(text),))
    assert len(encode(view)) > MAX_ADDRESS
    assert is_too_long(view)


@pytest.mark.parametrize("character", ["a", "é", "😀", "\x00"])
def test_the_longest_texts_are_read_back_where_their_address_fits(character: str) -> None:
    sentence = Sentence(character * MAX_CHARACTERS)
    view = ViewState("model", (sentence,) * MAX_SENTENCES)
    assert not is_too_long(view)
    assert decode(encode(view)) == view


@pytest.mark.parametrize("write", [encode, to_json])
def test_writing_a_view_does_not_change_it(write: Callable[[ViewState], str]) -> None:
    view = ViewState("m", (Sentence("a"),), controls={"p": {"n": 1}})
    before = repr(view)
    assert write(view) == write(view)
    assert repr(view) == before
