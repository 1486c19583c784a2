"""A hub that sends without end, sends packed data, leads elsewhere or wants long pauses."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from components.core.errors import FetchError
from components.core.hub import cached
from tests.core.hub.fetches import ID, WEIGHTS
from tests.core.hub.limits.limited import get
from tests.support.hub_server import HubServer, Reply, Request

CHUNK = b"x" * 100_000


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses of huggingface_hub, which are not waited for."""
    pauses: list[float] = []
    monkeypatch.setattr("huggingface_hub.utils._http.time", SimpleNamespace(sleep=pauses.append))
    return pauses


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", WEIGHTS])
def test_a_file_without_end_is_cut_off(server: HubServer, cache: Path, name: str) -> None:
    def pour(request: Request, reply: Reply) -> Reply:
        wanted = (request.method, request.file) == ("GET", name)
        return replace(reply, body=CHUNK, endless=True) if wanted else reply

    server.faults = pour
    with pytest.raises(FetchError, match="sent more than it listed"):
        get(server)
    assert cached(ID) is None
    assert not list(cache.rglob("*.incomplete"))
    server.faults = None
    assert get(server).revision == server.commit(ID)


def test_a_file_that_the_hub_swells_after_the_list_is_cut_off(
    server: HubServer, cache: Path
) -> None:
    """Listing and headers lie alike, of different sizes."""
    server.faults = lambda request, reply: (
        replace(reply, headers={**reply.headers, "X-Linked-Size": "40000000"}, body=CHUNK * 400)
        if request.file == WEIGHTS
        else reply
    )
    with pytest.raises(FetchError, match="sent more than it listed"):
        get(server)
    assert WEIGHTS not in {path.name for path in cache.glob("*/snapshots/*/*")}
    assert max((p.stat().st_size for p in cache.glob("*/blobs/*")), default=0) < 1_000_000


@pytest.mark.parametrize("kind", ["info", "tree"])
@pytest.mark.parametrize("status", [200, 302, 500])
def test_an_answer_without_end_is_cut_off(
    server: HubServer, kind: str, status: int, hasty: list[float]
) -> None:
    server.faults = lambda request, reply: (
        Reply(status, {"Location": "/"}, CHUNK, endless=True) if request.kind == kind else reply
    )
    with pytest.raises(FetchError, match="answered with more than 8,000,000 bytes"):
        get(server)


@pytest.mark.slow
def test_a_list_of_files_without_a_last_page_is_given_up(server: HubServer) -> None:
    def more(request: Request, reply: Reply) -> Reply:
        if request.kind != "tree":
            return reply
        return replace(reply, headers={"Link": f'<{server.endpoint}{request.path}>; rel="next"'})

    server.faults = more
    with pytest.raises(FetchError, match="list of files that has no end"):
        get(server)


@pytest.mark.parametrize("kind", ["info", "tree", "file"])
def test_packed_answers_are_not_unpacked(server: HubServer, kind: str) -> None:
    bomb = gzip.compress(b" " * 10_000_000)

    def pack(request: Request, reply: Reply) -> Reply:
        if request.kind != kind or request.method == "HEAD":
            return reply
        return replace(reply, headers={**reply.headers, "Content-Encoding": "gzip"}, body=bomb)

    server.faults = pack
    with pytest.raises(FetchError, match="packed data"):
        get(server)
    assert {request.headers["accept-encoding"] for request in server.requests} == {"identity"}


def test_the_body_of_an_error_is_not_unpacked(server: HubServer) -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    server.faults = lambda _request, _reply: Reply(403, {"Content-Encoding": "gzip"}, bomb)
    with pytest.raises(FetchError, match="403"):
        get(server)


@pytest.mark.parametrize("header", ["ETag", "X-Linked-Etag", "X-Repo-Commit"])
@pytest.mark.parametrize(
    "value", ["../../../../out", "/tmp/out", '"../out"', "..", "WW..", "x" * 300]
)
def test_no_header_names_a_file_outside_the_cache(
    server: HubServer, cache: Path, header: str, value: str
) -> None:
    def lead_out(request: Request, reply: Reply) -> Reply:
        if request.file is None:
            return reply
        status = 404 if header == "X-Repo-Commit" else reply.status
        code = {"X-Error-Code": "EntryNotFound"}
        return replace(reply, status=status, headers={**reply.headers, **code, header: value})

    server.faults = lead_out
    before = {path for path in cache.parent.rglob("*") if cache not in path.parents}
    with pytest.raises(FetchError, match="impossible name"):
        get(server)
    after = {path for path in cache.parent.rglob("*") if cache not in path.parents}
    assert after - before <= {cache}
    assert not list(cache.rglob("out"))


@pytest.mark.parametrize(
    "wish",
    [{"Retry-After": "99999999"}, {"RateLimit": '"api";r=0;t=99999999'}, {"Retry-After": "9" * 99}],
    ids=["retry-after", "ratelimit", "digits"],
)
def test_a_hub_cannot_put_a_fetch_to_sleep(
    server: HubServer, wish: dict[str, str], hasty: list[float]
) -> None:
    server.faults = lambda request, reply: (
        Reply(429, wish) if request.method == "GET" and request.file else reply
    )
    with pytest.raises(FetchError, match="wants a pause"):
        get(server)
    assert hasty
    assert max(hasty) <= 60


@pytest.mark.slow
def test_a_list_that_never_comes_is_not_waited_for(
    server: HubServer, hasty: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    from components.core.hub import client

    monkeypatch.setattr(client, "_SECONDS", 0.1)
    server.faults = lambda request, reply: (
        replace(reply, delay=0.3) if request.kind == "tree" else reply
    )
    with pytest.raises(FetchError, match="did not arrive"):
        get(server)
