"""One visit's uploads are counted where they arrive, whatever the page shows."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.formparsers import MultiPartParser
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from components.ui.files.chooser import UPLOADED
from components.ui.frame.upload_wall import UploadWall

PLACE = "/_stcore/upload_file/{}/a-file"


async def _upload(request: Request) -> PlainTextResponse:
    try:
        return PlainTextResponse(str(len(await request.body())))
    except ClientDisconnect:
        return PlainTextResponse("cut off", status_code=499)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A server that takes files of 1 MB, so 11 MB of a visit, and knows the visits one and two."""
    monkeypatch.setenv("CONTEXTLENS_MAX_UPLOAD_MB", "1")
    place = PLACE.replace("{}", "{visit}")
    routes = [Route(f"{base}{place}", _upload, methods=["PUT"]) for base in ("", "/base")]
    wall = Middleware(UploadWall, is_visit={"one", "two"}.__contains__)
    return TestClient(Starlette(routes=[*routes], middleware=[wall]))


def put(client: TestClient, visit: str, n_bytes: int, base: str = "") -> tuple[int, str]:
    answer = client.put(base + PLACE.format(visit), content=b"x" * n_bytes)
    return answer.status_code, answer.text


def test_a_visit_may_send_so_many_bytes_and_another_one_is_not_kept_from_it(
    client: TestClient,
) -> None:
    for base in ("", "/base") * 5:
        assert put(client, "one", 1_000_000, base) == (200, "1000000")
    assert put(client, "one", 1_500_000) == (499, "cut off")
    status, said = put(client, "one", 1)
    assert status == 413
    assert "has sent 11 files, 11.5 MB in all; at most 200 files and 11 MB are taken." in said
    assert put(client, "two", 1_000_000) == (200, "1000000")


@pytest.mark.slow
def test_a_visit_may_send_so_many_files(client: TestClient) -> None:
    for _ in range(200):
        assert put(client, "one", 0)[0] == 200
    status, said = put(client, "one", 0)
    assert status == 413
    assert said.endswith("Reload the page.\n")


@pytest.mark.slow
def test_strangers_are_left_to_streamlit_and_forget_no_visit(client: TestClient) -> None:
    put(client, "one", 11_000_000)
    for i in range(300):
        assert put(client, f"stranger {i}", 1)[0] == 200
    assert put(client, "one", 1)[0] == 413


def test_what_is_said_of_the_temporary_file_is_so() -> None:
    """Streamlit parses an upload as a form, and starlette spools files of a form beyond a size."""
    assert MultiPartParser.spool_max_size == 1024 * 1024
    assert "of over 1 MB passes through a temporary file" in UPLOADED
