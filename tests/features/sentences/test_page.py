"""Sentence vectors, headless: first sight, a visitor's own sentences, corpora and downloads."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.core import BUNDLED_ID
from contextlens.corpus.bundled import sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.about import indexing_of
from contextlens.features.sentences.comparison import cosines_snippet
from contextlens.features.sentences.controls import (
    CORPUS,
    DRAWN,
    MAX_DRAWN_TEXTS,
    PAGE,
    SHOW,
    SOURCE,
    TEST,
    source_of,
)
from contextlens.features.sentences.drawn_texts import drawn_texts
from contextlens.ui.models import runtime
from contextlens.ui.models.background import store
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.pages import (
    alone,
    bundled_app,
    chart,
    everything_said,
    framed,
    offered_files,
    said,
    settled,
)
from tests.support.snippets import run

RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y}'


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def on(*texts: str) -> ViewState:
    return replace(DEFAULT, sentences=tuple(map(Sentence, texts)))


def opened(view: ViewState = DEFAULT) -> AppTest:
    app = settled(framed(view, PAGE))
    assert not app.exception
    assert not app.error
    return app


def matrix(app: AppTest, pooling: str) -> np.ndarray:
    """The cosines of a chart, its two traces laid over each other."""
    figure = chart(app, f"sentences_matrix_{pooling}")
    assert figure["layout"]["xaxis"]["type"] == "category"  # "1" is a name, and no place
    high, low = (np.array(trace["z"], dtype=float) for trace in figure["data"])
    return np.where(np.isnan(high), low, high)


@pytest.mark.slow
def test_at_first_sight_cls_misleads_and_the_corpus_says_how_often() -> None:
    assert not settled(alone(DEFAULT, PAGE)).exception
    with offered_files() as files:
        app = opened()
    assert said(app).startswith(
        "Averaging all tokens finds the right partner for **4 of 4** sentences; the first token "
        "[CLS] finds only **2**."
    )
    assert "The model's own recipe gives the same here as the mean of all tokens." in (
        everything_said(app)
    )
    by_cls, by_mean = matrix(app, "cls"), matrix(app, "mean")
    assert by_cls[0, 2] > by_cls[0, 1]  # "rain" and "start", not "umbrella"
    assert by_mean[0, 1] > by_mean[0, 2]
    np.testing.assert_array_equal(by_mean, matrix(app, "recipe"))
    found = said(app, "reading_accuracy")
    assert "in **54%** of cases (always guessing the commonest: 2%)" in found
    assert "The worst is the mean of the last four layers: **30%**." in found
    names = chart(app, "sentences_accuracy")["data"][0]["y"]
    assert len(names) == 5
    with np.load(io.BytesIO(files["sentence-vectors.npz"]())) as saved:
        np.testing.assert_allclose(saved["cosines"][0], by_cls, atol=1e-4)
        assert "passport" in saved


@pytest.mark.slow
def test_the_nearest_text_says_little_about_sentiment() -> None:
    found = said(opened(TEST.put(DEFAULT, "sentiment")), "reading_accuracy")
    assert "the same sentiment in **57%** of cases (always guessing the commonest: 50%)" in found


@pytest.mark.slow
def test_changed_sentences_are_compared_and_shown_as_typed() -> None:
    app = opened(on(RUDE, "Two", "", "Four 🙂"))
    assert matrix(app, "max").shape == (4, 4)
    assert "Of 6 pairs, " in said(app)
    assert "The model cannot read “🙂” in D:" in everything_said(app)
    assert "<img" not in said(app)
    assert "Is it going to rain" not in everything_said(app)


@pytest.mark.slow
def test_one_sentence_cannot_be_compared_and_two_cannot_be_ranked() -> None:
    assert say("sentences.one") in [info.value for info in opened(on("Alone")).info]
    assert say("sentences.claim.one_pair") in said(opened(on("One", "Two")))
    own = on("One", "Two")
    assert "finds the right partner" in said(opened(source_of(own).put(own, "ready")))


@pytest.mark.slow
def test_texts_of_a_corpus_are_drawn_in_the_order_of_a_label_and_their_snippet_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = CORPUS.put(SOURCE.put(DEFAULT, DRAWN), "sentiment")
    with offered_files() as files:
        app = opened(view)
    n = len(sentiment_corpus().texts)
    assert f"**{MAX_DRAWN_TEXTS} of {n} texts** of “Sentiment”, drawn at random" in everything_said(
        app
    )
    assert "in the order of “sentiment”." in everything_said(app)
    assert matrix(app, "mean").shape == (MAX_DRAWN_TEXTS, MAX_DRAWN_TEXTS)
    drawn = drawn_texts(sentiment_corpus())
    assert list(drawn.labels) == sorted(drawn.labels)
    assert {*zip(drawn.texts, drawn.labels, strict=True)} <= {
        *zip(sentiment_corpus().texts, sentiment_corpus().labels["sentiment"], strict=True)
    }
    monkeypatch.chdir(tmp_path)
    Path("page.npz").write_bytes(files["sentence-vectors.npz"]())
    card = runtime.service().load(BUNDLED_ID)
    found = run(cosines_snippet(card, "page.npz", has_pooler=False))["cosines"]
    np.testing.assert_allclose(found["mean"].numpy(), matrix(app, "mean"), atol=1e-4)


def test_a_corpus_that_is_gone_is_named_and_one_text_is_not_compared() -> None:
    view = SOURCE.put(DEFAULT, DRAWN)
    gone = settled(framed(CORPUS.put(view, "gone"), PAGE))
    assert not gone.exception
    assert len(gone.error) == 1
    card = runtime.service().load(BUNDLED_ID)
    kept = store().create(Corpus("one.csv", ("Alone.",)), indexing_of(card, [6], "exact"))
    app = opened(CORPUS.put(view, kept.name))
    assert say("sentences.one") in [info.value for info in app.info]
    store().delete(kept.name)


@pytest.mark.slow
def test_a_link_of_an_old_search_leads_to_the_page_of_the_search() -> None:
    app = opened(SHOW.put(DEFAULT, "search"))
    links = [
        link.proto.page for link in app.get("page_link") if "page of its own" in link.proto.label
    ]
    assert links == ["search"]
