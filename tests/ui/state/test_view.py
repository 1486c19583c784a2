"""A view's contents: choices, words while their sentences change, and examples."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.content.examples import EXAMPLES, Example
from contextlens.core import BUNDLED_ID
from contextlens.core.words import find_word, split_words
from contextlens.ui.state.address import decode, encode
from contextlens.ui.state.session import is_too_long
from contextlens.ui.state.view import (
    DEFAULT,
    MAX_CHARACTERS,
    Sentence,
    ViewState,
    from_example,
    last_content_word,
    retyped,
    shared_word,
    without_left_references,
)
from tests.ui.state.views import any_character, sentences, unhurried

# Choices


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_a_blank_second_text_is_none(blank: str) -> None:
    assert Sentence("a", blank) == Sentence("a")
    assert Sentence("a", " b ").pair == " b "


def test_one_choice_leaves_the_others_alone() -> None:
    view = (
        ViewState("m", ())
        .with_control("meaning", "pooling", "last", "mean")
        .with_control("meaning", "centred", True, False)
        .with_control("senses", "pooling", "first", "mean")
    )
    back = view.with_control("meaning", "pooling", "mean", "mean")
    assert back.controls == {"meaning": {"centred": True}, "senses": {"pooling": "first"}}
    assert view.control("meaning", "pooling", "mean") == "last"
    assert back.control("meaning", "pooling", "mean") == "mean"


@pytest.mark.parametrize(
    ("kept", "default"),
    [("yes", False), (1, False), (1.0, 1), (1, 1.0), (True, 1), (False, "mean"), (3, "mean")],
)
def test_a_choice_of_another_type_than_the_default_is_not_believed(kept: Any, default: Any) -> None:
    view = ViewState("m", (), controls={"page": {"name": kept}})
    found = view.control("page", "name", default)
    assert found == default
    assert type(found) is type(default)


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


def test_its_own_word_comes_before_that_of_the_others() -> None:
    old = sentence("my pet snake", "snake")
    assert retyped(old, "a python is a snake", "python").word == (14, 19)
    assert retyped(old, "a python is a pet", "python").word == (2, 8)
    assert retyped(Sentence(""), "a snake", "python").word is None


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


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The grassy bank of a river.", "river"),
        ("What is it?", "it"),
        ("ذهب الولد إلى المدرسة", "المدرسة"),
        ("python", "python"),
        ("...", None),
        ("", None),
    ],
)
def test_the_last_content_word_is_the_last_one_if_there_is_none(text: str, word: str) -> None:
    span = last_content_word(text)
    assert (span and text[slice(*span)]) == word


# Examples


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)
def test_an_example_opens_with_its_words_chosen(example: Example) -> None:
    view = from_example(example, "in/use")
    assert view.model == "in/use"
    assert from_example(example).model == BUNDLED_ID
    assert decode(encode(view)) == view
    assert not is_too_long(view)
    for given_, shown in [
        *zip(example.sentences, view.sentences, strict=True),
        *zip(example.references, view.references, strict=True),
    ]:
        assert shown.text == given_.text
        assert shown.word is not None
        assert shown.text[slice(*shown.word)] == given_.word


def test_the_opening_view_is_the_first_example() -> None:
    assert from_example(EXAMPLES[0]) == DEFAULT
    assert [text.word for text in DEFAULT.sentences] == [(14, 20), (17, 23)]


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


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (("A bank of a river", "my PYTHON"), ("snake", "programming", "lizard")),
        (("A bank of a river", "pythons"), ("lizard",)),
        (("",), ("lizard",)),
    ],
)
def test_an_example_s_references_leave_with_its_last_sentence(
    texts: tuple[str, ...], left: tuple[str, ...]
) -> None:
    before = replace(DEFAULT, references=(*DEFAULT.references, Sentence("lizard")))
    after = replace(before, sentences=tuple(map(Sentence, texts)))
    kept = without_left_references(after, before).references
    assert tuple(reference.text for reference in kept) == left


@pytest.mark.parametrize("references", [("snake",), ("snake", "computer"), ()])
def test_references_of_one_s_own_stay_with_any_sentence(references: tuple[str, ...]) -> None:
    before = replace(DEFAULT, references=tuple(map(Sentence, references)))
    after = replace(before, sentences=(Sentence("A bank of a river"),))
    assert without_left_references(after, before) == after
    elsewhere = replace(DEFAULT, sentences=(Sentence("never had the word"),))
    assert without_left_references(elsewhere, elsewhere) == elsewhere
