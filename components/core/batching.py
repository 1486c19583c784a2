"""Calls of the model, joined into batches by tokens and shared fairly among their callers."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from components.core import meters
from components.core.caller import StoppedError, current
from components.core.errors import BusyError
from components.core.threads import give_way

__all__ = ["Alone", "Batch", "Call", "Kind", "Processors", "Queue", "Streams", "Ticket", "Work"]


# --- What waits for a model


class Kind(Protocol):
    """What texts must have in common to run together: equal kinds do. Hashable."""

    @property
    def same_length(self) -> bool:
        """Whether only texts of one length run together."""

    @property
    def overhead(self) -> int:
        """What beginning a batch costs, in tokens that could be computed instead."""

    def fits(self, n_texts: int, longest: int) -> bool:
        """Whether so many texts, padded to so many tokens, may run at once; one always may."""


class Ticket:
    """The texts of one call, of which some wait and some run. The queue's caller holds its lock.

    Attributes:
        kind: what they may run together with.
        lengths: in tokens, padding that was asked for included.
        name: whose they are; alike for all calls of one visitor.
        bulk: long work, before which what a visitor waits for goes.
        waiting: the places of those that wait, longest first.
    """

    def __init__(
        self, kind: Kind, lengths: Sequence[int], *, name: Hashable = None, bulk: bool = False
    ) -> None:
        self.kind = kind
        self.lengths = lengths
        self.name: Hashable = object() if name is None else name  # nobody in particular is one more
        self.bulk = bulk
        self.waiting = deque(sorted(range(len(lengths)), key=lambda i: -lengths[i]))

    @property
    def n_tokens(self) -> int:
        """How many tokens wait."""
        return sum(self.lengths[i] for i in self.waiting)


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts that run together.

    Attributes:
        kind: theirs.
        parts: of each ticket, the places of its texts.
        bulk: whether they are long work's.
        alone: whether nobody was beside or after them as they began.
        wide: whether they get all processors; else the part of one of several streams.
    """

    kind: Kind
    parts: tuple[tuple[Ticket, tuple[int, ...]], ...]
    bulk: bool
    alone: bool
    wide: bool

    @property
    def n_texts(self) -> int:
        """How many texts there are."""
        return sum(len(places) for _, places in self.parts)

    @property
    def padded_tokens(self) -> int:
        """How many tokens are computed, padding included."""
        longest = max(ticket.lengths[i] for ticket, places in self.parts for i in places)
        return self.n_texts * longest


# --- What one caller asks for, and how it waits for it

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


# --- Whose texts run next

_PATIENCE = 8
"""Batches of visitors that begin while long work waits, before one of that begins all the same."""
_LOOKED_AT = 512
"""Texts that a batch is chosen from."""
_SPEED = 0.2
"""How much the last batch counts for the expected speed."""

_Text = tuple[int, int, Ticket, int]  # length, order of arrival, whose, its place there


class Queue:
    """Tickets that wait. Its caller holds the lock.

    Args:
        most_texts: that may wait, apart from long work's.
        n_streams: batches that run at once, of visitors and of long work each.
    """

    def __init__(self, *, most_texts: int, n_streams: int) -> None:
        self._most_texts = most_texts
        self._n_streams = n_streams
        self._lines = {False: _Line(), True: _Line()}  # by whether it is long work
        self._running: list[Batch] = []
        self._n_passed = 0  # batches of visitors since long work waits or had its turn
        self._token_seconds = 0.0

    @property
    def n_waiting(self) -> int:
        """How many texts wait."""
        return sum(line.n_texts for line in self._lines.values())

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        return not self._running and not self.n_waiting

    def add(self, ticket: Ticket, *, again: bool = False) -> None:
        """Let a call's texts wait.

        Args:
            ticket: the call.
            again: whether it had its turn, and goes on.

        Raises:
            BusyError: too many wait; never for long work, which jobs bound, nor for what goes on.
        """
        if not ticket.bulk and not again:
            self._check_room(ticket.name)
        self._lines[ticket.bulk].add(ticket)

    def withdraw(self, ticket: Ticket) -> None:
        """Have none of a call's texts run any more; those that run do."""
        self._lines[ticket.bulk].remove(ticket)

    def take(self) -> Batch | None:
        """The batch that should begin now; None where nothing waits or all streams are busy."""
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
        """Note that a batch is over, and how long it took where that tells how quick others are."""
        self._running = [other for other in self._running if other is not batch]
        if seconds is None:
            return
        each = seconds / batch.padded_tokens / (1 if batch.wide else self._n_streams)
        known = self._token_seconds or each
        self._token_seconds = known + _SPEED * (each - known)

    def _is_bulks_turn(self) -> bool | None:
        """Whether long work is next; None where nothing may begin.

        A visitor's batch never waits for one of long work, whose threads let others go first.
        """
        visitors, long_work = self._lines[False], self._lines[True]
        if visitors.n_texts and self._has_stream(bulk=False):
            is_overdue = self._n_passed >= _PATIENCE and self._has_stream(bulk=True)
            return is_overdue and bool(long_work.n_texts)
        is_quiet = not visitors.n_texts and not any(not batch.bulk for batch in self._running)
        return True if is_quiet and long_work.n_texts and self._has_stream(bulk=True) else None

    def _is_alone(self, bulk: bool) -> bool:
        """Whether what begins now has nobody beside or after it who should have a stream too."""
        if bulk:
            return self.is_idle
        return not self._lines[False].n_texts and not any(not b.bulk for b in self._running)

    def _has_stream(self, *, bulk: bool) -> bool:
        """Whether one more batch may begin: not beside one that has all processors."""
        own = [batch for batch in self._running if batch.bulk == bulk]
        return len(own) < self._n_streams and not any(batch.wide for batch in own)

    def _check_room(self, name: Hashable) -> None:
        line, half = self._lines[False], self._most_texts // 2
        own = line.n_of(name)
        if own >= half:
            raise self._busy(
                f"{own:,} texts of yours wait for a model already, and one visitor may have "
                f"{half:,} waiting here."
            )
        if line.n_counted(half) >= self._most_texts:
            raise self._busy(
                f"{line.n_texts:,} texts wait for a model already, as many as this server takes."
            )

    def _busy(self, why: str) -> BusyError:
        """The error that says so, and when to try again."""
        seconds = max(1, round(self._lines[False].n_tokens * self._token_seconds))
        unit = "a second" if seconds == 1 else f"{seconds:,} seconds"
        error = BusyError(f"{why} Try again in {unit}.")
        error.retry_seconds = float(seconds)
        return error


class _Line:
    """Visitors in the order of their turns, each with what waits of theirs, oldest first."""

    def __init__(self) -> None:
        self._tickets: OrderedDict[Hashable, deque[Ticket]] = OrderedDict()
        self._n_texts: dict[Hashable, int] = {}
        self.n_texts = self.n_tokens = 0

    def n_of(self, name: Hashable) -> int:
        """How many texts of a visitor wait."""
        return self._n_texts.get(name, 0)

    def n_counted(self, most_each: int) -> int:
        """How many texts wait, where no visitor counts for more than so many."""
        return sum(min(n, most_each) for n in self._n_texts.values())

    def add(self, ticket: Ticket) -> None:
        if ticket.waiting:
            self._tickets.setdefault(ticket.name, deque()).append(ticket)
            self._count(ticket.name, len(ticket.waiting), ticket.n_tokens)

    def remove(self, ticket: Ticket) -> None:
        if ticket in self._tickets.get(ticket.name, ()):  # one that was refused never waited
            self._count(ticket.name, -len(ticket.waiting), -ticket.n_tokens)
            ticket.waiting.clear()
            self._leave(ticket)

    def choose(self) -> tuple[Kind, list[_Text]]:
        """The texts of the next batch, which wait no more; there must be some that do."""
        first = next(iter(self._tickets.values()))[0]
        kind, lead = first.kind, first.waiting[0]
        texts = list(self._alike(kind, first.lengths[lead]))
        chosen = _best(kind, texts)
        for length, _, ticket, place in chosen:
            ticket.waiting.remove(place)  # one of the first: they were looked at in this order
            self._count(ticket.name, -1, -length)
        served = {ticket for _, _, ticket, _ in chosen}
        names = {ticket.name for ticket in served}
        for name in [name for name in self._tickets if name in names]:
            self._tickets.move_to_end(name)
        for ticket in served:
            if not ticket.waiting:
                self._leave(ticket)
        return kind, chosen

    def _alike(self, kind: Kind, lead: int) -> Iterator[_Text]:
        """Texts that may run with the first one, a text of each visitor after the other."""
        ways = deque(
            _Way(kind, self._places(tickets, kind, lead)) for tickets in self._tickets.values()
        )
        n = 0
        while ways and n < _LOOKED_AT:
            way = ways.popleft()
            found = way.next()
            if found is not None:
                ticket, place = found
                yield ticket.lengths[place], n, ticket, place
                n += 1
                ways.append(way)

    def _places(
        self, tickets: deque[Ticket], kind: Kind, lead: int
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
        own = self._tickets[ticket.name]
        own.remove(ticket)
        if not own:
            del self._tickets[ticket.name]


class _Way:
    """What one visitor has for a batch: no more than would fill it."""

    def __init__(self, kind: Kind, texts: Iterator[tuple[Ticket, int]]) -> None:
        self._kind, self._texts = kind, texts
        self._n = self._longest = 0

    def next(self) -> tuple[Ticket, int] | None:
        """The next text, or None where there is none or enough."""
        found = next(self._texts, None)
        if found is None:
            return None
        self._n += 1
        self._longest = max(self._longest, found[0].lengths[found[1]])
        return found if self._n == 1 or self._kind.fits(self._n, self._longest) else None


def _best(kind: Kind, texts: list[_Text]) -> list[_Text]:
    """The batch of neighbours in length, the first of some texts among them, that is worth most.

    That is the one with the least computed for each real token: not for padding, nor for a batch
    that is hardly begun.
    """
    lead = texts[0]
    texts.sort(key=lambda text: (-text[0], text[1]))
    place = texts.index(lead)
    lengths = [text[0] for text in texts]
    sums = np.cumsum([0, *lengths])
    best, worth, end = (place, place + 1), 0.0, len(texts)
    for start in range(place, -1, -1):  # the longer the longest, the fewer fit
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


# --- The threads that run batches, and how a caller waits for its own

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
