"""The probe's page, headless: first sight, columns, untestable labels, and its own snippet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from components.content.language import say
from components.features.probe.controls import LABEL, PAGE, SOURCE
from components.ui.state.view import DEFAULT, ViewState
from tests.support.pages import bundled_app, chart, framed, said, settled


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def opened(view: ViewState = DEFAULT) -> AppTest:
    return settled(framed(view, PAGE))


def test_first_sight_shows_every_layer_beside_simpler_ways() -> None:
    app = opened()
    drawn = {trace["name"].rsplit(" ", 1)[0]: trace for trace in chart(app, "probe_chart")["data"]}
    assert {"counting words", "word vectors", "guessing"} <= set(drawn)
    assert len(chart(app, "probe_chart")["data"][0]["y"]) == 7
    reading = said(app)
    assert (
        "Layer 4 (mean of all tokens) tells the 6 labels of “kind” apart best: **66%**" in reading
    )
    assert "(counting words: 45%, always guessing “plain”: 42%)" in reading


def test_another_column_and_corpus_can_be_chosen() -> None:
    app = opened(LABEL.put(DEFAULT, "sentiment"))
    assert "“negative” and “positive”" in said(app)
    choose = opened(SOURCE.put(DEFAULT, "kept"))
    assert any(say("probe.choose") == element.value for element in choose.markdown)
    assert not choose.exception
