"""nginx with our configuration before small servers that say which of them answered."""

from __future__ import annotations

import json
import socket
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

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from components.ui.processes.plan import nginx_path
from components.ui.processes.proxy import Proxy, configuration
from tests.support.ports import free_port

__all__ = ["Answer", "Proxied", "Stub", "get", "nginx", "proxied"]

_SECONDS = 20.0


def nginx() -> str:
    """The program, which `.ci/nginx` installs."""
    return nginx_path()


class Stub:
    """A process of the app that says its number, and what it was asked with."""

    def __init__(self, number: int) -> None:
        self.number, self.port = number, free_port()
        self.n_static = 0
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Answer."""
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
        """Be gone."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(_SECONDS)
            self._server = None

    async def _say(self, request: Request) -> Response:
        n_bytes = len(await request.body())
        said = {"process": self.number, "bytes": n_bytes, "headers": dict(request.headers)}
        return JSONResponse(said, headers={"X-Frame-Options": "SAMEORIGIN"})

    async def _static(self, _: Request) -> Response:
        self.n_static += 1
        kept = {"Cache-Control": "public, immutable, max-age=31536000"}
        return Response("let one = 1;\n" * 500, media_type="text/javascript", headers=kept)

    async def _stream(self, socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text(str(self.number))
        async for text in socket.iter_text():
            await socket.send_text(text)


@dataclass(frozen=True)
class Answer:
    """What came back."""

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
        """What the browser sends from now on; empty where none was set."""
        parsed = SimpleCookie(self.headers.get("Set-Cookie", ""))
        return "; ".join(f"{own.key}={own.value}" for own in parsed.values())


def get(address: str, *, cookie: str = "", body: bytes | None = None, **headers: str) -> Answer:
    """An answer of any status; with a body it is a PUT."""
    own = {"Cookie": cookie} if cookie else {}
    request = urllib.request.Request(
        address, data=body, headers={**own, **headers}, method="GET" if body is None else "PUT"
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_SECONDS) as answer:
            return Answer(answer.status, answer.read(), answer.headers)
    except urllib.error.HTTPError as exc:
        return Answer(exc.code, exc.read(), exc.headers)


@dataclass
class Proxied:
    """The proxy and what is behind it."""

    address: str
    stubs: list[Stub]
    folder: Path
    log: Path

    def logged(self, n: int) -> list[dict[str, str]]:
        """The log, once it has so many lines."""
        _until(lambda: len(self.log.read_text().splitlines()) >= n)
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextmanager
def proxied(n: int = 2, **changes: object) -> Iterator[Proxied]:
    """So many servers with the proxy before them.

    Its folder is not pytest's: that is closed to the user that nginx becomes where root starts it.
    """
    with (
        TemporaryDirectory(prefix="contextlens-proxied-", ignore_cleanup_errors=True) as folder,
        _proxied(Path(folder), n, **changes) as own,
    ):
        yield own


@contextmanager
def _proxied(folder: Path, n: int, **changes: object) -> Iterator[Proxied]:
    stubs = [Stub(i) for i in range(n)]
    port, log = free_port(), folder / "out.log"
    own: dict[str, object] = {
        "listen": (f"127.0.0.1:{port}",),
        "processes": tuple(stub.address for stub in stubs),
        "folder": str(folder),
        **changes,
    }
    path = folder / "nginx.conf"
    path.write_text(configuration(Proxy(**own)), encoding="utf-8")  # type: ignore[arg-type]
    folder.chmod(0o711)
    for stub in stubs:
        stub.start()
    with log.open("wb") as out:
        process = subprocess.Popen(
            [nginx(), "-e", "stderr", "-c", str(path)], stdout=out, stderr=subprocess.STDOUT
        )
    try:
        _until(lambda: _listens(port))
        yield Proxied(f"http://127.0.0.1:{port}", stubs, folder, log)
    finally:
        process.terminate()
        process.wait(_SECONDS)
        for stub in stubs:
            stub.stop()


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
