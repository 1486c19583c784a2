"""Questions to the service: its description, who may ask how much, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx2
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import ModelError, RequestError, SettingsError
from contextlens.core.protocol import METHODS
from contextlens.core.remote.service import RemoteService
from contextlens.core.remote.wire import (
    ANSWER_TYPE,
    REQUEST_TYPE,
    STREAM_TYPE,
    pack_request,
    unpack_answer,
)
from contextlens.serving.api import create_app, from_env
from contextlens.serving.bounds import Bounds
from tests.serving.api.asking import asking, post
from tests.support.remote_server import serving


@pytest.fixture(scope="module")
def address(local: EncoderService) -> Iterator[str]:
    with serving(create_app(local, bounds=Bounds(body_bytes=100_000))) as url:
        yield url


def get(url: str) -> Any:
    with httpx2.Client(trust_env=False) as client:
        return client.get(url).json()


# The description


def test_every_method_of_the_contract_is_a_path_and_no_other(address: str) -> None:
    methods = set(METHODS)
    described = get(f"{address}/v1/openapi.json")
    assert set(described["paths"]) == {f"/v1/{name}" for name in methods} | {"/healthz"}
    assert described["openapi"].startswith("3.1")
    for name in methods:
        found = described["paths"][f"/v1/{name}"]["post"]
        assert found["operationId"] == name
        assert found["summary"].endswith(".")
        assert set(found["requestBody"]["content"]) == {REQUEST_TYPE}
        assert set(found["responses"]["200"]["content"]) == {ANSWER_TYPE, STREAM_TYPE}


def test_requests_and_answers_are_described_by_their_types(address: str) -> None:
    described = get(f"{address}/v1/openapi.json")
    schemas = described["components"]["schemas"]
    path = described["paths"]["/v1/encode"]["post"]
    request = path["requestBody"]["content"][REQUEST_TYPE]["schema"]["$ref"].rsplit("/")[-1]
    assert schemas[request]["required"] == ["model", "texts"]
    assert schemas[request]["properties"]["texts"]["anyOf"][0] == {
        "type": "array",
        "items": {"type": "string"},
        "maxItems": 4096,
    }
    assert schemas[request]["properties"]["mask"] == {"enum": ["model", "ones"], "default": "model"}
    answer = path["responses"]["200"]["content"][ANSWER_TYPE]["schema"]
    assert answer == {"type": "array", "items": {"$ref": "#/components/schemas/Encoding"}}
    assert "tensor" in schemas["Encoding"]["properties"]["hidden"]["description"]
    assert {"error", "message"} <= set(schemas["Fault"]["properties"])


def test_health_needs_no_token(local: EncoderService) -> None:
    with serving(create_app(local, token="t" * 16)) as url:
        assert get(f"{url}/healthz") == {"status": "ok"}


# Who may ask, and how much


def test_who_has_not_the_token_is_not_let_in(local: EncoderService) -> None:
    with serving(create_app(local, token="the-token-of-both")) as url:
        for given in (None, "another-token-that-is-wrong", "the-token-of-bot"):
            with (
                closing(RemoteService(url, token=given)) as service,
                pytest.raises(SettingsError, match="does not take this app's token"),
            ):
                service.models()
        with closing(RemoteService(url, token="the-token-of-both")) as service:
            assert service.models()


def test_a_service_without_a_token_loads_only_what_is_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The token's holder is an app, which asks visitors."""
    for token, sentence in ((None, "is not offered here"), ("t" * 16, "forbids fetching it")):
        if token is not None:
            monkeypatch.setenv("CONTEXTLENS_SERVICE_TOKEN", token)
        monkeypatch.setenv("CONTEXTLENS_ALLOW_DOWNLOADS", "0")
        with (
            serving(from_env()) as url,
            closing(RemoteService(url, token=token)) as service,
            pytest.raises(ModelError, match=sentence),
        ):
            service.load("org/other")


def test_too_large_a_body_is_refused_in_a_sentence(address: str) -> None:
    sentence = "more than the 0 MB that are taken"
    with asking(address) as client, pytest.raises(RequestError, match=sentence):
        client.request("encode", {"model": BUNDLED_ID, "texts": ["a" * 200_000]})
    assert post(address, "encode", b"a" * 200_000).status_code == 413


def test_a_body_without_a_stated_length_is_bounded_too(address: str) -> None:
    with httpx2.Client(trust_env=False) as client:
        chunks = (b"a" * 1000 for _ in range(500))
        headers = {"content-type": REQUEST_TYPE}
        answer = client.post(f"{address}/v1/encode", content=chunks, headers=headers)
    assert answer.status_code == 413


@pytest.mark.parametrize("name", ["texts", "pairs", "interventions", "baseline"])
def test_too_many_texts_are_refused_in_a_sentence(address: str, name: str) -> None:
    rows: list[Any] = [[] if name == "interventions" else "a"] * 4097
    arguments = {"model": BUNDLED_ID, "texts": ["a"], "interventions": [], name: rows}
    sentence = r"4,096 entries at most. Ask for less in several parts"
    with asking(address) as client, pytest.raises(RequestError, match=sentence):
        client.request("intervene", arguments)


def test_another_kind_of_body_is_refused(address: str) -> None:
    assert post(address, "models", pack_request({}), content_type="text/plain").status_code == 415
    assert post(address, "models", b"\x80\x04K\x01.").status_code == 400


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("encode", {"model": BUNDLED_ID}),
        ("load", {"model": BUNDLED_ID, "progress": 1}),
        ("load", {"model": 5}),
    ],
)
def test_arguments_that_do_not_fit_are_refused(address: str, method: str, arguments: Any) -> None:
    answer = post(address, method, pack_request(arguments))
    assert answer.status_code == 400
    assert answer.json()["error"] == "RequestError"


def test_a_path_of_no_method_is_not_there(address: str) -> None:
    assert post(address, "__init__", pack_request({})).status_code == 404
    assert get(f"{address}/healthz")


def test_short_work_is_answered_at_once_with_its_length(address: str) -> None:
    both = f"{ANSWER_TYPE}, {STREAM_TYPE}"
    answer = post(address, "models", pack_request({}), accept=both)
    assert answer.headers["content-type"] == ANSWER_TYPE
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert unpack_answer("models", answer.content)[0].id == BUNDLED_ID
