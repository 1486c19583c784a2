"""Several threads at work on one thing after the other; what they make comes in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

from components.core.threads import limit_threads

Given = TypeVar("Given")
Made = TypeVar("Made")

__all__ = ["N_STREAMS", "in_order"]

N_STREAMS = 2


def in_order(
    make: Callable[[Given], Made], given: Iterable[Given]
) -> Generator[tuple[Given, Made], None, None]:
    """What is made of each thing given, in their order; each thread has its part of the processors.

    One more is taken than there are threads, so that none of them waits. Whoever stops listening
    waits for those that are under way, and closes this.
    """
    under_way: deque[tuple[Given, Future[Made]]] = deque()
    streams = ThreadPoolExecutor(N_STREAMS, "contextlens-index", partial(limit_threads, N_STREAMS))
    try:
        for one in given:
            under_way.append((one, streams.submit(copy_context().run, make, one)))
            if len(under_way) > N_STREAMS:
                yield _next(under_way)
        while under_way:
            yield _next(under_way)
    finally:
        streams.shutdown(cancel_futures=True)


def _next(under_way: deque[tuple[Given, Future[Made]]]) -> tuple[Given, Made]:
    one, made = under_way.popleft()
    return one, made.result()
