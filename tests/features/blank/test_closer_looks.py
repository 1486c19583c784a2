"""The closer looks "Surprising words" and "Next sentence" as the page draws them, headless."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.features.blank.controls import NEXT_SENTENCE, PAGE, SECTION, SURPRISE
from contextlens.ui.state.view import ViewState
from tests.support.pages import (
    assert_only_own_markup,
    bundled_app,
    chart,
    frame,
    framed,
    offered_files,
    plainly_said,
    said,
    settled,
)
from tests.support.texts import LONG

ViewOf = Callable[..., ViewState]
RUDE = '<img src=x onerror=alert(1)> **bold** $x$ :material/home: "q" {y} [MASK]'
TWO = ("A python slept under the lamp.", "Its owner wrote a program.")


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory, masked_root: Path) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MODEL_FOLDERS=str(masked_root)):
        yield


def opened(view: ViewState, look: str) -> AppTest:
    app = settled(framed(SECTION.put(view, look), page=PAGE))
    assert not app.error, [error.value for error in app.error]
    return app


def test_surprising_words_are_drawn_and_downloaded(view_of: ViewOf) -> None:
    with offered_files() as files:
        app = opened(view_of(*TWO), SURPRISE)
    assert " bits a word" in said(app, "reading_blank_surprise")
    *lines, _ = chart(app, "blank_surprise")["data"]
    values = [value for line in lines for value in line["z"][0]]
    table = frame(app, "surprise")
    np.testing.assert_allclose(sum(values), table["surprise"].sum(), atol=0.01)
    arrays = np.load(io.BytesIO(files["fill-in-the-blank.npz"]()))
    np.testing.assert_allclose(arrays["word_surprise_A"].sum(), arrays["surprise_A"].sum())


def test_the_next_sentence_is_judged_in_both_orders(view_of: ViewOf) -> None:
    app = opened(view_of(*TWO), NEXT_SENTENCE)
    assert "The other way round, A after B" in said(app, "reading_blank_next")
    (bars,) = chart(app, "blank_next")["data"]
    np.testing.assert_allclose(bars["x"][:2], frame(app, "order")["probability"], atol=1e-4)


def test_what_cannot_be_judged_is_told(view_of: ViewOf) -> None:
    refused = opened(view_of(*TWO, family="roberta"), NEXT_SENTENCE)
    assert "This needs a model with a trained head" in plainly_said(refused)
    assert "Add a second sentence" in plainly_said(opened(view_of(TWO[0]), NEXT_SENTENCE))
    assert "Sentence A is empty" in plainly_said(opened(view_of("", ""), SURPRISE))


@pytest.mark.parametrize("look", [SURPRISE, NEXT_SENTENCE])
@pytest.mark.parametrize(
    "texts",
    [("",), ("one",), (LONG, RUDE), ("مرحبا بالعالم", "שלום עולם"), tuple("abcdefgh")],
)
def test_any_sentences_open(look: str, texts: tuple[str, ...], view_of: ViewOf) -> None:
    assert_only_own_markup(opened(view_of(*texts), look))
