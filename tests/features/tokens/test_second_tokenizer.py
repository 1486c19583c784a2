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

from components.core import BUNDLED_ID, EncoderService
from components.features.tokens.controls import SECTION, TWO_TOKENIZERS, VOCABULARY
from components.ui.models import runtime as app_runtime
from components.ui.models.background import jobs
from tests.support.fields import field
from tests.support.hub_server import HubServer, Reply, Request, error, hub_server
from tests.support.pages import app_settings, press
from tests.support.tokens import (
    assert_whole,
    ids,
    pieces,
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


def asked(app: AppTest) -> AppTest:
    """After the button that gets the other tokenizer."""
    return press(app, "get_tokenizer")


@pytest.mark.slow
def test_another_tokenizer_is_fetched_and_set_beside(
    tiny_root: Path, tiny_service: EncoderService, tmp_path: Path
) -> None:
    text = "The US told us of a python"
    with hub_app(tiny_root / "roberta", tmp_path) as server:
        app = showing(text, **TWO)
        assert_whole(app)
        assert "“US” and “us” get the same token IDs" in said(app, "reading_twins")
        app = asked(app)
        assert_whole(app)
        theirs = tiny_service.tokenize("folder:roberta", [text])[0]
        assert ids(app, "token_strip_0") == ids(app)
        assert ids(app, "token_strip_1") == theirs.token_ids.tolist()
        reading = said(app, "reading_tokenizers")
        assert "all-MiniLM-L6-v2 cuts this text into 7 tokens, " in reading
        assert "all-MiniLM-L6-v2 gives “US” and “us” the same token IDs" in reading
        other = showing("Another visitor", **TWO)
        assert_whole(other)
        assert ids(other, "token_strip_1")
        assert "model.safetensors" not in {request.file for request in server.requests}


@pytest.mark.slow
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
        app = asked(app)
        assert_whole(app)
        assert ids(app, "token_strip_1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (lambda _request, _reply: error(404, "RepoNotFound", "Repository not found"), "hub has no"),
        (lambda _request, _reply: error(500), "."),
        (lambda _request, _reply: Reply(401), "."),
    ],
    ids=["404", "500", "401"],
)
def test_a_failed_fetch_is_one_sentence_and_try_again_works(
    tiny_root: Path, tmp_path: Path, fault: Any, words: str
) -> None:
    with hub_app(tiny_root / "roberta", tmp_path, faults=fault) as server:
        app = asked(showing("The US told us", **TWO))
        assert not app.exception
        assert len(app.error) == 1
        assert CASED in app.error[0].value.replace("\\", "")
        assert "reference" not in app.error[0].value
        assert app.button(key="get_tokenizer").label == "Try again"
        assert pieces(app)
        assert said(app, "reading_twins")
        assert table(app) is not None
        server.faults = None
        app = asked(app)
        assert_whole(app)
        assert ids(app, "token_strip_1")


@pytest.mark.slow
def test_a_damaged_tokenizer_is_one_sentence_and_the_page_goes_on(
    tiny_root: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_root / "roberta", tmp_path / "damaged")
    (tmp_path / "damaged" / "tokenizer.json").write_text("{not json")
    with hub_app(tmp_path / "damaged", tmp_path):
        app = asked(showing("The US told us", **TWO))
        assert not app.exception
        assert "cannot be read" in app.error[0].value
        assert app.button(key="get_tokenizer").label == "Try again"
        assert said(app, "reading_twins")


@pytest.mark.slow
def test_without_a_network_the_page_says_so_and_goes_on(tiny_root: Path, tmp_path: Path) -> None:
    with hub_app(tiny_root / "roberta", tmp_path, HUB_ENDPOINT="http://127.0.0.1:9"):
        app = asked(showing("The US told us", **TWO))
        assert not app.exception
        assert len(app.error) == 1
        assert app.button(key="get_tokenizer").label == "Try again"
        app = field(app.button_group, SECTION.key).set_value(VOCABULARY).run()
        assert_whole(app)


@pytest.mark.slow
def test_where_downloads_are_forbidden_the_page_says_so(tiny_root: Path, tmp_path: Path) -> None:
    with hub_app(tiny_root / "roberta", tmp_path, ALLOW_DOWNLOADS="0") as server:
        app = asked(showing("The US told us", **TWO))
        assert not app.exception
        assert "forbids" in app.error[0].value
        assert not server.requests
        app = asked(app)
        assert len(app.error) == 1


@pytest.mark.slow
def test_where_only_one_model_is_allowed_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with app_settings(MODELS=BUNDLED_ID, DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0"):
        app = showing("The US told us", **TWO)
        assert_whole(app)
        assert "Only one model is allowed here" in app.info[0].value


@pytest.mark.slow
def test_a_failed_fetch_does_not_outlive_its_server(tiny_root: Path, tmp_path: Path) -> None:
    with hub_app(tiny_root / "roberta", tmp_path, ALLOW_DOWNLOADS="0"):
        asked(showing("a", **TWO))
        job = jobs().get(("tokenizer", CASED))
        assert job is not None
        assert job.state == "failed"
    with hub_app(tiny_root / "roberta", tmp_path):
        app = showing("a", **TWO)
        assert_whole(app)
        assert app.button(key="get_tokenizer").label.startswith("Get the tokenizer")
