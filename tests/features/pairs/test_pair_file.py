"""From a file of pairs to pairs: columns guessed or chosen, labels, splits, what is left out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.readers import Table, read
from contextlens.corpus.table import table_of
from contextlens.features.pairs import pair_file
from contextlens.features.pairs.pair_file import (
    PairColumns,
    chosen_columns,
    column_positions,
    guess_columns,
    guess_meanings,
    names_of,
    pairs_from,
)
from contextlens.features.pairs.pair_set import (
    DIFFERENT,
    NEITHER,
    SAME,
    TEST,
    TRAIN,
    UNKNOWN,
    PairSet,
)

ONE, TWO = "I love my pet python", "I love coding in Python"
SPLITS = ["train", "test"]
Columns = Mapping[str, Sequence[str | None]]


def sheet(columns: Columns) -> Table:
    return table_of("mine.csv", "CSV", columns)


def guessed_pairs(sheet: Table) -> PairSet:
    return pairs_from(sheet, guess_columns(sheet))


def labelled(*labels: str | None, **more: Sequence[str | None]) -> PairSet:
    n = len(labels)
    return guessed_pairs(sheet({"text1": [ONE] * n, "text2": [TWO] * n, "label": labels, **more}))


def words_of(pairs: PairSet) -> list[str]:
    return [pairs.word(0, side) for side in (0, 1)]


# Columns


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (
            "text1 text2 word label split",
            PairColumns("text1", "text2", "word", "word", label="label", split="split"),
        ),
        (
            "word start1 end1 start2 end2 Sentence1 Sentence2 gold",
            PairColumns("Sentence1", "Sentence2", "word", "word", "start1", "end1", "start2",
                        "end2", label="gold"),
        ),
        (
            "text_a text_b index_a index_b",
            PairColumns("text_a", "text_b", index1="index_a", index2="index_b"),
        ),
        (
            "target_word index context_1 context_2 label",
            PairColumns("context_1", "context_2", "target_word", "target_word", index1="index",
                        index2="index", label="label"),
        ),
        ("text1 text2 word1", PairColumns("text1", "text2")),
        ("text1 text2 start1 end1", PairColumns("text1", "text2")),
    ],
)  # fmt: skip
def test_columns_are_guessed_by_their_titles(titles: str, expected: PairColumns) -> None:
    cells = {"index": ["0", "0"], "start": ["0", "0"], "end": ["1", "1"], "split": SPLITS}
    columns = {
        title: next((own for start, own in cells.items() if title.startswith(start)), ["x", "x y"])
        for title in titles.split()
    }
    columns |= {title: ["x", "x"] for title in columns if "word" in title}
    assert guess_columns(sheet(columns)) == expected


def test_without_telling_titles_the_texts_are_the_columns_that_read_like_them() -> None:
    given = sheet(
        {"id": ["1", "2"], "left": [ONE, TWO], "right": [TWO, ONE], "x": ["train", "test"]}
    )
    assert guess_columns(given) == PairColumns("left", "right", split="x")


def test_columns_are_named_by_their_places() -> None:
    given = sheet({title: ["x"] for title in ("a", "text1", "text2", "word", "label")})
    guessed = guess_columns(given)
    assert column_positions(given, guessed) == "1,2,3,3,,,,,,,,,4,"
    for columns in (guessed, replace(guessed, text1="a", label="")):
        assert chosen_columns(given, column_positions(given, columns)) == columns


@given(st.text("0123456789,x ²-", max_size=60))
def test_no_address_names_a_column_that_there_is_not(address: str) -> None:
    given = sheet({"text1": [ONE], "text2": [TWO]})
    assert set(chosen_columns(given, address).titles) <= {"text1", "text2", ""}


def test_duplicate_titles_are_columns_of_their_own() -> None:
    table = f"text1,text2,label,label\n{ONE},{TWO},T,x\n{TWO},{ONE},F,x\n"
    given = read("mine.csv", table.encode(), max_bytes=10_000)
    found = guessed_pairs(given)
    assert len(given.columns) == 4
    assert (found.text(1, 0), found.text(1, 1)) == (TWO, ONE)


# Rows


def test_words_are_placed_in_both_texts() -> None:
    found = guessed_pairs(sheet({"text1": [ONE], "text2": [TWO], "word": ["python"]}))
    assert (found.n, found.texts, found.has_words) == (1, (ONE, TWO), True)
    assert (words_of(found), found.span(0, 1)) == (["python", "Python"], (17, 23))
    wic = {
        "word": ["carry"],
        "index": ["2-1"],
        "sentence1": ["You must carry your camping gear ."],
        "sentence2": ["Sound carries well over water ."],
        "label": ["F"],
    }
    found = guessed_pairs(sheet(wic))
    assert (words_of(found), found.gold.tolist()) == (["carry", "carries"], [DIFFERENT])
    row = {"text1": ONE, "text2": TWO, "span1": [14, 20], "span2": [17, 23], "label": True}
    found = guessed_pairs(read("mine.jsonl", json.dumps(row).encode(), max_bytes=10_000))
    assert (words_of(found), found.gold.tolist()) == (["python", "Python"], [SAME])


def test_without_marks_whole_texts_are_compared() -> None:
    found = guessed_pairs(sheet({"text1": [f" {ONE} ", TWO], "text2": [TWO, TWO]}))
    assert not found.has_words
    assert found.span(0, 0) is None
    assert (found.texts, found.sides.tolist()) == ((ONE, TWO), [[0, 1], [1, 1]])


def test_empty_texts_and_words_that_are_not_there_are_left_out_and_said() -> None:
    texts = {"text1": [ONE, "", None, ONE, "a snake"], "text2": [TWO, TWO, TWO, "  ", TWO]}
    found = guessed_pairs(sheet({**texts, "word": ["python"] * 5}))
    assert found.rows.tolist() == [1]
    assert "3 pairs were left out: a text is empty." in found.notes
    assert "1 pair was left out: the word could not be placed." in found.notes
    assert found.notes[-1] == "Row 5, text 1: “python” is not a word of this text."


@pytest.mark.parametrize(
    ("marks", "columns", "expected"),
    [
        ({}, {"text": [ONE]}, "has one column. Give a file of pairs"),
        ({}, {"text1": ["", None], "text2": [TWO, "x"]}, "no pair that can be compared"),
        (
            {"span1": "span1", "span2": "span2"},
            {"text1": [ONE], "text2": [TWO], "span1": ["2-6"], "span2": ["0-99"]},
            "Row 1, text 2",
        ),
        (
            {"word1": "word", "word2": "word", "index1": "index", "index2": "index"},
            {"text1": [ONE], "text2": [TWO], "word": ["python"], "index": ["1"]},
            "word 1 is “love”, and the word is “python”",
        ),
    ],
    ids=["one column", "no texts", "a span beyond the text", "the wrong word"],
)
def test_a_file_without_a_pair_is_refused_in_a_sentence(
    marks: dict[str, str], columns: Columns, expected: str
) -> None:
    with pytest.raises(CorpusError, match=r"\.$") as caught:
        pairs_from(sheet(columns), PairColumns("text1", "text2", **marks))
    assert expected in str(caught.value)


def test_columns_that_make_no_pairs_are_refused() -> None:
    given = sheet({"text1": [ONE], "text2": [TWO], "word1": ["python"]})
    for columns, expected in (
        (PairColumns("text1", "text1"), "would come from one column"),
        (PairColumns("text1", ""), "needs two texts, and one column is chosen"),
        (PairColumns("text1", "text2", word1="word1"), "marked in one text alone"),
    ):
        with pytest.raises(CorpusError, match=expected):
            pairs_from(given, columns)


def test_of_too_many_pairs_the_first_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_file, "MAX_PAIRS", 3)
    found = labelled(*"TFTFTF")
    assert found.n == 3
    assert "Only the first 3 of 6 pairs are compared." in found.notes


# Labels and splits


@pytest.mark.parametrize(
    "labels",
    ["TF", "10", ("1.0", "0.0"), ("same", "different"), ("True", "FALSE"), (" yes ", "No")],
    ids=str,
)
def test_labels_of_two_kinds_are_known(labels: Sequence[str]) -> None:
    assert labelled(*labels).gold.tolist() == [SAME, DIFFERENT]


def test_labels_that_are_all_equal_stay_and_missing_ones_are_said() -> None:
    assert labelled(*"TTT").gold.tolist() == [SAME] * 3
    found = labelled("T", None, " ", "F")
    assert found.gold.tolist() == [SAME, UNKNOWN, UNKNOWN, DIFFERENT]
    assert "2 pairs have no label: a cosine and no verdict on it." in found.notes
    assert labelled(None, "").notes == ("The column label has no label.",)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("TF?", "are of 3 kinds (“"),
        (("pet", "language"), "are of 2 kinds (“pet”, “language”)"),
        ("xx", "are of one kind (“x”)"),
        ([f"kind {i}" for i in range(9)], ", …)"),
        ([f"kind {i}" for i in range(13)], "Write same and different, 1 and 0, or T and F"),
        ("12", "are of 2 kinds (“1”, “2”)"),
        (("1.5", "2.5", "often", "rarely"), "are of 4 kinds"),
        (("1e999", "2", "3"), "are of 3 kinds"),
    ],
    ids=["three", "unknown", "one", "many", "too many", "two numbers", "mixed", "huge"],
)
def test_labels_of_other_kinds_leave_the_pairs_without(
    labels: Sequence[str], expected: str
) -> None:
    found = labelled(*labels)
    assert not found.has_labels
    (note,) = found.notes
    assert expected in note
    assert ("Choose under Columns which of them mean" in note) == (len(labels) < 13)
    assert found.grades is None


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1.8", "4.2", "0.4"], [1.8, 4.2, 0.4]),
        (["0", "1", "5", "1"], [0, 1, 5, 1]),
        (["-1", " +2.50 ", "1e2"], [-1, 2.5, 100]),
        (["1,8", "4,2", "0,4"], [1.8, 4.2, 0.4]),
        (["0,125", "0", "99"], [0.125, 0, 99]),
        (["0", "1,100", "200", "1,300,000"], [0, 1_100, 200, 1_300_000]),
        (["40%", "60%", "90%"], [40, 60, 90]),
    ],
    ids=str,
)
def test_three_different_numbers_are_scores(labels: list[str], expected: list[float]) -> None:
    found = labelled(*labels)
    assert found.grades is not None
    assert found.grades.tolist() == expected
    assert (found.has_labels, found.notes) == (False, ())


def test_missing_scores_and_words_among_them_are_said() -> None:
    found = labelled(*[f"{i / 10}" for i in range(18)], "n/a", None)
    assert found.grades is not None
    assert np.flatnonzero(np.isnan(found.grades)).tolist() == [18, 19]
    assert found.notes == ("2 pairs have no number in label: a cosine and no score.",)


NLI = sheet({
    "text1": [ONE, TWO, ONE, TWO, "A snake", ONE],
    "text2": [TWO, ONE, "A snake", ONE, ONE, "The end"],
    "label": ["ENTAILMENT", "neutral", "Contradiction ", "Neutral", None, "-"],
})  # fmt: skip


def test_names_are_sorted_into_same_different_and_left_out() -> None:
    names = names_of(NLI.columns["label"])
    assert names == ("-", "contradiction", "entailment", "neutral")
    assert guess_meanings(names) == "-01-"
    columns = replace(guess_columns(NLI), meanings="-01-")
    found = pairs_from(NLI, columns)
    assert found.rows.tolist() == [1, 3, 5]
    assert found.gold.tolist() == [SAME, DIFFERENT, UNKNOWN]
    assert found.notes[0] == "3 pairs were left out, as you chose: “-”, “neutral”."
    assert pairs_from(NLI, replace(columns, meanings="0010")).gold.tolist() == [
        *(SAME, DIFFERENT, DIFFERENT, DIFFERENT, UNKNOWN, DIFFERENT)
    ]
    four = sheet({title: cells[:4] for title, cells in NLI.columns.items()})
    with pytest.raises(CorpusError, match="4 pairs were left out, as you chose"):
        pairs_from(four, replace(columns, meanings="---"))


@pytest.mark.parametrize("meanings", ["-01", "-01-1", "-02-", "<b>-", "", "-01-,1"])
def test_an_address_holds_the_meanings_and_wrong_ones_do_not_count(meanings: str) -> None:
    columns = replace(guess_columns(NLI), meanings="-01-")
    address = column_positions(NLI, columns)
    assert address.endswith(",2,,-01-")
    assert chosen_columns(NLI, address) == columns
    other = chosen_columns(NLI, address.removesuffix("-01-") + meanings)
    assert other == replace(columns, meanings="")


def test_small_whole_numbers_are_scores_unless_they_number_kinds() -> None:
    given = sheet({"text1": [ONE] * 3, "text2": [TWO] * 3, "label": ["0", "1", "2"]})
    columns = guess_columns(given)
    assert pairs_from(given, columns).grades is not None
    found = pairs_from(given, replace(columns, meanings="1-0"))
    assert (found.grades, found.gold.tolist()) == (None, [SAME, DIFFERENT])
    assert names_of(("1.0", "2.0", "3.0", None)) == ("1.0", "2.0", "3.0")
    assert names_of(("1.0", "2.5", "3.0")) == names_of(("T", "F")) == ()


def test_a_title_from_the_file_is_shown_short() -> None:
    given = sheet({"text1": [ONE], "text2": [TWO], "l" * 500: ["pet"]})
    assert len(pairs_from(given, PairColumns("text1", "text2", label="l" * 500)).notes[0]) < 250


def test_a_split_names_train_test_and_others_or_is_not_used() -> None:
    split = labelled(*"TFTF", split=["Train", "test", "dev", None]).split
    assert split is not None
    assert split.tolist() == [TRAIN, TEST, NEITHER, NEITHER]
    given = sheet({"text1": [ONE] * 2, "text2": [TWO] * 2, "split": ["a", "b"]})
    found = pairs_from(given, PairColumns("text1", "text2", split="split"))
    note = "The column split names neither train nor test, so it is not used as a split."
    assert (found.split, found.notes) == (None, (note,))
    assert not guess_columns(given).split


def test_a_validation_part_tests_where_no_row_is_for_testing() -> None:
    found = labelled(*"TFTF", split=["TRAIN", "train", "TRIAL", "dev"])
    assert found.split is not None
    assert found.split.tolist() == [TRAIN, TRAIN, TEST, TEST]
    assert found.notes == ("No row of split says test, so the validation rows test.",)


# The whole


def test_the_key_tells_all_that_is_shown_apart() -> None:
    columns = {"text1": [ONE, ONE], "text2": [TWO, TWO], "label": ["T", "F"]}
    changes = (
        {},
        {"label": ["F", "T"]},
        {"word": ["python", "python"]},
        {"text2": [TWO, ONE]},
        {"split": ["train", "test"]},
        {"split": ["test", "train"]},
        {"text1": [ONE] * 3, "text2": [TWO] * 3, "label": ["1", "2", "3"]},
        {"text1": [ONE] * 3, "text2": [TWO] * 3, "label": ["1", "2", "4"]},
    )
    made = [guessed_pairs(sheet({**columns, **change})) for change in changes]
    assert len({pairs.key for pairs in made}) == 8
    assert guessed_pairs(sheet(columns)).key == made[0].key
    assert made[0].n_bytes > len(ONE) + len(TWO)
