"""A hub that refuses, is silent or is not there: each is said in a sentence."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from contextlens.core.errors import FetchError, ModelError, UnknownModelError
from contextlens.core.hub import cached, client, fetch
from contextlens.core.schema import ProgressEvent
from tests.core.hub.fetches import ID, WEIGHTS, asked, assert_good, get
from tests.support.hub_server import Faults, HubServer, Reply, error


def always(reply: Reply) -> Faults:
    return lambda _request, _normal: reply


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (error(404, "RepoNotFound", "Repository not found"), UnknownModelError, "no such model"),
        (error(401, "RepoNotFound"), UnknownModelError, "private"),
        (error(401, "GatedRepo", "Access is restricted"), FetchError, "gated"),
        (error(401, "", "Invalid credentials in Authorization header"), FetchError, "401"),
        (error(403), FetchError, "403"),
        (error(429), FetchError, "pause"),
        (error(500), FetchError, "500"),
        (error(503), FetchError, "503"),
        (Reply(200, {}, b"<html>Please log in to this network</html>"), FetchError, "unreadable"),
        (Reply(200, {}, b"null"), FetchError, "unreadable"),
        (Reply(302, {"Location": "/api/models/" + ID}), FetchError, "unreadable"),
        (Reply(200, {"Content-Length": "100"}, b"{", cut_after=1), FetchError, "broke"),
    ],
)
def test_a_refusal_is_said_in_one_sentence(
    server: HubServer, cache: Path, reply: Reply, kind: type[ModelError], words: str
) -> None:
    server.faults = always(reply)
    with pytest.raises(kind, match=words) as caught:
        get(server)
    assert str(caught.value).startswith(ID)
    assert caught.value.__cause__ is not None
    assert server.endpoint not in str(caught.value)
    assert not asked(server)


def test_an_unknown_model_is_not_found(server: HubServer, cache: Path) -> None:
    with pytest.raises(UnknownModelError, match=r"org/other .* Check the spelling"):
        fetch("org/other", endpoint=server.endpoint, allow_downloads=True)


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (error(401, "GatedRepo", "Access is restricted"), FetchError, "gated"),
        (error(403), FetchError, "403"),
        (error(404, "EntryNotFound"), FetchError, "listed a file"),
        (Reply(200), FetchError, "unreadable"),  # neither commit nor ETag: no hub
    ],
)
def test_a_refused_file_is_said_and_a_retry_fetches_the_rest(
    server: HubServer, cache: Path, reply: Reply, kind: type[ModelError], words: str
) -> None:
    server.faults = lambda request, normal: reply if request.file == WEIGHTS else normal
    with pytest.raises(kind, match=words):
        get(server)
    assert cached(ID) is None
    server.faults = None
    events: list[ProgressEvent] = []
    get(server, progress=events.append)
    assert_good(events)
    assert events[-1].done_bytes == events[-1].total_bytes
    assert cached(ID) is not None


def test_no_server_is_said(cache: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(FetchError, match=r"cannot be reached.*network"):
            fetch(ID, endpoint=endpoint, allow_downloads=True)


@pytest.mark.parametrize("endpoint", ["http://", "ftp://127.0.0.1", "http://127.0.0.1:port"])
def test_an_address_that_is_none_is_said(cache: Path, endpoint: str) -> None:
    with pytest.raises(FetchError, match="CONTEXTLENS_HUB_ENDPOINT"):
        fetch(ID, endpoint=endpoint, allow_downloads=True)


def test_a_silent_hub_is_not_waited_for(
    server: HubServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.1)
    server.faults = lambda _request, normal: replace(normal, delay=0.5)
    with pytest.raises(FetchError, match="too long"):
        get(server)


def test_a_disk_that_cannot_be_written_is_said(server: HubServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(FetchError, match="could not be stored"):
        get(server, cache_dir=tmp_path / "file")


def test_every_error_of_huggingface_hub_has_one_of_ours() -> None:
    import httpx2
    from huggingface_hub import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    raised = [kind for kind in kinds if issubclass(kind, Exception)]
    for kind in (*raised, httpx2.ReadError, ValueError, KeyError, RuntimeError):
        exc = kind.__new__(kind)
        exc.response = httpx2.Response(418)
        ours, what, advice = client.diagnose(exc)
        assert issubclass(ours, ModelError)
        assert what
        assert advice.endswith(".")
