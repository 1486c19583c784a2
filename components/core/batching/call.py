"""What one caller asks for, and how it waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, Protocol

from components.core import meters
from components.core.batching.ticket import Batch, Kind, Ticket
from components.core.caller import StoppedError, current

__all__ = ["Alone", "Call", "Work"]

_LOOK_SECONDS = 0.05
"""How often a caller who may go is asked whether it did."""


class Work(Kind, Protocol):
    """A kind of texts that knows how to run them."""

    def run(self, texts: Sequence[Any]) -> Sequence[Any]:
        """What comes of each text."""


class Alone:
    """The kind of what runs with nothing else; each is one of its own."""

    same_length = False
    overhead = 0

    def fits(self, n_texts: int, longest: int) -> bool:
        """See `Kind`."""
        del longest
        return n_texts <= 1

    def run(self, texts: Sequence[Any]) -> Sequence[Any]:
        """Never called: its caller runs it."""
        raise NotImplementedError


class Call(Ticket):
    """A ticket, and how its caller waits for it."""

    kind: Work

    def __init__(self, kind: Work, texts: Sequence[Any], lengths: Sequence[int]) -> None:
        caller = current()
        super().__init__(kind, lengths, name=caller.name, bulk=caller.bulk)
        self.texts = texts
        self.results: list[Any] = [None] * len(texts)
        self.error: BaseException | None = None
        self.over = threading.Event()
        self.batch: Batch | None = None  # the stream that its caller has
        self.has_stream = threading.Event()
        self._is_cancelled = caller.is_cancelled
        self._n_open = len(texts)
        self._added = time.monotonic()
        self._has_begun = False
        self._lock = threading.Lock()  # two batches may end at once

    def wait(self, event: threading.Event) -> None:
        """Wait for something.

        Raises:
            StoppedError: the caller is gone.
        """
        seconds = None if self._is_cancelled is None else _LOOK_SECONDS
        while not event.wait(seconds):
            self.check()

    def check(self) -> None:
        """Pass while the caller is there.

        Raises:
            StoppedError: it is gone.
        """
        if self._is_cancelled is not None and self._is_cancelled():
            raise StoppedError("Nobody waits for this any more.")

    def note_begin(self) -> None:
        """Note how long it waited, the first time."""
        if not self._has_begun:
            self._has_begun = True
            kind = "bulk" if self.bulk else "interactive"
            meters.QUEUE_SECONDS.labels(kind).observe(time.monotonic() - self._added)

    def give(self, batch: Batch) -> None:
        """Let the caller's thread have the stream of a batch."""
        self.batch = batch
        self.has_stream.set()

    def fill(self, places: Sequence[int], found: Sequence[Any]) -> None:
        """Take what came of some of the texts."""
        with self._lock:
            for place, result in zip(places, found, strict=True):
                self.results[place] = result
            self._n_open -= len(places)

    def fail(self, error: BaseException) -> None:
        """Take an error, which the caller gets; what waits is withdrawn by the caller."""
        with self._lock:
            self.error = self.error or error

    def tell(self) -> None:
        """Let the caller go on, where all has come or it failed."""
        with self._lock:
            if self.error is not None or not self._n_open:
                self.over.set()
