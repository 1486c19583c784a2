"""What the API's description (OpenAPI) says of each path, taken from the contract itself."""

from __future__ import annotations

import inspect
from typing import Any

from components.core.protocol import EncoderService
from components.core.remote.names import METHODS, PREFIX, STREAM_TYPE
from components.core.remote.wire import MEDIA_TYPE

__all__ = ["document"]

_DESCRIPTION = f"""Everything that a BERT-family encoder says about texts.

Each path is a method of `EncoderService` in `components/core/protocol.py`, where its arguments are
explained. A body of the kind `{MEDIA_TYPE}` is one safetensors file; its metadata has `contextlens`
(the version, "1") and `value`: JSON in which text, numbers and lists stand for themselves, and an
object with one key stands for what JSON has not:

- `{{"tuple": [...]}}`, `{{"mapping": [[key, value], ...]}}`
- `{{"array": "0"}}`: the tensor of that name
- `{{"Encoding": [...]}}`: the class of `components/core/schema` with its fields in order

The request is a mapping of arguments by name. Who accepts `{STREAM_TYPE}` gets long answers in
frames: one letter, the length as eight bytes (little-endian), and a body. The letters are `P`
(how far it is: `ProgressEvent`, or a pair of numbers), `A` (a sign of life), `R` (the result) and
`E` (an error, as JSON). Closing the connection stops the work. Errors are JSON: `error` (the class
in `components/core/errors.py`), `message` (for people) and `retry_seconds`.
"""
_BINARY = {"type": "string", "format": "binary"}
_FAULT = {
    "type": "object",
    "properties": {
        "error": {"type": "string"},
        "message": {"type": "string"},
        "retry_seconds": {"type": ["number", "null"]},
    },
    "required": ["error", "message"],
}
_STATUSES = {
    400: "The request does not fit",
    401: "The token is missing or wrong",
    404: "No such model, or one that is not allowed",
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
    "summary": "Whether the service answers",
    "security": [{}],
    "responses": {"200": {"description": "It does"}},
}


def document() -> dict[str, Any]:
    """The whole description."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Contextlens", "version": "1", "description": _DESCRIPTION},
        "paths": {
            **{f"{PREFIX}/{method}": {"post": _path(method)} for method in METHODS},
            "/healthz": {"get": _HEALTH},
        },
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}, {}],
    }


def _path(method: str) -> dict[str, Any]:
    """One method of the contract."""
    summary, _, rest = (inspect.getdoc(getattr(EncoderService, method)) or "").partition("\n")
    return {
        "operationId": method,
        "summary": summary,
        "description": rest.strip(),
        "requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": _BINARY}}},
        "responses": {"200": _result(method), **_faults()},
        "x-arguments": _arguments(method),
    }


def _result(method: str) -> dict[str, Any]:
    returns = inspect.signature(getattr(EncoderService, method)).return_annotation
    content = {kind: {"schema": _BINARY} for kind in (MEDIA_TYPE, STREAM_TYPE)}
    return {"description": f"The result: {returns}", "content": content}


def _faults() -> dict[str, Any]:
    content = {"application/json": {"schema": _FAULT}}
    return {
        str(status): {"description": words, "content": content}
        for status, words in _STATUSES.items()
    }


def _arguments(method: str) -> list[dict[str, Any]]:
    """The arguments with the types that the contract states."""
    parameters = inspect.signature(getattr(EncoderService, method)).parameters
    return [
        {
            "name": name,
            "type": str(parameter.annotation),
            "required": parameter.default is inspect.Parameter.empty,
        }
        for name, parameter in parameters.items()
        if name not in {"self", "progress"}
    ]
