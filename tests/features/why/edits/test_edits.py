"""Ready edits: what each rule makes of a sentence, and of which it makes nothing."""

from __future__ import annotations

import pytest

from components.features.why.edits import (
    BASE,
    NAMES,
    PAST,
    THIRD,
    Edit,
    case_shape,
    negations,
    other_cases,
    other_names,
    replaced,
    swapped_order,
    typo,
    with_neighbours,
    words_of,
)
from tests.support.texts import TYPED

ALL = (negations, swapped_order, other_names, other_cases, typo)


def only(found: list[Edit]) -> str:
    assert len(found) <= 1
    return found[0].text if found else ""


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("I love my pet python", "I do not love my pet python"),
        ("She loves him", "She does not love him"),
        ("They told us a story", "They did not tell us a story"),
        ("The food was very good", "The food was not very good"),
        ("The food was not good", "The food was good"),
        ("I don't like it", "I do like it"),
        ("I don’t like it", "I do like it"),
        ("He can't swim", "He can swim"),
        ("Isn't it late?", "Is it late?"),
        ("We never met", "We met"),
        ("The dog bit the man", "The dog did not bite the man"),
        ("The friendly bank lent us money", "The friendly bank did not lend us money"),
        ("Mary saw the engineer", "Mary did not see the engineer"),
        ("The wooden bat hit the ball", "The wooden bat did not hit the ball"),
        ("The can is full", "The can is not full"),
        ("Is it legal to keep a python?", ""),
        ("Can you swim", ""),
        ("A tiny bit of salt", ""),
        ("The man who bit the dog ran", ""),
        ("Nobody was here", ""),
        ("May is here", "May is not here"),
        ("Not bad", ""),
        ("我喜欢蟒蛇", ""),
        ("", ""),
    ],
)
def test_a_negation_is_put_in_or_taken_away(text: str, negated: str) -> None:
    assert only(negations(text)) == negated


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("The dog bit the man", "The man bit the dog"),
        ("The dog bit a man.", "A man bit the dog."),
        ("An engineer helped the old teacher!", "The old teacher helped an engineer!"),
        ("Mary saw the engineer", "The engineer saw Mary"),
        ("John kissed Mary", "Mary kissed John"),
        ("The cat loves a mouse", "A mouse loves the cat"),
        ("The cat loves the mice", ""),
        ("A dog bites the men", ""),
        ("I love my pet python", ""),
        ("The man was bitten by the dog", ""),
        ("The dog bit the man and ran", ""),
        ("The dog that bit the man slept", ""),
        ("The dog bit the dog", ""),
        ("The dog bit", ""),
        ("", ""),
    ],
)
def test_subject_and_object_change_places(text: str, swapped: str) -> None:
    assert only(swapped_order(text)) == swapped


def test_another_name_stands_wherever_the_first_stood() -> None:
    assert only(other_names("Mary thinks Mary is late")) == "Fatima thinks Fatima is late"
    assert only(other_names("mary is late")) == ""
    assert only(other_names("My python")) == ""
    assert all(name[0].isupper() and name.isalpha() for name in NAMES)


@pytest.mark.parametrize(
    ("text", "mistyped"),
    [
        ("I love my pet python", "I love my pet pyhton"),
        ("good food", ""),
        ("a cat", ""),
        ("שלום לכולם", ""),
        ("蟒蛇", ""),
        ("x1234567 trees", ""),
    ],
)
def test_two_inner_letters_change_places(text: str, mistyped: str) -> None:
    found = only(typo(text))
    if mistyped:
        assert found == mistyped
    elif found:
        assert sorted(found) == sorted(text)
        assert found != text


def test_cases_are_changed_where_there_are_any() -> None:
    assert [edit.text for edit in other_cases("My Cat")] == ["my cat", "MY CAT"]
    assert [edit.text for edit in other_cases("my cat")] == ["MY CAT"]
    assert other_cases("我喜欢") == []


def test_neighbours_take_the_place_of_words() -> None:
    (edit,) = with_neighbours("My pet python", {(3, 6): "cat"})
    assert (edit.text, edit.what) == ("My cat python", "“cat” in place of “pet”")
    shapes = {"cat": "small", "Cat": "Title", "CAT": "CAPITALS", "cAt": "mixed", "蛇": "none"}
    assert {word: case_shape(word) for word in shapes} == shapes
    assert case_shape("I") == "Title"


def test_verbs_have_the_forms_that_english_has() -> None:
    assert [PAST[form] for form in ("carried", "hugged", "loved", "bit")] == [
        "carry",
        "hug",
        "love",
        "bite",
    ]
    assert [THIRD[form] for form in ("carries", "goes", "watches", "plays")] == [
        "carry",
        "go",
        "watch",
        "play",
    ]
    assert set(THIRD.values()) == BASE == set(PAST.values())


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_gets_edits_that_change_it_and_say_how(text: str) -> None:
    for rule in ALL:
        for edit in rule(text):
            assert edit.text != text
            assert edit.what


def test_words_are_replaced_where_they_stand() -> None:
    assert words_of("a cat.") == [((0, 1), "a"), ((2, 5), "cat"), ((5, 6), ".")]
    assert replaced("a cat.", ((0, 1), "the"), ((2, 5), "dog")) == "the dog."
