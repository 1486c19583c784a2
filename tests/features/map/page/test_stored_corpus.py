"""The map of a stored corpus: chosen from those a visit knows, or named by an address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from contextlens.content.language import say
from contextlens.core.errors import CorpusError
from contextlens.core.words import split_words
from contextlens.features.map.controls import PAGE
from contextlens.features.map.request import corpus_of
from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.models.background import store
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.corpus_store import indexed, made_up_corpus
from tests.support.fields import field
from tests.support.pages import everything_said, framed, settled


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    yield
    for name in store().names():
        store().delete(name)


def on(name: str) -> ViewState:
    return COLLECTION.put(DEFAULT, name)


def keep(n: int = 12, title: str = "mine.csv") -> str:
    corpus = made_up_corpus(n, name=title)
    return indexed(store(), replace(corpus, spans=tuple(split_words(t)[0] for t in corpus.texts)))


@pytest.mark.parametrize("name", ["g" * 16, "short", "../../etc", "<img src=x>"])
def test_a_corpus_that_is_not_there_is_said(name: str) -> None:
    with pytest.raises(CorpusError, match=r"no corpus|no such corpus"):
        corpus_of(on(name))


@pytest.mark.slow
def test_where_a_corpus_is_not_there_another_can_be_chosen() -> None:
    other = keep()
    app = settled(framed(on("<img src=x>"), PAGE))
    assert len(app.error) == 1
    menu = field(app.selectbox, "map_collection")
    assert {"mine.csv", "Ambiguous words", say("texts.not_here")} <= set(menu.options)
    app = settled(menu.set_value(other).run())
    assert not app.error
    assert app.get("plotly_chart")


def test_it_is_drawn_with_its_marked_words() -> None:
    app = settled(framed(on(keep(30)), PAGE))
    assert not app.error
    assert "mine\\.csv: **30** uses of words" in everything_said(app)
    assert any(own.key and own.key.startswith("map_every_word") for own in app.toggle)
