"""Whose texts run next, and which of them together. Knows no threads and no clock.

Visitors take turns. The one whose turn it is has a text in the next batch, whatever the others
have; the rest of the batch goes to texts of about that length, taken from all who wait in their
order, so that a thousand texts of one do not hold up the one of another, and little is computed for
padding. What visitors wait for goes before long work, which has one batch in `_PATIENCE` then.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator

import numpy as np

from components.core.batching.ticket import Batch, Kind, Ticket
from components.core.errors import BusyError

__all__ = ["Queue"]

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
