"""A view in an address and back, and everything that an address can try."""

from __future__ import annotations

import base64
import json
import math
import random
import re
import time
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.content.examples import EXAMPLES, Example
from components.content.sample import baseline_sentences
from components.core import BUNDLED_ID
from components.core.errors import StateError
from components.core.words import find_word, split_words
from components.ui.state.address import MAX_ADDRESS, decode, encode, from_json, to_json
from components.ui.state.session import is_too_long
from components.ui.state.view import (
    DEFAULT,
    MAX_CHARACTERS,
    MAX_SENTENCES,
    Sentence,
    ViewState,
    from_example,
    retyped,
    shared_word,
)

unhurried = settings(deadline=None)  # other work may share these cores
any_character = st.characters(exclude_categories=())  # lone surrogates too
sendable = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


def sentences(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Sentence]:
    def with_word(text: str, pair: str | None) -> st.SearchStrategy[Sentence]:
        cuts = st.integers(0, len(text))
        spans = st.tuples(cuts, cuts).map(lambda cut: (min(cut), max(cut)))
        words = st.none() | spans.filter(lambda span: span[0] < span[1])
        return words.map(lambda word: Sentence(text, pair, word))

    return st.tuples(texts, st.none() | texts).flatmap(lambda both: with_word(*both))


def views(texts: st.SearchStrategy[str] = sendable) -> st.SearchStrategy[ViewState]:
    names = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
    finite = st.floats(-(2**53), 2**53)
    values = st.booleans() | st.integers(-(2**53), 2**53) | finite | sendable
    own = st.dictionaries(names, values, max_size=4)
    several = st.lists(sentences(texts), max_size=MAX_SENTENCES).map(tuple)
    some = several.filter(bool)  # there is always a sentence, if an empty one
    return st.builds(
        ViewState,
        model=sendable,
        sentences=some,
        references=several,
        layer=st.none() | st.integers(0, 1000),
        controls=st.dictionaries(names, own, max_size=3),
    )


def address(json_text: str) -> str:
    """What `encode` makes of a state file's text, so that tests can put anything in an address."""
    packed = zlib.compress(json_text.encode("utf-8"), 9)
    return "1" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def packed(**changes: Any) -> dict[str, Any]:
    return {"m": "a model", "s": [["pet python", None, [4, 10]]], "r": [], **changes}


# There and back


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


@unhurried
@given(views())
def test_an_address_has_only_characters_that_no_browser_or_mail_changes(view: ViewState) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]*", encode(view))


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


# Hostile addresses


@unhurried
@given(st.text(any_character, max_size=200))
def test_a_random_address_is_refused(parameter: str) -> None:
    if parameter:
        with pytest.raises(StateError):
            decode(parameter)


@unhurried
@given(st.binary(max_size=200))
def test_random_bytes_in_our_form_are_refused(data: bytes) -> None:
    with pytest.raises(StateError):
        decode("1" + base64.urlsafe_b64encode(data).decode().rstrip("="))


@unhurried
@given(st.binary(max_size=200))
def test_random_bytes_well_compressed_are_refused(data: bytes) -> None:
    with pytest.raises(StateError):
        decode("1" + base64.urlsafe_b64encode(zlib.compress(data)).decode().rstrip("="))


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
    return "1" + base64.urlsafe_b64encode(data + machine.flush()).decode().rstrip("=")


# 200 MB are 260 kB of address and refused for their length; 11 MB just pass for short.
@pytest.mark.slow
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


@pytest.mark.parametrize("text", ["", "{", "nonsense", "NaN", '{"m"}', "\x00", "\ufeff{}"])
def test_a_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(StateError):
        from_json(text)


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


@unhurried
@given(st.text(any_character, max_size=300))
def test_random_text_is_no_state_file(text: str) -> None:
    with pytest.raises(StateError):
        from_json(text)


# Choices


def test_a_choice_is_kept_only_where_it_differs_from_the_default() -> None:
    view = ViewState("m", ())
    first = view.with_control("meaning", "pooling", "first", "mean")
    assert first.controls == {"meaning": {"pooling": "first"}}
    assert view.controls == {}
    assert first.control("meaning", "pooling", "mean") == "first"
    assert view.control("meaning", "pooling", "mean") == "mean"
    assert first.with_control("meaning", "pooling", "mean", "mean") == view


def test_one_choice_leaves_the_others_alone() -> None:
    view = (
        ViewState("m", ())
        .with_control("meaning", "pooling", "last", "mean")
        .with_control("meaning", "centred", True, False)
        .with_control("senses", "pooling", "first", "mean")
    )
    back = view.with_control("meaning", "pooling", "mean", "mean")
    assert back.controls == {"meaning": {"centred": True}, "senses": {"pooling": "first"}}


@pytest.mark.parametrize(
    ("kept", "default"),
    [("yes", False), (1, False), (1.0, 1), (1, 1.0), (True, 1), (False, "mean"), (3, "mean")],
)
def test_a_choice_of_another_type_than_the_default_is_not_believed(kept: Any, default: Any) -> None:
    view = ViewState("m", (), controls={"page": {"name": kept}})
    found = view.control("page", "name", default)
    assert found == default
    assert type(found) is type(default)


@pytest.mark.slow
@unhurried
@given(views(), st.text(max_size=5), st.text(max_size=5), st.booleans())
def test_what_is_chosen_is_what_is_read(view: ViewState, page: str, name: str, on: bool) -> None:
    assert view.with_control(page, name, on, False).control(page, name, default=False) is on


# Typing


def sentence(text: str, word: str, occurrence: int = 0) -> Sentence:
    return Sentence(text, None, find_word(text, word, occurrence))


@pytest.mark.parametrize(
    ("old", "text", "span"),
    [
        (sentence("my pet python", "python"), "my pet python sleeps", (7, 13)),
        (sentence("my pet python", "python"), "python is my pet", (0, 6)),
        (sentence("my pet python", "python"), "Python is my pet", (0, 6)),
        (sentence("my pet python", "python"), "my own pet PYTHON", (11, 17)),
        (sentence("my pet python", "python"), "my pet snake", None),
        (sentence("my pet python", "python"), "my pet pythons", None),
        (sentence("my pet python", "python"), "", None),
        (sentence("a python, a python", "python", 1), "a python, one python", (14, 20)),
        (sentence("a python, a python", "python", 0), "a python, one python", (2, 8)),
        (Sentence("no word chosen"), "no word chosen yet", None),
        (sentence("the 🐍 bit", "🐍"), "so the 🐍 bit", (7, 8)),
    ],
)
def test_the_chosen_word_is_kept_moved_or_dropped(
    old: Sentence, text: str, span: tuple[int, int] | None
) -> None:
    assert retyped(old, text, None) == Sentence(text, None, span)


def test_a_new_sentence_takes_the_word_that_the_others_have() -> None:
    assert retyped(Sentence(""), "a python is a snake", "python").word == (2, 8)
    assert retyped(Sentence(""), "a snake", "python").word is None


def test_its_own_word_comes_before_that_of_the_others() -> None:
    old = sentence("my pet snake", "snake")
    assert retyped(old, "a python is a snake", "python").word == (14, 19)
    assert retyped(old, "a python is a pet", "python").word == (2, 8)


def test_typing_keeps_the_second_text() -> None:
    assert retyped(Sentence("a", "b", (0, 1)), "c", None) == Sentence("c", "b")


@unhurried
@given(sentences(st.text(any_character, max_size=40)), st.text(any_character, max_size=40))
def test_typing_keeps_what_was_typed_and_chooses_a_word_of_it(old: Sentence, text: str) -> None:
    new = retyped(old, text, None)
    assert new.text == text
    assert new.word is None or new.word in split_words(text)


def test_typing_a_long_text_that_repeats_its_word_is_quick() -> None:
    text = "pi " * (MAX_CHARACTERS // 3)
    split_words(text)
    started = time.perf_counter()
    assert retyped(Sentence(text, None, (3, 5)), text, None).word == (3, 5)
    assert time.perf_counter() - started < 1


# Examples


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
def test_an_example_opens_with_its_words_chosen(example: Example) -> None:
    view = from_example(example)
    for given_, shown in [
        *zip(example.sentences, view.sentences, strict=True),
        *zip(example.references, view.references, strict=True),
    ]:
        assert shown.text == given_.text
        assert shown.word is not None
        assert shown.text[slice(*shown.word)] == given_.word


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
def test_an_example_opens_with_its_own_model_or_the_one_in_use(example: Example) -> None:
    assert from_example(example).model == example.model or BUNDLED_ID
    assert from_example(example, "in/use").model == (example.model or "in/use")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
def test_an_example_has_an_address(example: Example) -> None:
    view = from_example(example, "in/use")
    assert decode(encode(view)) == view
    assert not is_too_long(view)


def test_the_opening_view_is_the_first_example() -> None:
    assert from_example(EXAMPLES[0]) == DEFAULT
    assert [text.word for text in DEFAULT.sentences] == [(14, 20), (17, 23)]


@pytest.mark.parametrize("write", [encode, to_json])
def test_writing_a_view_does_not_change_it(write: Callable[[ViewState], str]) -> None:
    view = ViewState("m", (Sentence("a"),), controls={"p": {"n": 1}})
    before = repr(view)
    assert write(view) == write(view)
    assert repr(view) == before


@pytest.mark.parametrize(("layer", "counts"), [(None, 6), (0, 0), (6, 6), (7, 6), (-1, 6)])
def test_a_layer_that_is_not_there_counts_as_the_last(layer: int | None, counts: int) -> None:
    assert replace(DEFAULT, layer=layer).layer_among(range(7)) == counts


@pytest.mark.parametrize(
    ("text", "others", "expected"),
    [
        ("the bank of a river", ["A bank gave us money"], "bank"),
        ("The Bank", ["a bank"], "Bank"),
        ("a grassy bank", ["the bank was grassy"], "grassy"),
        ("good food was bad", ["was it good or bad"], "good"),
        ("to be or not", ["to be"], None),
        ("one two", ["three four"], None),
        ("", ["a bank"], None),
        ("a bank", [], None),
        ("1234", ["1234"], None),
    ],
)
def test_a_shared_word_is_the_longest_of_those_in_both(
    text: str, others: list[str], expected: str | None
) -> None:
    assert shared_word(text, others) == expected
