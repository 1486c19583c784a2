"""What visitors would meet: a simulation of app processes and encoder replicas, event by event.

An app process is a flow-equivalent server (Chandy, Herzog and Woo, 1975): all that goes on in it is
one station, and how many questions a second it answers depends on how many are in it, which was
measured. They share it evenly, as the threads of their scripts share one interpreter. Encoder
replicas, where there are any, take what waits as one batch, up to a budget of tokens.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count, cycle

import numpy as np

__all__ = ["Batches", "Crowd", "Prediction", "System", "phases", "simulate"]


@dataclass(frozen=True)
class Batches:
    """Encoder replicas that processes share, each with processors of its own.

    Attributes:
        replicas: how many.
        seconds: of any batch, however small.
        token_seconds: of each of its tokens.
        tokens: of a question.
        budget: tokens that run as one batch.
        network_seconds: of a question, there and back.
    """

    replicas: int
    seconds: float
    token_seconds: float
    tokens: int
    budget: int = 2048
    network_seconds: float = 0.0


@dataclass(frozen=True)
class System:
    """What answers.

    Attributes:
        rates: questions a second of a process that always has so many in it; between two of these
            numbers in proportion, above the last as there.
        processes: how many, each with visitors of its own.
        busy: processors that a process with more than enough to do takes.
        cores: that the processes share.
        spread: how much work questions were in proportion to their mean, in the order measured:
            one after the other comes to a process, as a machine's slow moments come together.
        encoder: None where processes encode themselves, which is in the rates then.
    """

    rates: Mapping[int, float]
    processes: int = 1
    busy: float = 1.0
    cores: float = float("inf")
    spread: Sequence[float] = (1.0,)
    encoder: Batches | None = None

    def rate(self, n: int) -> float:
        """Questions a second of one process with `n` in it, were it alone on the machine."""
        known = sorted(self.rates)
        if n < known[0]:
            return self.rates[known[0]] * n / known[0]
        return float(np.interp(n, known, [self.rates[k] for k in known]))


@dataclass(frozen=True)
class Crowd:
    """Who asks: each visitor every `think` seconds, or once answered where that takes longer.

    Attributes:
        starts: when each visitor first asks, in seconds.
        seconds: in which they ask.
    """

    starts: Sequence[float]
    think: float
    seconds: float


@dataclass(frozen=True)
class Prediction:
    """What they meet, as the load test counts it."""

    requests_per_second: float
    p50: float
    p95: float


def phases(visitors: int, think: float, seed: int) -> list[float]:
    """When each visitor of the load test first asks, where `random` was seeded so before."""
    dice = random.Random(seed)
    return [dice.uniform(0, think) for _ in range(visitors)]


def simulate(system: System, crowd: Crowd) -> Prediction:
    """What the crowd meets.

    Raises:
        ValueError: nobody asks.
    """
    if not crowd.starts:
        raise ValueError("Nobody asks: give at least one visitor.")
    return _Run(system, crowd).run()


@dataclass
class _Process:
    """Its clock tells how much work each who was there all the time has got."""

    clock: float = 0.0
    due: list[tuple[float, int, int]] = field(default_factory=list)  # clock when done, order, whose


class _Run:
    def __init__(self, system: System, crowd: Crowd) -> None:
        self._system, self._crowd = system, crowd
        self._work = cycle(system.spread)
        self._processes = [_Process() for _ in range(system.processes)]
        self._events: list[tuple[float, int, str, tuple[int, ...]]] = []
        self._order = count()
        self._waiting: deque[int] = deque()
        self._idle = system.encoder.replicas if system.encoder else 0
        self._asked = [0.0] * len(crowd.starts)
        self._times: list[tuple[float, float]] = []  # asked, answered
        self._now = 0.0

    def run(self) -> Prediction:
        for visitor, start in enumerate(self._crowd.starts):
            self._at(start, "ask", visitor)
        while True:
            at, process = self._next_done()
            if self._events and self._events[0][0] <= at:
                then, _, kind, visitors = heappop(self._events)
                self._pass(then)
                getattr(self, f"_{kind}")(visitors)
            elif process is not None:
                self._pass(at)
                self._answer(heappop(process.due)[2])
            else:
                return self._prediction()

    def _at(self, when: float, kind: str, *visitors: int) -> None:
        heappush(self._events, (when, next(self._order), kind, visitors))

    def _speed(self, process: _Process) -> float:
        """Work that a process does in a second for each who is in it."""
        return self._system.rate(len(process.due)) / len(process.due) * self._share

    @property
    def _share(self) -> float:
        """Of its speed that each process has left, where they want more cores than there are."""
        wanted = self._system.busy * sum(1 for process in self._processes if process.due)
        return min(1.0, self._system.cores / wanted) if wanted else 1.0

    def _next_done(self) -> tuple[float, _Process | None]:
        """When somebody is answered next, and in which process."""
        busy = [process for process in self._processes if process.due]
        times = [
            self._now + max(0.0, process.due[0][0] - process.clock) / self._speed(process)
            for process in busy
        ]
        best = int(np.argmin(times)) if times else 0
        return (times[best], busy[best]) if times else (float("inf"), None)

    def _pass(self, until: float) -> None:
        for process in self._processes:
            if process.due:
                process.clock += (until - self._now) * self._speed(process)
        self._now = until

    def _ask(self, visitors: tuple[int, ...]) -> None:
        self._asked[visitors[0]] = self._now
        if self._system.encoder is None:
            self._enter(visitors)
        else:
            self._at(self._now + self._system.encoder.network_seconds, "queue", *visitors)

    def _queue(self, visitors: tuple[int, ...]) -> None:
        self._waiting.extend(visitors)
        self._take()

    def _take(self) -> None:
        """A batch for each idle replica, of what waits."""
        encoder = self._system.encoder
        while encoder and self._idle and self._waiting:
            most = max(1, encoder.budget // encoder.tokens)
            batch = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
            took = encoder.seconds + encoder.token_seconds * encoder.tokens * len(batch)
            self._idle -= 1
            self._at(self._now + took, "encoded", *batch)

    def _encoded(self, visitors: tuple[int, ...]) -> None:
        self._idle += 1
        self._enter(visitors)
        self._take()

    def _enter(self, visitors: tuple[int, ...]) -> None:
        for visitor in visitors:
            process = self._processes[visitor % len(self._processes)]
            done = process.clock + next(self._work)
            heappush(process.due, (done, next(self._order), visitor))

    def _answer(self, visitor: int) -> None:
        self._times.append((self._asked[visitor], self._now))
        due = max(self._asked[visitor] + self._crowd.think, self._now)
        if due < self._crowd.seconds:
            self._at(due, "ask", visitor)

    def _prediction(self) -> Prediction:
        asked, answered = np.array(self._times).T
        within = answered <= asked.min() + self._crowd.seconds
        p50, p95 = np.percentile(answered - asked, [50, 95])
        return Prediction(float(within.sum() / self._crowd.seconds), float(p50), float(p95))
