"""A view in an address or a state file, and back; anything else is refused."""

from __future__ import annotations

import base64
import json
import math
import random
import re
import time
import tracemalloc
import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.content.bundled_texts import baseline_sentences
from contextlens.core import BUNDLED_ID
from contextlens.core.errors import StateError
from contextlens.core.words import split_words
from contextlens.ui.state.address import MAX_ADDRESS, decode, encode, from_json, to_json
from contextlens.ui.state.session import is_too_long
from contextlens.ui.state.view import DEFAULT, MAX_CHARACTERS, MAX_SENTENCES, Sentence, ViewState
from tests.ui.state.views import any_character, sendable, unhurried, views


def in_our_form(data: bytes) -> str:
    return "1" + base64.urlsafe_b64encode(data).decode().rstrip("=")


def address(json_text: str) -> str:
    """A state file's text as `encode` packs it, so that tests can put anything in an address."""
    return in_our_form(zlib.compress(json_text.encode("utf-8"), 9))


def packed(**changes: Any) -> dict[str, Any]:
    return {"m": "a model", "s": [["pet python", None, [4, 10]]], "r": [], **changes}


# There and back


@unhurried
@given(views())
def test_a_view_comes_back_as_it_was_from_an_address_that_no_mail_changes(view: ViewState) -> None:
    before, text, parameter = repr(view), to_json(view), encode(view)
    assert repr(from_json(text)) == before  # True and 1 and 1.0 are kept apart
    assert re.fullmatch(r"[A-Za-z0-9_-]*", parameter)
    assert parameter == address(text)
    if len(parameter) <= MAX_ADDRESS:
        assert repr(decode(parameter)) == before
    assert repr(view) == before


def test_a_view_without_sentences_has_an_empty_one() -> None:
    assert from_json(json.dumps(packed(s=[]))).sentences == (Sentence(""),)


def test_the_bundled_model_s_view_is_named_as_another_model_may_be_the_first() -> None:
    assert encode(DEFAULT) == address(to_json(DEFAULT))
    assert decode("") == DEFAULT


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


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((Sentence("word " * 4_001),), "A sentence of this view has 20,005 characters"),
        ((Sentence("a", "é" * 20_001),), "A sentence of this view has 20,001 characters"),
        ((Sentence("a"),) * 9, "This view has 9 sentences, and at most 8 are compared"),
    ],
)
def test_what_is_too_long_in_an_address_is_said(rows: tuple[Sentence, ...], said: str) -> None:
    with pytest.raises(StateError, match=said):
        decode(encode(replace(DEFAULT, sentences=rows)))


def test_a_view_too_long_for_an_address_is_said_to_be() -> None:
    choose = random.Random(0)
    signs = [chr(code) for code in range(0x4E00, 0x9FA5)]
    text = "".join(choose.choices(signs, k=8 * 400))
    view = ViewState(BUNDLED_ID, (Sentence(text),))
    assert len(encode(view)) > MAX_ADDRESS
    assert is_too_long(view)


# Damage


random_bytes = st.binary(max_size=200)
no_addresses = (
    st.text(any_character, min_size=1, max_size=200)
    | random_bytes.map(in_our_form)
    | random_bytes.map(zlib.compress).map(in_our_form)
)


@unhurried
@given(no_addresses)
def test_a_random_address_is_refused(parameter: str) -> None:
    with pytest.raises(StateError):
        decode(parameter)


LONGER = replace(DEFAULT, layer=3)


def test_a_cut_off_address_is_called_damaged() -> None:
    parameter = encode(LONGER)
    for length in range(1, len(parameter)):
        with pytest.raises(StateError, match="part of it is missing"):
            decode(parameter[:length])


@unhurried
@given(st.integers(1, len(encode(LONGER)) - 1), st.characters(codec="ascii"))
def test_an_address_with_a_wrong_character_is_refused_or_names_a_view(at: int, sign: str) -> None:
    parameter = encode(LONGER)
    try:
        view = decode(parameter[:at] + sign + parameter[at + 1 :])
    except StateError:
        return
    assert isinstance(view, ViewState)


@pytest.mark.parametrize("version", ["0", "2", "x", " ", "é", "\x00"])
def test_another_version_is_named_as_the_reason(version: str) -> None:
    with pytest.raises(StateError, match="another version"):
        decode(version + encode(LONGER)[1:])


def bomb(megabytes: int) -> str:
    """An address that inflates to JSON of this size."""
    machine = zlib.compressobj(9)
    data = machine.compress(b'{"m":"')
    data += b"".join(machine.compress(b"a" * 1_000_000) for _ in range(megabytes))
    return in_our_form(data + machine.flush())


# 200 MB make an address of 260 kB, refused for its length; 11 MB are just short enough.
@pytest.mark.parametrize("megabytes", [11, 200])
def test_an_address_that_inflates_is_refused_before_it_fills_the_memory(megabytes: int) -> None:
    parameter = bomb(megabytes)
    assert megabytes == 200 or len(parameter) <= 2 * MAX_ADDRESS
    tracemalloc.start()
    started = time.perf_counter()
    try:
        with pytest.raises(StateError):
            decode(parameter)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("text", ["", "{", "nonsense", "NaN", '{"m"}', "\x00", "\ufeff{}"])
def test_a_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(StateError):
        from_json(text)


# Wrong values


@pytest.mark.parametrize("text", ["[" * 100_000, '{"c":' * 100_000, "[" * 500 + "]" * 500])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(StateError):
        from_json(text)
    with pytest.raises(StateError):
        decode(address(text))
    deep: Any = packed()
    with pytest.raises(StateError):
        from_json(json.dumps(deep)[:-1] + ',"c":' + text + "}")


WRONG: dict[str, Any] = {
    "nothing": None,
    "no model": {"s": [], "r": []},
    "no sentences": {"m": "m", "r": []},
    "no references": {"m": "m", "s": []},
    "a model that is a number": packed(m=1),
    "a model of 201 letters": packed(m="m" * 201),
    "sentences as text": packed(s="text"),
    "a sentence that is text of three letters": packed(s=["abc"]),
    "a sentence with too little": packed(s=[["a", None]]),
    "a sentence with too much": packed(s=[["a", None, None, None]]),
    "a text that is a number": packed(s=[[1, None, None]]),
    "a text that is too long": packed(s=[["a" * (MAX_CHARACTERS + 1), None, None]]),
    "a pair that is a number": packed(s=[["a", 1, None]]),
    "a pair that is too long": packed(s=[["a", "a" * (MAX_CHARACTERS + 1), None]]),
    "nine sentences": packed(s=[["a", None, None]] * 9),
    "nine references": packed(r=[["a", None, None]] * 9),
    "references that are a number": packed(r=5),
    "a span that is a number": packed(s=[["abc", None, 1]]),
    "a span of one": packed(s=[["abc", None, [1]]]),
    "a span of booleans": packed(s=[["abc", None, [False, True]]]),
    "a span of fractions": packed(s=[["abc", None, [0.0, 1.0]]]),
    "a span before the text": packed(s=[["abc", None, [-1, 2]]]),
    "a span behind the text": packed(s=[["abc", None, [1, 4]]]),
    "a huge span": packed(s=[["abc", None, [0, 10**300]]]),
    "a layer that is a boolean": packed(l=True),
    "a layer that is a fraction": packed(l=1.5),
    "a negative layer": packed(l=-1),
    "a huge layer": packed(l=10**300),
    "controls that are a list": packed(c=[]),
    "controls that are nothing": packed(c=None),
    "a page's controls that are a list": packed(c={"meaning": []}),
    "a control that is nothing": packed(c={"meaning": {"pooling": None}}),
    "a control that is a list": packed(c={"meaning": {"pooling": ["mean"]}}),
    "a control that is too long": packed(c={"meaning": {"pooling": "a" * 201}}),
    "a page with too long a name": packed(c={"p" * 41: {}}),
    "a control with too long a name": packed(c={"p": {"n" * 41: 1}}),
}


@pytest.mark.parametrize("data", WRONG.values(), ids=WRONG.keys())
def test_a_value_of_the_wrong_kind_is_refused(data: Any) -> None:
    text = json.dumps(data)
    with pytest.raises(StateError):
        from_json(text)
    with pytest.raises(StateError):
        decode(address(text))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("place", ["l", "span", "c"])
def test_numbers_that_are_none_are_refused(number: str, place: str) -> None:
    data = json.dumps(
        {
            "l": packed(l="HERE"),
            "span": packed(s=[["abc", None, [0, "HERE"]]]),
            "c": packed(c={"meaning": {"limit": "HERE"}}),
        }[place]
    )
    with pytest.raises(StateError):
        from_json(data.replace('"HERE"', number))


@pytest.mark.parametrize("digits", [400, 5000])
def test_numbers_that_no_widget_can_show_are_refused(digits: int) -> None:
    data = json.dumps(packed(c={"meaning": {"limit": "HERE"}}))
    with pytest.raises(StateError):
        from_json(data.replace('"HERE"', "9" * digits))


def test_a_reversed_or_empty_span_chooses_nothing() -> None:
    view = from_json(json.dumps(packed(s=[["abc", None, [2, 1]], ["abc", None, [1, 1]]])))
    assert [sentence.word for sentence in view.sentences] == [None, None]


def test_unknown_keys_are_left_out() -> None:
    view = from_json(json.dumps(packed(x=1, __class__="y", model="z")))
    assert view == ViewState("a model", (Sentence("pet python", None, (4, 10)),))


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"a\ud83d b", "a\ufffd b"),
        (r"a\ude00 b", "a\ufffd b"),
        (r"\ude00\ud83d", "\ufffd\ufffd"),
        (r"\ud83d", "\ufffd"),
        (r"\ud83d\ude00", "😀"),
        (r"\ufeffa", "\ufeffa"),
    ],
)
def test_half_characters_in_json_are_replaced_so_that_browsers_can_have_them(
    escaped: str, text: str
) -> None:
    data = json.dumps(packed(m="HERE", s=[["HERE", "HERE", [0, 1]]], c={"HERE": {"HERE": 1}}))
    view = from_json(data.replace("HERE", escaped))
    assert view.sentences == (Sentence(text, text, (0, 1)),)
    assert view.model == text
    assert view.controls == {text: {text: 1}}
    to_json(view).encode("utf-8")
    assert decode(encode(view)) == view


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(any_character, max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)
words = anything | st.lists(st.integers(-2, 12), max_size=3) | st.none()
rows = anything | st.tuples(anything | st.text(max_size=9), anything | st.none(), words).map(list)
almost_views = st.fixed_dictionaries(
    {"m": anything | sendable, "s": anything | st.lists(rows, max_size=9), "r": st.lists(rows)},
    optional={
        "l": anything,
        "c": anything | st.dictionaries(st.text(), st.dictionaries(st.text(), anything)),
    },
)


@pytest.mark.slow
@unhurried
@given(anything | almost_views)
def test_whatever_json_says_it_is_a_view_or_refused(data: Any) -> None:
    text = json.dumps(data)
    try:
        view = from_json(text)
    except StateError:
        return
    assert_sound(view)
    assert decode(encode(view)) == view


def assert_sound(view: ViewState) -> None:
    """All that pages may rely on, whoever wrote the address."""
    assert isinstance(view.model, str)
    assert view.layer is None or (type(view.layer) is int and view.layer >= 0)
    for group in (view.sentences, view.references):
        assert isinstance(group, tuple)
        assert len(group) <= MAX_SENTENCES
        for sentence in group:
            sentence.text.encode("utf-8")
            assert sentence.pair is None or isinstance(sentence.pair, str)
            start, end = sentence.word or (0, len(sentence.text))
            assert sentence.word is None or 0 <= start < end <= len(sentence.text)
    for own in view.controls.values():
        assert all(type(value) in (str, int, float, bool) for value in own.values())
        assert all(math.isfinite(v) for v in own.values() if isinstance(v, float))
