"""Edits: what each table makes of a sentence, and what the model makes of the edits."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.analysis.baseline import Band
from contextlens.core import EncoderService
from contextlens.features.why.edits import (
    Edit,
    edits_of,
    exchanged_words,
    marked,
    negations,
    other_cases,
    other_names,
    other_numbers,
    typo,
)
from contextlens.features.why.score import Score
from tests.features.why.random_results import N, RandomResults, verdicts
from tests.features.why.scores import score_on, sentence, similarity
from tests.support.texts import TYPED

PET, CODE = sentence("I love my pet python"), sentence("I love coding in python", "python")
BAND = Band(*(np.full(9, 0.1, np.float32) for _ in range(3)), "English sentences")
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
        "two of ten": "",
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


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_gets_edits_that_change_it_and_say_how(text: str) -> None:
    for rule in (*EDITS, other_cases):
        for edit in rule(text):
            assert edit.text != text
            assert edit.description


# The model


def test_edits_are_ranked_by_what_the_model_makes_of_them(service: EncoderService) -> None:
    result = edits_of(score_on(service, PET, sentence("Rain fell")), service)
    kinds = {ranked.edit.kind for ranked in result.edits}
    assert kinds == {"negation", "order", "typo", "case"}
    cosines = [ranked.cosine for ranked in result.edits]
    assert cosines == sorted(cosines)
    for ranked in result.edits:
        expected = similarity(service, PET.text, ranked.edit.text)
        assert ranked.cosine == pytest.approx(expected, abs=1e-5)
        assert ranked.cosine > 0.9999 or ranked.edit.kind != "case"
    word = edits_of(score_on(service, sentence(PET.text, "python"), CODE, what="word"), service)
    first = edits_of(score_on(service, PET, CODE, what="cls", layer=2), service)
    assert (word.vector_kind, first.vector_kind) == ("mean", "cls")


def test_only_english_is_negated(service: EncoderService) -> None:
    result = edits_of(score_on(service, sentence("De bank is in het park"), PET), service)
    assert {ranked.edit.kind for ranked in result.edits} == {"order", "typo", "case"}


# Claims


def test_edits_are_told_by_their_similarity(scores: list[Score]) -> None:
    for seed in range(N):
        result = RandomResults(scores, seed).edits()
        claims = result.claims(BAND)
        if not result.edits:
            assert verdicts(claims) == ["none"]
            continue
        cosines: dict[str, float] = {e.edit.kind: e.cosine for e in result.edits}
        low, high = min(cosines.values()), max(cosines.values())
        expected = ["apart" if high - low > 0.01 else "both" if len(cosines) == 2 else "equal"]
        expected += ["negation"] if {"negation", "typo"} <= cosines.keys() else []
        assert verdicts(claims) == [*expected, "random"]
        if "apart" in expected:
            lowest = [cosine for cosine in cosines.values() if cosine - low <= 0.01]
            assert (claims[0].numbers["n"], claims[0].numbers["tried"]) == (
                len(lowest),
                len(cosines),
            )
            assert (claims[0].numbers["low"], claims[0].numbers["high"]) == (low, high)
        if "negation" in expected:
            numbers = claims[1].numbers
            assert (numbers["cosine"], numbers["typo"]) == (cosines["negation"], cosines["typo"])


# Edited texts as they are shown


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("I love it", "I do not love it", "I [do] [not] love it"),
        ("the dog bit the man", "the man bit the dog", "the [man] bit the [dog]"),
        ("I love", "I LOVE", "I [LOVE]"),
        ("a *b*", "a *c*", "a *[c]*"),
        ("same", "same", "same"),
        ("", "new", "[new]"),
        ("gone", "", ""),
    ],
)
def test_new_words_aremarked(before: str, after: str, expected: str) -> None:
    text = marked(before, after).replace(":blue-background", "")
    assert re.sub(r"\\(.)", r"\1", text) == expected


def test_of_a_long_text_only_what_stands_around_the_change_is_shown() -> None:
    text = marked("yes " * 2_000 + "is", "yes " * 2_000 + "is not")
    assert text.startswith("…")
    assert text.endswith(":blue-background[not]")
    assert len(text) < 300
    assert len(marked("yes " * 2_000, "YES " * 2_000)) < 1_500


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_can_be_shown(before: str, after: str) -> None:
    marked(before, after)
