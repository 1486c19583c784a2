"""A soak's requests: to pages as browsers, to the service's API as programs, some wrong.

Each kind has a weight and makes one request; it returns what was wrong with the answer, or "".
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx2
import numpy as np

from contextlens.core.registry import BUNDLED_ID
from contextlens.core.remote.wire import (
    ANSWER_TYPE,
    PREFIX,
    REQUEST_TYPE,
    pack_request,
    unpack_answer,
)
from contextlens.core.schema import Encoding, SwitchOff
from tests.load.questions import Question
from tests.load.visitor import Visitor, check_is_here, visit

__all__ = ["Ask", "Tabs", "asks"]

_PAGES = ("meaning", "tokens", "masks", "embedding_layer", "layers", "attention", "why")
_MAX_TAB_LENGTH = 40  # questions of one visit
_WARM_SECONDS = 240.0
_ALIKE = 1e-4  # between two answers to the same question, in a batch with others or alone
_WORDS = ("river", "bank", "python", "code", "small", "spring", "bright", "light", "and", "of")
_SAME = ("The python slept by the bank of the river.", "A light code, bright as spring.")


@dataclass(frozen=True)
class Ask:
    """A kind of request: how often it comes beside others, and how it is asked once."""

    weight: int
    once: Callable[[random.Random], Awaitable[str]]


def asks(client: httpx2.AsyncClient, tabs: Tabs, app: str, service: str) -> Mapping[str, Ask]:
    """All kinds of request, by name.

    Args:
        client: speaks HTTP.
        tabs: visit the pages.
        app: its address, on this machine.
        service: its address, on this machine.
    """
    check_is_here(app)
    check_is_here(service)
    api = _Api(client, service)
    return {
        "page: two new sentences": Ask(6, tabs.ask),
        "page: left in the middle": Ask(1, tabs.leave),
        "service: tokenize": Ask(22, api.tokenize),
        "service: new texts, every layer": Ask(12, api.encode),
        "service: the same texts again": Ask(12, api.encode_again),
        "service: a head switched off": Ask(2, api.intervene),
        "service: models and spec": Ask(15, api.look),
        "service: ids to text": Ask(8, api.decode),
        "service: asked wrongly": Ask(8, api.ask_wrongly),
        "service: health": Ask(7, partial(_get, client, f"{service}/healthz")),
        "app: health": Ask(4, partial(_get, client, f"{app}/healthz")),
        "app: metrics": Ask(3, partial(_get, client, f"{app}/metrics")),
    }


async def _get(client: httpx2.AsyncClient, address: str, _: random.Random) -> str:
    answer = await client.get(address)
    return "" if answer.status_code == 200 and answer.content else f"status {answer.status_code}"


class Tabs:
    """Open tabs that all clients share, each closed after a while."""

    def __init__(self, app: str, questions: Iterator[Question]) -> None:
        self._app = app
        self._questions = questions
        self._free: list[tuple[Visitor, AsyncExitStack, int, str]] = []

    async def warm(self) -> None:
        """Wait for all that pages measure only once."""
        deadline = time.monotonic() + _WARM_SECONDS
        for page in ("", *_PAGES):
            async with visit(self._app, page) as visitor:
                while True:
                    answer = await visitor.ask(next(self._questions).query if page else "")
                    if not page or (answer.is_settled and not answer.error):
                        break
                    if time.monotonic() > deadline:
                        raise RuntimeError(f"The app does not answer: {answer.error}")
                    await asyncio.sleep(0.5)

    async def ask(self, rng: random.Random) -> str:
        """Ask with two new sentences, in an open or new tab."""
        visitor, stack, n_asked, page = await self._tab(rng)
        question = next(self._questions)
        answer = await visitor.ask(question.query, question.texts if page == "meaning" else ())
        if answer.error or n_asked + 1 >= _MAX_TAB_LENGTH:
            await stack.aclose()
        else:
            self._free.append((visitor, stack, n_asked + 1, page))
        return f"{page}: {answer.error}" if answer.error else ""

    async def leave(self, rng: random.Random) -> str:
        """Close a new tab while its page is made."""
        page = rng.choice(_PAGES)
        async with visit(self._app, page) as visitor:
            await visitor.begin(next(self._questions).query)
            await asyncio.sleep(rng.uniform(0, 0.2))
            visitor.leave()
        return ""

    async def close(self) -> None:
        """Close all tabs."""
        for _, stack, _, _ in self._free:
            with suppress(OSError):
                await stack.aclose()
        self._free.clear()

    async def _tab(self, rng: random.Random) -> tuple[Visitor, AsyncExitStack, int, str]:
        if self._free:
            return self._free.pop(0)
        page, stack = rng.choice(_PAGES), AsyncExitStack()
        return await stack.enter_async_context(visit(self._app, page)), stack, 0, page


class _Api:
    """The API of the service, asked as `RemoteService` asks it."""

    def __init__(self, client: httpx2.AsyncClient, service: str) -> None:
        self._client = client
        self._service = service
        self._first: list[Encoding] = []
        self._ids: list[int] = []

    async def tokenize(self, rng: random.Random) -> str:
        texts = _texts(rng, rng.randint(1, 3))
        found = await self._ask("tokenize", model=BUNDLED_ID, texts=texts)
        self._ids = [int(token) for token in found[0].token_ids][:64]
        return _same_texts(found, texts)

    async def encode(self, rng: random.Random) -> str:
        texts = _texts(rng, rng.randint(1, 4))
        found = await self._ask("encode", model=BUNDLED_ID, texts=texts)
        is_whole = all(np.isfinite(one.hidden).all() for one in found)
        return _same_texts(found, texts) or ("" if is_whole else "a number is missing")

    async def encode_again(self, _: random.Random) -> str:
        """Expect the numbers of the first answer."""
        found = await self._ask("encode", model=BUNDLED_ID, texts=list(_SAME))
        self._first = self._first or found
        pairs = zip(self._first, found, strict=True)
        furthest = max(float(np.abs(a.hidden - b.hidden).max()) for a, b in pairs)
        return (
            "" if furthest <= _ALIKE else f"the same texts are {furthest:.1e} from the first time"
        )

    async def intervene(self, rng: random.Random) -> str:
        texts = _texts(rng, 1)
        off = SwitchOff("head", layer=rng.randint(1, 6), head=rng.randint(0, 11), to="zero")
        found = await self._ask("intervene", model=BUNDLED_ID, texts=texts, interventions=[[off]])
        return _same_texts(found, texts)

    async def look(self, rng: random.Random) -> str:
        if rng.random() < 0.5:
            spec = await self._ask("spec", model=BUNDLED_ID)
            return "" if spec.loaded else "the model is gone"
        models = await self._ask("models")
        return "" if BUNDLED_ID in {spec.id for spec in models} else "the model is not listed"

    async def decode(self, _: random.Random) -> str:
        text = await self._ask("decode", model=BUNDLED_ID, token_ids=self._ids or [101, 102])
        return "" if isinstance(text, str) and text else "no text"

    async def ask_wrongly(self, rng: random.Random) -> str:
        """Each is refused with a sentence, and nothing else happens."""
        method, body, kind, expected = rng.choice(_WRONG)
        answer = await self._post(method, body, kind)
        told = answer.headers.get("content-type", "").startswith("application/json")
        is_told = method == "__init__" or (told and answer.json()["message"])
        if answer.status_code == expected and is_told:
            return ""
        return f"{method} asked wrongly: {answer.status_code} where {expected} was due"

    async def _ask(self, method: str, **arguments: Any) -> Any:
        answer = await self._post(method, pack_request(arguments), REQUEST_TYPE)
        if answer.status_code != 200:
            raise RuntimeError(f"{method}: {answer.status_code} {answer.text[:200]}")
        return unpack_answer(method, answer.content)

    async def _post(self, method: str, body: bytes, kind: str) -> httpx2.Response:
        headers = {"content-type": kind, "accept": ANSWER_TYPE}
        place = f"{self._service}{PREFIX}/{method}"
        return await self._client.post(place, content=body, headers=headers)


def _texts(rng: random.Random, n: int) -> list[str]:
    """New texts of 3 to 40 words, some in other scripts."""
    ends = ("", " 你好", " naïve café", " \N{SNAKE}", " 42%")
    return [
        f"{' '.join(rng.choices(_WORDS, k=rng.randint(3, 40)))} {rng.randrange(10**9)}"
        f"{rng.choice(ends)}"
        for _ in range(n)
    ]


def _same_texts(found: Sequence[Any], texts: Sequence[str]) -> str:
    return "" if [one.text for one in found] == list(texts) else "the answer is of other texts"


_WRONG = (
    ("encode", b"\x80\x04K\x01.", REQUEST_TYPE, 400),
    ("encode", pack_request({"model": BUNDLED_ID}), REQUEST_TYPE, 400),
    (
        "encode",
        pack_request({"model": BUNDLED_ID, "texts": ["a"] * 5_000}),
        REQUEST_TYPE,
        400,
    ),
    (
        "encode",
        pack_request({"model": BUNDLED_ID, "texts": ["a"], "layers": [99]}),
        REQUEST_TYPE,
        400,
    ),
    (
        "tokenize",
        pack_request({"model": "nobody/nothing here", "texts": ["a"]}),
        REQUEST_TYPE,
        404,
    ),
    ("models", pack_request({}), "text/plain", 415),
    ("__init__", pack_request({}), REQUEST_TYPE, 404),
)
"""A method, a body and its kind, and the status that is due."""
