"""Fill in the blank, headless: the page with tiny models, and without a head."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.core import BUNDLED_ID
from contextlens.features.blank.controls import (
    AT,
    CANDIDATES,
    CUT,
    HIDDEN,
    PAGE,
    PIECES,
    READ,
    REPLACE,
    WORD,
)
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.fields import field
from tests.support.pages import (
    app_settings,
    assert_only_own_markup,
    bundled_app,
    everything_said,
    frame,
    framed,
    given,
    offered_files,
    pick,
    plainly_said,
    said,
    send_pick,
    shown_view,
    to_layer,
)
from tests.support.texts import LONG

RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y} [MASK]'


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory, masked_root: Path) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MODEL_FOLDERS=str(masked_root)):
        yield


def view_of(*sentences: Sentence, model: str = "folder:bert", **more: Any) -> ViewState:
    return replace(DEFAULT, model=model, sentences=sentences or DEFAULT.sentences, **more)


def opened(view: ViewState) -> AppTest:
    app = framed(view, page=PAGE)
    assert not app.exception, app.exception
    assert not app.error, [error.value for error in app.error]
    return app


def sentences(app: AppTest) -> list[dict[str, Any]]:
    return given(app, "blanks")["sentences"]


def hidden(app: AppTest) -> list[list[str]]:
    """The hidden words of each sentence."""
    return [
        [part["text"] for part in sentence["segments"] if part["hidden"]]
        for sentence in sentences(app)
    ]


def click(app: AppTest, sentence: int, word: int) -> AppTest:
    return send_pick(app, "blanks", sentence=sentence, word=word)


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_the_page_opens_on_the_chosen_words(family: str) -> None:
    app = opened(view_of(model=f"folder:{family}"))
    assert hidden(app) == [["python"], ["python"]]
    assert said(app).startswith("Here the model expects **“")
    for sentence in sentences(app):
        (block,) = sentence["blocks"]
        assert [bar["rank"] for bar in block["bars"][:10]] == [str(n) for n in range(1, 11)]
    table = frame(app, "probability")
    assert set(table["sentence"]) == {"A", "B"}


def test_clicks_hide_words_and_show_them_and_the_address_keeps_it() -> None:
    app = opened(view_of())
    app = click(app, 0, 1)
    assert hidden(app) == [["love", "python"], ["python"]]
    assert "blank 2 of A" in said(app)
    again = opened(shown_view(app))
    assert hidden(again) == hidden(app)
    app = click(app, 0, 4)
    assert hidden(app)[0] == ["love"]
    app = click(app, 0, 1)
    assert hidden(app)[0] == []
    assert sentences(app)[0]["blocks"] == []
    app = pick(app, "pet")  # another chosen word is hidden in turn
    assert hidden(app)[0] == ["pet"]
    for word in (0, 1, 2, 4):
        app = click(app, 0, word)
    assert len(hidden(app)[0]) == 5
    before = hidden(app)
    app = click(app, 0, 99)
    assert hidden(app) == before


def test_the_three_ways_of_reading() -> None:
    view = view_of()
    assert said(opened(READ.put(view, "written"))).startswith("With the word in sight, the model")
    app = opened(READ.put(view, REPLACE))
    assert said(app).startswith("Here the model expects")
    assert say("blank.note.type") in everything_said(app)
    app = field(app.text_input, WORD.key).set_value("bank").run()
    assert said(app).startswith("With “bank” in its place, the model answers")
    bars = sentences(app)[0]["blocks"][0]["bars"]
    assert {bar["kind"] for bar in bars} >= {"written", "read"}


def test_own_words_have_bars_and_odds() -> None:
    app = opened(view_of())
    app = field(app.text_input, CANDIDATES.key).set_value("he, she, unbelievable").run()
    block = sentences(app)[1]["blocks"][0]
    assert [bar["text"] for bar in block["candidates"]] == ["he", "she"]
    assert " times as probable as " in said(app, "reading_odds").replace("*", "")
    assert "“unbelievable” is not one token here" in plainly_said(app)


def test_the_layer_bar_changes_layer_and_words() -> None:
    app = to_layer(opened(view_of()), 1)
    assert said(app).startswith("Read from layer 1")
    assert say("blank.caution") in said(app, "reading_odds")
    assert shown_view(app).layer == 1


def test_the_closer_look_follows_one_blank() -> None:
    app = opened(AT.among(["1", "2"]).put(view_of(), "2"))
    assert said(app, "reading_layers").startswith("In B, the final answer")
    assert list(frame(app, "layer")["layer"]) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "own",
    [
        (Sentence(""),),
        (Sentence("one"),),
        (Sentence(LONG),),
        (Sentence("مرحبا بالعالم"), Sentence("שלום עולם")),
        (Sentence(RUDE),),
        tuple(Sentence(f"sentence number {i} [MASK] [MASK]") for i in range(8)),
        (Sentence("one text", "and another [MASK]", (0, 3)),),
    ],
)
@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_any_sentences_open(own: tuple[Sentence, ...], family: str) -> None:
    app = opened(CUT.put(view_of(*own, model=f"folder:{family}"), PIECES))
    assert len(sentences(app)) == len(own)
    assert_only_own_markup(app)


def test_an_address_with_nonsense_opens_on_the_chosen_words() -> None:
    assert hidden(opened(HIDDEN.put(view_of(), "0:~ 9:1 0:1~ffff xx"))) == [["python"], ["python"]]


def test_files_hold_the_numbers_of_the_page() -> None:
    with offered_files() as files:
        app = opened(view_of())
    table = pd.read_csv(io.BytesIO(files["fill-in-the-blank.csv"]()), comment="#")
    shown = frame(app, "probability")
    np.testing.assert_allclose(table["probability"], shown["probability"])
    arrays = np.load(io.BytesIO(files["fill-in-the-blank.npz"]()))
    assert {"A_best_ids", "B_best_log_probabilities", "line_ranks"} <= set(arrays)


# Without a head


def test_a_model_without_a_head_is_told_and_nothing_is_made_up() -> None:
    app = opened(view_of(model=BUNDLED_ID))
    assert said(app).startswith("all-MiniLM-L6-v2 cannot fill in a blank")
    assert not app.get("plotly_chart")
    assert not app.dataframe
    assert "CONTEXTLENS_ALLOW_DOWNLOADS=1" in plainly_said(app)
    shown = [element.value for element in app.main.markdown]
    assert "**A** I love my pet ――――  \n**B** I love coding in ――――" in shown
    assert said(opened(view_of(model="folder:no-head"))).startswith("no-head cannot fill in")


def test_models_with_a_head_are_offered_with_their_sizes(tmp_path: Path) -> None:
    with app_settings(DATA_DIR=str(tmp_path)):
        app = opened(DEFAULT)
        labels = [button.label.replace("\\", "") for button in app.button]
        assert "Get distilbert-base-uncased (268 MB)" in labels
        assert "Get bert-base-uncased (441 MB)" in labels
        assert "bert-base-uncased also says whether B could follow A" in plainly_said(app)


def test_where_models_are_restricted_the_operator_is_named(tmp_path: Path) -> None:
    with app_settings(DATA_DIR=str(tmp_path), MODELS=BUNDLED_ID):
        app = opened(DEFAULT)
        assert not [button for button in app.button if button.label.startswith("Get ")]
        assert "to CONTEXTLENS_MODELS" in plainly_said(app)
