"""What the simulation takes: measured on this machine, with the app and with the encoder alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from statistics import fmean, median
from typing import Any

import numpy as np

from components.core import BUNDLED_ID, Settings
from components.core.service import LocalService
from tests.benchmarks.machine import described
from tests.benchmarks.workers import worker
from tests.load.questions import Question, questions
from tests.load.results import requests_per_second
from tests.load.server import App
from tests.load.simulation import System
from tests.load.turns import Turn, ask_for_a_while

__all__ = [
    "Encoder",
    "Inputs",
    "Round",
    "fitted",
    "inputs_of",
    "measure_encoder",
    "one_round",
    "system",
]

COMPANY = (1, 2, 4, 8, 16)
"""Visitors without a pause, one turn each."""
ALONE = 3  # times as long as the others' is the turn that tells how work varies
QUESTIONS = (1, 2, 4, 8, 16, 32)  # of two sentences, in a batch of the encoder
REPEATS = 7
SKIPPED = 100_000  # questions that no visitor of the load test ever comes to


@dataclass(frozen=True)
class Inputs:
    """Medians and means of one run.

    Attributes:
        rates: questions a second of one app process, for so many visitors without a pause.
        spread: a lone visitor's answers, one after the other, each over their mean.
        processor_seconds: of a question, where the process has more than enough to do.
        busy: processors that such a process takes.
        answer_bytes: that the server sends for a question.
        process_mb: of an app process at the end.
        batch_seconds, token_seconds: an encoder's batch takes the first, and the second a token.
        question_tokens: of both sentences.
        encoder_cores: processors that the encoder keeps busy.
        others: the largest share of the machine that other programs took, 0 to 1.
    """

    made: str
    machine: Mapping[str, Any]
    rates: Mapping[int, float]
    spread: Sequence[float]
    processor_seconds: float
    busy: float
    answer_bytes: float
    process_mb: float
    batch_seconds: float
    token_seconds: float
    question_tokens: int
    encoder_cores: float
    others: float

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Inputs:
        """What `as_dict` gave, read back."""
        rates = {int(n): rate for n, rate in given["rates"].items()}
        return cls(**{**given, "rates": rates})


Round = Mapping[int, Turn]
"""A turn of each company, one after the other."""


async def one_round(app: App, asks: Iterator[Question], seconds: float) -> Round:
    """Each company for so many seconds, a lone visitor for longer."""
    turns: dict[int, Turn] = {}
    for visitors in COMPANY:
        await app.rest()
        lasts = seconds * ALONE if visitors == 1 else seconds
        turns[visitors] = await ask_for_a_while(app, asks, visitors, lasts, 0.0)
    await app.rest()
    return turns


def measure_encoder() -> Encoder:
    """The encoder alone, in a process of its own."""
    with worker(set_up_encoder) as encode:
        tokens, took, cores = encode(REPEATS)
    return Encoder(*fitted(tokens, took), tokens[0], cores)


@dataclass(frozen=True)
class Encoder:
    """See `Inputs`."""

    batch_seconds: float
    token_seconds: float
    question_tokens: int
    encoder_cores: float


def inputs_of(rounds: Sequence[Round], encoder: Encoder) -> Inputs:
    """Medians over rounds; a lone visitor's answers are those of all of them."""
    lone = [each[COMPANY[0]] for each in rounds]
    full = [each[COMPANY[-1]] for each in rounds]
    alone = [answer.seconds for turn in lone for answer in turn.answers]
    return Inputs(
        made=time.strftime("%Y-%m-%d"),
        machine=described(),
        rates={n: median(requests_per_second(each[n]) for each in rounds) for n in COMPANY},
        spread=tuple(round(one / fmean(alone), 4) for one in alone),
        processor_seconds=median(turn.busy / requests_per_second(turn) for turn in full),
        busy=median(turn.busy for turn in full),
        answer_bytes=median(answer.n_bytes for turn in lone for answer in turn.answers),
        process_mb=full[-1].memory[-1],
        others=max(turn.others for each in rounds for turn in each.values()),
        **asdict(encoder),
    )


def fitted(tokens: Sequence[int], took: Sequence[float]) -> tuple[float, float]:
    """Seconds of any batch and of each token in it: least squares of relative errors, none below 0.

    Relative ones, so that small batches count as much as large ones.
    """
    from scipy.optimize import nnls

    weights = 1 / np.array(took)
    columns = np.column_stack([np.ones(len(tokens)), tokens]) * weights[:, None]
    (seconds, token_seconds), _ = nnls(columns, np.ones(len(tokens)))
    return float(seconds), float(token_seconds)


def system(inputs: Inputs, *, processes: int = 1) -> System:
    """The app as it was measured, in so many processes on that machine."""
    return System(
        inputs.rates,
        processes=processes,
        busy=inputs.busy,
        cores=float(inputs.machine["cpus"]),
        spread=inputs.spread,
    )


def set_up_encoder() -> Callable[[int], tuple[list[int], list[float], float]]:
    """Tokens, median seconds and processors kept busy, of batches of questions' sentences."""
    service = LocalService(Settings())
    asks = islice(questions(), SKIPPED, None)

    def texts(n: int) -> list[str]:
        return [text for question in islice(asks, n) for text in question.texts]

    def once(n: int) -> float:
        given = texts(n)
        begin = time.perf_counter()
        service.encode(BUNDLED_ID, given)
        return time.perf_counter() - begin

    def run(repeats: int) -> tuple[list[int], list[float], float]:
        lengths = [t.n_tokens for t in service.tokenize(BUNDLED_ID, texts(1))]
        busy, begin = time.process_time(), time.perf_counter()
        took = [median(once(n) for _ in range(repeats)) for n in QUESTIONS]
        cores = (time.process_time() - busy) / (time.perf_counter() - begin)
        return [n * sum(lengths) for n in QUESTIONS], took, cores

    once(QUESTIONS[-1])
    return run
