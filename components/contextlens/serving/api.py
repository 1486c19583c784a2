"""The HTTP API around any `EncoderService`: one path for each method, described by OpenAPI.

A call is a POST whose body is a request, packed as `core.remote.wire` specifies; the response is
the packed result. Any ASGI server can run it.
"""

from __future__ import annotations

import hmac
import inspect
import logging
import math
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from contextlens.core import errors
from contextlens.core.calls import Method
from contextlens.core.errors import ContextlensError, RequestError
from contextlens.core.protocol import METHODS, EncoderService
from contextlens.core.remote import wire
from contextlens.core.remote.wire import Event, Fault
from contextlens.core.service import LocalService
from contextlens.core.settings import Settings
from contextlens.serving.bounds import Bounds, Places
from contextlens.serving.work import RunningRequest

__all__ = ["create_app", "from_env"]

_N_THREADS = {False: 64, True: 2}
"""The number of threads, by `Method.quick`. Most of them wait for a batch or a download. Quick
requests have threads of their own, so that the others do not delay them."""
_STATUS: Mapping[type[ContextlensError], int] = {
    errors.BusyError: 503,
    errors.ServiceAwayError: 503,
    errors.UnknownModelError: 404,
    errors.UnsupportedModelError: 422,
    errors.CheckpointError: 422,
    errors.RevisionError: 409,
    errors.FetchError: 424,  # not 502 or 504, which proxies use
    errors.ModelError: 507,
    errors.InputError: 400,
    ContextlensError: 500,
}
"""The HTTP status of an error: that of the first class that matches."""
_OnUsed = Callable[[str], None]
_log = logging.getLogger("contextlens")


def create_app(
    service: EncoderService,
    *,
    token: str | None = None,
    bounds: Bounds | None = None,
    on_used: _OnUsed | None = None,
) -> Starlette:
    """The API as an ASGI app.

    Args:
        service: the service that answers.
        token: the token that every request must carry; None for none.
        bounds: the limits on concurrent requests.
        on_used: called with a model that has just been used.
    """
    places = {quick: Places(bounds or Bounds()) for quick in _N_THREADS}
    pools = {quick: ThreadPoolExecutor(n, "contextlens-api") for quick, n in _N_THREADS.items()}
    paths = [
        _Endpoint(service, method, places[method.quick], pools[method.quick], token, on_used)
        for method in METHODS.values()
    ]
    return Starlette(
        routes=[
            *(Route(f"{wire.PREFIX}/{path.method.name}", path, methods=["POST"]) for path in paths),
            Route(f"{wire.PREFIX}/openapi.json", JSONResponse(_description()), methods=["GET"]),
            Route("/healthz", JSONResponse({"status": "ok"}), methods=["GET"]),
        ],
        exception_handlers={ContextlensError: _refusal, HTTPException: _refusal},
    )


def from_env() -> Starlette:
    """The API around the models of this process, configured by the environment.

    For an ASGI server: `uvicorn --factory contextlens.serving.api:from_env`. A client with the
    token is trusted to control its visitors' access; without a token, only offered models are
    loaded.
    """
    settings = Settings.from_env()
    token = settings.service_token
    return create_app(LocalService(settings, offered_only=token is None), token=token)


@dataclass(frozen=True)
class _Endpoint:
    """One path as an ASGI app, which sees a request before its body is read."""

    service: EncoderService
    method: Method
    places: Places
    pool: Executor
    token: str | None
    on_used: _OnUsed | None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        given = request.headers.get("authorization", "").encode()
        wanted = given if self.token is None else f"Bearer {self.token}".encode()
        if not hmac.compare_digest(given, wanted):
            raise HTTPException(401, "The token is missing or wrong.")
        if request.headers.get("content-type") != wire.REQUEST_TYPE:
            raise HTTPException(415, f"A body of the kind {wire.REQUEST_TYPE} is needed.")
        try:
            with self.places.taken() as place:
                work = RunningRequest(self.service, self.method, request, place)
                done = await work.answer(self.pool, send)
        except ClientDisconnect:
            _log.info("A client that sent no request, or took no answer, was let go of.")
            return
        if done and not self.method.quick and self.on_used is not None and work.model is not None:
            self.on_used(work.model)


async def _refusal(_: Request, error: Any) -> Response:
    """The response that describes an error."""
    if isinstance(error, HTTPException):
        status, fault = error.status_code, Fault(RequestError.__name__, error.detail)
    else:
        status = next(code for kind, code in _STATUS.items() if isinstance(error, kind))
        fault = Fault.of(error)
    wait = fault.retry_seconds
    headers = None if wait is None else {"retry-after": str(max(1, math.ceil(wait)))}
    return Response(msgspec.json.encode(fault), status, headers, "application/json")


_DESCRIPTION = f"""Everything that a BERT-family encoder says about texts.

Each path is a method of `EncoderService`, in `contextlens.core.protocol`, where its arguments are
explained. The body of an answer is one safetensors file. Its tensor `value` holds, as MessagePack,
what the schema describes; in it an array stands as the name of its own tensor. Clients that accept
`{wire.STREAM_TYPE}` get long answers as a stream: lines of JSON, each an
`Event` (an empty one is a sign of life), and behind a line with `n_bytes` the answer's body of that
length. Closing the connection stops the work. Errors are a `Fault` in JSON; its `error` is a class
in `contextlens.core.errors`.
"""
_HEALTH = {
    "operationId": "healthz",
    "summary": "The service answers.",
    "security": [{}],
    "responses": {"200": {"description": "It does"}},
}


def _description() -> dict[str, Any]:
    """The OpenAPI description, from the types of the requests and answers."""
    kinds = (Fault, Event, *wire.REQUESTS.values(), *wire.ANSWERS.values())
    (fault, _, *schemas), components = msgspec.json.schema_components(
        kinds, schema_hook=_array_schema, ref_template="#/components/schemas/{name}"
    )
    requests, answers = schemas[: len(wire.REQUESTS)], schemas[len(wire.REQUESTS) :]
    paths: dict[str, Any] = {"/healthz": {"get": _HEALTH}}
    for method, request, answer in zip(METHODS, requests, answers, strict=True):
        words = inspect.getdoc(getattr(EncoderService, method)) or ""
        summary, _, description = words.partition("\n")
        paths[f"{wire.PREFIX}/{method}"] = {
            "post": {
                "operationId": method,
                "summary": summary,
                "description": description.strip(),
                "requestBody": {
                    "required": True,
                    "content": {wire.REQUEST_TYPE: {"schema": request}},
                },
                "responses": {
                    "200": {
                        "description": "The result",
                        "content": {
                            kind: {"schema": answer}
                            for kind in (wire.ANSWER_TYPE, wire.STREAM_TYPE)
                        },
                    },
                    "default": {
                        "description": "Why there is none; with Retry-After where it can be had",
                        "content": {"application/json": {"schema": fault}},
                    },
                },
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
