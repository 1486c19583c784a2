"""Search, headless: first sight, odd queries, stored texts, recipes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers.base.modules import Normalize
from sentence_transformers.sentence_transformer.modules import Pooling
from streamlit.testing.v1 import AppTest

from contextlens.analysis.separation import scaled
from contextlens.content.language import say
from contextlens.core import BUNDLED_ID
from contextlens.core.errors import RequestError
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.about import indexing_of
from contextlens.features.search import page
from contextlens.features.search.controls import BY, PAGE, QUERY
from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.models import runtime
from contextlens.ui.models.background import store
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.core.spoiled import change_json
from tests.support.fields import field
from tests.support.pages import (
    app_settings,
    bundled_app,
    everything_said,
    framed,
    offered_files,
    plainly_said,
    said,
    settled,
)
from tests.support.recipes import Open, with_recipe
from tests.support.tiny_models import N_DIMS

STORED = ("A bat sleeps in the cave.", "The bill was paid.", "*An owl* hunts at night.")
RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y}'


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def opened(view: ViewState = DEFAULT) -> AppTest:
    app = settled(framed(view, PAGE))
    assert not app.exception
    assert not app.error
    return app


@pytest.mark.slow
def test_a_search_finds_by_meaning_what_words_do_not_and_any_query_works() -> None:
    view = DEFAULT
    with offered_files() as files:
        app = opened(view)
    found = everything_said(app)
    assert said(app).startswith(
        "None of the **5** nearest texts has a main word of your query, so a search by words "
        "misses them."
    )
    assert "The nearest text has a similarity of **0.48** to your query (1: the same" in said(app)
    assert "none of your main words" in found
    assert "Vector of a text: the mean of all tokens." in found
    assert b"A bat can eat its own weight" in files["search.csv"]()
    unread = opened(QUERY.put(view, "\N{SLIGHTLY SMILING FACE}"))
    assert said(unread) == say("search.unreadable")
    assert not unread.tabs
    rude = opened(QUERY.put(COLLECTION.put(view, "sentiment"), RUDE))
    assert "<img" not in everything_said(rude)
    assert say("search.none") in [i.value for i in opened(QUERY.put(view, " ")).info]


def test_texts_that_cannot_be_read_leave_the_menu_of_others() -> None:
    view = COLLECTION.put(replace(DEFAULT, sentences=(Sentence(""),)), "sentences")
    app = opened(QUERY.put(view, "a dog"))
    assert say("corpora.empty_sentences") in plainly_said(app)
    app = settled(field(app.selectbox, "search_collection").set_value("ambiguous").run())
    assert said(app, "reading")


@pytest.mark.slow
def test_a_recipe_that_is_more_than_the_mean_is_the_default_and_the_mean_can_be_chosen(
    open_with: Open, tmp_path: Path
) -> None:
    with_recipe("bert", [Pooling(N_DIMS, "cls"), Normalize()], open_with, tmp_path)
    change_json(
        tmp_path / "models" / "bert" / "config_sentence_transformers.json",
        prompts={"query": "query: ", "passage": "passage: "},
    )
    view = replace(COLLECTION.put(DEFAULT, "sentiment"), model="folder:bert")
    settings = {"MODEL_FOLDERS": str(tmp_path / "models"), "DATA_DIR": str(tmp_path / "data")}
    with app_settings(ALLOW_DOWNLOADS="0", **settings):
        app = opened(view)
        found = everything_said(app)
        assert "Vector of a text: the model's own recipe." in found
        assert "before your query" in found
        assert say("search.lit") not in found
        app = settled(field(app.selectbox, BY.key).set_value("mean").run())
        assert not app.exception
        found = everything_said(app)
        assert "Vector of a text: the mean of all tokens." in found
        assert "before your query" not in found
        assert say("search.lit") in found


@pytest.fixture
def stored() -> Iterator[str]:
    card = runtime.service().load(BUNDLED_ID)
    kept = store().create(Corpus("mine.csv", STORED), indexing_of(card, [6], "exact"))
    yield kept.name
    store().delete(kept.name)


def test_only_open_texts_are_read_and_explained(stored: str) -> None:
    def lit() -> list[str]:
        bodies = [element.proto.body for element in app.get("html")]
        return [body for body in bodies if "color-mix" in body]

    app = opened(COLLECTION.put(DEFAULT, stored))
    (first,) = lit()
    n_read = runtime.service().cache_info().misses
    app.session_state["search_open_model_2"] = True
    app.run()
    assert not app.exception
    assert runtime.service().cache_info().misses == n_read + 1
    assert lit()[0] == first
    assert len(lit()) == everything_said(app).count(say("search.lit")) == 2
    app.session_state["search_open_model_0"] = False
    assert first not in everything_said(app.run(), raw=True)
    assert len(lit()) == 1


def test_the_texts_stay_if_they_cannot_be_explained(
    stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RequestError("Busy")

    monkeypatch.setattr(page, "explained", fail)
    app = settled(framed(COLLECTION.put(DEFAULT, stored), PAGE))
    assert [error.value for error in app.error] == ["Busy"]
    shown = everything_said(app, raw=True)
    assert [text for text in STORED if text not in shown] == []


def test_a_stored_corpus_is_read_once_and_its_vectors_go_with_it(stored: str) -> None:
    view = COLLECTION.put(DEFAULT, stored)
    app = opened(view)
    assert "mine.csv" in [o for menu in app.selectbox for o in menu.options]
    assert "The best of 3 texts" in everything_said(app)
    vectors = store().open(stored).sentences().astype(float)
    encodings = runtime.service().encode(BUNDLED_ID, list(STORED))
    expected = scaled(np.stack([encoding.hidden[-1].mean(axis=0) for encoding in encodings]))
    np.testing.assert_allclose(vectors, expected, atol=1e-3)
    assert "The best of 3 texts" in everything_said(opened(view))
    store().delete(stored)
    assert not list(Path(store().root).glob(f"{stored}.*.lance"))
    gone = settled(framed(view, PAGE))
    assert not gone.exception
    assert "no longer" in gone.error[0].value
