"""The HTTP API around any `EncoderService`: one path for each method, described by OpenAPI.

A question is a POST whose body is a request, packed as `core.remote.wire` says; the answer is the
packed result. Any server of ASGI apps runs it.
"""

from __future__ import annotations

import hmac
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from components.core.caller import Caller
from components.core.errors import ContextlensError
from components.core.protocol import EncoderService
from components.core.remote.wire import (
    ANSWERS,
    BULK_HEADER,
    CALLER_HEADER,
    MEDIA_TYPE,
    PREFIX,
    QUICK,
    REQUESTS,
    STREAM_TYPE,
    Event,
    Fault,
)
from components.core.service import LocalService
from components.core.settings import Settings
from components.serving.bounds import BodyError, Bounds, Places, Room, read_body
from components.serving.work import Question, Work, refused

__all__ = ["create_app", "from_env"]

_N_THREADS = {False: 64, True: 2}
"""Most of them wait: for a batch to be computed, or a file to be fetched. What needs no work has
its own, so that it is answered beside all that waits."""
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
        bounds: of what is asked at once.
        on_used: told of a model that has just been used.
    """
    api = _Api(service, token, bounds or Bounds(), on_used)
    return Starlette(
        routes=[
            *(Route(f"{PREFIX}/{name}", _Path(api, name), methods=["POST"]) for name in REQUESTS),
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
    return JSONResponse(_description())


class _Api:
    """What all paths share: who may ask, how much, and how many at once."""

    def __init__(
        self, service: EncoderService, token: str | None, bounds: Bounds, on_used: _Used | None
    ) -> None:
        self._service = service
        self._token = token
        self._bounds = bounds
        self._on_used = on_used
        self._room = Room(bounds)
        self._places = {quick: Places(bounds.n_questions) for quick in _N_THREADS}
        self._pools = {
            quick: ThreadPoolExecutor(n, "contextlens-api") for quick, n in _N_THREADS.items()
        }

    async def answer(self, method: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one question, or say why not."""
        request = Request(scope, receive)
        refusal = self._refusal(request)
        if refusal is None:
            try:
                await self._work(method, request, send)
            except ClientDisconnect:
                pass
            except BodyError as exc:
                refusal = refused(Fault.of(exc), exc.status)
            except ContextlensError as exc:
                refusal = refused(Fault.of(exc))
        if refusal is not None:
            await refusal(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        """What is said at the door, to whoever may not ask, or asks in another format."""
        given = request.headers.get("authorization", "").encode()
        wanted = given if self._token is None else f"Bearer {self._token}".encode()
        if not hmac.compare_digest(given, wanted):
            return refused(_NO_TOKEN, 401)
        return None if request.headers.get("content-type") == MEDIA_TYPE else refused(_NO_KIND, 415)

    async def _work(self, method: str, request: Request, send: Send) -> None:
        quick = method in QUICK
        headers = request.headers
        places = self._places[quick]
        with places.taken(), self._room.share() as share:
            streams = STREAM_TYPE in headers.get("accept", "")
            name = headers.get(CALLER_HEADER, "")[:_LONGEST_NAME]
            question = Question(
                method,
                Caller(name or None, bulk=headers.get(BULK_HEADER) == "1"),
                tells=streams and _tells(method),
                streams=streams,
                share=share,
            )
            body = await read_body(request, self._bounds, places, share)
            work = Work(self._service, question, body, self._bounds)
            del body  # it is let go of once it is unpacked
            done = await work.answer(self._pools[quick], request.scope, request.receive, send)
        if done and not quick and self._on_used is not None and work.model is not None:
            self._on_used(work.model)


class _Path:
    """One path as an ASGI app, which gets a question before its body is read."""

    def __init__(self, api: _Api, method: str) -> None:
        self._api = api
        self._method = method

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._api.answer(self._method, scope, receive, send)


_NO_TOKEN = Fault("SettingsError", "The token is missing or wrong.")
_NO_KIND = Fault("RequestError", f"A body of the kind {MEDIA_TYPE} is needed.")
_DESCRIPTION = f"""Everything that a BERT-family encoder says about texts.

Each path is a method of `EncoderService` in `components/core/protocol.py`, where its arguments are
explained. A body of the kind `{MEDIA_TYPE}` is one safetensors file. Its tensor `value` holds, as
MessagePack, what the schema of the body describes; in it an array stands as the name of its own
tensor. Who accepts `{STREAM_TYPE}` gets long answers as a stream: lines of JSON, each an `Event`
(an empty one is a sign of life), and behind a line with `n_bytes` the answer's body of that length.
Closing the connection stops the work. Errors are a `Fault` in JSON; its `error` is a class in
`components/core/errors.py`.
"""
_STATUSES = {
    400: "The request does not fit, or its answer would be too large",
    401: "The token is missing or wrong",
    404: "No such model, or one that is not allowed",
    408: "The body did not come in time",
    409: "The model is another revision than the one that the caller expects",
    413: "The body is too large",
    415: "The body is of another kind",
    422: "The model is not supported, or its files are damaged",
    424: "The hub did not give the model's files",
    500: "The service failed",
    503: "Too much work waits: see Retry-After",
    507: "There is no room for the model",
}
_HEALTH = {
    "operationId": "healthz",
    "summary": "The service answers.",
    "security": [{}],
    "responses": {"200": {"description": "It does"}},
}


def _tells(method: str) -> bool:
    return "progress" in inspect.signature(getattr(EncoderService, method)).parameters


def _description() -> dict[str, Any]:
    """The API as OpenAPI describes it, from the types of its requests and answers."""
    kinds = (Fault, Event, *REQUESTS.values(), *ANSWERS.values())
    (fault, _, *schemas), components = msgspec.json.schema_components(
        kinds, schema_hook=_array_schema, ref_template="#/components/schemas/{name}"
    )
    requests, answers = schemas[: len(REQUESTS)], schemas[len(REQUESTS) :]
    faults = {
        str(status): {"description": words, "content": {"application/json": {"schema": fault}}}
        for status, words in _STATUSES.items()
    }
    paths: dict[str, Any] = {"/healthz": {"get": _HEALTH}}
    for method, request, answer in zip(REQUESTS, requests, answers, strict=True):
        words = inspect.getdoc(getattr(EncoderService, method)) or ""
        summary, _, rest = words.partition("\n")
        content = {MEDIA_TYPE: {"schema": answer}, STREAM_TYPE: {"schema": answer}}
        paths[f"{PREFIX}/{method}"] = {
            "post": {
                "operationId": method,
                "summary": summary,
                "description": rest.strip(),
                "requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": request}}},
                "responses": {"200": {"description": "The result", "content": content}, **faults},
            }
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "Contextlens", "version": "2", "description": _DESCRIPTION},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _array_schema(_: Any) -> dict[str, str]:
    return {"type": "string", "description": "The name of the tensor that holds the array"}
