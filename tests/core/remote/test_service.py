"""The client's memory and its large requests; other files test the contract itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.cache import ByteCache, CachedService
from contextlens.core.errors import ServiceAwayError, UnknownModelError
from contextlens.core.remote import service as remote_service
from contextlens.core.remote import wire
from contextlens.core.remote.service import RemoteService
from contextlens.core.schema import SwitchOff
from contextlens.core.service import LocalService, open_service
from contextlens.core.settings import Settings
from contextlens.serving.api import create_app
from tests.support.remote_server import serving


class Counting:
    """An ASGI app in front of another that notes each request."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.asked: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.asked.append(scope["path"].removeprefix("/v1/"))
        await self._app(scope, receive, send)


@pytest.fixture(scope="module")
def local(open_with: Callable[..., EncoderService]) -> EncoderService:
    service = open_with(model_folder=None)
    assert isinstance(service, CachedService)
    service.load(BUNDLED_ID)
    return service.uncached


@pytest.fixture
def app(local: EncoderService) -> Counting:
    return Counting(create_app(local))


@pytest.fixture
def remote(app: Counting) -> Iterator[RemoteService]:
    with serving(app) as url:
        service = RemoteService(url)
        yield service
        service.close()


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_service, "_PAUSES", (0.0,))


def test_what_every_run_of_a_page_asks_is_asked_once(remote: RemoteService, app: Counting) -> None:
    for _ in range(5):
        remote.models()
        remote.load(BUNDLED_ID)
        assert remote.spec(BUNDLED_ID).loaded
    assert sorted(app.asked) == ["load", "models", "spec"]


def test_what_depends_on_files_alone_is_asked_once(remote: RemoteService, app: Counting) -> None:
    cached = CachedService(remote, ByteCache(10**8))
    questions: list[tuple[str, tuple[Any, ...]]] = [
        ("vocabulary", ()),
        ("cut_rules", ()),
        ("normalize", (["A"],)),
        ("decode", ([101],)),
        ("word_rows", (np.array([5]),)),
        ("matrix", ("embeddings.position_embeddings.weight",)),
    ]
    for _ in range(3):
        for method, arguments in questions:
            getattr(cached, method)(BUNDLED_ID, *arguments)
    assert all(app.asked.count(method) == 1 for method, _ in questions)
    assert cached.vocabulary(BUNDLED_ID) is cached.vocabulary(BUNDLED_ID)
    cached.word_rows(BUNDLED_ID, [6])
    assert app.asked.count("word_rows") == 2


def test_an_answer_is_believed_for_some_seconds_only(
    remote: RemoteService, app: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(remote_service.time, "monotonic", lambda: now)
    remote.models()
    now += 2
    remote.models()
    assert app.asked.count("models") == 1
    now += 2
    remote.models()
    assert app.asked.count("models") == 2


def test_what_is_remembered_still_shows_while_the_service_is_away(local: EncoderService) -> None:
    with serving(create_app(local)) as url:
        remote = RemoteService(url)
        cached = CachedService(remote, ByteCache(10**8))
        card, models = cached.load(BUNDLED_ID), cached.models()
        first = cached.encode(BUNDLED_ID, ["A python"])[0]
        rows = cached.word_rows(BUNDLED_ID, [5])
    assert remote.away is None
    with pytest.raises(ServiceAwayError, match="does not answer"):
        cached.encode(BUNDLED_ID, ["Another"])
    assert remote.away is not None
    assert [spec.id for spec in cached.models()] == [spec.id for spec in models]
    assert cached.spec(BUNDLED_ID).loaded
    assert cached.load(BUNDLED_ID) == card
    assert cached.encode(BUNDLED_ID, ["A python"])[0] is first
    np.testing.assert_array_equal(cached.word_rows(BUNDLED_ID, [5]), rows)
    assert cached.uncached is remote
    remote.close()


def test_an_app_that_others_can_reach_asks_only_for_what_is_offered(app: Counting) -> None:
    with serving(app) as url, closing(RemoteService(url, offered_only=True)) as remote:
        assert remote.load(BUNDLED_ID)
        assert remote.spec("org/other")  # its existence is no secret
        for method in ("load", "load_tokenizer", "parameters"):
            with pytest.raises(UnknownModelError, match="'org/other' is not offered here"):
                getattr(remote, method)("org/other")
    assert sorted(app.asked) == ["load", "models", "spec", "spec"]


@pytest.mark.parametrize(
    ("texts", "n_parts"),
    [
        (["a"] * 128, 1),
        (["a"] * 300, 3),
        (["a" * 7_000, "b" * 7_000, "c", "d" * 9_000], 3),
    ],
)
def test_much_is_asked_for_in_parts(
    remote: RemoteService, app: Counting, texts: list[str], n_parts: int
) -> None:
    found = remote.tokenize(BUNDLED_ID, texts, pairs=["x"] * len(texts))
    assert [tokens.text for tokens in found] == texts
    assert app.asked.count("tokenize") == n_parts


def test_large_answers_are_asked_for_in_parts(
    remote: RemoteService, app: Counting, local: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Honest callers do not notice: neither in results nor in progress."""
    monkeypatch.setattr(wire, "PART_BYTES", 300_000)
    ids = np.arange(5000)
    np.testing.assert_array_equal(
        remote.word_rows(BUNDLED_ID, ids), local.word_rows(BUNDLED_ID, ids)
    )
    texts = ["I love my pet python"] * 6
    changes = [[SwitchOff("head", 1, i)] for i in range(6)]
    told: list[tuple[int, int]] = []
    found = remote.intervene(BUNDLED_ID, texts, changes, progress=lambda *n: told.append(n))
    expected = local.intervene(BUNDLED_ID, texts, changes)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.hidden, other.hidden, atol=1e-4)
    assert told[-1] == (6, 6)
    assert told == sorted(told)
    assert {n for _, n in told} == {6}
    whole = remote.encode(BUNDLED_ID, texts, attentions=True)
    assert [each.text for each in whole] == texts
    assert all(app.asked.count(name) > 1 for name in ("word_rows", "intervene", "encode"))


# The environment


def test_an_address_opens_the_remote_service() -> None:
    service = open_service(Settings(service_url="http://localhost:8600", service_token="t" * 16))
    assert isinstance(service.uncached, RemoteService)
    service.uncached.close()
    assert isinstance(open_service(Settings()).uncached, LocalService)
