"""A second file with the labels of a table, or with their names."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.readers import Table, read, to_corpus
from contextlens.corpus.second_file import joined
from contextlens.corpus.table import table_of
from contextlens.corpus.targets import label_columns

LINES = "Walk more\nWe are late\n\nWhy would you say that?\nGot the job\n"
LABELS = ["2", "0", "0", "1", "1"]
NAMES = "0\tanger\n1\tjoy\n2\toptimism\n"
NAMED = ["optimism", "anger", "anger", "joy", "joy"]


def texts(content: str = LINES) -> Table:
    return read("texts.txt", content.encode(), max_bytes=10_000)


def with_second(sheet: Table, content: str | bytes, name: str = "labels.txt") -> Table:
    raw = content if isinstance(content, bytes) else content.encode()
    return joined(sheet, name, raw, max_bytes=10_000, max_held=10**6)


def numbered(*labels: str) -> Table:
    rows = {"column 1": labels, "column 2": [f"A text about things, number {i}" for i in labels]}
    return table_of("news.csv", "CSV", rows)


def labels_of(sheet: Table, title: str = "label") -> list[str | None]:
    return list(sheet.columns[title])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("labels.txt", "2\n0\n0\n1\n1"),
        ("dev.gold", "2\r\n0\r\n0\r\n1\r\n1\r\n\r\n"),
        ("labels.txt", "label\n2\n0\n0\n1\n1\n"),
        ("labels.csv", "2\n0\n0\n1\n1\n"),
        ("labels.csv", "label\n2\n0\n0\n1\n1\n"),
        ("labels.json", "[2, 0, 0, 1, 1]"),
        ("labels.jsonl", "\n".join(f'{{"label": {i}}}' for i in LABELS)),
    ],
)
def test_labels_stand_on_the_lines_of_their_texts(name: str, content: str) -> None:
    sheet = with_second(texts(), content, name)
    assert labels_of(sheet) == LABELS
    assert label_columns(sheet) == ("label",)
    assert sheet.notes[-1] == f"Labels come from {name}, joined line by line."
    corpus = to_corpus(sheet, "text", ("label",))
    assert corpus.labels["label"] == ("2", "0", "1", "1")  # the blank line has a label and no text


@pytest.mark.parametrize(
    ("labels", "more"),
    [
        (["pos", "neg", "pos", "neg", "neg"], ""),
        (["mixed", "neg", "pos", "neg", "neg"], " Its first row was taken for a label, guessed."),
    ],
)
def test_a_table_of_words_without_a_title_loses_no_label(labels: list[str], more: str) -> None:
    sheet = with_second(texts(), "\n".join(labels), "labels.csv")
    assert labels_of(sheet) == labels
    assert sheet.notes[-1] == f"Labels come from labels.csv, joined line by line.{more}"


@pytest.mark.parametrize(
    "names",
    [
        NAMES,
        "0\tanger\t_a_\t\n1\tjoy\t_j_\t\n2\toptimism\t_o_\t\n",
        "0 anger\n1 joy\n2 optimism",
        "anger\njoy\noptimism\n",
        '{"0": "anger", "1": "joy", "2": "optimism"}',
        '{"anger": 0, "joy": 1, "optimism": 2}',
        '{"id2label": {"0": "anger", "1": "joy", "2": "optimism"}}',
    ],
)
def test_names_replace_the_numbers_of_labels(names: str) -> None:
    sheet = with_second(with_second(texts(), "\n".join(LABELS)), names, "names.txt")
    assert labels_of(sheet) == NAMED
    assert sheet.notes[-1] == "names.txt names the labels."


def test_lines_name_numbers_from_0_or_1_or_cannot_tell() -> None:
    classes = "World\nSports\nBusiness\n"
    assert labels_of(with_second(numbered("3", "1", "3", "2"), classes))[0] == "Business"
    assert labels_of(with_second(numbered("2", "0", "2", "1"), classes))[0] == "Business"
    floats = table_of("mine.csv", "CSV", {"text": ["One text", "Two"], "label": ["2.0", "0.0"]})
    assert labels_of(with_second(floats, NAMES)) == ["optimism", "anger"]
    with pytest.raises(CorpusError, match="cannot tell which number the first name has"):
        with_second(numbered("1", "2", "1", "1", "2"), classes)


def test_labels_are_joined_by_id_in_any_order_and_missing_ones_are_said() -> None:
    sheet = table_of("mine.json", "JSON", {"id": ["a.0", "a.1", "a.2"], "text": ["x", "y", "z"]})
    gold = json.dumps([{"id": "a.2", "tag": "F"}, {"id": "a.0", "tag": "T"}])
    sheet = with_second(sheet, gold, "mine.gold")
    assert labels_of(sheet, "tag") == ["T", None, "F"]
    expected = "Labels come from mine.gold, joined by id. 1 of 3 rows have none in it."
    assert sheet.notes[-1] == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1\n0\n1\n", "labels.txt has 3 rows, and texts.txt has 5."),
        ("\n \n", "holds only blank lines"),
        ("{not json", "begins like JSON and is none"),
        ("[]", "holds no label"),
        (b"\x89PNG\r\n", "is not text: it begins like a PNG image"),
        ("1\n" * 10_000, "at most 0 MB are read here"),
    ],
)
def test_a_second_file_that_does_not_fit_is_refused(content: str | bytes, expected: str) -> None:
    with pytest.raises(CorpusError, match=r"\.$") as caught:
        with_second(texts(), content)
    assert expected in str(caught.value)


@given(st.text(max_size=40))
def test_any_second_file_is_joined_or_refused(content: str) -> None:
    """It never moves a text, and never loses a row."""
    first = texts()
    try:
        sheet = with_second(first, content.encode("utf-8", "replace"))
    except CorpusError:
        return
    assert sheet.n_rows == first.n_rows
    assert sheet.columns["text"] == first.columns["text"]
    assert all(len(cells) == first.n_rows for cells in sheet.columns.values())
