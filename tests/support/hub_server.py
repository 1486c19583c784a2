"""A real local HTTP server that speaks the model hub's protocol as huggingface_hub 2.4 uses it.

It serves folders as repositories: the API (model information and file tree) and `resolve` (HEAD and
GET with ranges). A `faults` hook sees every request with the reply that would be given, and returns
the reply to give, so a test can break whatever it likes:

    def cut(request: Request, reply: Reply) -> Reply:
        return replace(reply, cut_after=1000) if request.file == "model.safetensors" else reply

    with hub_server({"org/tiny": folder}, faults=cut) as server:
        fetch("org/tiny", endpoint=server.endpoint, allow_downloads=True)
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

__all__ = ["Faults", "HubServer", "Reply", "Repository", "Request", "error", "hub_server"]

LARGE = (".safetensors", ".bin", ".model", ".h5", ".onnx", ".pt")
_ROUTES = (
    re.compile(r"/api/models/(?P<repo>.+?)/tree/(?P<revision>[^/]+)"),
    re.compile(r"/api/models/(?P<repo>.+?)/revision/(?P<revision>[^/]+)"),
    re.compile(r"/api/models/(?P<repo>.+?)/refs"),
    re.compile(r"/api/models/(?P<repo>.+)"),
    re.compile(r"/(?P<repo>.+?)/resolve/(?P<revision>[^/]+)/(?P<file>.+)"),
)


@dataclass(frozen=True)
class Repository:
    """A folder seen as a repository with one commit."""

    folder: Path

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Every file's bytes, by its path in the folder."""
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in paths}

    @cached_property
    def commit(self) -> str:
        """A hash of names and contents, 40 hexadecimal digits."""
        digest = hashlib.sha1(usedforsecurity=False)
        for name, data in self.files.items():
            digest.update(f"{name} {len(data)}\n".encode() + data)
        return digest.hexdigest()

    def is_large(self, name: str) -> bool:
        """True if the hub would keep this file outside of git."""
        return name.endswith(LARGE)

    def blob_id(self, name: str) -> str:
        """Git's own hash of a file."""
        data = self.files[name]
        return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()

    def sha256(self, name: str) -> str:
        """The SHA-256 of a file."""
        return hashlib.sha256(self.files[name]).hexdigest()


@dataclass(frozen=True)
class Request:
    """One request as it came in; `repo`, `revision` and `file` are None where it names none."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]  # names in lower case
    repo: str | None = None
    revision: str | None = None
    file: str | None = None

    @property
    def kind(self) -> str:
        """The kind of request: "info", "tree", "refs" or "file"."""
        if self.file is not None:
            return "file"
        if self.path.endswith("/refs"):
            return "refs"
        return "tree" if "/tree/" in self.path else "info"

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Reply:
    """An answer: sent as it is, or slowed, or cut off before its end."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    endless: bool = False  # the body again and again, until the client goes away
    cut_after: int | None = None  # close the connection after this many bytes of the body
    delay: float = 0.0  # seconds before anything is sent
    bytes_per_second: float | None = None
    hurry: threading.Event | None = None  # once set, what is left is sent at once


Faults = Callable[[Request, Reply], Reply]


def error(status: int, code: str = "", message: str = "") -> Reply:
    """The hub's way of refusing: status, and why in headers."""
    headers = {"X-Error-Code": code, "X-Error-Message": message}
    body = json.dumps({"error": message or code or str(status)}).encode()
    return Reply(status, {key: value for key, value in headers.items() if value}, body)


@dataclass
class HubServer:
    """A running server: its address, its repositories, and every request so far."""

    endpoint: str
    repositories: dict[str, Repository]
    faults: Faults | None = None
    requests: list[Request] = field(default_factory=list)
    pulls: dict[str, list[Repository]] = field(default_factory=dict)
    """The pull requests of each repository: what it would be with them."""

    def commit(self, repo: str) -> str:
        """The commit that `main` stands for."""
        return self.repositories[repo].commit

    def answer(self, request: Request) -> Reply:
        """The reply to a request, faults included."""
        self.requests.append(request)
        reply = self._answer(request)
        return reply if self.faults is None else self.faults(request, reply)

    def _answer(self, request: Request) -> Reply:
        repository = self.repositories.get(request.repo or "")
        if repository is None:
            return error(404, "RepoNotFound", "Repository not found")
        pulls = self.pulls.get(request.repo or "", [])
        if request.kind == "refs":
            return _refs(repository, pulls)
        if request.revision not in {None, "main", repository.commit}:
            asked = [pull for pull in pulls if pull.commit == request.revision]
            if not asked:
                return error(404, "RevisionNotFound", f"Invalid rev id: {request.revision}")
            repository = asked[0]
        if request.file is not None:
            return _file(repository, request)
        listing = _tree(repository) if request.kind == "tree" else _info(repository, request)
        headers = {"Content-Type": "application/json", "X-Repo-Commit": repository.commit}
        return Reply(200, headers, json.dumps(listing).encode())


@contextmanager
def hub_server(
    repos: Mapping[str, Path], *, faults: Faults | None = None, port: int = 0
) -> Iterator[HubServer]:
    """A hub on a port of this machine (a free one) that serves each folder under its id.

    `faults` can also be set on the server later, while it runs.
    """
    http = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    endpoint = f"http://127.0.0.1:{http.server_address[1]}"
    server = HubServer(
        endpoint, {name: Repository(folder) for name, folder in repos.items()}, faults
    )
    http.hub = server  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        _close_clients()
        http.server_close()


def _close_clients() -> None:
    """Close huggingface_hub's shared connections, so that no handler is left waiting on one."""
    from huggingface_hub import close_session

    close_session()


def _info(repository: Repository, request: Request) -> dict[str, Any]:
    siblings: list[dict[str, Any]] = [{"rfilename": name} for name in repository.files]
    if "blobs" in request.query:
        for sibling in siblings:
            name = sibling["rfilename"]
            size = len(repository.files[name])
            sibling |= {"size": size, "blobId": repository.blob_id(name)}
            if repository.is_large(name):
                sha256 = repository.sha256(name)
                sibling["lfs"] = {"sha256": sha256, "size": size, "pointerSize": 134}
    return {
        "id": request.repo,
        "modelId": request.repo,
        "sha": repository.commit,
        "private": False,
        "gated": False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "lastModified": "2026-01-01T00:00:00.000Z",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "siblings": siblings,
    }


def _refs(repository: Repository, pulls: list[Repository]) -> Reply:
    refs = [
        {"name": f"pr/{i}", "ref": f"refs/pr/{i}", "targetCommit": pull.commit}
        for i, pull in enumerate(pulls, start=1)
    ]
    main = {"name": "main", "ref": "refs/heads/main", "targetCommit": repository.commit}
    answer = {"branches": [main], "converts": [], "tags": [], "pullRequests": refs}
    return Reply(200, {"Content-Type": "application/json"}, json.dumps(answer).encode())


def _tree(repository: Repository) -> list[dict[str, Any]]:
    entries = []
    for name, data in repository.files.items():
        entry = {"type": "file", "oid": repository.blob_id(name), "size": len(data), "path": name}
        if repository.is_large(name):
            oid = repository.sha256(name)
            entry["lfs"] = {"oid": oid, "size": len(data), "pointerSize": 134}
        entries.append(entry)
    return entries


def _file(repository: Repository, request: Request) -> Reply:
    data = repository.files.get(request.file or "")
    headers = {"X-Repo-Commit": repository.commit, "Accept-Ranges": "bytes"}
    if data is None or request.file is None:
        return Reply(404, headers | {"X-Error-Code": "EntryNotFound"}, b"Entry not found")
    if repository.is_large(request.file):
        sha256 = repository.sha256(request.file)
        headers |= {"X-Linked-Etag": f'"{sha256}"', "X-Linked-Size": str(len(data))}
        headers["ETag"] = f'"{sha256[:32]}"'  # of the storage behind: not what clients should use
    else:
        headers["ETag"] = f'"{repository.blob_id(request.file)}"'
    headers["Content-Type"] = "application/octet-stream"
    return _ranged(request, headers, data)


def _ranged(request: Request, headers: dict[str, str], data: bytes) -> Reply:
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
    if asked is None:
        return Reply(200, headers, data)
    start = int(asked[1])
    end = min(int(asked[2]) if asked[2] else len(data) - 1, len(data) - 1)
    if start > end:
        return Reply(416, headers | {"Content-Range": f"bytes */{len(data)}"})
    headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
    return Reply(206, headers, data[start : end + 1])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve()

    def do_HEAD(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Nothing: requests are kept on the server."""

    def _serve(self) -> None:
        try:
            self._send(self.server.hub.answer(self._request()))  # type: ignore[attr-defined]
        except ConnectionError:  # the client went away
            self.close_connection = True

    def _request(self) -> Request:
        url = urlsplit(self.path)
        path = unquote(url.path)
        named = next((found for route in _ROUTES if (found := route.fullmatch(path))), None)
        return Request(
            method=self.command,
            path=path,
            query=parse_qs(url.query, keep_blank_values=True),
            headers={name.lower(): value for name, value in self.headers.items()},
            **(named.groupdict() if named else {}),
        )

    def _send(self, reply: Reply) -> None:
        time.sleep(reply.delay)
        self.send_response(reply.status)
        length = {} if reply.endless else {"Content-Length": str(len(reply.body))}
        for name, value in {**length, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        while reply.endless:
            self.wfile.write(reply.body)
        self._send_body(reply)

    def _send_body(self, reply: Reply) -> None:
        body = reply.body[: reply.cut_after]
        step = len(body) or 1
        if reply.bytes_per_second is not None:
            step = max(1, int(reply.bytes_per_second / 20))
        for start in range(0, len(body), step):
            self.wfile.write(body[start : start + step])
            if reply.bytes_per_second is not None:
                (reply.hurry or threading.Event()).wait(step / reply.bytes_per_second)
        if reply.cut_after is not None:
            self.close_connection = True
