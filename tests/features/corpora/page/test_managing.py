"""Corpora, headless: indexing that pauses, goes on, is cancelled or fails, and what is deleted."""

from __future__ import annotations

from typing import Any

import pytest

from components.features.corpora.controls import CORPUS, PAGE
from components.ui.models.background import store
from components.ui.state.view import DEFAULT
from tests.features.corpora.page.headless import (
    assert_whole,
    has_picture,
    kept,
    keys,
    on,
    opened,
    table,
)
from tests.support.corpus_store import indexing, made_up_corpus
from tests.support.pages import framed, plainly_said, press, settled, shown_view


@pytest.mark.slow
def test_deleting_takes_a_second_click() -> None:
    app = kept(table())
    (name,) = store().names()
    app = press(app, "corpora_delete")
    assert "its 66 words and their vectors" in plainly_said(app)
    assert store().names() == (name,)
    app = press(app, "corpora_delete_no")
    assert "corpora_delete_yes" not in keys(app)
    app = press(press(app, "corpora_delete"), "corpora_delete_yes")
    assert store().names() == ()
    assert CORPUS.of(shown_view(app)) == "ambiguous"
    assert_whole(app)


@pytest.mark.slow
def test_indexing_pauses_and_goes_on() -> None:
    name = store().create(made_up_corpus(6), bundled_indexing()).name
    store().set_state(name, "paused")
    app = opened(on(name))
    assert "Paused at 0%: 0 of 6 texts are indexed" in plainly_said(app).replace("**", "")
    assert not has_picture(app)
    app = settled(press(app, "corpora_go_on"))
    assert store().about(name).state == "done"
    assert has_picture(app)


def test_what_a_server_left_can_go_on_or_be_cancelled() -> None:
    name = store().create(made_up_corpus(6), bundled_indexing()).name
    app = opened(on(name))
    assert "Interrupted at 0%" in plainly_said(app)
    app = press(press(app, "corpora_cancel"), "corpora_cancel_yes")
    assert store().names() == ()
    assert_whole(app)


def test_what_another_process_indexes_is_followed_and_can_be_paused() -> None:
    name = store().create(made_up_corpus(6), bundled_indexing()).name
    store().set_state(name, "indexing")
    with store().only_writer(name):
        app = framed(on(name), PAGE)
        assert "being indexed, 0%" in plainly_said(app)
        assert "indexing goes on" in plainly_said(app)
        assert "corpora_go_on" not in keys(app)
        app = press(app, "corpora_pause")
        assert "Indexing will pause as soon as" in plainly_said(app)
    assert store().about(name).state == "paused"
    app = opened(on(name))
    assert "Paused at 0%" in plainly_said(app)
    assert "corpora_go_on" in keys(app)


def bundled_indexing() -> Any:
    from components.corpus.store.about import indexing_of
    from components.ui.models.services import service

    card = service().load(DEFAULT.model)
    return indexing_of(card, (0, 6), "exact")


def test_a_corpus_that_failed_says_why_and_can_be_tried_again() -> None:
    name = store().create(made_up_corpus(4), indexing(model="google-bert/bert-large-cased")).name
    app = settled(press(opened(on(name)), "corpora_go_on"))
    assert "Stopped at 0%" in plainly_said(app)
    assert "which is not on this machine any more" in plainly_said(app)
    assert "corpora_go_on" in keys(app)
    assert_whole(app)
