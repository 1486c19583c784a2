"""A stored corpus as texts to be mapped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contextlens.core.errors import CorpusError
from contextlens.core.words import split_words
from contextlens.features.pairs import controls as pairs_controls
from contextlens.features.search import controls as search_controls
from contextlens.features.senses import controls as senses_controls
from contextlens.ui.corpora import texts
from contextlens.ui.corpora.own_file import on_collection
from contextlens.ui.corpora.texts import own_sentences, stored_texts
from contextlens.ui.models.background import store
from contextlens.ui.state.controls import Control
from contextlens.ui.state.view import DEFAULT, Sentence
from tests.support.corpus_store import indexed, made_up_corpus
from tests.support.pages import app_settings


@pytest.fixture(autouse=True)
def _store(tmp_path: Path) -> Iterator[None]:
    with app_settings(DATA_DIR=str(tmp_path)):
        yield


@pytest.mark.parametrize(
    ("selection", "value"),
    [
        (senses_controls.ONLY, "g1"),
        (senses_controls.CHOSEN, 3),
        (senses_controls.ROWS, 2),
        (pairs_controls.PAIR, 57),
        (search_controls.ROW, 7),
    ],
    ids=["group", "use", "page", "pair", "row"],
)
def test_another_collection_has_none_of_the_selections_of_the_one_before(
    selection: Control[Any], value: Any
) -> None:
    view = selection.put(DEFAULT, value)
    assert view != DEFAULT
    assert on_collection(view, "sentiment") == on_collection(DEFAULT, "sentiment")


@pytest.mark.parametrize("is_marked", [False, True])
def test_it_is_what_was_stored(is_marked: bool) -> None:
    corpus = made_up_corpus(20)
    if is_marked:
        corpus = replace(corpus, spans=tuple(split_words(text)[0] for text in corpus.texts))
    name = indexed(store(), corpus)
    found = stored_texts(name)
    assert (found.name, found.texts, dict(found.labels)) == (
        corpus.name,
        corpus.texts,
        dict(corpus.labels),
    )
    assert found.spans == corpus.spans
    assert found.digest == corpus.digest
    assert stored_texts(name) is found


def test_a_large_one_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MAX_TEXTS", 5)
    found = stored_texts(indexed(store(), made_up_corpus(12)))
    assert len(found.texts) == len(found.labels["sense"]) == 5
    assert found.notes == ("7 texts left out: a map takes the first 5.",)


def test_one_that_was_deleted_is_gone_at_once() -> None:
    name = indexed(store(), made_up_corpus(3))
    stored_texts(name)
    store().delete(name)
    with pytest.raises(CorpusError, match="no such corpus"):
        stored_texts(name)


def test_own_sentences_have_their_letters_and_blank_ones_are_left_out() -> None:
    texts = ("a python", "", "  ", "a snake")
    corpus = own_sentences(tuple(map(Sentence, texts)))
    assert corpus.texts == ("a python", "a snake")
    assert corpus.labels["sentence"] == ("A", "D")
    assert corpus.spans is None
    assert corpus.notes == ()


def test_second_texts_of_own_sentences_are_said_to_be_left_out() -> None:
    corpus = own_sentences((Sentence("a python", "a snake"), Sentence("a python", " ")))
    assert corpus.texts == ("a python", "a python")
    assert corpus.notes == ("This page reads each sentence alone: second texts are left out.",)
