"""Foreign names and foreign pages are turned away in a sentence, and nobody outside is asked."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket
from streamlit import net_util
from streamlit.web.server.starlette.starlette_websocket import _is_origin_allowed
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from contextlens.ui.server import hosts
from tests.support.app_server import ROOT, START_SECONDS, AppServer, launch

STREAM = "/_stcore/stream"


async def _page(request: Request) -> PlainTextResponse:
    return PlainTextResponse("here")


async def _stream(socket: WebSocket) -> None:
    """Like Streamlit's own: it checks the two headers, then greets."""
    headers = socket.headers
    assert _is_origin_allowed(headers.get("origin"), headers["host"])
    await socket.accept()
    await socket.send_text(headers["host"])
    await socket.close()


def _fail() -> str:
    raise AssertionError("someone outside was asked")


@pytest.fixture(autouse=True)
def nobody_outside_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net_util, "get_external_ip", _fail)
    monkeypatch.setattr(net_util, "get_internal_ip", _fail)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A client of a server on localhost that a proxy shows as lens.example.org."""
    monkeypatch.setenv("CONTEXTLENS_HOSTS", "lens.example.org, 203.0.113.9")
    routes = [Route("/", _page, methods=["GET", "PUT"]), WebSocketRoute(STREAM, _stream)]
    app = Starlette(routes=routes, middleware=hosts.middleware())
    return TestClient(app, base_url="http://localhost:8501")


HONEST = ("localhost:8501", "127.0.0.1:8600", "[::1]:8501", "LOCALHOST", "localhost.:8501")
FOREIGN = (
    "evil.example",
    "localhost.evil.example",
    "evil.example:8501",
    "192.0.2.7:8501",
    "localhost@evil.example",
    "evil.example@localhost",
    "localhost/evil.example",
    "localhost:port",
    "[::1",
    "",
)


@pytest.mark.parametrize("host", [*HONEST, "lens.example.org", "lens.example.org:443"])
def test_a_name_of_its_own_is_answered(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"Host": host}).text == "here"


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_is_refused_in_a_sentence(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"Host": host})
    assert answer.status_code == 403
    assert "CONTEXTLENS_HOSTS" in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    with pytest.raises(WebSocketDenialResponse) as refused:
        client.websocket_connect(STREAM, headers={"Host": host}).__enter__()
    assert refused.value.status_code == 403


def test_what_a_sentence_repeats_of_a_name_is_short_and_plain(client: TestClient) -> None:
    answer = client.get("/", headers={"Host": b"\xe9<b>" * 2000})
    assert answer.status_code == 403
    assert len(answer.text) < 400
    assert answer.text.isascii()


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8501", "http://localhost:8501"),
        ("[::1]:8501", "http://[::1]:8501"),
        ("lens.example.org", "https://lens.example.org"),
        ("lens.example.org:443", "https://lens.example.org"),
        ("localhost:8501", "https://lens.example.org"),  # the proxy keeps the host to itself
        ("localhost:8501", None),  # not a browser
    ],
)
def test_its_own_pages_may_speak_to_it_and_nobody_outside_is_asked(
    client: TestClient, host: str, origin: str | None
) -> None:
    headers = {"Host": host, **({"Origin": origin} if origin else {})}
    with client.websocket_connect(STREAM, headers=headers) as socket:
        assert socket.receive_text() == (origin.split("//")[1] if origin else host)
    assert client.put("/", headers=headers).text == "here"


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://localhost:9999",
        "http://localhost.evil.example:8501",
        "http://evil.example@localhost:8501",
        "null",
        "file://",
        "chrome-extension://localhost:8501",
        "http://[::1",
    ],
)
def test_a_foreign_origin_is_refused_in_a_sentence_and_nobody_outside_is_asked(
    client: TestClient, origin: str
) -> None:
    headers = {"Host": "localhost:8501", "Origin": origin}
    with pytest.raises(WebSocketDenialResponse) as refused:
        client.websocket_connect(STREAM, headers=headers).__enter__()
    assert refused.value.status_code == 403
    assert "may not use Contextlens" in refused.value.text
    assert client.put("/", headers=headers).status_code == 403
    assert client.get("/", headers=headers).text == "here"  # a link on that page


def test_answers_say_who_may_frame_them_and_where_their_address_goes(client: TestClient) -> None:
    answer = client.get("/")
    for name, value in hosts.HEADERS.items():
        assert answer.headers[name] == value


def test_an_address_of_this_machine_is_the_one_that_the_connection_came_in_by() -> None:
    app = Starlette(routes=[Route("/", _page)], middleware=hosts.middleware())
    for address in ("192.0.2.7", "[2001:db8::7]"):
        client = TestClient(app, base_url=f"http://{address}:8501")
        assert client.get("/").text == "here"
        assert client.get("/", headers={"Host": "192.0.2.8"}).status_code == 403
    named = TestClient(app, base_url="http://evil.example")
    assert named.get("/").status_code == 403


@pytest.mark.parametrize("address", [None, "0.0.0.0", "::"])
def test_a_server_for_others_answers_to_this_machine_s_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str | None
) -> None:
    resolver = tmp_path / "resolv.conf"
    resolver.write_text("nameserver 192.0.2.1\nsearch home.arpa school.example\n", "utf-8")
    monkeypatch.setattr(hosts, "_RESOLVER", resolver)
    monkeypatch.setattr("socket.gethostname", lambda: "Desk.lan")
    assert {"desk.lan", "desk", "desk.local", "desk.home.arpa", "desk.school.example"} <= (
        hosts.names(address)
    )
    assert hosts.names("localhost") == {"localhost", "127.0.0.1", "::1"}
    assert hosts.names("pc.lan", ["Lens.example."]) >= {"pc.lan", "lens.example"}


# --- the real server --------------------------------------------------------------------------

WATCH = """
import os, socket
def watched(real, where):
    def call(*given, **named):
        target = given[where]
        name = target[0] if isinstance(target, tuple) else target
        if name not in ("localhost", "127.0.0.1", "::1", None, b"localhost"):
            with open(os.environ["WATCHED"], "a") as log:
                print(name, file=log)
        return real(*given, **named)
    return call
socket.getaddrinfo = watched(socket.getaddrinfo, 0)
class Socket(socket.socket):
    connect = watched(socket.socket.connect, 1)
socket.socket = Socket
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AppServer, Path]]:
    """The real app, and a file that names whoever it asks outside this machine."""
    folder = tmp_path_factory.mktemp("watched")
    (folder / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
    log = folder / "asked.txt"
    env = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "WATCHED": str(log),
        "CONTEXTLENS_DATA_DIR": str(folder / "data"),
        "CONTEXTLENS_ALLOW_DOWNLOADS": "0",
        "CONTEXTLENS_LOG": "json",
    }
    server = launch(ROOT / "app.py", folder / "log.txt", env)
    server.wait()
    yield server, log
    server.stop()


def test_the_real_server_refuses_both_and_asks_nobody(watched: tuple[AppServer, Path]) -> None:
    server, log = watched
    own = server.address.removeprefix("http://")
    stream = f"ws://{own}{STREAM}"
    with connect(stream, origin=f"http://{own}", subprotocols=["streamlit"]) as socket:
        assert socket.subprotocol == "streamlit"
    with pytest.raises(InvalidStatus) as refused:
        connect(stream, origin="http://evil.example", subprotocols=["streamlit"])
    assert not log.exists(), log.read_text(encoding="utf-8")
    assert refused.value.response.status_code == 403
    assert b"may not use Contextlens" in refused.value.response.body
    for path in ("/", "/tokens", "/_stcore/health", "/_stcore/host-config", "/nowhere"):
        with pytest.raises(urllib.error.HTTPError) as answer:
            _get(server, path, "evil.example")
        assert answer.value.code == 403
        assert b"evil.example" in answer.value.read()
    assert not log.exists(), log.read_text(encoding="utf-8")


def test_every_document_of_the_real_server_may_be_framed_by_itself_only(
    watched: tuple[AppServer, Path],
) -> None:
    for path in ("/", "/tokens", "/index.html", "/nowhere"):  # the last two are Streamlit's own
        answer = _get(watched[0], path)
        assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
    assert b'"allowedOrigins":[]' in _get(watched[0], "/_stcore/host-config").read()


def test_the_real_server_says_how_it_is(watched: tuple[AppServer, Path]) -> None:
    server, _ = watched
    assert _get(server, "/healthz").read() == b"ok\n"
    assert _ready(server)["checks"] == {"model": "ok", "data_folder": "ok", "jobs": "ok"}
    text = _get(server, "/metrics").read().decode()
    for name in ("model_bytes{model=", 'jobs_ended_total{kind="models to load"', "sessions 0.0"):
        assert f"contextlens_{name}" in text
    assert b"session_events" in _get(server, "/_stcore/metrics").read()
    for path in ("/metrics", "/_stcore/metrics"):
        with pytest.raises(urllib.error.HTTPError) as answer:
            _get(server, path, **{"X-Forwarded-For": "203.0.113.7"})
        assert answer.value.code == 403
        answer.value.close()
    first = json.loads(server.log.read_text(encoding="utf-8").splitlines()[0])
    assert first["message"] == "Contextlens begins"


def _ready(server: AppServer) -> Any:
    """The server's answer once it is ready."""
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            return json.load(_get(server, "/readyz"))
        except urllib.error.HTTPError as answer:
            said = json.load(answer)
        assert time.monotonic() < end, said
        time.sleep(0.2)


def _get(server: AppServer, path: str, host: str | None = None, **more: str) -> Any:
    headers = {**({"Host": host} if host else {}), **more}
    return urllib.request.urlopen(urllib.request.Request(server.address + path, headers=headers))
