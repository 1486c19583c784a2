"""How many requests may be under way, how much memory they share, and how slow a body may be.

The memory of one process for all that is asked at once is at most `n_requests` times `free_bytes`
and `shared_bytes` beside: places are taken before a body is read, and memory for an answer before
it is made.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request

from components.core.errors import BusyError

__all__ = ["OBJECTS", "Bounds", "Place", "Places"]

_UNDISTURBED_SECONDS = 0.2
"""In which a body may come in any case; a slower one gives way where all places are taken."""
OBJECTS = 4
"""Times its own size that a body takes at most once it is unpacked."""
_BUSY = "The service that runs the models has more to do than it can. Try again in a moment."


@dataclass(frozen=True)
class Bounds:
    """What the requests to one process may take.

    Attributes:
        body_bytes: of one body.
        n_requests: under way at once, from before their bodies are read until their answers are
            taken; more are told to come again. As many again that need no work.
        free_bytes: that each of them may hold in any case.
        shared_bytes: that all of them hold beside; an answer counts twice while it is packed.
        wait_seconds: for memory for an answer, before one is told to come again.
        seconds: in which a body must be there, and in which each megabyte of the answer must be
            taken: else a slow client would hold for ever what others wait for.
    """

    body_bytes: int = 8_000_000
    n_requests: int = 128
    free_bytes: int = 4_000_000
    shared_bytes: int = 2_000_000_000
    wait_seconds: float = 10.0
    seconds: float = 60.0


class Places:
    """So many requests at once, in one event loop, and the memory that they share."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.n_free_bytes = bounds.shared_bytes
        self.changed = threading.Condition()
        self.reading: dict[asyncio.Timeout, float] = {}
        self._n_free = bounds.n_requests

    @contextmanager
    def taken(self) -> Iterator[Place]:
        """One of them; where none is free, that of the request whose body takes longest to come.

        Raises:
            BusyError: none can be had.
        """
        if self._n_free <= 0:
            slowest, since = next(iter(self.reading.items()), (None, math.inf))
            if slowest is None or time.monotonic() < since + _UNDISTURBED_SECONDS:
                raise BusyError(_BUSY, 1.0)
            del self.reading[slowest]
            slowest.reschedule(0.0)  # at once
        self._n_free -= 1
        place = Place(self)
        try:
            yield place
        finally:
            place.hold(0)
            self._n_free += 1


class Place:
    """One of the places, and the memory that its request holds."""

    def __init__(self, places: Places) -> None:
        self.bounds = places.bounds
        self._places = places
        self._held = 0

    def hold(self, n_bytes: int, *, seconds: float = 0.0) -> None:
        """Hold so much from now on, in place of what was held; wait for it some seconds.

        Raises:
            BusyError: there is not so much.
        """
        places, bounds = self._places, self.bounds
        wanted = min(max(0, n_bytes - bounds.free_bytes), bounds.shared_bytes)
        with places.changed:
            if not places.changed.wait_for(
                lambda: wanted - self._held <= places.n_free_bytes, seconds
            ):
                raise BusyError(_BUSY, 1.0)
            places.n_free_bytes -= wanted - self._held
            self._held = wanted
            places.changed.notify_all()

    async def body(self, request: Request) -> bytes:
        """A body as it comes in, no more of it than the bound.

        Raises:
            BusyError: others have too much under way.
            HTTPException: it is larger, or too slow.
        """
        bounds, reading, body = self.bounds, self._places.reading, bytearray()
        try:
            async with asyncio.timeout(bounds.seconds) as deadline:
                reading[deadline] = time.monotonic()
                async for chunk in request.stream():
                    if len(body) + len(chunk) > bounds.body_bytes:
                        raise HTTPException(
                            413,
                            f"A request has more than the {bounds.body_bytes / 1e6:,.0f} MB that "
                            "are taken at once. Ask in several parts.",
                        )
                    self.hold(OBJECTS * (len(body) + len(chunk)))
                    body += chunk
        except TimeoutError:
            raise HTTPException(
                408,
                f"A request was not there in time: it has {bounds.seconds:g} seconds, and less "
                "where many others ask. Ask in several parts, or over a faster line.",
            ) from None
        finally:
            reading.pop(deadline, None)
        return bytes(body)
