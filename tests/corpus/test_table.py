"""Columns and titles of a table, and the content of a corpus."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.corpus.corpus import Corpus
from contextlens.corpus.table import (
    ColumnKind,
    Table,
    clean,
    guess_text_column,
    is_number,
    kind_of,
    text_pair,
    unique,
)

NUMBERED = [str(i) for i in range(100)]
SENTENCES = [f"This is sentence number {i}" for i in range(100)]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([], "empty"),
        ([None, "", "  "], "empty"),
        (SENTENCES, "text"),
        (["one sentence only", None], "text"),
        (["私はパイソンが大好きです。", "今日はいい天気ですね。"], "text"),
        (["pos", "neg", None] * 10, "label"),
        (["very good", "not so bad at all"] * 30, "label"),
        (["1", "0", "1", "0"], "label"),
        (["1", "2", "3", "4", "5"] * 20, "label"),
        ([str(i) for i in range(100)], "number"),
        (["0.25", "-1e-3", "40%", ".5", "7."], "number"),
        ([f"id-{i}" for i in range(100)], "many"),
        ([f"label {i}" for i in range(51)] * 5, "many"),
        ([f"label {i}" for i in range(50)] * 5, "label"),
        ([f'{{"a": {i}, "b": "two words"}}' for i in range(100)], "many"),
    ],
)
def test_a_column_is_what_its_values_look_like(cells: list[str | None], kind: ColumnKind) -> None:
    assert kind_of(cells) == kind


@given(st.lists(st.none() | st.text(max_size=5), max_size=20))
def test_only_a_column_without_values_is_empty(cells: list[str | None]) -> None:
    assert (kind_of(cells) == "empty") == (not any(cell and cell.strip() for cell in cells))


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**63))
def test_what_python_writes_is_a_number(number: float) -> None:
    assert is_number(repr(number))


@pytest.mark.parametrize("text", ["", "a", "1,5", "1_000", "٣", "nan", "1 2", "--1", "1" * 500])
def test_other_text_is_no_number(text: str) -> None:
    assert not is_number(text)


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        ({"a": SENTENCES, "Text": SENTENCES}, "Text"),
        ({"a": SENTENCES, "b": [own + " and more" for own in SENTENCES]}, "b"),
        ({"text": ["x", "y"] * 50, "words": SENTENCES}, "words"),
        ({"id": ["1", "2", "3"], "word": ["bank", "river", "snake"]}, "word"),
        ({"n": ["1", "2", "3"]}, "n"),
        ({"none": [None, None]}, "none"),
        ({"text": ["1", "0", "1", "0"], "body": ["Good", "Bad", "Fine", "Poor"]}, "body"),
        ({"text": [str(i) for i in range(100)], "note": SENTENCES}, "note"),
        ({"text": ["0.1 0.2 0.3 0.4", "0.5 0.6 0.7 0.8"], "note": ["a fine day", "so"]}, "note"),
        ({"text": ["2024-01-31", "12,50", "NA", "555-1234"], "word": ["a", "b", "c", "d"]}, "word"),
        ({"text": ["1e3", "2e3"], "title": ["3", "4"]}, "text"),
        ({"text": ["Room 101 is open", "42 is the answer"], "note": ["a", "b"]}, "text"),
        ({"text": ["\U0001f600 \U0001f389", "\U0001f600"], "n": ["1", "2"]}, "text"),
        ({"text": ["12", None, "13"], "comment": [None, None, "late"]}, "comment"),
        ({"text": [None, None], "n": ["1", "2"]}, "n"),
        ({}, ""),
    ],
)
def test_the_column_of_sentences_is_found(columns: dict[str, list[str]], chosen: str) -> None:
    assert guess_text_column(columns, {k: kind_of(own) for k, own in columns.items()}) == chosen


@given(st.lists(st.text("ab 2()", max_size=5), max_size=12))
def test_titles_are_made_unique_and_a_title_that_was_so_stays(titles: list[str]) -> None:
    made = unique(titles)
    assert len(made) == len(titles) == len(set(made))
    assert all(made)
    given_once = [title.strip() for title in titles]
    for title, own in zip(given_once, made, strict=True):
        assert own == title or not title or given_once.count(title) > 1


@given(st.text(st.characters() | st.characters(categories=["Cs"]) | st.just("\0")))
def test_a_clean_text_can_be_encoded_and_is_clean(text: str) -> None:
    cleaned = clean(text)
    assert "\0" not in cleaned
    assert cleaned.encode().decode() == cleaned == clean(cleaned)
    if "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text):
        assert cleaned == text


any_text = st.text(st.characters(exclude_categories=()), max_size=10)


@given(
    n=st.sampled_from([0, 1, 200, 201, 400]),
    text=any_text,
    labels=st.lists(any_text, unique=True, max_size=3),
)
def test_the_digest_is_that_of_its_json(n: int, text: str, labels: list[str]) -> None:
    texts = tuple(f"{text} {i}" for i in range(n))
    for spans in (None, ((0, 1),) * n):
        corpus = Corpus("name", texts, dict.fromkeys(labels, texts), spans=spans)
        content = [texts, dict.fromkeys(labels, texts), spans]
        packed = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        expected = hashlib.sha256(packed.encode("utf-8", "surrogatepass")).hexdigest()
        assert corpus.digest == expected


def test_the_same_texts_under_another_name_have_another_key() -> None:
    corpus = Corpus("mine.csv", ("a", "b"), {"kind": ("x", "y")})
    others = [replace(corpus, name="theirs.csv"), replace(corpus, notes=("1 row was left out.",))]
    assert {other.digest for other in others} == {corpus.digest}
    assert len({corpus.key, *(other.key for other in others)}) == 3
    assert replace(corpus).key == corpus.key


def test_a_text_that_repeats_counts_once_and_each_row_a_little() -> None:
    long = "x" * 100_000
    assert 100_000 < Corpus("name", (long,) * 1_000).n_bytes < 110_000
    assert Corpus("name", tuple(f"{i}{long}" for i in range(10))).n_bytes > 1_000_000


@pytest.mark.parametrize(
    ("other", "pair", "labels"),
    [
        (["noun", "verb"], ("word", ""), ("other",)),
        (NUMBERED[:2], ("word", ""), ("other",)),
        ([f"x{n}" for n in NUMBERED], ("word", "other"), ()),
    ],
)
def test_words_are_paired_with_words_and_not_with_labels(
    other: list[str], pair: tuple[str, str], labels: tuple[str, ...]
) -> None:
    words, others = (f"word{n}" for n in NUMBERED), other * (100 // len(other))
    table = Table("a.csv", "CSV", {"word": tuple(words), "other": tuple(others)})
    assert (text_pair(table), table.label_columns) == (pair, labels)


@pytest.mark.parametrize(
    ("titles", "is_clear"),
    [
        ({"id": NUMBERED, "text": SENTENCES, "kind": ["a", "b"] * 50}, True),
        ({"column 1": ["one", "two"]}, True),
        ({"text": SENTENCES, "at": [f"Monday, {i % 28 + 1} May {i}" for i in range(100)]}, True),
        ({"text": SENTENCES, "reply": [f"{text}, as they often say" for text in SENTENCES]}, False),
        ({"name": ["Ann", "Bo"], "kind": ["pet", "pet"]}, False),
        ({"text": [f"{text}<br />" for text in SENTENCES]}, False),
    ],
)
def test_one_column_that_can_hold_the_texts_leaves_no_doubt(
    titles: dict[str, list[str]], is_clear: bool
) -> None:
    columns = {title: tuple(cells) for title, cells in titles.items()}
    assert Table("a.csv", "CSV", columns).is_clear == is_clear


def test_lines_that_may_be_a_table_leave_a_doubt() -> None:
    assert not Table("a.txt", "TXT", {"text": tuple(SENTENCES)}, content=b"a,b").is_clear
