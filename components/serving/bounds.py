"""How many questions may be under way, how much memory they share, and how slow a body may be.

The memory of one process for all that is asked at once is at most `n_questions` times `free_bytes`
and `shared_bytes` beside, whoever asks for what: places are taken before a body is read, and room
for an answer before it is made.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from starlette.requests import Request

from components.core.errors import BusyError, RequestError

__all__ = ["BodyError", "Bounds", "Places", "Room", "Share", "read_body"]

_UNDISTURBED_SECONDS = 0.2
"""In which a body may come in any case; who takes longer gives way where all places are taken."""


@dataclass(frozen=True)
class Bounds:
    """What the questions to one process may take.

    Attributes:
        body_bytes: of one body; only token IDs and vectors need more than some kilobytes.
        n_questions: under way at once, from before their bodies are read until their answers are
            taken; more are told to come again. As many again that need no work.
        free_bytes: that each of them may hold in any case.
        shared_bytes: that all of them hold beside; an answer counts twice while it is packed.
        wait_seconds: for room for an answer, before one is told to come again.
        seconds: in which a body must be there, and in which each megabyte of the answer must be
            taken: else one who is slow would hold for ever what others wait for.
    """

    body_bytes: int = 16_000_000
    n_questions: int = 128
    free_bytes: int = 4_000_000
    shared_bytes: int = 2_000_000_000
    wait_seconds: float = 10.0
    seconds: float = 60.0


class BodyError(RequestError):
    """A body that is not taken, with the HTTP status that says most of why."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Places:
    """So many questions at once, in one event loop."""

    def __init__(self, n: int) -> None:
        self._n_free = n
        self._bodies: dict[asyncio.Timeout, float] = {}

    @contextmanager
    def taken(self) -> Iterator[None]:
        """One of them; where none is free, that of who takes longest to send a body.

        Raises:
            BusyError: none can be had.
        """
        now = asyncio.get_running_loop().time()
        slowest, since = next(iter(self._bodies.items()), (None, now))
        if self._n_free <= 0:
            if slowest is None or now < since + _UNDISTURBED_SECONDS:
                raise _busy()
            del self._bodies[slowest]
            slowest.reschedule(now)
        self._n_free -= 1
        try:
            yield
        finally:
            self._n_free += 1

    @asynccontextmanager
    async def body(self, seconds: float) -> AsyncIterator[None]:
        """Time in which a body has to come.

        Raises:
            TimeoutError: it did not, or another question needs the place.
        """
        async with asyncio.timeout(seconds) as deadline:
            self._bodies[deadline] = asyncio.get_running_loop().time()
            try:
                yield
            finally:
                self._bodies.pop(deadline, None)


class Room:
    """Memory that all questions share. Thread-safe."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.n_free = bounds.shared_bytes
        self.changed = threading.Condition()

    @contextmanager
    def share(self) -> Iterator[Share]:
        """What one question holds of it, until it is over."""
        share = Share(self)
        try:
            yield share
        finally:
            share.hold(0)


class Share:
    """What one question holds of the room."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._held = 0

    def hold(self, n_bytes: int, *, seconds: float = 0.0) -> None:
        """Hold so much from now on, in place of what was held; wait for it some seconds.

        Raises:
            BusyError: there is not so much.
        """
        room = self._room
        wanted = min(max(0, n_bytes - room.bounds.free_bytes), room.bounds.shared_bytes)
        with room.changed:
            if not room.changed.wait_for(lambda: wanted - self._held <= room.n_free, seconds):
                raise _busy()
            room.n_free -= wanted - self._held
            self._held = wanted
            room.changed.notify_all()


async def read_body(request: Request, bounds: Bounds, places: Places, share: Share) -> bytes:
    """A body as it comes in, no more of it than the bound.

    Raises:
        BusyError: others have too much under way.
        BodyError: it is larger, or too slow.
    """
    held = bytearray()
    too_large = BodyError(
        413,
        f"What is asked has more than the {bounds.body_bytes / 1e6:,.0f} MB that are taken at "
        "once. Ask in several parts.",
    )
    if int(request.headers.get("content-length", 0)) > bounds.body_bytes:
        raise too_large
    try:
        async with places.body(bounds.seconds):
            async for chunk in request.stream():
                if len(held) + len(chunk) > bounds.body_bytes:
                    raise too_large
                share.hold(len(held) + len(chunk))
                held += chunk
    except TimeoutError:
        raise BodyError(
            408,
            "What is asked was not there in time: it has "
            f"{bounds.seconds:g} seconds, and less where many others ask. Ask in several parts, or "
            "over a faster line.",
        ) from None
    return bytes(held)


def _busy() -> BusyError:
    found = BusyError(
        "The service that runs the models has more to do than it can. Try again in a moment."
    )
    found.retry_seconds = 1.0
    return found
