"""One question under way: done in a thread, while its client may be told how far it is, or leave.

Short work is answered as it is, with the status that says what came of it. What takes longer than
a second, or tells how far it is, is answered in a stream to who accepts one.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections import deque
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from components.core.caller import Caller, StoppedError, calling
from components.core.errors import ContextlensError, JobError, WorkerError
from components.core.protocol import EncoderService
from components.core.remote.sizes import CARD_BY, check_answer
from components.core.remote.wire import (
    MEDIA_TYPE,
    STREAM_TYPE,
    Event,
    Fault,
    pack_answer,
    unpack_request,
)
from components.serving.bounds import Bounds, Share

__all__ = ["Question", "Work", "refused"]

_ALIVE_SECONDS = 1.0
_TELL_SECONDS = 0.05
_MOST_NEWS = 100  # of what is not told yet, the latest
_PART_BYTES = 1_000_000
_GONE = "This was stopped, because nobody waits for it any more."
_log = logging.getLogger("contextlens")
_one_at_a_time = threading.Lock()
"""Held while a body is unpacked: what becomes of a bad one is gone before the next."""


@dataclass(frozen=True)
class Question:
    """What is asked, by whom.

    Attributes:
        method: of the service.
        caller: who asks.
        tells: True if the method can tell how far it is, and the client listens.
        streams: True if the client takes a stream.
        share: of the room for all.
    """

    method: str
    caller: Caller
    tells: bool
    streams: bool
    share: Share


def refused(fault: Fault, status: int | None = None) -> Response:
    """The answer that says what is wrong."""
    return Response(
        fault.body(),
        fault.status if status is None else status,
        headers=fault.headers(),
        media_type="application/json",
    )


class Work:
    """The answer to a question, worked out while it is sent.

    Args:
        service: that answers.
        question: that is asked.
        body: its arguments, packed.
        bounds: of what it may take.
    """

    def __init__(
        self, service: EncoderService, question: Question, body: bytes, bounds: Bounds
    ) -> None:
        self._service = service
        self._question = question
        self._body = body
        self._bounds = bounds
        self._left = threading.Event()
        self._news: deque[Any] = deque(maxlen=_MOST_NEWS)
        self.model: str | None = None

    async def answer(self, pool: Executor, scope: Scope, receive: Receive, send: Send) -> bool:
        """Work, and send what comes of it; stop as soon as the client is gone, or takes nothing.

        Returns:
            True if the work was done.
        """
        send = _timed(send, self._bounds.seconds)
        loop = asyncio.get_running_loop()
        work: asyncio.Future[bytes | Fault] = loop.run_in_executor(pool, self._done)
        gone: asyncio.Future[None] = asyncio.ensure_future(_until_gone(receive))
        try:
            begun = await self._tell_on(work, gone, send)
            if not work.done():
                return False
            outcome = work.result()
            await _end(outcome, scope, receive, send, begun=begun)
            return not isinstance(outcome, Fault)
        except ClientDisconnect:
            _log.info("A client that took no answer was let go of.")
            return False
        finally:
            self._left.set()
            gone.cancel()
            if not work.cancel():  # what has begun holds its place until it is over
                await asyncio.wait({work})

    async def _tell_on(
        self, work: asyncio.Future[Any], gone: asyncio.Future[None], send: Send
    ) -> bool:
        """Send how far the work is, until it or the client is gone; True if there was anything."""
        begun, last = False, time.monotonic()
        pause = _TELL_SECONDS if self._question.tells else _ALIVE_SECONDS
        while not gone.done():
            await asyncio.wait({work, gone}, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            news = [self._news.popleft() for _ in range(len(self._news))]
            if not news and not work.done() and time.monotonic() >= last + _ALIVE_SECONDS:
                news = [None]
            if self._question.streams and news:
                if not begun:
                    await send(_start(STREAM_TYPE))
                begun, last = True, time.monotonic()
                await send(_part(b"".join(_line(Event(progress=each)) for each in news)))
            if work.done():
                break
        return begun

    def _done(self) -> bytes | Fault:
        """What the service says, or what is wrong; in a thread."""
        question = self._question
        caller = Caller(question.caller.name, question.caller.bulk, self._left.is_set)
        try:
            with calling(caller):
                return self._answered()
        except ContextlensError as exc:
            return Fault.of(exc)
        except StoppedError:
            return Fault.of(JobError(_GONE))
        except Exception:  # noqa: BLE001 - the client is told in words, the log has the rest
            reference = secrets.token_hex(4)
            _log.exception("%s failed, reference %s", question.method, reference)
            return Fault(
                WorkerError.__name__,
                f"The service that runs the models failed at this (reference {reference}). "
                "Whoever runs it finds the details in its log.",
            )

    def _answered(self) -> bytes:
        """The packed answer; there is room for it before it is made."""
        method, share, n_given = self._question.method, self._question.share, len(self._body)
        with _one_at_a_time:
            arguments = unpack_request(method, self._body)
        self._body = b""
        self.model = arguments.get("model")
        load = CARD_BY.get(method)
        card = None if load is None else getattr(self._service, load)(self.model)
        n_bytes = check_answer(method, arguments, card)
        share.hold(n_given + 2 * n_bytes, seconds=self._bounds.wait_seconds)
        tell = {"progress": self._tell} if self._question.tells else {}
        packed = pack_answer(getattr(self._service, method)(**arguments, **tell))
        share.hold(len(packed))
        return packed

    def _tell(self, *event: Any) -> None:
        """Note how far it is; ends the work where nobody waits for it."""
        if self._left.is_set():
            raise JobError(_GONE)
        self._news.append(event[0] if len(event) == 1 else event)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end(
    outcome: bytes | Fault, scope: Scope, receive: Receive, send: Send, *, begun: bool
) -> None:
    """The whole answer, or the end of the stream."""
    if isinstance(outcome, Fault):
        if begun:
            await send(_part(_line(Event(fault=outcome)), more=False))
        else:
            await refused(outcome)(scope, receive, send)
        return
    if begun:
        await send(_part(_line(Event(n_bytes=len(outcome)))))
    else:
        await send(_start(MEDIA_TYPE, len(outcome)))
    view = memoryview(outcome)
    for start in range(0, len(outcome), _PART_BYTES):  # a server hears which the client has taken
        await send(_part(bytes(view[start : start + _PART_BYTES])))
    await send(_part(b"", more=False))


def _line(event: Event) -> bytes:
    return msgspec.json.encode(event) + b"\n"


def _timed(send: Send, seconds: float) -> Send:
    """Send as long as the client takes it.

    Raises:
        ClientDisconnect: a part was not taken in so many seconds.
    """

    async def send_part(message: Message) -> None:
        try:
            async with asyncio.timeout(seconds):
                await send(message)
        except TimeoutError:
            raise ClientDisconnect from None

    return send_part


def _start(kind: str, n_bytes: int | None = None) -> dict[str, Any]:
    headers = [(b"content-type", kind.encode()), (b"cache-control", b"no-store")]
    if n_bytes is not None:
        headers.append((b"content-length", str(n_bytes).encode()))
    return {"type": "http.response.start", "status": 200, "headers": headers}


def _part(body: bytes, *, more: bool = True) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}
