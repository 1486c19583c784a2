"""Whose token goes where: nobody's, unless the operator named the model, and never in the clear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from huggingface_hub import constants, set_client_factory
from huggingface_hub.utils import build_hf_headers

from contextlens.core import registry
from contextlens.core.errors import FetchError
from contextlens.core.hub import Fetched, fetch
from contextlens.core.hub.client import open_client, use_client
from contextlens.core.settings import Settings
from tests.core.hub.fetches import ID, WEIGHTS
from tests.support.hub_server import HubServer, Reply, Request, error

TOKEN = "hf_the_operators_own"
STORED = "hf_from_a_login"
HUB = "https://hub.example"


class Tunnel(httpx2.BaseTransport):
    """Brings every request, whatever its address, to the local server, as if encrypted."""

    def __init__(self, endpoint: str) -> None:
        self._port = urlsplit(endpoint).port
        self._inner = httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url.copy_with(scheme="http", host="127.0.0.1", port=self._port)
        seen = [*request.headers.raw, (b"X-Seen-Scheme", request.url.scheme.encode())]
        return self._inner.handle_request(
            httpx2.Request(
                request.method,
                url,
                headers=seen,
                stream=request.stream,
                extensions=request.extensions,
            )
        )

    def close(self) -> None:
        self._inner.close()


@pytest.fixture
def encrypted(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """The same server at https://hub.example, and everywhere else."""
    use_client()
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
    set_client_factory(lambda: open_client(Tunnel(server.endpoint)))
    yield server
    set_client_factory(open_client)


@pytest.fixture(autouse=True)
def tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token wherever one can be."""
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    stored = tmp_path / "token"
    stored.write_text(STORED)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(stored))
    netrc = tmp_path / "netrc"
    netrc.write_text(f"default login operator password {STORED}\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))


def get(endpoint: str, **more: Any) -> Fetched:
    return fetch(ID, endpoint=endpoint, allow_downloads=True, **more)


def sent(server: HubServer) -> set[str | None]:
    return {request.headers.get("authorization") for request in server.requests}


def test_no_token_is_sent_unasked(server: HubServer) -> None:
    assert TOKEN in build_hf_headers()["authorization"], "huggingface_hub would"
    get(server.endpoint)
    assert server.requests
    assert sent(server) == {None}
    seen = " ".join(f"{request} {request.query} {request.headers}" for request in server.requests)
    assert TOKEN not in seen
    assert STORED not in seen


def test_no_stored_token_is_sent_unasked(
    encrypted: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    assert STORED in build_hf_headers()["authorization"], "huggingface_hub would"
    get(HUB)
    assert sent(encrypted) == {None}


def test_what_forgets_to_say_so_sends_no_token_either(server: HubServer) -> None:
    get(server.endpoint)
    assert "authorization" not in build_hf_headers()


def test_a_named_model_is_fetched_with_the_token_over_https(encrypted: HubServer) -> None:
    get(HUB, with_token=True)
    assert sent(encrypted) == {f"Bearer {TOKEN}"}
    assert {request.headers["x-seen-scheme"] for request in encrypted.requests} == {"https"}


def test_a_named_model_needs_no_token(
    encrypted: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "none"))
    get(HUB, with_token=True)
    assert sent(encrypted) == {None}


def test_the_token_stays_with_the_hub_where_weights_lie_elsewhere(
    encrypted: HubServer, tiny: Path
) -> None:
    def elsewhere(request: Request, normal: Reply) -> Reply:
        if request.path == "/storage":
            return Reply(200, {}, (tiny / WEIGHTS).read_bytes())
        if request.file != WEIGHTS:
            return normal
        return replace(
            normal,
            status=302,
            headers={**normal.headers, "Location": "https://storage.example/storage"},
        )

    encrypted.faults = elsewhere
    get(HUB, with_token=True)
    hosts = {r.headers["host"]: r.headers.get("authorization") for r in encrypted.requests}
    assert hosts == {"hub.example": f"Bearer {TOKEN}", "storage.example": None}


@pytest.mark.parametrize(
    ("kind", "target", "with_token"),
    [
        ("info", "http://hub.example/", True),
        ("tree", "http://hub.example/", True),
        ("file", "http://elsewhere.example/", True),
        ("file", "http://hub.example/", False),
    ],
)
def test_a_redirect_from_https_to_http_is_not_followed(
    encrypted: HubServer, kind: str, target: str, with_token: bool
) -> None:
    def lead_away(request: Request, normal: Reply) -> Reply:
        if request.kind != kind:
            return normal
        return replace(normal, status=302, headers={**normal.headers, "Location": target})

    encrypted.faults = lead_away
    with pytest.raises(FetchError, match="unprotected address"):
        get(HUB, with_token=with_token)
    assert {request.headers["x-seen-scheme"] for request in encrypted.requests} == {"https"}


def test_a_next_page_on_http_is_not_asked_with_the_token(encrypted: HubServer) -> None:
    encrypted.faults = lambda request, normal: (
        replace(normal, headers={"Link": '<http://hub.example/api/models/x>; rel="next"'})
        if request.kind == "tree"
        else normal
    )
    with pytest.raises(FetchError, match="where no token is sent"):
        get(HUB, with_token=True)
    assert {request.headers["x-seen-scheme"] for request in encrypted.requests} == {"https"}


def test_over_http_a_named_model_is_refused_and_nothing_asked(
    server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FetchError, match=r"CONTEXTLENS_TOKEN_MODELS.*never sent to an http://"):
        get(server.endpoint, with_token=True)
    monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)  # as HF_ENDPOINT has it
    with pytest.raises(FetchError, match="never sent"):
        fetch(ID, endpoint=None, allow_downloads=True, with_token=True)
    assert not server.requests


def test_the_registry_sends_it_for_the_named_models_only(encrypted: HubServer, tiny: Path) -> None:
    encrypted.repositories["org/other"] = encrypted.repositories[ID]
    settings = Settings(hub_endpoint=HUB, token_models=(ID,))
    registry.locate_tokenizer("org/other", settings)
    assert sent(encrypted) == {None}
    encrypted.requests.clear()
    registry.locate_tokenizer(ID, settings)
    assert sent(encrypted) == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize("refusal", [error(401, "GatedRepo"), error(403), error(401)])
def test_the_advice_names_the_setting_and_no_secret(server: HubServer, refusal: Reply) -> None:
    server.faults = lambda _request, _reply: refusal
    with pytest.raises(FetchError, match=r"CONTEXTLENS_TOKEN_MODELS, with an HF_TOKEN") as caught:
        get(server.endpoint)
    assert TOKEN not in str(caught.value)
