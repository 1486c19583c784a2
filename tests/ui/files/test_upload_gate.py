"""Uploads are counted where they arrive, and Streamlit's copy is freed once a page took it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.formparsers import MultiPartParser
from starlette.testclient import TestClient
from streamlit import runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_routes import create_upload_routes

from contextlens.ui.files import uploads
from contextlens.ui.files.chooser import UPLOADED
from tests.support.pages import app_settings

N_VISITS = 20


class Streamlit:
    """The part of Streamlit's runtime that uploads use: its routes and its store of files."""

    def __init__(self) -> None:
        self.uploaded_file_mgr = MemoryUploadedFileManager("/_stcore/upload_file")
        self.told: list[str] = []
        self.page = "a page"
        self._session_mgr = self

    def is_active_session(self, visit: str) -> bool:
        return visit.startswith("visit")

    def get_active_session_info(self, visit: str) -> Any:
        session = SimpleNamespace(
            request_rerun=lambda _: self.told.append(visit),
            _client_state=None,
            page_script_hash=self.page,
            get_pages=lambda: {"a page": {}, "another": {}},
        )
        return SimpleNamespace(session=session) if self.is_active_session(visit) else None

    @property
    def n_bytes(self) -> int:
        held = self.uploaded_file_mgr.file_storage.values()
        return sum(len(file.data) for files in held for file in files.values())


@pytest.fixture
def streamlit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Streamlit]:
    """A server that takes files of 1 MB, and 8 MB of all of them."""
    own = Streamlit()
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: own)
    uploads.forget_all()
    with app_settings(ALLOW_DOWNLOADS="0", MAX_UPLOAD_MB="1", FILES_MB="8"):
        yield own
    uploads.forget_all()


@pytest.fixture
def put(streamlit: Streamlit) -> Callable[..., tuple[int, str]]:
    routes = create_upload_routes(streamlit, streamlit.uploaded_file_mgr, "")
    app = Starlette(routes=routes, middleware=uploads.middleware())

    def put(visit: str, file: int, n_bytes: int = 900_000, address: str = "a") -> tuple[int, str]:
        client = TestClient(app, client=(address, 1))
        client.cookies.set("_streamlit_xsrf", "token")
        answer = client.put(
            f"/_stcore/upload_file/{visit}/{file}", files={"file": ("a.csv", b"x" * n_bytes)}
        )
        return answer.status_code, answer.text

    return put


@pytest.fixture(autouse=True)
def _no_token() -> Iterator[None]:
    before = st.get_option("server.enableXsrfProtection")
    st.config.set_option("server.enableXsrfProtection", False)
    yield
    st.config.set_option("server.enableXsrfProtection", before)


def test_many_tabs_that_never_read_their_files_stay_within_one_bound(
    put: Callable[..., tuple[int, str]], streamlit: Streamlit
) -> None:
    answers = [put(f"visit {i}", n) for i in range(N_VISITS) for n in range(11)]
    assert streamlit.n_bytes <= 2_000_000  # a quarter of all, as all come from one address
    refused = {text for status, text in answers if status == 503}
    assert [status for status, _ in answers].count(204) == 2
    assert all(text.endswith("Try again in a minute.\n") for text in refused)
    assert put("visit of another", 0, address="b")[0] == 204
    pages = [uploads._store().is_arriving("visit of another", page) for page in ("a page", "home")]
    assert pages == [True, False]
    streamlit.page = "the main script"  # in a visit's first run
    assert put("visit of a third", 0, address="c")[0] == 204
    assert uploads._store().is_arriving("visit of a third", "home")
    answers = [put("visit", n, address=f"address {n}") for n in range(100)]
    assert streamlit.n_bytes <= 4_000_000  # half of all, wherever they come from


def test_the_page_of_a_visit_says_why_its_file_was_not_taken(
    put: Callable[..., tuple[int, str]], streamlit: Streamlit
) -> None:
    status, text = put("visit", 0, 3_000_000)
    assert status == 413
    assert text.startswith("The file is 3.0 MB; at most 1.0 MB are taken here.")
    assert streamlit.told == ["visit"]
    assert uploads._refusals == {"visit": text.strip()}
    assert put("stranger", 0, 3_000_000)[0] == 413
    assert streamlit.told == ["visit"]


def test_streamlit_itself_runs_a_page_again_in_this_way() -> None:
    """The double above uses two private names, which a new version may change."""
    assert "self.request_rerun(self._client_state)" in inspect.getsource(AppSession)
    assert "self._session_mgr.get_active_session_info(" in inspect.getsource(runtime.Runtime)
    assert isinstance(AppSession.page_script_hash, property)
    assert callable(AppSession.get_pages)


def test_a_stranger_s_file_takes_no_room(
    put: Callable[..., tuple[int, str]], streamlit: Streamlit
) -> None:
    for n in range(10):
        assert put("stranger", n)[0] == 400
    assert uploads._store().n_bytes == 0
    assert put("visit", 0)[0] == 204


def page() -> None:
    import streamlit as st

    from contextlens.ui.files.uploads import take_file

    def take() -> None:
        st.session_state.setdefault("taken", []).append(take_file("field"))

    st.file_uploader("File", key="field", on_change=take)


def test_streamlit_keeps_no_copy_of_a_file_that_was_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    managers = []
    build = MemoryUploadedFileManager.__init__

    def note(manager: MemoryUploadedFileManager, endpoint: str) -> None:
        build(manager, endpoint)
        managers.append(manager)

    monkeypatch.setattr(MemoryUploadedFileManager, "__init__", note)
    app = AppTest.from_function(page).run()
    app.file_uploader(key="field").set_value(("a.csv", b"text", "text/csv")).run()
    assert not app.exception
    assert app.session_state["taken"] == [("a.csv", b"text")]
    assert app.session_state["field"].getvalue() == b""
    assert not any(files for own in managers for files in own.file_storage.values())


def test_what_is_said_of_the_temporary_file_is_so() -> None:
    """Streamlit parses an upload as a form, and starlette spools files of a form beyond a size."""
    assert MultiPartParser.spool_max_size == 1024 * 1024
    assert "of over 1 MB passes through a temporary file" in UPLOADED
