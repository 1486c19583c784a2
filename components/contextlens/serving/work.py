"""One request in progress: it runs in a thread while its client gets progress, or leaves.

Short work is answered directly, with a status that tells its outcome. Longer work is answered in a
stream if the client accepts one.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import StreamingResponse
from starlette.types import Message, Send

from contextlens.core.caller import Caller, StoppedError, calling
from contextlens.core.calls import Method
from contextlens.core.errors import ContextlensError, JobError, WorkerError
from contextlens.core.protocol import EncoderService
from contextlens.core.remote import wire
from contextlens.core.remote.wire import CARD_BY, Event, Fault, check_answer
from contextlens.serving.bounds import OBJECTS, Place

__all__ = ["RunningRequest"]

_ALIVE_SECONDS = 1.0
_REPORT_SECONDS = 0.05
_MAX_EVENTS = 100  # the latest unsent ones
_PART_BYTES = 1_000_000
_MAX_NAME_LENGTH = 64
_GONE = "This was stopped, because nobody waits for it any more."
_log = logging.getLogger("contextlens")


class RunningRequest:
    """The answer to a request, computed in a thread while the client's connection is watched.

    Args:
        service: the service that answers.
        method: the method to call.
        request: the request, whose body holds the arguments.
        place: the request's place.
    """

    def __init__(
        self, service: EncoderService, method: Method, request: Request, place: Place
    ) -> None:
        headers = request.headers
        self._service, self._method, self._request = service, method, request
        self._place, self._bounds = place, place.bounds
        self._body = b""
        self._streams = wire.STREAM_TYPE in headers.get("accept", "")
        self._reports = self._streams and method.reports
        self._left = threading.Event()
        self._caller = Caller(
            headers.get(wire.CALLER_HEADER, "")[:_MAX_NAME_LENGTH] or None,
            bulk=headers.get(wire.BULK_HEADER) == "1",
            is_cancelled=self._left.is_set,
        )
        self._events: deque[Any] = deque(maxlen=_MAX_EVENTS)
        self.model: str | None = None

    async def answer(self, pool: Executor, send: Send) -> bool:
        """Run the method and send the outcome; stop once the client is gone or takes nothing.

        Returns:
            True if the work was done.

        Raises:
            ContextlensError: the error to send, if the work failed before anything was sent.
            HTTPException: the body cannot be read.
            ClientDisconnect: the client is gone, or takes nothing.
        """
        self._body = await self._place.body(self._request)
        work = asyncio.get_running_loop().run_in_executor(pool, self._run)
        gone = asyncio.ensure_future(_disconnected(self._request))
        try:
            await self._wait(work, gone)
            while not (self._streams or work.done() or gone.done()):
                await self._wait(work, gone)
            if gone.done():
                return False
            if not work.done() or self._events:
                response = StreamingResponse(self._lines(work, gone), media_type=wire.STREAM_TYPE)
            elif isinstance(answer := work.result(), bytes):
                length = {"content-length": str(len(answer))}
                response = StreamingResponse(_parts(answer), 200, length, wire.ANSWER_TYPE)
            else:
                raise answer
            timed = _timed(send, self._bounds.seconds)
            await response(self._request.scope, lambda: asyncio.shield(gone), timed)
            return work.done() and isinstance(work.result(), bytes)
        finally:
            self._left.set()
            gone.cancel()
            if not work.cancel():  # running work holds its place until it is over
                await asyncio.wait({work})

    async def _wait(self, work: asyncio.Future[Any], gone: asyncio.Future[Any]) -> None:
        seconds = _REPORT_SECONDS if self._reports else _ALIVE_SECONDS
        await asyncio.wait({work, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)

    async def _lines(
        self, work: asyncio.Future[bytes | ContextlensError], gone: asyncio.Future[Any]
    ) -> AsyncIterator[bytes]:
        """Lines that report progress, and the answer after the last one."""
        last = 0.0
        while not gone.done():
            is_over = work.done()
            events = [Event(self._events.popleft()) for _ in range(len(self._events))]
            if events or time.monotonic() >= last + _ALIVE_SECONDS:
                last = time.monotonic()
                yield b"".join(map(_line, events or [Event()]))
            if is_over:
                break
            await self._wait(work, gone)
        else:
            return
        answer = work.result()
        if isinstance(answer, bytes):
            yield _line(Event(n_bytes=len(answer)))
            async for part in _parts(answer):
                yield part
        else:
            yield _line(Event(fault=Fault.of(answer)))

    def _run(self) -> bytes | ContextlensError:
        """The packed answer or the error; runs in a thread."""
        try:
            with calling(self._caller):
                return self._packed()
        except ContextlensError as exc:
            return exc
        except StoppedError:
            return JobError(_GONE)
        except Exception:  # noqa: BLE001 - the client gets a sentence, the log gets the details
            reference = secrets.token_hex(4)
            _log.exception("%s failed, reference %s", self._method.name, reference)
            return WorkerError(
                f"The service that runs the models failed at this (reference {reference}). "
                "Whoever runs it finds the details in its log."
            )

    def _packed(self) -> bytes:
        """The packed answer; its memory is reserved before it is created."""
        name, place, n_held = self._method.name, self._place, OBJECTS * len(self._body)
        arguments = wire.unpack_request(name, self._body)
        self._body = b""
        self.model = arguments.get("model")
        card = getattr(self._service, CARD_BY[name])(self.model) if name in CARD_BY else None
        n_bytes = check_answer(name, arguments, card)
        place.hold(n_held + 2 * n_bytes, seconds=self._bounds.wait_seconds)
        if self._reports:
            arguments["progress"] = self._report
        packed = wire.pack_answer(getattr(self._service, name)(**arguments))
        place.hold(len(packed))
        return packed

    def _report(self, *event: Any) -> None:
        """Record progress; stop the work if its client is gone."""
        if self._left.is_set():
            raise JobError(_GONE)
        self._events.append(event[0] if len(event) == 1 else event)


async def _disconnected(request: Request) -> Message:
    while (message := await request.receive())["type"] != "http.disconnect":
        pass
    return message


async def _parts(answer: bytes) -> AsyncIterator[bytes]:
    """An answer in parts, so that the server notices after each whether the client has taken it."""
    for start in range(0, len(answer), _PART_BYTES):
        yield answer[start : start + _PART_BYTES]


def _line(event: Event) -> bytes:
    return msgspec.json.encode(event) + b"\n"


def _timed(send: Send, seconds: float) -> Send:
    """Wrap `send` with a time limit for each part.

    Raises:
        ClientDisconnect: a part was not taken within `seconds`.
    """

    async def send_part(message: Message) -> None:
        try:
            async with asyncio.timeout(seconds):
                await send(message)
        except TimeoutError:
            raise ClientDisconnect from None

    return send_part
