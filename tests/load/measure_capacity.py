"""`python -m tests.load.measure_capacity`: measure what the capacity simulation takes, and test it.

Before and after each turn of the load test it measures the app without pauses; from that alone the
simulation predicts the turn, and both are printed. Exits with 1 where they differ too much. Near
the app's capacity a turn is not judged: a speed 5% off makes a wait 50% off there.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from itertools import islice
from statistics import fmean, median

import numpy as np

from contextlens.core import BUNDLED_ID, Settings
from contextlens.core.service import LocalService
from docs.simulate_capacity import KEPT, PAGE, Inputs, Prediction, first_asks, page_of, simulate
from tests.benchmarks.machine import described, write
from tests.benchmarks.workers import worker
from tests.load.questions import Question, questions
from tests.load.results import requests_per_second
from tests.load.server import App, served
from tests.load.turns import Turn, ask_for_a_while
from tests.support.app_server import ROOT

COMPANY = (1, 2, 4, 8, 16)
"""Visitors without a pause, one turn each."""
ALONE = 3  # times as long as the others' is the turn that measures how work varies
QUESTIONS = (1, 2, 4, 8, 16, 32)  # in a batch of the encoder
REPEATS = 7
SKIPPED = 100_000  # questions that no visitor of the load test ever comes to
THINK = 2.0
ALLOWED = 0.2
NEAR = (0.85, 1.15)  # of the app's capacity

Round = Mapping[int, Turn]
"""A turn of each company, one after the other."""


@dataclass(frozen=True)
class Compared:
    """A turn as predicted and as measured.

    Attributes:
        visitors: their number.
        wanted: the questions that they would ask, divided by the app's capacity at the time.
        others: the share of the machine that other programs took.
    """

    visitors: int
    wanted: float
    foretold: Prediction
    found: Prediction
    others: float

    @property
    def is_judged(self) -> bool:
        """True if the turn is not near the app's capacity."""
        return not NEAR[0] <= self.wanted <= NEAR[1]

    @property
    def errors(self) -> dict[str, float]:
        """Predicted over measured, less 1, for each number."""
        measured = asdict(self.found)
        return {name: value / measured[name] - 1 for name, value in asdict(self.foretold).items()}


def main() -> int:
    """Predict, measure and compare."""
    given = _parser().parse_args()
    inputs, turns = asyncio.run(_compare(given))
    compared = [
        {**asdict(turn), "errors": turn.errors, "is_judged": turn.is_judged} for turn in turns
    ]
    report = {"inputs": asdict(inputs), "compared": compared}
    write(report, ROOT / "build" / "capacity.json")
    if given.keep and given.processes == 1:
        write(report, KEPT)
        PAGE.write_text(page_of(PAGE.read_text(encoding="utf-8"), report), encoding="utf-8")
    worst = max((abs(e) for t in turns if t.is_judged for e in t.errors.values()), default=0.0)
    others = max(inputs.others, *(turn.others for turn in turns))
    print(f"The largest error is {worst:.0%}; {ALLOWED:.0%} are allowed.")
    print(f"Other programs took up to {others:.0%} of the machine; above 10%, repeat the run.")
    return 0 if worst <= ALLOWED else 1


async def _compare(given: argparse.Namespace) -> tuple[Inputs, list[Compared]]:
    asks = questions()
    next(asks)  # asked while the app warms up
    encoder = measure_encoder()
    rounds: list[Round] = []
    turns: list[Compared] = []
    async with AsyncExitStack() as stack:
        alone = app = await stack.enter_async_context(served(ROOT))
        if given.processes > 1:
            app = await stack.enter_async_context(served(ROOT, given.processes))
        rounds.append(await one_round(alone, asks, given.input_seconds))
        for n in given.visitors:
            random.seed(n)  # of the visitors' first questions
            turn = await ask_for_a_while(app, asks, n, given.seconds, THINK)
            rounds.append(await one_round(alone, asks, given.input_seconds))
            now = inputs_of(rounds[-2:], encoder)
            starts = first_asks(n, THINK, seed=n)
            predicted = simulate(now.station(given.processes), starts, THINK, given.seconds)
            processes = min(given.processes, max(1.0, now.machine["cpus"] / now.busy))
            wanted = n / THINK / (max(now.rates.values()) * processes)
            turns.append(Compared(n, wanted, predicted, _measured(turn), turn.others))
            print(f"{n} visitors: {turns[-1]}", flush=True)
    return inputs_of(rounds, encoder), turns


async def one_round(app: App, asks: Iterator[Question], seconds: float) -> Round:
    """Each company for so many seconds, a lone visitor for longer."""
    turns: dict[int, Turn] = {}
    for visitors in COMPANY:
        await app.rest()
        lasts = seconds * ALONE if visitors == 1 else seconds
        turns[visitors] = await ask_for_a_while(app, asks, visitors, lasts, 0.0)
    await app.rest()
    return turns


def _measured(turn: Turn) -> Prediction:
    failed = [answer.error for answer in turn.answers if answer.error]
    if failed:
        raise RuntimeError(f"{len(failed)} questions failed, such as: {failed[0]}")
    p50, p95 = np.percentile([answer.seconds for answer in turn.answers], [50, 95])
    return Prediction(requests_per_second(turn), float(p50), float(p95))


@dataclass(frozen=True)
class Encoder:
    """See `Inputs`."""

    batch_seconds: float
    token_seconds: float
    question_tokens: int
    encoder_cores: float


def inputs_of(rounds: Sequence[Round], encoder: Encoder) -> Inputs:
    """Medians over rounds; a lone visitor's answers are those of all rounds."""
    lone = [turns[COMPANY[0]] for turns in rounds]
    full = [turns[COMPANY[-1]] for turns in rounds]
    alone = [answer.seconds for turn in lone for answer in turn.answers]
    return Inputs(
        made=time.strftime("%Y-%m-%d"),
        machine=described(),
        rates={n: median(requests_per_second(turns[n]) for turns in rounds) for n in COMPANY},
        spread=tuple(round(seconds / fmean(alone), 4) for seconds in alone),
        processor_seconds=median(turn.busy / requests_per_second(turn) for turn in full),
        busy=median(turn.busy for turn in full),
        answer_bytes=median(answer.n_bytes for turn in lone for answer in turn.answers),
        process_mb=full[-1].memory[-1],
        others=max(turn.others for turns in rounds for turn in turns.values()),
        **asdict(encoder),
    )


def measure_encoder() -> Encoder:
    """The encoder alone, in a process of its own."""
    with worker(set_up_encoder) as encode:
        tokens, seconds, cores = encode(REPEATS)
    return Encoder(*fitted(tokens, seconds), tokens[0], cores)


def fitted(tokens: Sequence[int], seconds: Sequence[float]) -> tuple[float, float]:
    """Seconds of any batch and of each token in it, none below 0: least squares of relative errors.

    Relative ones, so that small batches count as much as large ones.
    """
    from scipy.optimize import nnls

    weights = 1 / np.array(seconds)
    columns = np.column_stack([np.ones(len(tokens)), tokens]) * weights[:, None]
    (batch, token), _ = nnls(columns, np.ones(len(tokens)))
    return float(batch), float(token)


def set_up_encoder() -> Callable[[int], tuple[list[int], list[float], float]]:
    """Tokens, median seconds and processors kept busy, of batches of questions' sentences."""
    service = LocalService(Settings())
    asks = islice(questions(), SKIPPED, None)

    def texts(n: int) -> list[str]:
        return [text for question in islice(asks, n) for text in question.texts]

    def once(n: int) -> float:
        batch = texts(n)
        begin = time.perf_counter()
        service.encode(BUNDLED_ID, batch)
        return time.perf_counter() - begin

    def run(repeats: int) -> tuple[list[int], list[float], float]:
        lengths = [t.n_tokens for t in service.tokenize(BUNDLED_ID, texts(1))]
        busy, begin = time.process_time(), time.perf_counter()
        seconds = [median(once(n) for _ in range(repeats)) for n in QUESTIONS]
        cores = (time.process_time() - busy) / (time.perf_counter() - begin)
        return [n * sum(lengths) for n in QUESTIONS], seconds, cores

    once(QUESTIONS[-1])
    return run


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.load.measure_capacity", description=__doc__
    )
    add = parser.add_argument
    add("--visitors", type=int, nargs="+", default=[10, 20, 25, 50])
    add("--processes", type=int, default=1, help="of the app, behind nginx (1)")
    add("--seconds", type=float, default=120.0, help="of each turn of the load test (120)")
    add("--input-seconds", type=float, default=8.0, help="of each turn of the inputs (8)")
    add("--keep", action="store_true", help="write docs/capacity.json and .md, for one process")
    return parser


if __name__ == "__main__":
    sys.exit(main())
