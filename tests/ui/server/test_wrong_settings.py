"""Wrong settings are told to whoever runs the server; visitors see that it is not set up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from contextlens.content.wording import escape
from contextlens.core.errors import SettingsError
from contextlens.ui.corpora import exports
from contextlens.ui.files import uploads
from contextlens.ui.page.navigation import PAGES
from contextlens.ui.server import health, startup
from tests.support.pages import ROOT, app_settings
from tests.ui.server.written_log import written

SENTENCE = "Contextlens is not set up yet: whoever runs this server finds the reason in its log."
WRONG = {
    "SERVICE_URL": "http://app:hush@models",
    "HUB_ENDPOINT": "https://app:hush@hub.example",
    "CORPORA_URI": "s3://app:hush@bucket/corpora",
    "OIDC_METADATA_URL": "https://app:hush@id.example/.well-known/openid-configuration",
    "METRICS_TOKEN": "hush hush",
}


@pytest.fixture
def wrong(request: pytest.FixtureRequest) -> Iterator[None]:
    """A server whose settings hold a secret where none may be."""
    with suppress(SettingsError), app_settings(ALLOW_DOWNLOADS="0", **request.param):
        yield


class KnownPages(PagesManager):
    """The pages of a server on which `st.navigation` ran before, as it does in `main.py`."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        PagesManager.uses_pages_directory = False


def opened(page: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "main.py"), default_timeout=60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streamlit.testing.v1.app_test.PagesManager", KnownPages)
        return app.switch_page(f"pages/{page}.py").run()


@pytest.mark.parametrize("wrong", [WRONG], indirect=True, ids=["all"])
@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_every_page_says_one_sentence_and_nothing_else(wrong: None, page: str) -> None:
    app = opened(page)
    assert [error.value for error in app.error] == [escape(SENTENCE)]
    assert len(app.main) == 1
    assert not app.exception
    assert "hush" not in str(app)


@pytest.mark.parametrize("wrong", [{n: v} for n, v in WRONG.items()], indirect=True, ids=[*WRONG])
def test_nobody_is_told_what_is_wrong_but_the_log(wrong: None) -> None:
    app = opened("map")
    assert [error.value for error in app.error] == [escape(SENTENCE)]
    assert "hush" not in str(app)

    routes = [*exports.routes(), *health.routes()]
    middleware = [*health.middleware(), *uploads.middleware()]
    client = TestClient(Starlette(routes=routes, middleware=middleware), client=("127.0.0.1", 1))
    upload = client.put("/_stcore/upload_file/visit/file", files={"file": b"text"})
    answers = [client.get(path) for path in ("/export/x.parquet", "/readyz", "/metrics")]
    assert SENTENCE in answers[0].text
    assert [answer.status_code for answer in answers] == [403, 503, 200]
    assert not any("hush" in answer.text for answer in (upload, *answers))

    with written(start) as out:
        pass
    assert out.getvalue().count(" cannot be what it is set to") == 1
    assert "hush" not in out.getvalue()


def start() -> None:
    """Begin and end as a server does."""

    async def run() -> None:
        async with startup.lifespan(st.App("main.py")):
            pass

    asyncio.run(run())


def page_that_meets_one() -> None:
    from contextlens.core.errors import SettingsError
    from contextlens.ui.page import errors

    assert errors.uncaught(SettingsError("The service takes another token."))


def test_what_is_found_to_be_wrong_later_is_told_to_the_log_alone() -> None:
    with written("plain") as out:
        app = AppTest.from_function(page_that_meets_one).run()
    assert [error.value for error in app.error] == [escape(SENTENCE)]
    assert "another token" in out.getvalue()
    assert "another token" not in str(app)
