"""nginx with our configuration before small servers that say which one answered."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from http.cookies import SimpleCookie
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from contextlens.ui.processes.__main__ import nginx_path, write_configuration
from tests.support.ports import free_port

__all__ = ["Answer", "Proxied", "Stub", "get", "proxied", "until_it_listens", "unverified"]

_SECONDS = 20.0


class Stub:
    """A stand-in for the app that says its port and the request it got."""

    def __init__(self) -> None:
        self.port, self.n_static = free_port(), 0
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        routes = [
            WebSocketRoute("/_stcore/stream", self._stream),
            Route("/static/{name}", self._static),
            Route("/{path:path}", self._say, methods=["GET", "PUT"]),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes), host="127.0.0.1", port=self.port, log_level="critical",
            ws="websockets-sansio", lifespan="off", timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        _until(lambda: bool(self._server and self._server.started))

    def stop(self) -> None:
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(_SECONDS)
            self._server = None

    async def _say(self, request: Request) -> Response:
        n_bytes = len(await request.body())
        said = {"process": self.port, "bytes": n_bytes, "headers": dict(request.headers)}
        answer = JSONResponse(said, headers={"X-Frame-Options": "SAMEORIGIN"})
        for i in range(int(request.query_params.get("cookies", "0"))):
            answer.set_cookie(f"own_{i}", "x" * 4_000)
        return answer

    async def _static(self, _: Request) -> Response:
        self.n_static += 1
        kept = {"Cache-Control": "public, immutable, max-age=31536000"}
        return Response("let one = 1;\n" * 500, media_type="text/javascript", headers=kept)

    async def _stream(self, socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text(str(self.port))
        async for text in socket.iter_text():
            await socket.send_text(text)


@dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    status: int
    body: bytes
    headers: Message

    @property
    def said(self) -> dict[str, object]:
        return dict(json.loads(self.body))

    @property
    def process(self) -> object:
        return self.said["process"]

    @property
    def cookie(self) -> str:
        """The cookies that a browser sends from now on, if any."""
        parsed = SimpleCookie(self.headers.get("Set-Cookie", ""))
        return "; ".join(f"{own.key}={own.value}" for own in parsed.values())


def get(address: str, *, cookie: str = "", body: bytes | None = None, **headers: str) -> Answer:
    """An answer of any status, to a PUT if there is a body."""
    own = {"Cookie": cookie} if cookie else {}
    request = urllib.request.Request(
        address, data=body, headers={**own, **headers}, method="GET" if body is None else "PUT"
    )
    encrypted = urllib.request.HTTPSHandler(context=unverified())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), encrypted)
    try:
        with opener.open(request, timeout=_SECONDS) as answer:
            return Answer(answer.status, answer.read(), answer.headers)
    except urllib.error.HTTPError as exc:
        return Answer(exc.code, exc.read(), exc.headers)


def unverified() -> ssl.SSLContext:
    """For a self-signed certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@dataclass
class Proxied:
    """The proxy and what is behind it."""

    address: str
    stubs: list[Stub]
    folder: Path
    log: Path

    def logged(self, n: int) -> list[dict[str, str]]:
        """The log, once it has n lines."""
        _until(lambda: len(self.log.read_text().splitlines()) >= n)
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def proxied(*, max_upload_mb: int = 100) -> Iterator[Proxied]:
    """Two servers with nginx before them.

    The folder is not pytest's, which nginx cannot enter as the user that it becomes from root.
    """
    with TemporaryDirectory(prefix="contextlens-proxied-", ignore_cleanup_errors=True) as name:
        folder, port, stubs = Path(name), free_port(), [Stub(), Stub()]
        folder.chmod(0o711)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CONTEXTLENS_MAX_UPLOAD_MB", str(max_upload_mb))
            write_configuration(folder, ["127.0.0.1"], port, [stub.port for stub in stubs])
        log = folder / "out.log"
        for stub in stubs:
            stub.start()
        with log.open("wb") as out:
            process = subprocess.Popen(
                [nginx_path(), "-e", "stderr", "-c", str(folder / "nginx.conf")],
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        try:
            until_it_listens(port)
            yield Proxied(f"http://127.0.0.1:{port}", stubs, folder, log)
        finally:
            process.terminate()
            process.wait(_SECONDS)
            for stub in stubs:
                stub.stop()


def until_it_listens(port: int) -> None:
    """Wait for a server on this machine."""
    _until(lambda: _listens(port))


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _until(is_so: object) -> None:
    deadline = time.monotonic() + _SECONDS
    while not is_so():  # type: ignore[operator]
        if time.monotonic() > deadline:
            raise AssertionError("It did not come to that in time.")
        time.sleep(0.01)
