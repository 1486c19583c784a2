"""The threads that run batches, and how a caller waits for its own.

Batches begin as soon as there is a stream for them: a lone caller waits for nobody, and whoever
comes while a batch runs is in the next one. All callers together have one set of processors. A
batch that nobody comes beside or after computes with all of them; else two run side by side with
half of them each, which is quicker than one after the other with all. What cannot be batched runs
in its caller's own thread, which takes a stream for it and gives it up between its steps.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from components.core import meters
from components.core.batching.call import Alone, Call, Work
from components.core.batching.queue import Queue
from components.core.batching.ticket import Batch
from components.core.caller import StoppedError
from components.core.errors import BusyError
from components.core.threads import give_way

__all__ = ["Processors", "Streams"]

_CROWD_SECONDS = 1.0
"""How long several callers count as there after the last of their batches."""


@dataclass(frozen=True)
class Processors:
    """How many batches run at once, and how each gets its part of the processors.

    Attributes:
        n_streams: batches at once.
        share: has the calling thread compute with one of so many parts of the processors.
        crowd: what is around all batches while several callers' follow each other, and a moment
            longer.
    """

    n_streams: int
    share: Callable[[int], None]
    crowd: Callable[[], AbstractContextManager[None]]


class Streams:
    """Runs what is asked of it, batched. Thread-safe.

    Args:
        processors: what there is to compute with.
        most_texts: that may wait.
    """

    def __init__(self, processors: Processors, *, most_texts: int) -> None:
        self._processors = processors
        self._queue = Queue(most_texts=most_texts, n_streams=processors.n_streams)
        self._lock = threading.Lock()
        n = processors.n_streams
        self._threads = {
            False: ThreadPoolExecutor(n, "contextlens-batches"),
            True: ThreadPoolExecutor(n, "contextlens-bulk", give_way),
        }
        self._crowd = _Crowd(processors.crowd)
        self._own = threading.local()  # has a stream

    def run(self, kind: Work, texts: Sequence[Any], lengths: Sequence[int]) -> list[Any]:
        """What comes of each text, in their order.

        Args:
            kind: what they may run together with, and how they run.
            texts: whatever it takes.
            lengths: of each, in tokens.

        Raises:
            BusyError: too many wait already.
            StoppedError: the caller is gone.
        """
        if getattr(self._own, "has_stream", False):  # it would wait for itself
            return list(kind.run(texts))
        call = Call(kind, texts, lengths)
        if texts:
            self._add(call)
            try:
                call.wait(call.over)
            finally:
                self._withdraw(call)
        if call.error is not None:
            raise call.error
        return call.results

    @contextmanager
    def turn(self) -> Iterator[Callable[[], None]]:
        """A stream for what this thread computes itself; to be called between its steps.

        Raises:
            BusyError: too many wait already.
            StoppedError: the caller is gone; also raised by what is called between steps.
        """
        if getattr(self._own, "has_stream", False):
            yield _nothing
            return
        call = Call(Alone(), [None], [1])
        self._add(call)
        try:
            self._begin(call)
            yield partial(self._pass_on, call)
        finally:
            self._own.has_stream = False
            self._processors.share(1)
            self._end(call)

    def _add(self, call: Call) -> None:
        with self._lock:
            try:
                self._queue.add(call)
            except BusyError:
                meters.REFUSED.labels("queue").inc()
                raise
            self._dispatch()

    def _withdraw(self, call: Call) -> None:
        """Let go of what waits of a call that nobody waits for any more."""
        if call.waiting:
            with self._lock:
                self._queue.withdraw(call)
                self._dispatch()

    def _dispatch(self) -> None:
        """Begin what has its turn. The lock is held."""
        while (batch := self._queue.take()) is not None:
            for call in _calls(batch):
                call.note_begin()
            if isinstance(batch.kind, Alone):
                _calls(batch)[0].give(batch)
            else:
                self._submit(batch)
        meters.QUEUED.set(self._queue.n_waiting)

    def _submit(self, batch: Batch) -> None:
        if not batch.alone:
            self._crowd.come()
        try:
            self._threads[batch.bulk].submit(self._run, batch)
        except RuntimeError:  # the interpreter ends
            self._queue.done(batch)
            for call in _calls(batch):
                call.fail(StoppedError("This program ends."))
                call.tell()

    def _run(self, batch: Batch) -> None:
        """Run a batch in this thread, and begin the next.

        Only then are its callers told: who asks again at once would find its own batch in the way,
        and what it asks run together with what else waits.
        """
        self._processors.share(1 if batch.wide else self._processors.n_streams)
        begun = time.monotonic()
        try:
            _run_parts(batch)
        finally:
            meters.BATCH_TEXTS.observe(batch.n_texts)
            meters.BATCH_TOKENS.observe(batch.padded_tokens)
            self._done(batch, time.monotonic() - begun)
            for call in _calls(batch):
                call.tell()

    def _done(self, batch: Batch, seconds: float | None = None) -> None:
        with self._lock:
            self._queue.done(batch, seconds)
            self._dispatch()
            if self._queue.is_idle:
                self._crowd.go()

    # What a caller computes itself

    def _begin(self, call: Call) -> None:
        """Wait for a stream; this thread then has it."""
        call.wait(call.has_stream)
        batch = call.batch
        self._processors.share(1 if batch is None or batch.wide else self._processors.n_streams)
        self._own.has_stream = True

    def _pass_on(self, call: Call) -> None:
        """Between two steps: let others go first whose turn it is."""
        call.check()
        with self._lock:
            if call.batch is None or not self._queue.n_waiting:
                return
            call.has_stream.clear()
            batch, call.batch = call.batch, None
            self._queue.done(batch)
            call.waiting.append(0)
            self._queue.add(call, again=True)
            self._dispatch()
        self._begin(call)

    def _end(self, call: Call) -> None:
        """Give up the stream, or the wait for one."""
        with self._lock:
            self._queue.withdraw(call)
            batch, call.batch = call.batch, None
        if batch is not None:
            self._done(batch)


class _Crowd:
    """What is around batches while several callers are there; left a moment after the last.

    Who asks again and again is away for moments, for each of which it would be made anew.
    """

    def __init__(self, around: Callable[[], AbstractContextManager[None]]) -> None:
        self._around = around
        self._lock = threading.Lock()
        self._entered: AbstractContextManager[None] | None = None
        self._leaving: threading.Timer | None = None

    def come(self) -> None:
        with self._lock:
            if self._leaving is not None:
                self._leaving.cancel()
                self._leaving = None
            if self._entered is None:
                self._entered = self._around()
                self._entered.__enter__()

    def go(self) -> None:
        with self._lock:
            if self._entered is not None and self._leaving is None:
                self._leaving = threading.Timer(_CROWD_SECONDS, self._leave)
                self._leaving.daemon = True
                self._leaving.start()

    def _leave(self) -> None:
        with self._lock:
            if self._leaving is not threading.current_thread():  # somebody came
                return
            self._leaving = None
            left, self._entered = self._entered, None
        if left is not None:
            left.__exit__(None, None, None)


def _nothing() -> None:
    """What is called between steps where there is nobody to let go first."""


def _calls(batch: Batch) -> list[Call]:
    return [ticket for ticket, _ in batch.parts if isinstance(ticket, Call)]


def _run_parts(batch: Batch) -> None:
    """Run a batch; where that fails, each call's part by itself, as the others did no wrong."""
    parts = [(call, places) for call, places in batch.parts if isinstance(call, Call)]
    if len(parts) > 1:
        with suppress(Exception):
            _run_together(parts)
            return
    for part in parts:
        try:
            _run_together([part])
        except BaseException as exc:  # noqa: BLE001 - it is the caller that must hear of it
            part[0].fail(exc)


def _run_together(parts: Sequence[tuple[Call, tuple[int, ...]]]) -> None:
    texts = [call.texts[place] for call, places in parts for place in places]
    found = list(parts[0][0].kind.run(texts))
    start = 0
    for call, places in parts:
        call.fill(places, found[start : start + len(places)])
        start += len(places)
