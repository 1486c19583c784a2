"""What a reader does in the model picker, and what then stands on the page and in the sidebar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from streamlit.testing.v1 import AppTest

from components.core import BUNDLED_ID
from components.ui.models import runtime
from tests.support.fields import field
from tests.support.hub_server import HubServer
from tests.support.pages import app_data, app_settings, lines, shown_view

__all__ = [
    "PRESET",
    "SECOND",
    "SECONDS",
    "TEXT",
    "TYPED",
    "WEIGHTS",
    "app_on",
    "assert_goes_on",
    "pending",
    "pick_model",
    "picked",
    "said",
    "weights_asked",
]

SECONDS = 300
PRESET = "distilbert/distilbert-base-uncased"  # ids that the picker offers; a tiny BERT behind them
SECOND = "google-bert/bert-base-cased"
TYPED = "org/tiny-bert"
WEIGHTS = "model.safetensors"
TEXT = "My python is a good pet"


@contextmanager
def app_on(tmp_path_factory: pytest.TempPathFactory, endpoint: str, **more: str) -> Iterator[None]:
    data = str(app_data(tmp_path_factory))
    with app_settings(DATA_DIR=data, HUB_ENDPOINT=endpoint, **more):
        runtime.baseline(runtime.service().load(BUNDLED_ID))
        yield


def picked(app: AppTest) -> str:
    return field(app.sidebar.selectbox, "model").value


def pick_model(app: AppTest, model: str) -> AppTest:
    """Chooses, and waits for nothing."""
    return field(app.selectbox, "model").set_value(model).run()


def assert_goes_on(app: AppTest, model: str = BUNDLED_ID, text: str = TEXT) -> None:
    """The page is whole, on this model and with what was typed."""
    assert not app.exception
    assert not app.main.error
    assert shown_view(app).model == model
    assert field(app.text_input, "page_sentences_0").value == text
    assert len(lines(app)) == 5


def weights_asked(server: HubServer) -> int:
    return sum((r.method, r.file) == ("GET", WEIGHTS) for r in server.requests)


def pending(app: AppTest) -> bool:
    return any(button.key == "wish_cancel" for button in app.sidebar.button)


def said(app: AppTest) -> str:
    (error_,) = app.sidebar.error
    return error_.value.replace("\\", "").replace("\u2060", "")
