"""An ASGI app that answers as a script says, line by line: what goes wrong on a network."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from contextlens.core.remote.wire import ANSWER_TYPE, pack_answer

__all__ = ["Asked", "Line", "Scripted", "answers", "cut_off", "silent", "status"]

Line = Callable[["Asked", Callable[[Any], Awaitable[None]]], Awaitable[None]]


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: bytes


def status(
    code: int, body: bytes = b"", kind: str = "text/plain", headers: Mapping[str, str] | None = None
) -> Line:
    """A whole answer."""
    own = {"content-type": kind, "content-length": str(len(body)), **(headers or {})}

    async def line(_: Asked, send: Any) -> None:
        await send(_start(code, own))
        await send({"type": "http.response.body", "body": body})

    return line


def answers(value: Any) -> Line:
    """A result."""
    return status(200, pack_answer(value), ANSWER_TYPE)


def cut_off(kind: str, *parts: bytes) -> Line:
    """An answer that ends in its middle."""

    async def line(_: Asked, send: Any) -> None:
        await send(_start(200, {"content-type": kind, "content-length": "1000000"}))
        for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        raise ConnectionResetError

    return line


async def silent(_: Asked, __: Any) -> None:
    """No answer at all, until the client goes."""
    await asyncio.sleep(60)


def _start(code: int, headers: Mapping[str, str]) -> dict[str, Any]:
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http.response.start", "status": code, "headers": pairs}


@dataclass
class Scripted:
    """The app; its last line is said again and again."""

    lines: Iterable[Line]
    asked: list[Asked] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        asked = Asked(scope["path"], headers, await _body(receive))
        lines = list(self.lines)
        line = lines[min(len(self.asked), len(lines) - 1)]
        self.asked.append(asked)
        await line(asked, send)


async def _body(receive: Any) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body
