"""A turn: so many visitors at one app for so long, and what was measured."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass

from tests.benchmarks.machine import busy_seconds
from tests.load.questions import Question
from tests.load.server import App, Footprint
from tests.load.visitor import Answer, visit

__all__ = ["Turn", "ask_for_a_while", "leave_for_a_while", "open_for_a_while"]

_LOOKS = 200  # at the memory in a turn
_MAX_WORK = 0.5  # seconds after a question in which its visitor leaves
_RECOVERY = 20.0  # seconds in which an app should recover


@dataclass(frozen=True)
class Turn:
    """A turn's measures.

    Attributes:
        app: the checkout's name.
        kind: what visitors did.
        visitors: at once.
        seconds: in which they asked.
        answers: to all questions asked in that time.
        first: to each visitor's first visit; no part of the answers.
        left: visitors who went in the middle of work.
        before: the app before they came.
        after: once they were gone.
        memory: MB, from the first answers to the end, at equal distances.
        busy: processors that the app's processes kept busy.
        driver: processors that the visitors themselves kept busy.
        others: share of the machine that other programs took.
    """

    app: str
    kind: str
    visitors: int
    seconds: float
    answers: tuple[Answer, ...]
    first: tuple[Answer, ...]
    left: int
    before: Footprint
    after: Footprint
    memory: tuple[float, ...]
    busy: float
    driver: float
    others: float


async def ask_for_a_while(
    app: App, asks: Iterator[Question], visitors: int, seconds: float, think: float
) -> Turn:
    """Everybody asks something new every `think` seconds, or once answered if that takes longer."""
    return await _Turn(app, asks, seconds).run(_pace("asking", think), visitors, _asking(think))


async def open_for_a_while(
    app: App, asks: Iterator[Question], visitors: int, seconds: float, think: float
) -> Turn:
    """Like `ask_for_a_while`, but each question is a link opened in its own tab.

    An app keeps what closed tabs had for some minutes, so its memory and its garbage collection
    are those of an hour with a class, not of its first minute.
    """
    return await _Turn(app, asks, seconds).run(_pace("new tabs", think), visitors, _opening(think))


async def leave_for_a_while(
    app: App, asks: Iterator[Question], visitors: int, seconds: float
) -> Turn:
    """Everybody asks, leaves while the script runs, and returns as somebody new."""
    return await _Turn(app, asks, seconds).run("leave in the middle", visitors, _leaving)


class _Turn:
    """A turn under way."""

    def __init__(self, app: App, asks: Iterator[Question], seconds: float) -> None:
        self.app = app
        self.asks = asks
        self.seconds = seconds
        self.end = 0.0
        self.answers: list[Answer] = []
        self.first: list[Answer] = []
        self.left = 0
        self._memory: list[float] = []

    async def run(self, kind: str, visitors: int, live: _Life) -> Turn:
        before = self.app.footprint()
        gate = asyncio.Barrier(visitors + 1)
        lives = [asyncio.create_task(live(self, gate)) for _ in range(visitors)]
        try:
            await gate.wait()  # everybody has had a first answer
            spent = _Spent(self.app)
            self.end = time.perf_counter() + self.seconds
            await gate.wait()
            watching = asyncio.create_task(self._watch())
            await asyncio.sleep(self.seconds)
            busy, driver, others = spent.shares()
            await asyncio.gather(*lives)
            await watching
        finally:
            for task in lives:
                task.cancel()
        after = await self._recovered(before)
        return Turn(
            *(self.app.name, kind, visitors, self.seconds),
            *(tuple(self.answers), tuple(self.first), self.left),
            *(before, after, tuple(self._memory), busy, driver, others),
        )

    async def _watch(self) -> None:
        while time.perf_counter() < self.end:
            self._memory.append(self.app.footprint().mb)
            await asyncio.sleep(max(1.0, self.seconds / _LOOKS))

    async def _recovered(self, before: Footprint) -> Footprint:
        """The footprint once threads and files are no more than before, or the last one."""
        deadline = time.monotonic() + _RECOVERY
        while True:
            after = self.app.footprint()
            is_back = after.threads <= before.threads and after.files <= before.files
            if is_back or time.monotonic() > deadline:
                return after
            await asyncio.sleep(0.5)


_Life = Callable[[_Turn, asyncio.Barrier], Coroutine[None, None, None]]


def _asking(think: float) -> _Life:
    async def live(turn: _Turn, gate: asyncio.Barrier) -> None:
        async with visit(turn.app.address, turn.app.page) as visitor:
            begin = next(turn.asks)
            turn.first.append(await visitor.ask(begin.query, begin.texts))
            await gate.wait()
            await gate.wait()
            due = time.perf_counter() + random.uniform(0, think)
            while due < turn.end:
                await asyncio.sleep(due - time.perf_counter())
                question = next(turn.asks)
                turn.answers.append(await visitor.ask(question.query, question.texts))
                if turn.answers[-1].error.startswith("the connection"):
                    return
                due = max(due + think, time.perf_counter())

    return live


def _opening(think: float) -> _Life:
    async def live(turn: _Turn, gate: asyncio.Barrier) -> None:
        await gate.wait()
        await gate.wait()
        due = time.perf_counter() + random.uniform(0, think)
        while due < turn.end:
            await asyncio.sleep(due - time.perf_counter())
            question = next(turn.asks)
            async with visit(turn.app.address, turn.app.page) as visitor:
                turn.answers.append(await visitor.ask(question.query, question.texts))
            due = max(due + think, time.perf_counter())

    return live


def _pace(doing: str, think: float) -> str:
    return f"{doing} every {think:g} s" if think else f"{doing} without a pause"


async def _leaving(turn: _Turn, gate: asyncio.Barrier) -> None:
    await gate.wait()
    await gate.wait()
    while time.perf_counter() < turn.end:
        async with visit(turn.app.address, turn.app.page) as visitor:
            begin, question = next(turn.asks), next(turn.asks)
            turn.answers.append(await visitor.ask(begin.query, begin.texts))
            await visitor.begin(question.query)
            await asyncio.sleep(random.uniform(0, _MAX_WORK))
            visitor.leave()
            turn.left += 1


class _Spent:
    """Processor time from now on: the app's, our own and everybody else's."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._began = time.perf_counter()
        self._then = self._now()

    def shares(self) -> tuple[float, float, float]:
        """Processors that the app and we kept busy, and the others' share of the machine."""
        took = time.perf_counter() - self._began
        app, own, machine = (b - a for a, b in zip(self._then, self._now(), strict=True))
        others = max(0.0, machine - app - own) / took / (os.cpu_count() or 1)
        return app / took, own / took, others

    def _now(self) -> tuple[float, float, float]:
        own = os.times()
        return self._app.processor_seconds(), own.user + own.system, busy_seconds()
