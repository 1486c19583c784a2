"""An app whose service has never answered: each page says so in its frame, and goes on later."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.core import EncoderService
from contextlens.serving.api import create_app
from contextlens.ui.state.view import DEFAULT
from tests.support.fields import field
from tests.support.pages import app_settings, finish_background_work, framed, press
from tests.support.ports import free_port
from tests.support.remote_server import serving

ROOT = Path(__file__).parents[3]
AWAY = "does not answer"
WAIT = "The models can be chosen once the service answers."


def beside(app: AppTest) -> list[str]:
    """The captions in the sidebar."""
    return [caption.value for caption in app.sidebar.caption]


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """The port of the app's service; nothing listens there."""
    port = free_port()
    with app_settings(
        DATA_DIR=str(tmp_path), ALLOW_DOWNLOADS="0", SERVICE_URL=f"http://127.0.0.1:{port}"
    ):
        yield port


@pytest.mark.parametrize("page", [page.stem for page in sorted(ROOT.glob("pages/*.py"))])
def test_each_page_says_it_in_its_frame(port: int, page: str) -> None:
    del port
    app = framed(page=page)
    assert len(app.title) == 1
    assert app.sidebar.get("page_link")
    said = [message.value for message in (*app.error, *app.warning)]
    assert said
    assert all(AWAY in sentence for sentence in said)
    assert WAIT in beside(app)


@pytest.mark.slow
def test_it_goes_on_once_the_service_is_there(port: int, service: EncoderService) -> None:
    app = framed(page="meaning")
    end = time.monotonic() + 60
    with serving(create_app(service), port=port):
        while app.error or WAIT in beside(app):  # it is not asked at once again
            assert time.monotonic() < end
            app = press(app, "try_again") if app.error else app.run()
        assert not app.warning
        assert field(app.selectbox, "model").value == DEFAULT.model
        finish_background_work()  # it asks the service too
