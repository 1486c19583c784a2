"""From a file of pairs to pairs: columns guessed or chosen, labels, splits, what is left out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import CorpusError
from components.corpus.readers import Sheet, read
from components.corpus.sheet import sheet_of
from components.features.pairs import files
from components.features.pairs.files import (
    PairColumns,
    PairSet,
    chosen_columns,
    guess_columns,
    pairs_from,
    places,
)
from components.features.pairs.measures import DIFFERENT, NEITHER, SAME, TEST, TRAIN, UNKNOWN

ONE, TWO = "I love my pet python", "I love coding in Python"


def sheet(columns: Mapping[str, Sequence[str | None]]) -> Sheet:
    return sheet_of("mine.csv", "CSV", columns)


def pairs_of(columns: Mapping[str, Sequence[str | None]]) -> PairSet:
    own = sheet(columns)
    return pairs_from(own, guess_columns(own))


def labelled(*labels: str | None, **more: Sequence[str | None]) -> PairSet:
    n = len(labels)
    return pairs_of({"text1": [ONE] * n, "text2": [TWO] * n, "label": labels, **more})


# Columns


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (
            ("text1", "text2", "word", "label", "split"),
            PairColumns("text1", "text2", "word", "word", label="label", split="split"),
        ),
        (
            ("word", "start1", "end1", "start2", "end2", "Sentence1", "Sentence2", "gold"),
            PairColumns(
                "Sentence1", "Sentence2", "word", "word", "start1", "end1", "start2", "end2",
                label="gold",
            ),
        ),
        (
            ("text_a", "text_b", "index_a", "index_b"),
            PairColumns("text_a", "text_b", index1="index_a", index2="index_b"),
        ),
        (
            ("target_word", "index", "context_1", "context_2", "label"),
            PairColumns(
                "context_1", "context_2", "target_word", "target_word",
                index1="index", index2="index", label="label",
            ),
        ),
        (("text1", "text2", "word1"), PairColumns("text1", "text2")),
        (("text1", "text2", "start1", "end1"), PairColumns("text1", "text2")),
    ],
    ids=["word", "spans", "indices", "WiC", "one word alone", "one span alone"],
)  # fmt: skip
def test_columns_are_guessed_by_their_titles(titles: Sequence[str], expected: PairColumns) -> None:
    assert guess_columns(sheet({title: ["x"] for title in titles})) == expected


def test_without_telling_titles_the_texts_are_the_columns_that_read_like_them() -> None:
    own = sheet({"id": ["1", "2"], "left": [ONE, TWO], "right": [TWO, ONE], "x": ["train", "test"]})
    assert guess_columns(own) == PairColumns("left", "right", split="x")


def test_columns_are_named_by_their_places() -> None:
    own = sheet({title: ["x"] for title in ("a", "text1", "text2", "word", "label")})
    guessed = guess_columns(own)
    assert places(own, guessed) == "1,2,3,3,,,,,,,,,4,"
    assert chosen_columns(own, places(own, guessed)) == guessed
    other = replace(guessed, text1="a", label="")
    assert chosen_columns(own, places(own, other)) == other


@given(st.text("0123456789,x ²-", max_size=60))
def test_no_address_names_a_column_that_there_is_not(given_places: str) -> None:
    own = sheet({"text1": [ONE], "text2": [TWO]})
    assert set(chosen_columns(own, given_places).titles) <= {"text1", "text2", ""}


def test_duplicate_titles_are_columns_of_their_own() -> None:
    table = f"text1,text2,label,label\n{ONE},{TWO},T,x\n{TWO},{ONE},F,x\n"
    own = read("mine.csv", table.encode(), max_bytes=10_000)
    found = pairs_from(own, guess_columns(own))
    assert len(own.columns) == 4
    assert (found.text(found.n - 1, 0), found.text(found.n - 1, 1)) == (TWO, ONE)


# Rows


def test_words_are_placed_in_both_texts() -> None:
    found = pairs_of({"text1": [ONE], "text2": [TWO], "word": ["python"]})
    assert (found.n, found.texts, found.has_words) == (1, (ONE, TWO), True)
    assert [found.word(0, side) for side in (0, 1)] == ["python", "Python"]
    assert found.span(0, 1) == (17, 23)


def test_wic_has_one_column_of_indices_and_the_form_of_the_dictionary() -> None:
    found = pairs_of(
        {
            "word": ["carry"],
            "index": ["2-1"],
            "sentence1": ["You must carry your camping gear ."],
            "sentence2": ["Sound carries well over water ."],
            "label": ["F"],
        }
    )
    assert [found.word(0, side) for side in (0, 1)] == ["carry", "carries"]
    assert found.gold.tolist() == [DIFFERENT]


def test_without_marks_whole_texts_are_compared() -> None:
    found = pairs_of({"text1": [f" {ONE} ", TWO], "text2": [TWO, TWO]})
    assert not found.has_words
    assert found.span(0, 0) is None
    assert found.texts == (ONE, TWO)
    assert found.sides.tolist() == [[0, 1], [1, 1]]


def test_empty_texts_and_words_that_are_not_there_are_left_out_and_said() -> None:
    found = pairs_of(
        {
            "text1": [ONE, "", None, ONE, "a snake"],
            "text2": [TWO, TWO, TWO, "  ", TWO],
            "word": ["python"] * 5,
        }
    )
    assert found.n == 1
    assert found.rows.tolist() == [1]
    assert "3 pairs were left out: a text is empty." in found.notes
    assert "1 pair was left out: the word could not be placed." in found.notes
    assert found.notes[-1] == "Row 5, text 1: “python” is not a word of this text."


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"text": [ONE]}, "has one column. Give a file of pairs"),
        ({"text1": ["", None], "text2": [TWO, "x"]}, "no pair that can be compared"),
        ({"text1": [ONE], "text2": [TWO], "span1": ["2-6"], "span2": ["0-99"]}, "Row 1, text 2"),
        (
            {"text1": [ONE], "text2": [TWO], "word": ["python"], "index": ["1"]},
            "word 1 is “love”, and the word is “python”",
        ),
    ],
    ids=["one column", "no texts", "a span beyond the text", "the wrong word"],
)
def test_a_file_without_a_pair_is_refused_in_a_sentence(
    columns: dict[str, list[str | None]], expected: str
) -> None:
    with pytest.raises(CorpusError, match=r"\.$") as caught:
        pairs_of(columns)
    assert expected in str(caught.value)


def test_columns_that_make_no_pairs_are_refused() -> None:
    own = sheet({"text1": [ONE], "text2": [TWO], "word1": ["python"]})
    for chosen, expected in (
        (PairColumns("text1", "text1"), "would come from one column"),
        (PairColumns("text1", ""), "would come from one column"),
        (PairColumns("text1", "text2", word1="word1"), "marked in one text alone"),
    ):
        with pytest.raises(CorpusError, match=expected):
            pairs_from(own, chosen)


def test_of_too_many_pairs_the_first_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_PAIRS", 3)
    found = labelled(*"TFTFTF")
    assert found.n == 3
    assert "Only the first 3 of 6 pairs are compared." in found.notes


# Labels


@pytest.mark.parametrize(
    "labels",
    ["TF", "10", ("1.0", "0.0"), ("same", "different"), ("True", "FALSE"), (" yes ", "No")],
    ids=str,
)
def test_labels_of_two_kinds_are_known(labels: Sequence[str]) -> None:
    assert labelled(*labels).gold.tolist() == [SAME, DIFFERENT]


def test_missing_labels_are_said() -> None:
    found = labelled("T", None, " ", "F")
    assert found.gold.tolist() == [SAME, UNKNOWN, UNKNOWN, DIFFERENT]
    assert "2 pairs have no label: a cosine and no verdict on it." in found.notes
    assert labelled(None, "").notes == ("The column label has no label.",)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("TF?", "are of 3 kinds (“"),
        (("pet", "language"), "are of 2 kinds (“pet”, “language”)"),
        ("xx", "are of one kind (“x”)"),
        ([f"{i / 10}" for i in range(9)], ", …)"),
    ],
    ids=["three", "unknown", "one", "many"],
)
def test_labels_of_other_kinds_leave_the_pairs_without(labels: Sequence[str], said: str) -> None:
    found = labelled(*labels)
    assert not found.has_labels
    (note,) = found.notes
    assert said in note
    assert note.endswith("Write same and different, 1 and 0, or T and F.")


def test_labels_that_are_all_equal_stay() -> None:
    assert labelled(*"TTT").gold.tolist() == [SAME] * 3


# Splits


def test_a_split_names_train_test_and_others() -> None:
    found = labelled(*"TFTF", split=["Train", "test", "dev", None])
    assert found.split is not None
    assert found.split.tolist() == [TRAIN, TEST, NEITHER, NEITHER]


def test_a_split_that_names_neither_is_not_used() -> None:
    found = labelled(*"TF", split=["a", "b"])
    assert found.split is None
    assert found.notes == (
        "The column split names neither train nor test, so it is not used as a split.",
    )


# The whole


def test_the_key_tells_all_that_is_shown_apart() -> None:
    columns: dict[str, Sequence[str | None]] = {
        "text1": [ONE, ONE], "text2": [TWO, TWO], "label": ["T", "F"]
    }  # fmt: skip
    keys = {
        pairs_of({**columns, **change}).key
        for change in (
            {},
            {"label": ["F", "T"]},
            {"word": ["python", "python"]},
            {"text2": [TWO, ONE]},
            {"split": ["train", "test"]},
            {"split": ["test", "train"]},
        )
    }
    assert len(keys) == 6
    assert pairs_of(columns).key == pairs_of(columns).key
    assert pairs_of(columns).n_bytes > len(ONE) + len(TWO)


def test_a_title_from_the_file_is_shown_short() -> None:
    own = sheet({"text1": [ONE], "text2": [TWO], "l" * 500: ["pet"]})
    found = pairs_from(own, PairColumns("text1", "text2", label="l" * 500))
    assert len(found.notes[0]) < 250


def test_json_lists_mark_words_too() -> None:
    row = {"text1": ONE, "text2": TWO, "span1": [14, 20], "span2": [17, 23], "label": True}
    own = read("mine.jsonl", json.dumps(row).encode(), max_bytes=10_000)
    found = pairs_from(own, guess_columns(own))
    assert [found.word(0, side) for side in (0, 1)] == ["python", "Python"]
    assert found.gold.tolist() == [SAME]
