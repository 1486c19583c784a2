"""Well-formed addresses and files, whatever they say: a sound view, or refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import StateError
from components.ui.state.address import decode, encode, from_json, to_json
from components.ui.state.view import MAX_CHARACTERS, MAX_SENTENCES, Sentence, ViewState
from tests.ui.state.views import address, any_character, packed, sendable, unhurried


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
    "a number": 7,
    "text": "text",
    "a list": [],
    "no model": {"s": [], "r": []},
    "no sentences": {"m": "m", "r": []},
    "no references": {"m": "m", "s": []},
    "a model that is a number": packed(m=1),
    "a model that is nothing": packed(m=None),
    "a model that is a list": packed(m=["m"]),
    "a model of 201 letters": packed(m="m" * 201),
    "sentences as text": packed(s="text"),
    "sentences as a mapping": packed(s={"0": ["a", None, None]}),
    "sentences that are nothing": packed(s=None),
    "a sentence that is text": packed(s=["text"]),
    "a sentence that is text of three letters": packed(s=["abc"]),
    "a sentence that is nothing": packed(s=[None]),
    "a sentence that is a mapping": packed(s=[{"a": 1, "b": 2, "c": 3}]),
    "a sentence with too little": packed(s=[["a", None]]),
    "a sentence with too much": packed(s=[["a", None, None, None]]),
    "a text that is a number": packed(s=[[1, None, None]]),
    "a text that is nothing": packed(s=[[None, None, None]]),
    "a text that is too long": packed(s=[["a" * (MAX_CHARACTERS + 1), None, None]]),
    "a pair that is a number": packed(s=[["a", 1, None]]),
    "a pair that is too long": packed(s=[["a", "a" * (MAX_CHARACTERS + 1), None]]),
    "nine sentences": packed(s=[["a", None, None]] * 9),
    "nine references": packed(r=[["a", None, None]] * 9),
    "references that are a number": packed(r=5),
    "a span that is a number": packed(s=[["abc", None, 1]]),
    "a span that is text": packed(s=[["abc", None, "01"]]),
    "a span of text": packed(s=[["abc", None, ["0", "1"]]]),
    "a span that is empty": packed(s=[["abc", None, []]]),
    "a span of one": packed(s=[["abc", None, [1]]]),
    "a span of three": packed(s=[["abc", None, [0, 1, 2]]]),
    "a span of booleans": packed(s=[["abc", None, [False, True]]]),
    "a span of fractions": packed(s=[["abc", None, [0.0, 1.0]]]),
    "a span of nothing": packed(s=[["abc", None, [None, None]]]),
    "a span that is a mapping": packed(s=[["abc", None, {"0": 1, "1": 2}]]),
    "a span before the text": packed(s=[["abc", None, [-1, 2]]]),
    "a span behind the text": packed(s=[["abc", None, [1, 4]]]),
    "a huge span": packed(s=[["abc", None, [0, 10**300]]]),
    "a layer that is text": packed(l="1"),
    "a layer that is a boolean": packed(l=True),
    "a layer that is a fraction": packed(l=1.5),
    "a negative layer": packed(l=-1),
    "a huge layer": packed(l=10**300),
    "a layer in a list": packed(l=[1]),
    "controls that are a list": packed(c=[]),
    "controls that are text": packed(c="text"),
    "controls that are nothing": packed(c=None),
    "a page's controls that are a list": packed(c={"meaning": []}),
    "a page's controls that are a number": packed(c={"meaning": 1}),
    "a control that is nothing": packed(c={"meaning": {"pooling": None}}),
    "a control that is a list": packed(c={"meaning": {"pooling": ["mean"]}}),
    "a control that is a mapping": packed(c={"meaning": {"pooling": {}}}),
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


def test_half_characters_in_a_control_are_replaced_too() -> None:
    view = from_json(json.dumps(packed(c={"meaning": {"pooling": "\ud83d"}})))
    to_json(view).encode("utf-8")


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
