"""Start here, Meaning and Senses name a word's meanings by the labels of a visitor's own file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.features.senses.controls import OWN
from contextlens.ui.corpora.controls import COLLECTION, LABEL, NO_LABEL, WORD
from contextlens.ui.state.view import Sentence, ViewState
from tests.support.mint import corpus_of, labelled, with_file
from tests.support.pages import (
    assert_only_own_markup,
    bundled_app,
    framed,
    given,
    plainly_said,
    said,
    sentence,
    settled,
    view_of,
)

TEA, STATE = "I put fresh mint into my tea", "The mint produced new coins for the king"
MINT = view_of(sentence(TEA, "mint"), sentence(STATE, "mint"))
SOURCE = "The names come from the label “sense” of “mint.csv”: 20 texts with “mint”."
NO_NAMES = "The model cannot tell. Add a word for each meaning of “mint”."


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def opened(view: ViewState, page: str = "meaning") -> AppTest:
    app = settled(framed(view, page))
    while "Looking up the meanings" in plainly_said(app):
        time.sleep(0.1)
        app = settled(app.run())
    assert not app.exception
    return app


def test_all_pages_have_the_same_names() -> None:
    view = with_file(MINT, corpus_of(labelled()))
    assert said(opened(view), "headline") == f"A: plant. B: money. {SOURCE}"
    home = opened(view, "home")
    assert said(home, "headline").startswith(f"A: plant. B: money. {SOURCE} The thicker")
    tug = given(home, "home_story")["tug"]
    assert (tug["left"], tug["right"]) == ("plant", "money")
    one = replace(view, sentences=view.sentences[1:], references=(Sentence("tea"),))
    assert said(opened(one, "home"), "headline").startswith(f"A: money. {SOURCE}")
    for text, sense in ((TEA, "plant"), (STATE, "money")):
        senses = opened(OWN.put(WORD.put(view, "mint"), text), "senses")
        assert f"Your sentence is closest to the sense “{sense}”" in said(senses, "reading_own")
        assert "of labelled uses get the right sense" in plainly_said(senses)


def test_the_visitors_labels_come_before_those_of_the_ready_corpus() -> None:
    """As long as they give names; otherwise the ready corpus has the word."""
    rows = [(text.replace("mint", "bank"), label) for text, label in labelled("herb", "coin")]
    river, money = "They sat on the grassy bank of the river", "He paid the money into the bank"
    view = view_of(sentence(river, "bank"), sentence(money, "bank"))
    app = opened(with_file(view, corpus_of(rows)))
    assert "of “mint.csv”: 20 texts with “bank”." in said(app, "headline")
    few = said(opened(with_file(view, corpus_of(rows[:8]))), "headline")
    assert few == "A: the river bank. B: the money bank."


@pytest.mark.parametrize(
    "view",
    [
        MINT,
        LABEL.put(with_file(MINT, corpus_of(labelled())), NO_LABEL),
        with_file(MINT, corpus_of(labelled("same", "same"))),
        with_file(MINT, corpus_of(labelled("", ""))),
        with_file(MINT, corpus_of(labelled(n=4))),
        with_file(MINT, corpus_of([("A road", "a"), ("A street", "b")] * 9)),
        COLLECTION.put(MINT, "file"),
    ],
    ids=["nothing chosen", "no label", "one", "empty", "few", "no such word", "file is gone"],
)
def test_without_labels_of_the_word_nothing_changes(view: ViewState) -> None:
    assert said(opened(view), "headline") == NO_NAMES


@pytest.mark.parametrize(
    ("herb", "coin", "expected"),
    [
        ("0", "1", "A: sense 0. B: sense 1."),
        ("a plant", "money/finance", "A: a plant. B: money/finance."),
        ("<b>*x*</b>", "y :smile: $z$", "A: “<b>*x*</b>”. B: “y :smile: $z$”."),
        ("x" * 500, "y", f"A: “{'x' * 27}…”. B: y."),
    ],
)
def test_odd_labels_are_shown_as_typed_and_short(herb: str, coin: str, expected: str) -> None:
    app = opened(with_file(MINT, corpus_of(labelled(herb, coin))), "home")
    assert said(app, "headline").startswith(expected)
    assert_only_own_markup(app)
