"""One question under way: done in a thread, while its client may be told how far it is, or leave.

Short work is answered as it is, with the status that says what came of it. What takes longer than
a second, or tells how far it is, is answered in frames to who accepts them.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from components.core.caller import Caller, StoppedError, calling
from components.core.errors import ContextlensError, JobError, WorkerError
from components.core.protocol import EncoderService
from components.core.remote.faults import Fault, fault_of
from components.core.remote.frames import ALIVE, ERROR, PROGRESS, RESULT, frame, head
from components.core.remote.names import STREAM_TYPE
from components.core.remote.tensors import Buffer
from components.core.remote.wire import MEDIA_TYPE, pack, packed
from components.core.schema import ProgressEvent

__all__ = ["Answer", "Question", "refused"]

_ALIVE_SECONDS = 1.0
_TELL_SECONDS = 0.05
_PART_BYTES = 1_000_000
_GONE = "This was stopped, because nobody waits for it any more."
_log = logging.getLogger("contextlens")


@dataclass(frozen=True)
class Question:
    """What is asked, of whom, by whom.

    Attributes:
        method: of the service.
        arguments: by name.
        caller: who asks.
        tells: whether the method can tell how far it is.
        in_frames: whether the client takes frames.
    """

    method: str
    arguments: Mapping[str, Any]
    caller: Caller
    tells: bool
    in_frames: bool


def refused(fault: Fault, status: int | None = None) -> Response:
    """The answer that says what is wrong."""
    return Response(
        fault.body(),
        fault.status if status is None else status,
        headers=fault.headers(),
        media_type="application/json",
    )


class Answer(Response):
    """The answer to a question, worked out while it is sent."""

    def __init__(
        self,
        service: EncoderService,
        question: Question,
        pool: Executor,
        check: Callable[[], None],
        on_done: Callable[[bool], None],
        seconds: float,
    ) -> None:
        super().__init__()
        self._seconds = seconds
        self._service = service
        self._question = question
        self._pool = pool
        self._check = check
        self._on_done = on_done
        self._left = threading.Event()
        self._told_at = 0.0
        self._stage = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Work, and send what comes of it; stop as soon as the client is gone, or takes nothing."""
        self._loop = asyncio.get_running_loop()
        send = _timed(send, self._seconds)
        self._news: asyncio.Queue[bytes] = asyncio.Queue()
        work: asyncio.Future[Any] = self._loop.run_in_executor(self._pool, self._work)
        gone: asyncio.Future[Any] = asyncio.ensure_future(_until_gone(receive))
        done = False
        try:
            begun = await self._frames(work, gone, send) if self._question.in_frames else False
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                outcome = work.result()
                done = not isinstance(outcome, Fault)
                await _end(outcome, scope, receive, send, begun=begun)
        except ClientDisconnect:
            _log.info("A client that took no answer was let go of.")
        finally:
            self._left.set()
            gone.cancel()
            work.cancel()  # one that has not begun never does
            self._on_done(done)

    async def _frames(
        self, work: asyncio.Future[Any], gone: asyncio.Future[Any], send: Send
    ) -> bool:
        """Frames as long as the work goes on or there is news of it; whether there were any."""
        begun = False
        while not gone.done():
            news: asyncio.Future[Any] = asyncio.ensure_future(self._news.get())
            await asyncio.wait(
                [work, gone, news], timeout=_ALIVE_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            is_over = not news.done() and work.done()
            sent = news.result() if news.done() else frame(ALIVE)
            news.cancel()
            if is_over or gone.done():
                break
            if not begun:
                await send(_start(STREAM_TYPE))
            begun = True
            await send(_part(sent))
        return begun

    def _work(self) -> list[Buffer] | Fault:
        """What the service says, or what is wrong; in a thread."""
        question = self._question
        caller = Caller(question.caller.name, question.caller.bulk, self._left.is_set)
        tell = {"progress": self._tell} if question.tells and question.in_frames else {}
        try:
            with calling(caller):
                self._check()
                return packed(getattr(self._service, question.method)(**question.arguments, **tell))
        except ContextlensError as exc:
            return fault_of(exc)
        except StoppedError:
            return fault_of(JobError(_GONE))
        except Exception:  # noqa: BLE001 - the client is told in words, the log has the rest
            reference = secrets.token_hex(4)
            _log.exception("%s failed, reference %s", question.method, reference)
            return Fault(
                WorkerError.__name__,
                f"The service that runs the models failed at this (reference {reference}). "
                "Whoever runs it finds the details in its log.",
            )

    def _tell(self, *event: Any) -> None:
        """Send how far it is, not too often; ends the work where nobody waits for it."""
        if self._left.is_set():
            raise JobError(_GONE)
        now = time.monotonic()
        if not self._is_news(event) and now < self._told_at + _TELL_SECONDS:
            return
        self._told_at = now
        told = frame(PROGRESS, pack(event[0] if len(event) == 1 else event))
        self._loop.call_soon_threadsafe(self._news.put_nowait, told)

    def _is_news(self, event: tuple[Any, ...]) -> bool:
        """Whether this is said at once: a new stage, or the end."""
        if isinstance(event[0], ProgressEvent):
            is_new, self._stage = event[0].stage != self._stage, event[0].stage
            return is_new or event[0].done_bytes == event[0].total_bytes
        return bool(event[0] == event[-1])


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end(
    outcome: list[Buffer] | Fault, scope: Scope, receive: Receive, send: Send, *, begun: bool
) -> None:
    """The whole answer, or its last frame."""
    if isinstance(outcome, Fault):
        if begun:
            await send(_part(frame(ERROR, outcome.body()), more=False))
        else:
            await refused(outcome)(scope, receive, send)
        return
    n_bytes = sum(len(buffer) for buffer in outcome)
    if begun:
        await send(_part(head(RESULT, n_bytes)))
    else:
        await send(_start(MEDIA_TYPE, n_bytes))
    for part in _parts(outcome):
        await send(_part(part))
    await send(_part(b"", more=False))


def _parts(buffers: Iterable[Buffer]) -> Iterator[bytes]:
    """What lies in buffers, copied a part at a time: a server hears which the client has taken."""
    held: list[Buffer] = []
    room = _PART_BYTES
    for buffer in buffers:
        for start in range(0, len(buffer), _PART_BYTES):
            piece = memoryview(buffer)[start : start + _PART_BYTES]
            if len(piece) > room:
                yield b"".join(held)
                held, room = [], _PART_BYTES
            held.append(piece)
            room -= len(piece)
    if held:
        yield b"".join(held)


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
