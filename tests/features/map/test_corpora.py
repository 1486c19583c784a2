"""Texts to map: the view's, the bundled corpus, and uploads that are kept within a bound."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import CorpusError
from components.corpus.bundled import ambiguous_corpus
from components.features.map import corpora
from components.features.map.controls import PAGE
from components.features.map.corpora import (
    columns_of,
    corpus_of,
    keep,
    own_sentences,
    places,
    sheet_of,
)
from components.ui.state.address import decode, encode
from components.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.pages import app_settings

TABLE = b"kind,text,where\npet,I love my pet python,home\nlanguage,I code in python,work\n"
TITLES = ["kind", "text", "where"]


@pytest.fixture(autouse=True)
def _app() -> Iterator[None]:
    with app_settings(ALLOW_DOWNLOADS="0", MAX_UPLOAD_MB="1"):
        yield


def view_of(**controls: Any) -> ViewState:
    return replace(DEFAULT, controls={PAGE: controls})


def lines(*texts: str) -> bytes:
    return "\n".join(texts).encode()


# The texts that there are


def test_without_a_choice_the_ready_made_corpus_is_mapped() -> None:
    for view in (DEFAULT, view_of(source="nowhere"), view_of(source=3)):
        assert corpus_of(view) is ambiguous_corpus()


def test_own_sentences_have_their_letters_and_blank_ones_are_left_out() -> None:
    texts = ("a python", "", "  ", "a snake")
    corpus = own_sentences(tuple(map(Sentence, texts)))
    assert corpus.texts == ("a python", "a snake")
    assert corpus.labels["sentence"] == ("A", "D")
    assert corpus.spans is None


@pytest.mark.parametrize("texts", [(), ("",), ("", " \n\t")])
def test_empty_sentences_are_said(texts: tuple[str, ...]) -> None:
    view = replace(view_of(source="sentences"), sentences=tuple(map(Sentence, texts)))
    with pytest.raises(CorpusError, match=r"sentences are empty\. Type one, or map the ready-made"):
        corpus_of(view)


def test_the_same_sentences_are_the_same_corpus() -> None:
    """What is counted of a corpus is kept with it."""
    view = view_of(source="sentences")
    assert corpus_of(view) is corpus_of(replace(view, layer=3))


# Uploads


def test_a_file_is_found_again_by_its_digest() -> None:
    digest = keep("mine.csv", TABLE)
    assert keep("mine.csv", TABLE) == digest
    sheet = sheet_of(digest)
    assert sheet is not None
    assert sheet.name == "mine.csv"
    assert list(sheet.columns) == TITLES
    corpus = corpus_of(view_of(source="file", file=digest))
    assert corpus is not None
    assert corpus.texts == ("I love my pet python", "I code in python")


def test_other_content_or_another_name_is_another_file() -> None:
    digests = [keep("a.csv", TABLE), keep("b.csv", TABLE), keep("a.csv", TABLE + b"x,y,z\n")]
    assert len(set(digests)) == 3
    names = [sheet.name for d in digests if (sheet := sheet_of(d)) is not None]
    assert names == ["a.csv", "b.csv", "a.csv"]


@pytest.mark.parametrize("digest", ["", "unknown", "../../etc/passwd", "0" * 32])
def test_a_file_that_is_not_here_is_to_be_chosen_first(digest: str) -> None:
    assert sheet_of(digest) is None
    assert corpus_of(view_of(source="file", file=digest)) is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.pdf", b"%PDF"),
        ("mine", b"text"),
        ("mine.csv", b""),
        ("mine.txt", b" \n \n"),
        ("mine.parquet", b"PAR1 and no more"),
        ("mine.jsonl", b"{"),
        ("mine.txt", b"word " * 250_000),
    ],
    ids=["kind", "no ending", "empty", "blank", "damaged", "no JSON", "too large"],
)
def test_what_cannot_be_read_leaves_what_was_kept(name: str, content: bytes) -> None:
    digest = keep("mine.csv", TABLE)
    before = sheet_of(digest)
    with pytest.raises(CorpusError) as caught:
        keep(name, content)
    assert str(caught.value).endswith((".", "?"))
    assert before is not None
    assert sheet_of(digest) is before


def test_the_last_files_are_kept_and_the_one_unused_for_longest_goes() -> None:
    digests = [keep(f"{i}.txt", lines(f"text {i}")) for i in range(8)]
    assert all(sheet_of(digest) for digest in digests[1:])
    assert sheet_of(digests[0]) is not None  # used last now
    keep("8.txt", lines("text 8"))
    assert sheet_of(digests[1]) is None
    assert all(sheet_of(digest) for digest in [digests[0], *digests[2:]])


def test_large_files_leave_earlier() -> None:
    # Of 1 MB at most, two have room; a third one takes the place of the first.
    large = lines(*[f"this is line {i} of a long file" for i in range(25_000)])
    assert 700_000 < len(large) < 1_000_000
    digests = [keep(f"{i}.txt", large) for i in range(3)]
    assert [sheet_of(digest) is not None for digest in digests] == [False, True, True]
    for _ in range(5):  # the same again takes no more room
        keep("2.txt", large)
    assert sheet_of(digests[1]) is not None


# Columns


def test_columns_are_guessed_and_named_by_their_place() -> None:
    sheet = sheet_of(keep("mine.csv", TABLE))
    assert sheet is not None
    assert columns_of(DEFAULT, sheet) == (sheet.text_column, sheet.label_columns)
    assert sheet.text_column == "text"
    assert columns_of(view_of(text=2, labels="0,1"), sheet) == ("where", ("kind", "text"))
    assert columns_of(view_of(text=0, labels=""), sheet) == ("kind", ())
    assert places(sheet, ["where", "kind"]) == "2,0"
    assert columns_of(view_of(labels=places(sheet, ["where", "kind"])), sheet)[1] == (
        "where",
        "kind",
    )


def test_of_very_many_label_columns_as_many_are_kept_as_an_address_takes() -> None:
    cells = {"text": "I love my pet python", **{f"label {i}": "x" for i in range(150)}}
    sheet = sheet_of(keep("mine.jsonl", lines(json.dumps(cells))))
    assert sheet is not None
    titles = [f"label {i}" for i in range(150)]
    given = places(sheet, titles)
    view = decode(encode(view_of(labels=given)))
    kept = columns_of(view, sheet)[1]
    assert list(kept) == titles[: len(kept)]
    assert len(kept) > 60
    for n in range(60, 80):  # wherever the cut falls
        own = columns_of(view_of(labels=places(sheet, titles[-n:])), sheet)[1]
        assert list(own) == titles[-n:][: len(own)]
        assert len(own) >= 50


@pytest.mark.parametrize(
    ("controls", "expected"),
    [
        ({"text": 3}, "text"),
        ({"text": -2}, "text"),
        ({"text": -1}, "text"),
        ({"text": "0"}, "text"),
        ({"text": True}, "text"),
        ({"text": 0.0}, "text"),
        ({"text": 2**53}, "text"),
        ({"labels": "0,0,7,x,,²,-1,1.5, 2"}, ("kind",)),
        ({"labels": "1"}, ()),
        ({"labels": "9" * 200}, ()),
        ({"labels": 0}, "guessed"),
    ],
    ids=str,
)
def test_columns_that_there_are_not_count_for_nothing(
    controls: dict[str, Any], expected: str | tuple[str, ...]
) -> None:
    sheet = sheet_of(keep("mine.csv", TABLE))
    assert sheet is not None
    text, labels = columns_of(view_of(**controls), sheet)
    if "text" in controls:
        assert text == expected
    else:
        assert labels == (sheet.label_columns if expected == "guessed" else expected)


@given(
    text=st.integers(-(2**53), 2**53) | st.text(max_size=10) | st.floats(allow_nan=False),
    labels=st.text("0123456789,x ²-", max_size=200) | st.booleans(),
)
def test_no_address_names_a_column_that_there_is_not(text: Any, labels: Any) -> None:
    sheet = corpora.read("mine.csv", TABLE, max_bytes=10**6)
    chosen_text, chosen_labels = columns_of(view_of(text=text, labels=labels), sheet)
    assert chosen_text in TITLES
    assert set(chosen_labels) <= set(TITLES) - {chosen_text}
    assert len(set(chosen_labels)) == len(chosen_labels)


def test_the_chosen_columns_make_the_corpus_and_are_part_of_it() -> None:
    digest = keep("mine.csv", TABLE)
    usual = corpus_of(view_of(source="file", file=digest))
    other = corpus_of(view_of(source="file", file=digest, text=2, labels="0"))
    assert usual is not None
    assert other is not None
    assert other.texts == ("home", "work")
    assert other.labels == {"kind": ("pet", "language")}
    assert other.digest != usual.digest
    assert corpus_of(view_of(source="file", file=digest)) is usual


def test_a_column_without_text_is_said() -> None:
    digest = keep("mine.csv", b"text,empty\nI love my pet python,\nI code in python,\n")
    with pytest.raises(CorpusError, match="Choose another column, such as text"):
        corpus_of(view_of(source="file", file=digest, text=1, labels=""))


def test_titles_longer_than_an_address_takes_can_be_chosen() -> None:
    long = "t" * 5_000
    digest = keep("mine.jsonl", lines(json.dumps({long: "I love my pet python", "b": "x"})))
    sheet = sheet_of(digest)
    assert sheet is not None
    assert list(sheet.columns) == [long, "b"]
    assert columns_of(view_of(text=0, labels="1"), sheet) == (long, ("b",))
