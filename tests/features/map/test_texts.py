"""Texts to map: the view's, the bundled corpus, and the chosen columns of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.corpus.bundled import ambiguous_corpus, sample_corpus
from contextlens.corpus.readers import read
from contextlens.features.map.controls import PAGE
from contextlens.features.map.request import corpus_of
from contextlens.features.map.widgets import OWN_FILE
from contextlens.ui.corpora.own_file import places, share
from contextlens.ui.files.uploads import forget_all, keep, table_of
from contextlens.ui.state.address import decode, encode
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.pages import app_settings

TABLE = b"kind,text,where\npet,I love my pet python,home\nlanguage,I code in python,work\n"


ME = "a visit"
columns_of, found_again = OWN_FILE.columns_of, OWN_FILE.found_again


TITLES = ["kind", "text", "where"]


@pytest.fixture(autouse=True)
def _app() -> Iterator[None]:
    forget_all()
    with app_settings(ALLOW_DOWNLOADS="0", MAX_UPLOAD_MB="1"):
        yield


def view_of(**controls: Any) -> ViewState:
    return replace(DEFAULT, controls={PAGE: controls})


def shared(
    name: str,
    content: bytes,
    *,
    text: str | None = None,
    labels: Sequence[str] | None = None,
    visitor: str = ME,
) -> str:
    """The digest of a file's columns, the guessed ones by default."""
    sheet = table_of(keep(visitor, name, content))
    assert sheet is not None
    own = sheet.label_columns if labels is None else labels
    return share(visitor, sheet, text or sheet.text_column, own)


def lines(*texts: str) -> bytes:
    return "\n".join(texts).encode()


def test_without_a_choice_the_ready_made_corpus_is_mapped() -> None:
    for view in (DEFAULT, view_of(source="nowhere"), view_of(source=3)):
        assert corpus_of(view) is ambiguous_corpus()


@pytest.mark.parametrize("controls", [{"word": "all"}, {"unit": "sentences"}, {"unit": "tokens"}])
def test_a_map_of_more_than_one_word_takes_a_sample(controls: dict[str, str]) -> None:
    assert corpus_of(view_of(**controls)) is sample_corpus()
    assert (
        corpus_of(view_of(**{**controls, "unit": "words", "word": "apple"})) is ambiguous_corpus()
    )


def test_the_same_sentences_are_the_same_corpus() -> None:
    """A corpus's counts are cached with it."""
    view = view_of(source="sentences")
    assert corpus_of(view) is corpus_of(replace(view, layer=3))


def test_no_address_names_a_whole_file() -> None:
    secret = keep(ME, "mine.csv", TABLE)
    assert corpus_of(view_of(source="file", file=secret)) is None


def test_the_same_columns_of_the_same_file_have_the_same_digest() -> None:
    digest = shared("mine.csv", TABLE)
    assert shared("mine.csv", TABLE, visitor="another visit") == digest
    corpus = corpus_of(view_of(source="file", file=digest))
    assert corpus is not None
    assert corpus.texts == ("I love my pet python", "I code in python")
    assert corpus_of(view_of(source="file", file=digest)) is corpus
    digests = {digest, shared("b.csv", TABLE), shared("mine.csv", TABLE + b"x,y,z\n")}
    assert len({*digests, shared("mine.csv", TABLE, labels=["kind"])}) == 4


@pytest.mark.parametrize("digest", ["", "unknown", "../../etc/passwd", "0" * 32, "file "])
def test_a_file_that_is_not_here_is_to_be_chosen_first(digest: str) -> None:
    assert table_of(digest) is None
    assert corpus_of(view_of(source="file", file=digest)) is None


def test_columns_are_guessed_and_named_by_their_place() -> None:
    sheet = table_of(keep(ME, "mine.csv", TABLE))
    assert sheet is not None
    assert sheet.text_column == "text"
    assert columns_of(DEFAULT, sheet) == (sheet.text_column, sheet.label_columns)
    assert columns_of(view_of(text=2, labels="0,1"), sheet) == ("where", ("kind", "text"))
    assert columns_of(view_of(text=0, labels=""), sheet) == ("kind", ())
    assert places(sheet, ["where", "kind"]) == "2,0"
    assert columns_of(view_of(labels=places(sheet, ["where", "kind"])), sheet)[1] == (
        "where",
        "kind",
    )


def test_of_very_many_label_columns_as_many_are_kept_as_an_address_takes() -> None:
    cells = {"text": "I love my pet python", **{f"label {i}": "x" for i in range(150)}}
    sheet = table_of(keep(ME, "mine.jsonl", lines(json.dumps(cells))))
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


def test_columns_that_there_are_not_count_for_nothing() -> None:
    sheet = read("mine.csv", TABLE, max_bytes=10**6)
    for text in (3, -2, "0", True, 0.0, 2**53):
        assert columns_of(view_of(text=text), sheet)[0] == "text"
    assert columns_of(view_of(labels="0,0,7,x,,²,-1,1.5, 2"), sheet)[1] == ("kind",)
    assert columns_of(view_of(labels="1"), sheet)[1] == ()
    assert columns_of(view_of(labels=0), sheet)[1] == sheet.label_columns


@given(
    text=st.integers(-(2**53), 2**53) | st.text(max_size=10) | st.floats(allow_nan=False),
    labels=st.text("0123456789,x ²-", max_size=200) | st.booleans(),
)
def test_no_address_names_a_column_that_there_is_not(text: Any, labels: Any) -> None:
    sheet = read("mine.csv", TABLE, max_bytes=10**6)
    chosen_text, chosen_labels = columns_of(view_of(text=text, labels=labels), sheet)
    assert chosen_text in TITLES
    assert set(chosen_labels) <= set(TITLES) - {chosen_text}
    assert len(set(chosen_labels)) == len(chosen_labels)


def test_a_file_is_found_again_where_an_address_names_its_columns() -> None:
    sheet = table_of(keep(ME, "mine.csv", TABLE))
    assert sheet is not None
    digest = share(ME, sheet, "where", ["kind"])
    forget_all()
    view = view_of(source="file", file=digest, text=2, labels=places(sheet, ["kind"]))
    assert corpus_of(view) is None
    assert not found_again(ME, view_of(source="file", file=digest, text=1, labels=""), sheet)
    assert corpus_of(view) is None
    assert found_again(ME, view, sheet)
    assert corpus_of(view) is not None


def test_titles_longer_than_an_address_takes_can_be_chosen() -> None:
    long = "t" * 5_000
    content = lines(json.dumps({long: "I love my pet python", "b": "x"}))
    sheet = table_of(keep(ME, "mine.jsonl", content))
    assert sheet is not None
    assert list(sheet.columns) == [long, "b"]
    assert columns_of(view_of(text=0, labels="1"), sheet) == (long, ("b",))
