"""Models that cannot be had and errors that nobody foresaw leave the page in use."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from components.core import BUNDLED_ID, EncoderService
from components.ui.state.view import DEFAULT
from tests.support.cosines import expected
from tests.support.fields import field
from tests.support.pages import (
    alone,
    app_settings,
    assert_shows,
    bundled_app,
    choose,
    everything_said,
    framed,
    given,
    layer_of,
    lines,
    shown_view,
    type_in,
)

# Models


@pytest.mark.parametrize(
    "model",
    [
        "<b>not a model!</b>",
        "folder:../..",
        "google-bert/bert-base-uncased",
    ],
)
def test_a_model_that_cannot_be_had_is_one_sentence_and_the_page_stays(model: str) -> None:
    app = framed(replace(DEFAULT, model=model))
    assert not app.exception
    assert len(app.error) == 1
    assert "reference" not in app.error[0].value
    assert len(app.error[0].value) > 40
    assert field(app.text_input, "page_sentences_0").value == DEFAULT.sentences[0].text
    assert app.title[0].value == "Meaning in context"
    app = type_in(app, "my own python")
    app = field(app.selectbox, "model").set_value(BUNDLED_ID).run()
    assert not app.exception
    assert not app.error
    assert shown_view(app).sentences[0].text == "my own python"
    assert len(lines(app)) == 5


def test_a_model_that_is_not_allowed_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    with bundled_app(tmp_path_factory, MODELS=BUNDLED_ID):
        app = framed(replace(DEFAULT, model="google-bert/bert-base-uncased"))
        assert not app.exception
        assert len(app.error) == 1
        assert "not among those allowed here" in app.error[0].value
        app = field(app.selectbox, "model").set_value(BUNDLED_ID).run()
        assert not app.error
        assert len(lines(app)) == 5


@pytest.mark.slow
def test_a_model_of_another_size_gets_its_own_layers(
    tiny_root: Path, tiny_service: EncoderService, tmp_path: Path
) -> None:
    with app_settings(DATA_DIR=str(tmp_path), MODEL_FOLDERS=str(tiny_root)):
        app = framed(replace(DEFAULT, layer=5))
        app = choose(app, "folder:roberta")
        view = replace(DEFAULT, model="folder:roberta")
        assert shown_view(app) == view
        assert (layer_of(app), given(app, "layer")["layers"]) == (3, [0, 1, 2, 3])
        assert_shows(app, expected(tiny_service, view))
        assert "pieces, case-sensitive" in everything_said(app)
        app = field(app.selectbox, "model").set_value(BUNDLED_ID).run()
        assert layer_of(app) == 6


# Errors that nobody foresaw


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr("components.ui.widgets.comparison.drawing.cosine_lines", fail)
    return monkeypatch


@pytest.mark.slow
def test_an_unexpected_error_shows_a_reference_that_the_log_has(
    broken: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    app = type_in(framed(), "my own python")
    assert not app.exception
    assert len(app.error) == 1
    reference = re.search(r"reference ([0-9a-f]{8})", app.error[0].value)
    assert reference is not None
    entry = next(r for r in caplog.records if reference[1] in r.getMessage())
    assert entry.levelno == logging.ERROR
    assert entry.exc_info is not None
    assert "a secret detail" in str(entry.exc_info[1])
    said = everything_said(app)
    assert "secret" not in said
    assert "Traceback" not in said
    assert field(app.sidebar.text_input, "side_sentences_0").value == "my own python"
    broken.undo()
    app = app.run()
    assert not app.error
    assert len(lines(app)) == 5


def test_an_unexpected_error_of_a_page_by_itself_shows_no_details(
    broken: pytest.MonkeyPatch,
) -> None:
    app = alone()
    assert len(app.exception) == 1
    assert "secret" not in str(app.exception[0].message)
    assert not list(app.exception[0].stack_trace)
