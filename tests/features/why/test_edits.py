"""Ready edits: what each table makes of a sentence, and of which it makes nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contextlens.features.why.edits import (
    Edit,
    case_shape,
    exchanged_words,
    negations,
    other_cases,
    other_names,
    other_numbers,
    typo,
    with_neighbour,
)
from tests.support.texts import TYPED

EDITS: dict[Callable[[str], list[Edit]], dict[str, str]] = {
    negations: {
        "I love my pet python": "I do not love my pet python",
        "She loves him": "She does not love him",
        "The food was very good": "The food was not very good",
        "The food was not good": "The food was good",
        "I don't like it": "I do like it",
        "I don’t like it": "I do like it",
        "He can't swim": "He can swim",
        "Isn't it late?": "Is it late?",
        "We never met": "We met",
        "The can is full": "The can is not full",
        "May is here": "May is not here",
        "Is it legal to keep a python?": "",
        "Where is he now?": "",
        "I loves him": "",
        "The dog bit the man": "",
        "Nobody was here": "",
        "I mustn't've been here": "",
        "Not bad": "",
        "I am": "",
        "3 is odd": "",
        "": "",
    },
    exchanged_words: {
        "I love my pet python": "I love my python pet",
        "The dog bit a man.": "The dog bit man a.",
        "I love it, it": "I it love, it",
        "so so": "",
        "": "",
    },
    other_names: {
        "Mary thinks Mary is late": "Fatima thinks Fatima is late",
        "Maria met John": "Mary met John",
        "mary is late": "",
    },
    other_numbers: {
        "It took 3 days, not 3 weeks": "It took 4 days, not 4 weeks",
        "Agent 009": "Agent 010",
        "two of ten": "three of ten",
        "ten": "two",
        "Two of one": "",
        "1234567890": "",
        "٣": "",
    },
    typo: {
        "I love my pet python": "I love my pet pyhton",
        "good food": "",
        "a cat": "",
        "x1234567 trees": "x1234567 teres",
    },
}


@pytest.mark.parametrize(
    ("edit", "before", "after"),
    [(edit, before, after) for edit, cases in EDITS.items() for before, after in cases.items()],
)
def test_a_sentence_is_changed_in_one_way_or_not_at_all(
    edit: Callable[[str], list[Edit]], before: str, after: str
) -> None:
    assert [made.text for made in edit(before)] == ([after] if after else [])


def test_cases_are_changed_where_there_are_any() -> None:
    assert [edit.text for edit in other_cases("My Cat")] == ["my cat", "MY CAT"]
    assert [edit.text for edit in other_cases("my cat")] == ["MY CAT"]
    assert other_cases("我喜欢") == []


def test_a_neighbour_takes_the_place_of_a_word() -> None:
    edit = with_neighbour("My pet python", (3, 6), "cat")
    assert (edit.text, edit.description) == ("My cat python", "“cat” in place of “pet”")
    shapes = {"cat": "small", "Cat": "Title", "CAT": "CAPITALS", "cAt": "mixed", "蛇": "none"}
    assert {word: case_shape(word) for word in shapes} == shapes
    assert case_shape("I") == "Title"


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_gets_edits_that_change_it_and_say_how(text: str) -> None:
    for rule in (*EDITS, other_cases):
        for edit in rule(text):
            assert edit.text != text
            assert edit.description
