"""The HTTP API around any `EncoderService`: one path for each method, described by OpenAPI.

A question is a POST whose body is a mapping of arguments by name, packed as `core.remote.wire`
says; the answer is the packed result. Any server of ASGI apps runs it.
"""

from __future__ import annotations

import asyncio
import hmac
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from components.core.caller import Caller
from components.core.errors import ContextlensError, RequestError
from components.core.protocol import EncoderService
from components.core.remote.faults import Fault, fault_of
from components.core.remote.names import (
    BULK_HEADER,
    CALLER_HEADER,
    METHODS,
    PREFIX,
    STREAM_TYPE,
)
from components.core.remote.wire import MEDIA_TYPE, unpack
from components.core.service import LocalService
from components.core.settings import Settings
from components.serving.bounds import Bounds, Room, answer_bytes, busy, read_body
from components.serving.description import document
from components.serving.work import Answer, Question, refused

__all__ = ["create_app", "from_env"]

_N_THREADS = 64  # most of them wait: for a batch to be computed, or a file to be fetched
_QUICK = {"models", "spec"}
"""Answered beside all that waits."""
_SIZED = {"encode", "intervene", "word_rows"}
"""Their answers grow with what is asked."""
_LONGEST_NAME = 64
_Used = Callable[[str], None]


def create_app(
    service: EncoderService,
    *,
    token: str | None = None,
    bounds: Bounds | None = None,
    on_used: _Used | None = None,
) -> Starlette:
    """The API as an ASGI app.

    Args:
        service: that answers.
        token: that every question must carry; None for none.
        bounds: of one question.
        on_used: told of a model that has just been used.
    """
    asked = _Asked(service, token, bounds or Bounds(), on_used)
    questions = [
        Route(f"{PREFIX}/{method}", asked.endpoint(method), methods=["POST"]) for method in METHODS
    ]
    return Starlette(
        routes=[
            *questions,
            Route(f"{PREFIX}/openapi.json", _described),
            Route("/healthz", _healthy),
        ]
    )


def from_env() -> Starlette:
    """The API around the models of this process, as the environment's settings say.

    For a server of ASGI apps: `uvicorn --factory components.serving.api:from_env`. Who has the
    token is an app, which asks its visitors; without one, only what is offered is loaded.
    """
    settings = Settings.from_env()
    token = settings.service_token
    return create_app(LocalService(settings, offered_only=token is None), token=token)


async def _healthy(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


async def _described(_: Request) -> JSONResponse:
    return JSONResponse(document())


class _Place:
    """What one question holds of the room for all, until it leaves."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._n_bytes = 0

    def take(self, n_bytes: int) -> None:
        """Hold more; see `Room.take`."""
        self._room.take(n_bytes)
        self._n_bytes += n_bytes

    def leave(self) -> None:
        """Give all of it back."""
        self._room.give(self._n_bytes)
        self._n_bytes = 0


class _Asked:
    """The questions of one app: who may ask, how much, and how many at once."""

    def __init__(
        self, service: EncoderService, token: str | None, bounds: Bounds, on_used: _Used | None
    ) -> None:
        self._service = service
        self._token = token
        self._bounds = bounds
        self._on_used = on_used
        self._pool = ThreadPoolExecutor(_N_THREADS, "contextlens-api")
        self._quick = ThreadPoolExecutor(2, "contextlens-api-quick")
        self._unpacking = ThreadPoolExecutor(1, "contextlens-api-bodies")  # they take memory
        self._room = Room(self._bounds.total_bytes)
        self._n_questions = 0

    def endpoint(self, method: str) -> Callable[..., Awaitable[Response]]:
        """What answers at one path."""
        signature = inspect.signature(getattr(EncoderService, method))

        async def answer(request: Request) -> Response:
            if not self._is_let_in(request.headers.get("authorization", "")):
                return refused(_NO_TOKEN, 401)
            if request.headers.get("content-type") != MEDIA_TYPE:
                return refused(fault_of(RequestError(_NO_KIND)), 415)
            if self._n_questions >= self._bounds.n_questions:
                return refused(fault_of(busy()))
            place = _Place(self._room)
            self._n_questions += 1
            try:
                return self._answer(await self._question(method, signature, request, place), place)
            except BaseException as exc:
                self._leave(place)
                if not isinstance(exc, ContextlensError):
                    raise
                return refused(fault_of(exc), self._bounds.status(exc))

        return answer

    def _is_let_in(self, given: str) -> bool:
        if self._token is None:
            return True
        return hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode())

    def _leave(self, place: _Place) -> None:
        place.leave()
        self._n_questions -= 1

    async def _question(
        self, method: str, signature: inspect.Signature, request: Request, place: _Place
    ) -> Question:
        stated = request.headers.get("content-length", "")
        n_bytes = int(stated) if stated.isascii() and stated.isdigit() else self._bounds.body_bytes
        if n_bytes > self._bounds.body_bytes:
            raise self._bounds.refusal()
        place.take(n_bytes)
        body = await read_body(request.stream(), self._bounds)
        loop = asyncio.get_running_loop()
        given = await loop.run_in_executor(self._unpacking, unpack, body)
        arguments = _arguments(method, signature, given)
        self._bounds.check(arguments)
        name = request.headers.get(CALLER_HEADER, "")[:_LONGEST_NAME]
        return Question(
            method,
            arguments,
            Caller(name or None, bulk=request.headers.get(BULK_HEADER) == "1"),
            tells="progress" in signature.parameters,
            in_frames=STREAM_TYPE in request.headers.get("accept", ""),
        )

    def _answer(self, question: Question, place: _Place) -> Answer:
        def check() -> None:
            if question.method not in _SIZED:
                return
            card = self._service.load(question.arguments["model"])
            n_bytes = answer_bytes(question.method, question.arguments, card)
            self._bounds.check_answer(n_bytes)
            place.take(n_bytes)

        def note(is_done: bool) -> None:
            self._leave(place)
            model = question.arguments.get("model")
            is_use = is_done and question.method not in _QUICK
            if is_use and self._on_used is not None and isinstance(model, str):
                self._on_used(model)

        pool = self._quick if question.method in _QUICK else self._pool
        return Answer(self._service, question, pool, check, note, self._bounds.seconds)


_NO_TOKEN = Fault("SettingsError", "The token is missing or wrong.")
_NO_KIND = f"A body of the kind {MEDIA_TYPE} is needed."


def _arguments(method: str, signature: inspect.Signature, given: Any) -> dict[str, Any]:
    """The arguments of a question, which are those of the method.

    Raises:
        RequestError: something is missing, or there is something else.
    """
    names = {name for name in signature.parameters if name not in {"self", "progress"}}
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given):
        raise RequestError(f"{method} takes a mapping of arguments by name.")
    needed = {n for n in names if signature.parameters[n].default is inspect.Parameter.empty}
    wrong = sorted({*(needed - set(given)), *(set(given) - names)})
    if wrong:
        raise RequestError(
            f"{method} takes {', '.join(sorted(names)) or 'no arguments'}; see {wrong[0][:40]!r}."
        )
    if not isinstance(given.get("model", ""), str):
        raise RequestError("A model is named by its id.")
    return given
