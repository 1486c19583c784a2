"""Sentence vectors, headless: first sight, a visitor's own sentences, corpora and downloads."""

from __future__ import annotations

import io
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
from contextlens.corpus.bundled import sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.about import indexing_of
from contextlens.features.sentences.comparison import cosines_snippet
from contextlens.features.sentences.controls import (
    BY,
    CORPUS,
    DRAWN,
    MAX_DRAWN_TEXTS,
    PAGE,
    QUERY,
    SEARCH,
    SHOW,
    SOURCE,
    TEST,
    source_of,
)
from contextlens.features.sentences.drawn_texts import drawn_texts
from contextlens.features.sentences.vectors import encode_texts
from contextlens.ui.models import runtime
from contextlens.ui.models.background import store
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.core.spoiled import change_json
from tests.support.fields import field
from tests.support.pages import (
    alone,
    app_settings,
    bundled_app,
    chart,
    everything_said,
    framed,
    offered_files,
    said,
    settled,
)
from tests.support.recipes import Open, with_recipe
from tests.support.snippets import run
from tests.support.tiny_models import N_DIMS

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
    high, low = (
        np.array(trace["z"], dtype=float)
        for trace in chart(app, f"sentences_matrix_{pooling}")["data"]
    )
    return np.where(np.isnan(high), low, high)


@pytest.mark.slow
def test_at_first_sight_cls_misleads_and_the_corpus_says_how_often() -> None:
    assert not settled(alone(DEFAULT, PAGE)).exception
    with offered_files() as files:
        app = opened()
    assert said(app).startswith(
        "Averaging all tokens finds the right partner for **4 of 4** sentences; [CLS] only for "
        "**2**."
    )
    assert "The model's own recipe gives the same here as the mean of all tokens." in (
        everything_said(app)
    )
    by_cls, by_mean = matrix(app, "cls"), matrix(app, "mean")
    assert by_cls[0, 2] > by_cls[0, 1]  # "rain" and "start", not "umbrella"
    assert by_mean[0, 1] > by_mean[0, 2]
    np.testing.assert_array_equal(by_mean, matrix(app, "recipe"))
    found = said(app, "reading_accuracy")
    assert "in **55%** of cases (always guessing the commonest: 2%)" in found
    assert "The worst is the mean of the last four layers: **30%**." in found
    names = chart(app, "sentences_accuracy")["data"][0]["y"]
    assert len(names) == 5
    with np.load(io.BytesIO(files["sentence-vectors.npz"]())) as saved:
        np.testing.assert_allclose(saved["cosines"][0], by_cls, atol=1e-4)
        assert "passport" in saved


@pytest.mark.slow
def test_on_pairs_of_opposites_every_vector_does_worse_than_guessing() -> None:
    found = said(opened(TEST.put(DEFAULT, "sentiment")), "reading_accuracy")
    assert found.startswith(
        "Every vector does worse than guessing: the nearest text is often the opposite twin."
    )


@pytest.mark.slow
def test_changed_sentences_are_compared_and_shown_as_typed() -> None:
    app = opened(on(RUDE, "Two", "", "Four 🙂"))
    assert matrix(app, "max").shape == (4, 4)
    assert "Of 6 pairs, " in said(app)
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
def test_a_search_finds_by_meaning_what_words_do_not_and_any_query_works() -> None:
    view = SHOW.put(DEFAULT, SEARCH)
    with offered_files() as files:
        app = opened(view)
    found = everything_said(app)
    assert "**5 of 5** nearest texts by the model share no content word" in said(
        app, "reading_search"
    )
    assert "no content word in common" in found
    assert "**By the model** (the mean of all tokens)" in found
    assert b"A bat can eat its own weight" in files["sentence-search.csv"]()
    unread = opened(QUERY.put(view, "\N{SLIGHTLY SMILING FACE}"))
    assert said(unread, "reading_search") == say("sentences.search.unreadable")
    assert not unread.tabs
    rude = opened(QUERY.put(CORPUS.put(view, "sentiment"), RUDE))
    assert "<img" not in everything_said(rude)
    assert say("sentences.search.none") in [i.value for i in opened(QUERY.put(view, " ")).info]


@pytest.mark.slow
def test_a_recipe_that_is_more_than_the_mean_is_the_default_and_the_mean_can_be_chosen(
    open_with: Open, tmp_path: Path
) -> None:
    with_recipe("bert", [Pooling(N_DIMS, "cls"), Normalize()], open_with, tmp_path)
    change_json(
        tmp_path / "models" / "bert" / "config_sentence_transformers.json",
        prompts={"query": "query: ", "passage": "passage: "},
    )
    view = replace(SHOW.put(CORPUS.put(DEFAULT, "sentiment"), SEARCH), model="folder:bert")
    settings = {"MODEL_FOLDERS": str(tmp_path / "models"), "DATA_DIR": str(tmp_path / "data")}
    with app_settings(ALLOW_DOWNLOADS="0", **settings):
        app = opened(view)
        found = everything_said(app)
        assert "**By the model** (the model's own recipe)" in found
        assert "before your query" in found
        assert "The bluer a word" not in found
        app = settled(field(app.selectbox, BY.key).set_value("mean").run())
        assert not app.exception
        found = everything_said(app)
        assert "**By the model** (the mean of all tokens)" in found
        assert "before your query" not in found
        assert "The bluer a word" in found


def test_a_stored_corpus_is_read_once_and_its_vectors_go_with_it() -> None:
    card = runtime.service().load(BUNDLED_ID)
    texts = ("A bat sleeps in the cave.", "The bill was paid.", "*An owl* hunts at night.")
    kept = store().create(Corpus("mine.csv", texts), indexing_of(card, [6], "exact"))
    view = CORPUS.put(SHOW.put(DEFAULT, SEARCH), kept.name)
    app = opened(view)
    assert "mine.csv" in [o for menu in app.selectbox for o in menu.options]
    assert "Best of 3 texts; the median" in everything_said(app)
    stored = store().open(kept.name).sentences().astype(float)
    expected = scaled(encode_texts(texts, card, runtime.service()).by_pooling["mean"])
    np.testing.assert_allclose(stored, expected, atol=1e-3)
    assert "Best of 3 texts; the median" in everything_said(opened(view))
    store().delete(kept.name)
    assert not list(Path(store().root).glob(f"{kept.name}.*.lance"))
    gone = settled(framed(view, PAGE))
    assert not gone.exception
    assert "no longer" in gone.error[0].value
