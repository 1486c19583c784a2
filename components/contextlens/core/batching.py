"""Model calls grouped into batches by token count and shared fairly among their callers."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Protocol

import numpy as np

from contextlens.core import meters
from contextlens.core.caller import StoppedError, current
from contextlens.core.errors import BusyError
from contextlens.core.threads import give_way

__all__ = [
    "Batch",
    "BatchKind",
    "ExclusiveRun",
    "Processors",
    "Queue",
    "QueuedTexts",
    "RunnableKind",
    "Streams",
    "Ticket",
]


# --- Texts waiting for a model


class BatchKind(Protocol):
    """The kind of a text: texts of equal kinds may run in one batch. Hashable."""

    @property
    def same_length(self) -> bool:
        """True if only texts of the same length run together."""

    @property
    def overhead(self) -> int:
        """The cost of starting a batch, as the number of tokens computed in the same time."""

    def fits(self, n_texts: int, longest: int) -> bool:
        """True if `n_texts` texts, padded to `longest` tokens, may run at once; one always may."""


class Ticket:
    """The texts of one call, some waiting and some running. The queue's caller holds the lock.

    Attributes:
        kind: texts of an equal kind may run in the same batch.
        lengths: the length of each text in tokens, including any padding that was requested.
        name: the caller; the same for all calls of one visitor.
        bulk: True for long work, which runs after anything that a visitor is waiting for.
        waiting: the positions of the texts that still wait, longest first.
    """

    def __init__(
        self, kind: BatchKind, lengths: Sequence[int], *, name: Hashable = None, bulk: bool = False
    ) -> None:
        self.kind = kind
        self.lengths = lengths
        self.name: Hashable = object() if name is None else name  # anonymous: its own visitor
        self.bulk = bulk
        self.waiting = deque(sorted(range(len(lengths)), key=lambda i: -lengths[i]))

    @property
    def n_tokens(self) -> int:
        """The number of tokens that wait."""
        return sum(self.lengths[i] for i in self.waiting)


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts that run together.

    Attributes:
        kind: the kind of the texts.
        parts: each ticket with the positions of its texts.
        bulk: True for long work.
        alone: True if nothing else ran or waited at the start; a visitor's batch ignores long work.
        wide: True if the batch gets all processors; otherwise it gets one stream's share.
    """

    kind: BatchKind
    parts: tuple[tuple[Ticket, tuple[int, ...]], ...]
    bulk: bool
    alone: bool
    wide: bool

    @property
    def n_texts(self) -> int:
        """The number of texts."""
        return sum(len(places) for _, places in self.parts)

    @property
    def padded_tokens(self) -> int:
        """The number of tokens computed, padding included."""
        longest = max(ticket.lengths[i] for ticket, places in self.parts for i in places)
        return self.n_texts * longest


# --- A caller's request, and how it waits for the result

_LOOK_SECONDS = 0.05
"""The interval at which a waiting thread checks that its caller is still there."""


class RunnableKind(BatchKind, Protocol):
    """A kind that can also run its texts."""

    def run(self, texts: Sequence[Any]) -> Sequence[Any]:
        """Return the result for each text."""


class ExclusiveRun:
    """The kind of work that shares a batch with nothing; each instance is its own kind."""

    same_length = False
    overhead = 0

    def fits(self, n_texts: int, longest: int) -> bool:
        """See `BatchKind`."""
        del longest
        return n_texts <= 1

    def run(self, texts: Sequence[Any]) -> Sequence[Any]:
        """Never called: the caller runs the work itself."""
        raise NotImplementedError


class QueuedTexts(Ticket):
    """A ticket together with the state its caller waits on."""

    kind: RunnableKind

    def __init__(self, kind: RunnableKind, texts: Sequence[Any], lengths: Sequence[int]) -> None:
        caller = current()
        super().__init__(kind, lengths, name=caller.name, bulk=caller.bulk)
        self.texts = texts
        self.results: list[Any] = [None] * len(texts)
        self.error: BaseException | None = None
        self.over = threading.Event()
        self.batch: Batch | None = None  # the batch whose stream the caller's thread holds
        self.has_stream = threading.Event()
        self._is_cancelled = caller.is_cancelled
        self._n_open = len(texts)
        self._added = time.monotonic()
        self._has_begun = False
        self._lock = threading.Lock()  # two batches may end at the same time

    def wait(self, event: threading.Event) -> None:
        """Wait for an event.

        Raises:
            StoppedError: the caller has gone.
        """
        seconds = None if self._is_cancelled is None else _LOOK_SECONDS
        while not event.wait(seconds):
            self.check()

    def check(self) -> None:
        """Return if the caller is still there.

        Raises:
            StoppedError: the caller has gone.
        """
        if self._is_cancelled is not None and self._is_cancelled():
            raise StoppedError("Nobody waits for this any more.")

    def note_begin(self) -> None:
        """Record how long the call waited, the first time only."""
        if not self._has_begun:
            self._has_begun = True
            kind = "bulk" if self.bulk else "interactive"
            meters.QUEUE_SECONDS.labels(kind).observe(time.monotonic() - self._added)

    def give(self, batch: Batch) -> None:
        """Give the caller's thread a batch's stream."""
        self.batch = batch
        self.has_stream.set()

    def fill(self, places: Sequence[int], results: Sequence[Any]) -> None:
        """Store the results of some of the texts."""
        with self._lock:
            for place, result in zip(places, results, strict=True):
                self.results[place] = result
            self._n_open -= len(places)

    def fail(self, error: BaseException) -> None:
        """Record an error for the caller, who withdraws whatever still waits."""
        with self._lock:
            self.error = self.error or error

    def tell(self) -> None:
        """Wake the caller once every result has arrived or the call has failed."""
        with self._lock:
            if self.error is not None or not self._n_open:
                self.over.set()


# --- Which texts run next

_PATIENCE = 8
"""The number of visitors' batches that may start before waiting long work gets a turn."""
_LOOKED_AT = 512
"""The number of texts considered when choosing a batch."""
_SPEED = 0.2
"""The weight of the last batch in the running estimate of speed."""

_Text = tuple[int, int, Ticket, int]  # length, order of arrival, ticket, position in it


class Queue:
    """The waiting tickets. Its caller holds the lock.

    Args:
        most_texts: the most texts that may wait, not counting long work.
        n_streams: the number of batches that may run at once, for visitors and again for long work.
    """

    def __init__(self, *, most_texts: int, n_streams: int) -> None:
        self._most_texts = most_texts
        self._n_streams = n_streams
        self._lines = {False: _Line(), True: _Line()}  # by bulk: True for long work
        self._running: list[Batch] = []
        self._n_passed = 0  # visitors' batches started since long work began to wait or last ran
        self._token_seconds = 0.0

    @property
    def n_waiting(self) -> int:
        """The number of texts that wait."""
        return sum(line.n_texts for line in self._lines.values())

    @property
    def is_idle(self) -> bool:
        """True if nothing runs and nothing waits."""
        return not self._running and not self.n_waiting

    def add(self, ticket: Ticket, *, again: bool = False) -> None:
        """Add a call's texts to the queue.

        Args:
            ticket: the call.
            again: True if the call has already had a turn and continues.

        Raises:
            BusyError: too many texts wait. Never raised for long work, which the job system limits,
                or for a call that continues.
        """
        if not ticket.bulk and not again:
            self._check_room(ticket.name)
        self._lines[ticket.bulk].add(ticket)

    def withdraw(self, ticket: Ticket) -> None:
        """Remove a call's waiting texts; those already running finish."""
        self._lines[ticket.bulk].remove(ticket)

    def take(self) -> Batch | None:
        """The batch to start now, or None if nothing waits or all streams are busy."""
        bulk = self._is_bulks_turn()
        if bulk is None:
            return None
        kind, chosen = self._lines[bulk].choose()
        if bulk:
            self._n_passed = 0
        elif self._lines[True].n_texts:
            self._n_passed += 1
        parts: dict[Ticket, list[int]] = {}
        for _, _, ticket, place in chosen:
            parts.setdefault(ticket, []).append(place)
        alone = self._is_alone(bulk)
        batch = Batch(
            kind,
            tuple((ticket, tuple(places)) for ticket, places in parts.items()),
            bulk,
            alone=alone,
            wide=alone or self._n_streams == 1,
        )
        self._running.append(batch)
        return batch

    def done(self, batch: Batch, seconds: float | None = None) -> None:
        """Record that a batch has ended.

        `seconds` is its duration, or None if that does not help to predict other batches.
        """
        self._running = [other for other in self._running if other is not batch]
        if seconds is None:
            return
        token_seconds = seconds / batch.padded_tokens / (1 if batch.wide else self._n_streams)
        known = self._token_seconds or token_seconds
        self._token_seconds = known + _SPEED * (token_seconds - known)

    def _is_bulks_turn(self) -> bool | None:
        """True if long work is next; None if nothing may start.

        A visitor's batch never waits for long work, whose threads run at a lower priority.
        """
        visitors, long_work = self._lines[False], self._lines[True]
        if visitors.n_texts and self._has_stream(bulk=False):
            is_overdue = self._n_passed >= _PATIENCE and self._has_stream(bulk=True)
            return is_overdue and bool(long_work.n_texts)
        is_quiet = not visitors.n_texts and not any(not batch.bulk for batch in self._running)
        return True if is_quiet and long_work.n_texts and self._has_stream(bulk=True) else None

    def _is_alone(self, bulk: bool) -> bool:
        """True if nothing else runs or waits; a visitor's batch ignores long work."""
        if bulk:
            return self.is_idle
        return not self._lines[False].n_texts and not any(not b.bulk for b in self._running)

    def _has_stream(self, *, bulk: bool) -> bool:
        """True if one more batch of this sort may start: none may beside one that is `wide`."""
        running = [batch for batch in self._running if batch.bulk == bulk]
        return len(running) < self._n_streams and not any(batch.wide for batch in running)

    def _check_room(self, name: Hashable) -> None:
        line, half = self._lines[False], self._most_texts // 2
        n_waiting = line.n_of(name)
        if n_waiting >= half:
            raise self._busy(
                f"{n_waiting:,} texts of yours wait for a model already, and one visitor may have "
                f"{half:,} waiting here."
            )
        if line.n_counted(half) >= self._most_texts:
            raise self._busy(
                f"{line.n_texts:,} texts wait for a model already, as many as this server takes."
            )

    def _busy(self, why: str) -> BusyError:
        """The error for a full queue, with the time after which to try again."""
        seconds = max(1, round(self._lines[False].n_tokens * self._token_seconds))
        unit = "a second" if seconds == 1 else f"{seconds:,} seconds"
        error = BusyError(f"{why} Try again in {unit}.")
        error.retry_seconds = float(seconds)
        return error


class _Line:
    """Visitors in turn order, each with their waiting tickets, oldest first."""

    def __init__(self) -> None:
        self._tickets: OrderedDict[Hashable, deque[Ticket]] = OrderedDict()
        self._n_texts: dict[Hashable, int] = {}
        self.n_texts = self.n_tokens = 0

    def n_of(self, name: Hashable) -> int:
        """The number of texts that a visitor has waiting."""
        return self._n_texts.get(name, 0)

    def n_counted(self, most_each: int) -> int:
        """The number of waiting texts, counting at most `most_each` for any one visitor."""
        return sum(min(n, most_each) for n in self._n_texts.values())

    def add(self, ticket: Ticket) -> None:
        if ticket.waiting:
            self._tickets.setdefault(ticket.name, deque()).append(ticket)
            self._count(ticket.name, len(ticket.waiting), ticket.n_tokens)

    def remove(self, ticket: Ticket) -> None:
        if ticket in self._tickets.get(ticket.name, ()):  # a refused ticket never waited
            self._count(ticket.name, -len(ticket.waiting), -ticket.n_tokens)
            ticket.waiting.clear()
            self._leave(ticket)

    def choose(self) -> tuple[BatchKind, list[_Text]]:
        """Take the texts of the next batch out of the queue; at least one text must be waiting."""
        first = next(iter(self._tickets.values()))[0]
        kind, lead = first.kind, first.waiting[0]
        texts = list(self._alike(kind, first.lengths[lead]))
        chosen = _best(kind, texts)
        for length, _, ticket, place in chosen:
            ticket.waiting.remove(place)  # near the front: texts are considered in this order
            self._count(ticket.name, -1, -length)
        served = {ticket for _, _, ticket, _ in chosen}
        names = {ticket.name for ticket in served}
        for name in [name for name in self._tickets if name in names]:
            self._tickets.move_to_end(name)
        for ticket in served:
            if not ticket.waiting:
                self._leave(ticket)
        return kind, chosen

    def _alike(self, kind: BatchKind, lead: int) -> Iterator[_Text]:
        """Yield texts that may run with the first one, taking one from each visitor in turn."""
        candidates = deque(
            _Candidate(kind, self._places(tickets, kind, lead))
            for tickets in self._tickets.values()
        )
        n = 0
        while candidates and n < _LOOKED_AT:
            visitor_texts = candidates.popleft()
            candidate = visitor_texts.next()
            if candidate is not None:
                ticket, place = candidate
                yield ticket.lengths[place], n, ticket, place
                n += 1
                candidates.append(visitor_texts)

    def _places(
        self, tickets: deque[Ticket], kind: BatchKind, lead: int
    ) -> Iterator[tuple[Ticket, int]]:
        for ticket in tickets:
            if ticket.kind == kind:
                for place in ticket.waiting:
                    if not kind.same_length or ticket.lengths[place] == lead:
                        yield ticket, place

    def _count(self, name: Hashable, n_texts: int, n_tokens: int) -> None:
        self.n_texts += n_texts
        self.n_tokens += n_tokens
        self._n_texts[name] = self._n_texts.get(name, 0) + n_texts
        if not self._n_texts[name]:
            del self._n_texts[name]

    def _leave(self, ticket: Ticket) -> None:
        tickets = self._tickets[ticket.name]
        tickets.remove(ticket)
        if not tickets:
            del self._tickets[ticket.name]


class _Candidate:
    """One visitor's candidates for a batch, at most as many as would fill it."""

    def __init__(self, kind: BatchKind, texts: Iterator[tuple[Ticket, int]]) -> None:
        self._kind, self._texts = kind, texts
        self._n = self._longest = 0

    def next(self) -> tuple[Ticket, int] | None:
        """The next text, or None when there are no more or the batch would be full."""
        candidate = next(self._texts, None)
        if candidate is None:
            return None
        self._n += 1
        self._longest = max(self._longest, candidate[0].lengths[candidate[1]])
        return candidate if self._n == 1 or self._kind.fits(self._n, self._longest) else None


def _best(kind: BatchKind, texts: list[_Text]) -> list[_Text]:
    """The most efficient batch of texts of similar length that includes the first text.

    Efficiency is the number of real tokens divided by the cost of the batch: its tokens including
    padding, plus the overhead of starting it.
    """
    lead = texts[0]
    texts.sort(key=lambda text: (-text[0], text[1]))
    place = texts.index(lead)
    lengths = [text[0] for text in texts]
    sums = np.cumsum([0, *lengths])
    best, worth, end = (place, place + 1), 0.0, len(texts)
    for start in range(place, -1, -1):  # the longer the longest text, the fewer fit
        longest = lengths[start]
        while end > place + 1 and not kind.fits(end - start, longest):
            end -= 1
        if start < place and not kind.fits(end - start, longest):
            break
        ends = np.arange(place + 1, end + 1)
        real, padded = sums[ends] - sums[start], (ends - start) * longest
        worths = real / (padded + kind.overhead)
        at = int(worths.argmax())
        if worths[at] > worth:
            best, worth = (start, int(ends[at])), float(worths[at])
    return texts[best[0] : best[1]]


# --- The threads that run batches, and how callers wait for their results

_CROWD_SECONDS = 1.0
"""The time for which several callers count as present after the last of their batches."""


@dataclass(frozen=True)
class Processors:
    """The number of concurrent batches, and how each gets its share of the processors.

    Attributes:
        n_streams: the number of batches that run at once.
        share: limits the calling thread to one of `n` equal parts of the processors.
        crowd: a context entered while several callers' batches follow each other, and left a
            moment after the last.
    """

    n_streams: int
    share: Callable[[int], None]
    crowd: Callable[[], AbstractContextManager[None]]


class Streams:
    """Runs requests in batches. Thread-safe.

    Args:
        processors: what the batches run on.
        most_texts: the most texts that may wait.
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
        self._crowd = _Waiters(processors.crowd)
        self._own = threading.local()  # has_stream: True while this thread holds a stream

    def run(self, kind: RunnableKind, texts: Sequence[Any], lengths: Sequence[int]) -> list[Any]:
        """Return the result for each text, in order.

        Args:
            kind: which texts may run together, and how to run them.
            texts: the inputs, in whatever form the kind takes.
            lengths: the length of each text, in tokens.

        Raises:
            BusyError: too many texts wait already.
            StoppedError: the caller has gone.
        """
        if getattr(self._own, "has_stream", False):  # it would wait for itself
            return list(kind.run(texts))
        call = QueuedTexts(kind, texts, lengths)
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
        """Hold a stream for this thread's own work; call the yielded function between its steps.

        Raises:
            BusyError: too many texts wait already.
            StoppedError: the caller has gone. The yielded function raises it too.
        """
        if getattr(self._own, "has_stream", False):
            yield _nothing
            return
        call = QueuedTexts(ExclusiveRun(), [None], [1])
        self._add(call)
        try:
            self._begin(call)
            yield partial(self._pass_on, call)
        finally:
            self._own.has_stream = False
            self._processors.share(1)
            self._end(call)

    def _add(self, call: QueuedTexts) -> None:
        with self._lock:
            try:
                self._queue.add(call)
            except BusyError:
                meters.REFUSED.labels("queue").inc()
                raise
            self._dispatch()

    def _withdraw(self, call: QueuedTexts) -> None:
        """Drop the waiting texts of a call that has failed or been abandoned."""
        if call.waiting:
            with self._lock:
                self._queue.withdraw(call)
                self._dispatch()

    def _dispatch(self) -> None:
        """Start every batch that may start now. The lock is held."""
        while (batch := self._queue.take()) is not None:
            for call in _calls(batch):
                call.note_begin()
            if isinstance(batch.kind, ExclusiveRun):
                _calls(batch)[0].give(batch)
            else:
                self._submit(batch)
        meters.QUEUED.set(self._queue.n_waiting)

    def _submit(self, batch: Batch) -> None:
        if not batch.alone:
            self._crowd.come()
        try:
            self._threads[batch.bulk].submit(self._run, batch)
        except RuntimeError:  # the interpreter is shutting down
            self._queue.done(batch)
            for call in _calls(batch):
                call.fail(StoppedError("This program ends."))
                call.tell()

    def _run(self, batch: Batch) -> None:
        """Run a batch in this thread and start the next one.

        The callers are told only after that. Otherwise a caller that asks again at once would find
        its finished batch still holding a stream, and could not be batched with waiting texts.
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

    # Work that a caller's own thread does

    def _begin(self, call: QueuedTexts) -> None:
        """Wait until this thread has a stream."""
        call.wait(call.has_stream)
        batch = call.batch
        self._processors.share(1 if batch is None or batch.wide else self._processors.n_streams)
        self._own.has_stream = True

    def _pass_on(self, call: QueuedTexts) -> None:
        """Between two steps, let other calls go first if it is their turn."""
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

    def _end(self, call: QueuedTexts) -> None:
        """Give up the stream, or stop waiting for one."""
        with self._lock:
            self._queue.withdraw(call)
            batch, call.batch = call.batch, None
        if batch is not None:
            self._done(batch)


class _Waiters:
    """A context that is active while several callers are present, and a moment longer.

    Callers in a loop leave briefly between requests; the delay avoids entering it anew each time.
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
            if self._leaving is not threading.current_thread():  # another caller arrived
                return
            self._leaving = None
            left, self._entered = self._entered, None
        if left is not None:
            left.__exit__(None, None, None)


def _nothing() -> None:
    """Do nothing between steps: an enclosing call holds this thread's stream."""


def _calls(batch: Batch) -> list[QueuedTexts]:
    return [ticket for ticket, _ in batch.parts if isinstance(ticket, QueuedTexts)]


def _run_parts(batch: Batch) -> None:
    """Run a batch. If it fails, run each call's part separately, so one bad call fails alone."""
    parts = [(call, places) for call, places in batch.parts if isinstance(call, QueuedTexts)]
    groups = [[part] for part in parts]
    for group in [parts, *groups] if len(parts) > 1 else groups:
        texts = [call.texts[place] for call, places in group for place in places]
        try:
            results = iter(list(group[0][0].kind.run(texts)))
            for call, places in group:
                call.fill(places, list(islice(results, len(places))))
        except BaseException as exc:  # noqa: BLE001 - the caller must get the error
            if len(group) == 1:
                group[0][0].fail(exc)
        else:
            if len(group) > 1:
                return
