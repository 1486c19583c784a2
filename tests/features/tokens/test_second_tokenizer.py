"""A second tokenizer: fetched when it is asked for, and what goes wrong stays in its place."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.tokens.controls import TWO_TOKENIZERS
from contextlens.ui.models import runtime as app_runtime
from tests.support.hub_server import HubServer, Reply, Request, error, hub_server
from tests.support.pages import app_settings, press
from tests.support.tokens import (
    assert_whole,
    ids,
    said,
    showing,
    table,
)

SECONDS = 300
CASED = "google-bert/bert-base-cased"
TWO = {"section": TWO_TOKENIZERS}


@contextmanager
def hub_app(
    folder: Path, tmp_path: Path, *, faults: Any = None, **variables: str
) -> Iterator[HubServer]:
    """The app with a hub of its own that has one other model, fetched into an empty cache."""
    from huggingface_hub import constants

    with (
        hub_server({CASED: folder}, faults=faults) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        settings = {
            "HUB_ENDPOINT": server.endpoint,
            "DATA_DIR": str(tmp_path / "data"),
            "MODELS": f"{BUNDLED_ID},{CASED}",
            **variables,
        }
        with app_settings(**settings):
            app_runtime.service().load(BUNDLED_ID)
            yield server


def with_tokenizer(app: AppTest) -> AppTest:
    """The page after the button that gets the other tokenizer."""
    return press(app, "get_tokenizer")


def test_another_tokenizer_is_fetched_and_set_beside(
    tiny_root: Path, tiny_service: EncoderService, tmp_path: Path
) -> None:
    text = "The US told us of a python"
    with hub_app(tiny_root / "roberta", tmp_path) as server:
        app = showing(text, **TWO)
        assert_whole(app)
        assert "“US” and “us” get the same token IDs" in said(app, "reading_twins")
        app = with_tokenizer(app)
        assert_whole(app)
        theirs = tiny_service.tokenize("folder:roberta", [text])[0]
        assert ids(app, "token_strip_0") == ids(app)
        assert ids(app, "token_strip_1") == theirs.token_ids.tolist()
        sentence = "all-MiniLM-L6-v2 gives “US” and “us” the same token IDs"
        assert sentence in said(app, "reading_tokenizers")
        assert ids(showing("Another visitor", **TWO), "token_strip_1")
        assert "model.safetensors" not in {request.file for request in server.requests}


def test_a_tokenizer_on_its_way_can_be_cancelled_and_got_after_all(
    tiny_root: Path, tmp_path: Path
) -> None:
    gate = threading.Event()

    def wait(_request: Request, reply: Reply) -> Reply:
        assert gate.wait(SECONDS)
        return reply

    with hub_app(tiny_root / "roberta", tmp_path, faults=wait):
        app = showing("The US told us", **TWO)
        try:
            app = app.button(key="get_tokenizer").click().run()
            assert "Getting the tokenizer…" in [caption.value for caption in app.caption]
            app = app.button(key="get_tokenizer_cancel").click().run()
            assert app.button(key="get_tokenizer").label == "Get it after all"
            assert_whole(app)
        finally:
            gate.set()
        app = with_tokenizer(app)
        assert_whole(app)
        assert ids(app, "token_strip_1")


@pytest.mark.parametrize("problem", ["404", "401", "damaged", "no network"])
def test_a_failed_fetch_is_one_sentence_and_the_page_goes_on(
    tiny_root: Path, tmp_path: Path, problem: str
) -> None:
    folder = shutil.copytree(tiny_root / "roberta", tmp_path / "other")
    if problem == "damaged":
        (folder / "tokenizer.json").write_text("{not json")
    replies = {"404": error(404, "RepoNotFound", "Repository not found"), "401": Reply(401)}
    faults = (lambda _request, _reply: replies[problem]) if problem in replies else None
    offline = {"HUB_ENDPOINT": "http://127.0.0.1:9"} if problem == "no network" else {}
    with hub_app(folder, tmp_path, faults=faults, **offline) as server:
        app = with_tokenizer(showing("The US told us", **TWO))
        assert not app.exception
        (message,) = (element.value.replace("\\", "") for element in app.error)
        assert CASED.split("/")[1] in message
        assert "reference" not in message
        assert problem != "damaged" or "cannot be read" in message
        assert app.button(key="get_tokenizer").label == "Try again"
        assert said(app, "reading_twins")
        assert table(app) is not None
        if problem in replies:
            server.faults = None
            app = with_tokenizer(app)
            assert_whole(app)
            assert ids(app, "token_strip_1")


def test_where_downloads_are_forbidden_the_page_says_so(tiny_root: Path, tmp_path: Path) -> None:
    with hub_app(tiny_root / "roberta", tmp_path, ALLOW_DOWNLOADS="0") as server:
        app = with_tokenizer(showing("The US told us", **TWO))
        assert not app.exception
        assert "forbids" in app.error[0].value
        assert not server.requests


def test_where_only_one_model_is_allowed_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with app_settings(MODELS=BUNDLED_ID, DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0"):
        app = showing("The US told us", **TWO)
        assert_whole(app)
        assert "Only one model is allowed here" in app.info[0].value
