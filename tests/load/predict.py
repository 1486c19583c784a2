"""`python -m tests.load.predict`: does the simulation foretell what the load test finds?

Before and after each turn of the load test it measures how quick the app is at the time; from that
alone it computes what the turn's visitors should have met, and prints both side by side with the
errors. A turn that wants nearly what the app can do is not judged: there a speed that is some
percent off makes a wait that is half off. To this machine only. Writes build/predict.json.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass

import numpy as np

from tests.benchmarks.peers.report import write
from tests.load.capacity import documented
from tests.load.inputs import Inputs, Round, inputs_of, measure_encoder, one_round, system
from tests.load.questions import questions
from tests.load.results import requests_per_second
from tests.load.server import served
from tests.load.simulation import Crowd, Prediction, phases, simulate
from tests.load.turns import Turn, ask_for_a_while
from tests.support.app_server import ROOT

THINK = 2.0
ALLOWED = 0.2
NEAR = (0.85, 1.15)  # of what the app can do
BUSY = 0.1
KEPT = ROOT / "docs" / "capacity.json"


@dataclass(frozen=True)
class Compared:
    """A turn as it was foretold and as it was.

    Attributes:
        visitors: at once.
        wanted: the questions that they would ask, over those that the app could answer then.
        others: the share of the machine that other programs took.
    """

    visitors: int
    wanted: float
    foretold: Prediction
    found: Prediction
    others: float

    @property
    def is_judged(self) -> bool:
        """Whether it is not near what the app can do."""
        return not NEAR[0] <= self.wanted <= NEAR[1]

    @property
    def errors(self) -> dict[str, float]:
        """What was foretold over what was found, less 1."""
        found = asdict(self.found)
        return {name: value / found[name] - 1 for name, value in asdict(self.foretold).items()}


def main() -> int:
    """Foretell, measure, compare; 1 where the two are further apart than allowed."""
    given = _parser().parse_args()
    inputs, compared = asyncio.run(_compare(given))
    print(f"\n{table(compared)}")
    report = {"inputs": inputs.as_dict(), "compared": [_as_dict(one) for one in compared]}
    write(report, ROOT / "build" / "predict.json")
    if given.keep and given.processes == 1:
        write(report, KEPT)
        page = KEPT.with_suffix(".md")
        page.write_text(documented(page.read_text(encoding="utf-8"), report), encoding="utf-8")
    judged = [error for one in compared if one.is_judged for error in one.errors.values()]
    worst = max(map(abs, judged), default=0.0)
    print(
        f"\nThe largest error is {worst:.0%}; {ALLOWED:.0%} are allowed. Turns that want "
        f"{NEAR[0]:.0%} to {NEAR[1]:.0%} of what the app can do are not judged."
    )
    others = max(inputs.others, *(one.others for one in compared))
    if others > BUSY:
        print(f"Other programs took up to {others:.0%} of the machine: run this when it rests.")
    return 0 if worst <= ALLOWED else 1


async def _compare(given: argparse.Namespace) -> tuple[Inputs, list[Compared]]:
    asks = questions()
    next(asks)  # asked while the app warms up
    encoder = measure_encoder()
    rounds: list[Round] = []
    compared: list[Compared] = []
    async with AsyncExitStack() as stack:
        alone = await stack.enter_async_context(served(ROOT))
        app = alone
        if given.processes > 1:
            app = await stack.enter_async_context(served(ROOT, given.processes))
        rounds.append(await one_round(alone, asks, given.input_seconds))
        for n in given.visitors:
            random.seed(n)  # when each visitor first asks
            turn = await ask_for_a_while(app, asks, n, given.seconds, THINK)
            rounds.append(await one_round(alone, asks, given.input_seconds))
            now = inputs_of(rounds[-2:], encoder)
            crowd = Crowd(phases(n, THINK, seed=n), THINK, given.seconds)
            foretold = simulate(system(now, processes=given.processes), crowd)
            processes = min(given.processes, max(1.0, now.machine["cpus"] / now.busy))
            wanted = n / THINK / (max(now.rates.values()) * processes)
            compared.append(Compared(n, wanted, foretold, _found(turn), turn.others))
            print(table(compared[-1:]), flush=True)
    inputs = inputs_of(rounds, encoder)
    rates = ", ".join(f"{n}: {rate:.1f}" for n, rate in inputs.rates.items())
    print(f"Questions/s by visitors without a pause: {rates}; others {inputs.others:.0%}")
    return inputs, compared


def _found(turn: Turn) -> Prediction:
    failed = [answer.error for answer in turn.answers if answer.error]
    if failed:
        raise RuntimeError(f"{len(failed)} questions failed, such as: {failed[0]}")
    p50, p95 = np.percentile([answer.seconds for answer in turn.answers], [50, 95])
    return Prediction(requests_per_second(turn), float(p50), float(p95))


def table(compared: Sequence[Compared]) -> str:
    """Foretold / found (error) for each turn."""
    return "\n".join(map(_line, compared))


def _line(one: Compared) -> str:
    foretold, found = asdict(one.foretold), asdict(one.found)
    numbers = ", ".join(
        f"{name} {foretold[name]:.3g} / {found[name]:.3g} ({error:+.0%})"
        for name, error in one.errors.items()
    )
    return (
        f"{one.visitors} visitors, who want {one.wanted:.0%} of what the app can do: {numbers}; "
        f"other programs took {one.others:.0%}"
    )


def _as_dict(one: Compared) -> dict[str, object]:
    return {**asdict(one), "errors": one.errors, "is_judged": one.is_judged}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.load.predict", description=__doc__)
    add = parser.add_argument
    add("--visitors", type=int, nargs="+", default=[10, 20, 25, 50])
    add("--processes", type=int, default=1, help="of the app, behind nginx (1)")
    add("--seconds", type=float, default=120.0, help="of each turn of the load test (120)")
    add("--input-seconds", type=float, default=8.0, help="of each turn of the inputs (8)")
    add(
        "--keep", action="store_true", help="in docs/capacity.json and .md, where it is one process"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
