"""What the client remembers, and how it asks for much; the contract itself is tested beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core import BUNDLED_ID, EncoderService
from components.core.cache import CachedService
from components.core.errors import ServiceAwayError
from components.core.remote import connection, known
from components.core.remote.parts import parts_of
from components.core.remote.service import RemoteService
from components.core.service import LocalService, open_service
from components.core.settings import Settings
from components.serving.api import create_app
from tests.support.remote_server import serving


class Counting:
    """An ASGI app in front of another, which counts what is asked."""

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
    monkeypatch.setattr(connection, "_PAUSES", (0.0,))


def test_what_every_run_of_a_page_asks_is_asked_once(remote: RemoteService, app: Counting) -> None:
    for _ in range(5):
        remote.models()
        remote.load(BUNDLED_ID)
        assert remote.spec(BUNDLED_ID).loaded
    assert sorted(app.asked) == ["load", "models", "spec"]


def test_what_depends_on_files_alone_is_asked_once(remote: RemoteService, app: Counting) -> None:
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
            getattr(remote, method)(BUNDLED_ID, *arguments)
    assert all(app.asked.count(method) == 1 for method, _ in questions)
    assert remote.vocabulary(BUNDLED_ID) is remote.vocabulary(BUNDLED_ID)
    remote.word_rows(BUNDLED_ID, [6])
    assert app.asked.count("word_rows") == 2


def test_an_answer_is_believed_for_some_seconds_only(
    remote: RemoteService, app: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(known.time, "monotonic", lambda: now)
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
        cached = CachedService(remote, max_bytes=10**8)
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


def test_who_was_never_asked_has_nothing_to_show() -> None:
    with serving(None) as url:
        pass
    with closing(RemoteService(url)) as remote, pytest.raises(ServiceAwayError):
        remote.models()


TEXTS = st.lists(st.text(max_size=3).map(lambda t: t * 1000), max_size=300)


@given(TEXTS)
def test_parts_are_all_texts_in_their_order(texts: list[str]) -> None:
    parts = parts_of(texts, None)
    if parts is None:
        assert len(texts) <= 128
        assert sum(map(len, texts)) <= 8000
        return
    found = [texts[part] for part in parts]
    assert [text for some in found for text in some] == texts
    assert all(len(some) <= 128 for some in found)
    assert all(len(some) == 1 or sum(map(len, some)) <= 8000 for some in found)


@pytest.mark.parametrize(
    ("texts", "pairs"), [("a" * 9000, None), (["a" * 9000], ["b", "c"]), (["a" * 9000], "b")]
)
def test_what_is_no_list_of_texts_goes_as_it_is(texts: Any, pairs: Any) -> None:
    assert parts_of(texts, pairs) is None


# The environment


def test_an_address_opens_the_remote_service() -> None:
    service = open_service(Settings(service_url="http://localhost:8600", service_token="t" * 16))
    assert isinstance(service.uncached, RemoteService)
    service.uncached.close()
    assert isinstance(open_service(Settings()).uncached, LocalService)
