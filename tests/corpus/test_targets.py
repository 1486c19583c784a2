"""The word that a file marks, by characters, white-space tokens or words; misses are told."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core.words import Span, find_words
from contextlens.corpus.table import table_of
from contextlens.corpus.targets import MarkColumns, Targets, guess_marks, targets_of, two_sides

TEXT = "I love my pet python, not Python."
PYTHON = (14, 20)


def one(text: str, **cells: str | None) -> Targets:
    """A one-row file's targets."""
    columns = {title: [cell] for title, cell in cells.items()}
    return targets_of(columns, [text], MarkColumns(**{title: title for title in cells}))


def placed(text: str, **cells: str | None) -> Span | None:
    found = one(text, **cells)
    assert found.n_missed == (found.spans[0] is None)
    return found.spans[0]


def why(text: str, **cells: str | None) -> str:
    found = one(text, **cells)
    assert (found.spans, found.n_missed) == ((None,), 1)
    (said,) = found.examples
    assert said.startswith("Row 1: ")
    assert said.endswith(".")
    return said


@pytest.mark.parametrize(
    "cells",
    [
        {"start": "14", "end": "20"},
        {"start": " 14 ", "end": "20.0"},
        {"start": "14", "end": "20", "word": "PYTHON"},
        {"start": "14", "word": "python"},
        {"span": "14-20"},
        {"span": "14:20", "word": "python"},
        {"span": "[14, 20]"},
        {"span": "(14,20)"},
        {"span": "14\u201320"},
        {"index": "4"},
        {"index": "4.0", "word": "python"},
    ],
    ids=str,
)
def test_a_word_can_be_marked_in_several_ways(cells: dict[str, str]) -> None:
    assert placed(TEXT, **cells) == PYTHON


def test_a_word_alone_is_its_only_whole_occurrence() -> None:
    assert placed("Snakes: a Python!", word="python") == (10, 16)
    assert placed("in New York now", word="new york") == (3, 11)
    assert placed("pythons and a python", word="python") == (14, 20)
    assert "more than once" in why(TEXT, word="python")
    assert "is not a word of this text" in why("many pythons here", word="python")
    assert "is not a word" in why("I don't know", word="don")


@given(
    text=st.lists(st.sampled_from(["bank", "Bank", "bänk", "banks", "the", ",", "x"]), max_size=8)
)
def test_a_word_alone_is_placed_where_whole_words_are_found(text: list[str]) -> None:
    joined = " ".join(text)
    found = find_words(joined, "bank")
    expected = found[0] if len(found) == 1 else None
    assert targets_of({"w": ["bank"]}, [joined], MarkColumns(word="w")).spans == (expected,)


@given(st.text(max_size=30), st.integers(0, 35), st.integers(0, 35))
def test_a_span_is_placed_where_it_covers_something(text: str, start: int, end: int) -> None:
    found = targets_of(
        {"a": [str(start)], "b": [str(end)]}, [text], MarkColumns(start="a", end="b")
    ).spans[0]
    if found is not None:
        lead = len(text) - len(text.lstrip())
        covered = text.strip()[slice(*found)]
        assert covered
        assert covered in text[start:end]
        assert found[0] == max(start - lead, 0)


@given(st.text(" ab,.(", max_size=20), st.integers(0, 8))
def test_an_index_counts_white_space_tokens(text: str, index: int) -> None:
    found = targets_of({"i": [str(index)]}, [text], MarkColumns(index="i")).spans[0]
    tokens = text.split()
    assert (found is not None) == (index < len(tokens))
    if found is not None:
        covered, token = text.strip()[slice(*found)], tokens[index]
        assert covered == (re.sub(r"^[^ab]+|[^ab]+$", "", token) or token)


def test_spans_count_from_the_text_without_the_space_around_it() -> None:
    assert placed("  my python \n", start="5", end="11") == (3, 9)
    assert placed("  my python \n", index="1") == (3, 9)
    assert placed("  my python \n", word="python") == (3, 9)


def test_punctuation_around_a_token_is_no_part_of_the_word() -> None:
    assert placed('He said "python".', index="2") == (9, 15)
    assert placed("the python's skin", index="1", word="python") == (4, 12)  # one word, as ever
    assert placed("the pet-python", index="1", word="python") == (8, 14)
    assert placed("a ... b", index="1") == (2, 5)
    assert placed("in C++ now", index="1", word="C++") == (3, 6)


def test_characters_are_code_points() -> None:
    assert placed("🐍🐍 a python", start="5", end="11", word="python") == (5, 11)


def test_another_form_of_the_word_counts_where_the_word_itself_is_not_there() -> None:
    """Files often give the form that a dictionary lists."""
    assert placed("Sound carries well over water .", index="1", word="carry") == (6, 13)
    assert placed("He goes home", span="3-7", word="go") == (3, 7)
    assert "and the word is" in why("She carries what I carry", index="1", word="carry")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"start": "7", "end": "13", "word": "python"}, "cover “my pet”, and the word is “python”"),
        ({"start": "14", "end": "19", "word": "python"}, "cover “pytho”, and the word is “python”"),
        ({"start": "15", "end": "20", "word": "python"}, "cover “ython”"),
        ({"span": "14-400"}, "characters 14 to 400 are no place in this text, which has 33"),
        ({"span": "20-14"}, "are no place"),
        ({"span": "14"}, "is no span: write it as 12-18"),
        ({"span": "6-7"}, "cover no word"),
        ({"start": "x", "end": "20"}, "“x” is no place: give a whole number"),
        ({"start": "-14", "end": "20"}, "is no place"),
        ({"start": "14", "end": "?"}, "“?” is no place"),
        ({"start": "14.5", "end": "20"}, "is no place"),
        ({"index": "3", "word": "python"}, "word 3 is “pet”, and the word is “python”"),
        ({"index": "7"}, "there is no word 7 in this text, whose words are 0 to 6"),
        ({"index": "last"}, "is no index: give a whole number from 0"),
        ({"word": ""}, "no word is marked"),
        ({"index": None, "word": None}, "no word is marked"),
    ],
    ids=str,
)
def test_what_cannot_be_placed_is_said(cells: dict[str, str | None], expected: str) -> None:
    assert expected in why(TEXT, **cells)


def test_each_row_goes_by_what_it_gives_and_the_first_misses_are_kept() -> None:
    texts = [TEXT, TEXT, TEXT, None, "  ", *["nothing here"] * 9]
    columns: dict[str, Sequence[str | None]] = {
        "word": ["python"] * 14,
        "start": ["14", None, *[""] * 12],
        "end": ["20", None, *[""] * 12],
        "index": [None, "4", *[""] * 12],
    }
    found = targets_of(columns, texts, MarkColumns("word", "start", "end", "", "index"))
    assert found.spans == (PYTHON, PYTHON, *[None] * 12)
    assert found.n_missed == 10  # a row without text marks nothing
    assert [said.split(":")[0] for said in found.examples] == [
        f"Row {row}" for row in (3, 6, 7, 8, 9)
    ]


def test_hostile_words_stay_short_and_printable() -> None:
    said = why(TEXT, start="0", end="6", word="\x1b[31m" + "x" * 5_000)
    assert len(said) < 200
    assert said.isprintable()


TEXTS = ("I love my pet python", "A python slept", "The old python is here")
MARKS = {
    "word": ("python",) * 3,
    "start": ("14", "2", "8"),
    "end": ("20", "8", "14"),
    "span": ("14-20", "2-8", "8-14"),
    "index": ("4", "1", "2"),
}


def marks_of(titles: str, **cells: tuple[str, ...]) -> MarkColumns:
    """The guessed marks of a file with a text and columns of these titles."""
    roles = {title: title.strip().casefold() for title in titles.split(",") if title}
    columns = {title: cells.get(role, MARKS.get(role, TEXTS)) for title, role in roles.items()}
    (found,) = guess_marks(table_of("mine.csv", "CSV", {"text": TEXTS, **columns}), "text")
    return found


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        ("Word,START,end ", MarkColumns("Word", "START", "end ")),
        ("start", MarkColumns()),  # no end, and no word to find it by
        ("word,start", MarkColumns("word", "start")),
        ("index,label", MarkColumns(index="index")),
        ("start,end,span,index", MarkColumns(start="start", end="end")),
        ("span,index", MarkColumns(span="span")),
        ("label,split", MarkColumns()),
    ],
)
def test_columns_are_guessed_by_their_titles(titles: str, expected: MarkColumns) -> None:
    assert marks_of(titles) == expected


@pytest.mark.parametrize(
    ("titles", "cells", "expected"),
    [
        ("index", ("0", "1", "2"), MarkColumns()),  # numbers of rows
        ("index", ("2", "0", "1"), MarkColumns()),  # in another order
        ("index", ("4", "1", "9"), MarkColumns()),  # a place that a text does not have
        ("word,index", ("0", "1", "2"), MarkColumns("word", index="index")),  # two of three agree
        ("word,index", ("0", "0", "0"), MarkColumns("word")),
        ("start,end", ("0", "1", "2"), MarkColumns()),  # not whole words
    ],
)
def test_numbers_that_fit_no_word_mark_none(
    titles: str, cells: tuple[str, ...], expected: MarkColumns
) -> None:
    assert marks_of(titles, index=cells, start=cells) == expected


def test_numbers_that_agree_with_most_words_mark_other_forms_of_them_too() -> None:
    """A check against the dictionary form would lose "went" for "go"."""
    texts = [f"They {'went' if i == 3 else 'go'} home {i}" for i in range(12)]
    columns = {"text": texts, "lemma": ["go"] * 12, "index": ["1"] * 12}
    (marks,) = guess_marks(table_of("mine.csv", "CSV", columns), "text")
    assert marks == MarkColumns(index="index")
    assert targets_of(columns, texts, marks).n_missed == 0


def test_one_column_may_mark_both_texts_of_a_pair() -> None:
    first, second = two_sides({"index": ("3-5", " 0 - 12 ", "4", "x", None)}, "index")
    assert first == ("3", "0", "4", "x", None)
    assert second == ("5", "12", "4", "x", None)
