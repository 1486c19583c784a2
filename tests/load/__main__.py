"""`python -m tests.load`: visitors of Meaning without browsers, on this machine only.

Prints one table, writes build/load.json.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

from tests.load.questions import Question, questions
from tests.load.results import line, ratios, table, write_json
from tests.load.server import App, served
from tests.load.turns import Turn, ask_for_a_while, leave_for_a_while, open_for_a_while
from tests.support.app_server import ROOT

MAX_VISITORS = 100
MAX_SECONDS = 900.0
MAX_ROUNDS = 20
MAX_PROCESSES = 8
OUT = ROOT / "build" / "load.json"


def main() -> None:
    """Measure what was asked for."""
    turns = asyncio.run(_measure(_parser().parse_args()))
    print(f"\n{table(turns)}\n{ratios(turns)}\nEvery answer's time is in {OUT.relative_to(ROOT)}.")


async def _measure(given: argparse.Namespace) -> list[Turn]:
    turns: list[Turn] = []
    asks = questions()
    next(asks)  # asked while the app warms up
    async with AsyncExitStack() as stack:
        apps = [
            await stack.enter_async_context(served(path, given.processes))
            for path in given.app or [ROOT]
        ]
        for visitors in given.visitors:
            for _ in range(given.rounds):
                for app in apps:
                    await app.rest()
                    turns.append(await _turn(app, asks, visitors, given))
                    print(line(turns[-1]), flush=True)
                    write_json(turns, OUT)
    return turns


async def _turn(
    app: App, asks: Iterator[Question], visitors: int, given: argparse.Namespace
) -> Turn:
    if given.leave:
        return await leave_for_a_while(app, asks, visitors, given.seconds)
    how = open_for_a_while if given.tabs else ask_for_a_while
    return await how(app, asks, visitors, given.seconds, 0.0 if given.saturate else given.think)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    add = parser.add_argument
    most = _within(float, 1, MAX_SECONDS)
    several = "a checkout (this one); several are measured in turns, side by side"
    add("--app", type=Path, action="append", metavar="PATH", help=several)
    add("--visitors", type=_within(int, 1, MAX_VISITORS), nargs="+", default=[1, 10, 25, 50])
    add("--seconds", type=most, default=120.0, help="of each turn (120)")
    several = "processes of the app behind nginx, as `make serve-app` starts them (1: without it)"
    add("--processes", type=_within(int, 1, MAX_PROCESSES), default=1, help=several)
    add("--rounds", type=_within(int, 1, MAX_ROUNDS), default=1, help="turns of each kind (1)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--think",
        type=_within(float, 0, 60),
        default=2.0,
        help="seconds from one question of a visitor to the next (2)",
    )
    how.add_argument("--saturate", action="store_true", help="ask without a pause")
    how.add_argument("--leave", action="store_true", help="leave while the script runs")
    add("--tabs", action="store_true", help="each question opens a tab of its own, as a link does")
    return parser


def _within(kind: type[float], least: float, most: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        number = kind(text)
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{text} is not from {least:g} to {most:g}")
        return number

    return read


if __name__ == "__main__":
    main()
