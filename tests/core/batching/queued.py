"""Kinds of texts, run without a model, for tests of queue and streams; who asks, and who waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from contextlens.core.batching import Processors, Streams
from contextlens.core.caller import Caller, calling

__all__ = ["SECONDS", "Plain", "Recorded", "clients", "streams_of", "wait_until_queued"]

SECONDS = 60


@dataclass(frozen=True)
class Plain:
    """A kind by its name, with a budget of padded tokens."""

    name: str = "plain"
    same_length: bool = False
    budget: int = 60
    overhead: int = 8

    def fits(self, n_texts: int, longest: int) -> bool:
        return n_texts <= 1 or n_texts * longest <= self.budget


@dataclass(frozen=True)
class Recorded(Plain):
    """The same, which runs: each text becomes what `work` says of all that run together."""

    work: Callable[[Sequence[Any]], Sequence[Any]] = field(default=list, compare=False)

    def run(self, texts: Sequence[Any]) -> Sequence[Any]:
        return self.work(texts)


def wait_until_queued(streams: Streams, n: int) -> None:
    """Until so many texts wait."""
    waited = threading.Event()
    for _ in range(SECONDS * 1000):
        with streams._lock:
            if streams._queue.n_waiting >= n:
                return
        waited.wait(0.001)
    raise AssertionError(f"{streams._queue.n_waiting} texts wait, not {n}")


def streams_of(n: int = 2, *, most_texts: int = 1000, share: Callable[[int], None] = id) -> Streams:  # type: ignore[assignment]
    return Streams(Processors(n, share, nullcontext), most_texts=most_texts)


@contextmanager
def clients(n: int) -> Iterator[Callable[..., Future[Any]]]:
    with ThreadPoolExecutor(n) as pool:

        def ask(streams: Streams, kind: Recorded, texts: Sequence[Any], **caller: Any) -> Any:
            def run() -> Any:
                with calling(Caller(**caller)):
                    return streams.run(kind, texts, [len(str(text)) for text in texts])

            return pool.submit(run)

        yield ask
