"""Limits on concurrent requests: their number, the memory that they share, and slow bodies.

Quick requests, which need no work, and all others have separate places and memory. Either kind
holds at most `n_requests` times `free_bytes`, plus `shared_bytes`: a request gets its place before
its body is read, and memory for an answer before the answer is created.
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

from contextlens.core.errors import BusyError

__all__ = ["OBJECTS", "Bounds", "Place", "Places"]

_UNDISTURBED_SECONDS = 0.2
"""The time that every body gets; after it, a slow body loses its place if none is free."""
OBJECTS = 4
"""The most memory that an unpacked body takes, as a multiple of its size."""
_BUSY = "The service that runs the models has more to do than it can. Try again in a moment."


@dataclass(frozen=True)
class Bounds:
    """The limits for one kind of request to a process.

    Attributes:
        body_bytes: the largest size of one body.
        n_requests: the number of concurrent requests, from before their bodies are read until their
            answers are taken; further ones are told to try again.
        free_bytes: the memory that each request may always hold.
        shared_bytes: additional memory for all requests; an answer counts twice while it is packed.
        wait_seconds: how long to wait for an answer's memory before a request is told to try again.
        seconds: the time in which a body must arrive, and in which each megabyte of the answer must
            be taken; otherwise a slow client would block the others for ever.
    """

    body_bytes: int = 8_000_000
    n_requests: int = 128
    free_bytes: int = 4_000_000
    shared_bytes: int = 2_000_000_000
    wait_seconds: float = 10.0
    seconds: float = 60.0


class Places:
    """The places for concurrent requests in one event loop, and the memory that they share."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.n_free_bytes = bounds.shared_bytes
        self.changed = threading.Condition()
        self.reading: dict[asyncio.Timeout, float] = {}
        self._n_free = bounds.n_requests

    @contextmanager
    def taken(self) -> Iterator[Place]:
        """Hold a free place, or else that of the request whose body has been arriving longest.

        Raises:
            BusyError: no place can be had.
        """
        if self._n_free <= 0:
            slowest, since = next(iter(self.reading.items()), (None, math.inf))
            if slowest is None or time.monotonic() < since + _UNDISTURBED_SECONDS:
                raise BusyError(_BUSY, 1.0)
            del self.reading[slowest]
            slowest.reschedule(0.0)  # immediately
        self._n_free -= 1
        place = Place(self)
        try:
            yield place
        finally:
            place.hold(0)
            self._n_free += 1


class Place:
    """The place of one request, and the memory that it holds."""

    def __init__(self, places: Places) -> None:
        self.bounds = places.bounds
        self._places = places
        self._held = 0

    def hold(self, n_bytes: int, *, seconds: float = 0.0) -> None:
        """Change the memory held to `n_bytes`; wait for up to `seconds` until it is free.

        Raises:
            BusyError: not enough memory is free.
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
        """Read a body as it arrives, up to the size limit.

        Raises:
            BusyError: other requests hold the memory that the body needs.
            HTTPException: the body is too large or too slow.
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
