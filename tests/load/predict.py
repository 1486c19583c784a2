"""`python -m tests.load.predict`: does the simulation foretell what the load test finds?

Measures what the simulation takes, foretells each turn of the load test, runs it, and prints both
side by side with the errors. To this machine only. Writes build/predict.json.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from tests.benchmarks.peers.report import write
from tests.load.capacity import documented
from tests.load.inputs import Inputs, measure, system
from tests.load.questions import questions
from tests.load.results import requests_per_second
from tests.load.server import served
from tests.load.simulation import Crowd, Prediction, phases, simulate
from tests.load.turns import Turn, ask_for_a_while
from tests.support.app_server import ROOT

THINK = 2.0
ALLOWED = 0.2
BUSY = 0.1
KEPT = ROOT / "docs" / "capacity.json"


@dataclass(frozen=True)
class Compared:
    """A turn as it was foretold and as it was; `others` took that share of the machine."""

    visitors: int
    foretold: Prediction
    found: Prediction
    others: float

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
    worst = max(abs(error) for one in compared for error in one.errors.values())
    print(f"\nThe largest error is {worst:.0%}; {ALLOWED:.0%} are allowed.")
    others = max(inputs.others, *(one.others for one in compared))
    if others > BUSY:
        print(f"Other programs took up to {others:.0%} of the machine: run this when it rests.")
    return 0 if worst <= ALLOWED else 1


async def _compare(given: argparse.Namespace) -> tuple[Inputs, list[Compared]]:
    asks = questions()
    next(asks)  # asked while the app warms up
    async with served(ROOT) as app:
        inputs = await measure(app, asks, given.input_seconds)
    rates = ", ".join(f"{n}: {rate:.1f}" for n, rate in inputs.rates.items())
    print(
        f"Questions/s by visitors without a pause: {rates}; others {inputs.others:.0%}", flush=True
    )
    compared = []
    async with served(ROOT, given.processes) as app:
        for n in given.visitors:
            crowd = Crowd(phases(n, THINK, seed=n), THINK, given.seconds)
            foretold = simulate(system(inputs, processes=given.processes), crowd)
            await app.rest()
            random.seed(n)  # when each visitor first asks
            turn = await ask_for_a_while(app, asks, n, given.seconds, THINK)
            compared.append(Compared(n, foretold, _found(turn), turn.others))
            print(table(compared[-1:]), flush=True)
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
    return f"{one.visitors} visitors: {numbers}; other programs took {one.others:.0%}"


def _as_dict(one: Compared) -> dict[str, object]:
    return {**asdict(one), "errors": one.errors}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.load.predict", description=__doc__)
    add = parser.add_argument
    add("--visitors", type=int, nargs="+", default=[10, 25, 50])
    add("--processes", type=int, default=1, help="of the app, behind nginx (1)")
    add("--seconds", type=float, default=120.0, help="of each turn of the load test (120)")
    add("--input-seconds", type=float, default=15.0, help="of each turn of the inputs (15)")
    add(
        "--keep", action="store_true", help="in docs/capacity.json and .md, where it is one process"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
