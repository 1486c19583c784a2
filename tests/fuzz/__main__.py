"""`python -m tests.fuzz [target ...]`: throws made inputs at each way in; prints one table.

An input that shows what is not allowed is kept in build/fuzz, with how to repeat it.
"""

from __future__ import annotations

import argparse
import sys
from math import inf
from pathlib import Path

from tests.fuzz.registry import NAMES
from tests.fuzz.running import Outcome, repeat, run
from tests.fuzz.target import MEGABYTE

_COLUMNS = ("target", "inputs", "taken", "refused", "finds", "inputs/s", "slowest", "memory")


def main() -> int:
    given = _given()
    if given.repeat is not None:
        return _end([repeat(given.targets[0], given.repeat)])
    outcomes = []
    for name in given.targets or NAMES:
        outcomes.append(run(name, n=given.inputs, seconds=given.seconds, seed=given.seed))
        print(_row(outcomes[-1]), flush=True)
    return _end(outcomes)


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="target", help=", ".join(NAMES))
    parser.add_argument("--inputs", type=int, default=10_000, help="for each target (10000)")
    parser.add_argument("--seconds", type=float, default=inf, help="for each target at most")
    parser.add_argument("--seed", type=int, default=0, help="another one makes other inputs (0)")
    parser.add_argument("--repeat", type=Path, metavar="FILE", help="run one kept input again")
    given = parser.parse_args()
    if unknown := set(given.targets) - set(NAMES):
        parser.error(f"no such target: {', '.join(sorted(unknown))}. There are {', '.join(NAMES)}.")
    if given.repeat is not None and len(given.targets) != 1:
        parser.error("--repeat needs one target: python -m tests.fuzz csv --repeat FILE")
    return given


def _end(outcomes: list[Outcome]) -> int:
    print(f"\n{_table(outcomes)}")
    finds = [find for outcome in outcomes for find in outcome.finds.values()]
    for find in finds:
        last = (find.trace.strip().splitlines() or [""])[-1]
        print(f"\n{find.target}: {find.kind} {find.where}\n  {last[:300]}\n  {find.path}")
    return 1 if finds else 0


def _table(outcomes: list[Outcome]) -> str:
    total = Outcome("all")
    for outcome in outcomes:
        total.add(vars(outcome))
        total.ended += outcome.ended
        total.n_finds += outcome.n_finds
        total.wall += outcome.wall
    rows = [_COLUMNS, *map(_cells, [*outcomes, total])]
    return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ("---",) * 8, *rows[1:]])


def _row(outcome: Outcome) -> str:
    return ", ".join(f"{name} {cell}" for name, cell in zip(_COLUMNS, _cells(outcome), strict=True))


def _cells(outcome: Outcome) -> tuple[str, ...]:
    ended = f" ({outcome.ended:,} by the end of the process)" if outcome.ended else ""
    return (
        outcome.target,
        f"{outcome.n:,}",
        f"{outcome.taken:,}",
        f"{outcome.refused + outcome.ended:,}{ended}",
        f"{outcome.n_finds:,}",
        f"{outcome.n / outcome.processor:,.0f}" if outcome.processor else "",
        f"{outcome.slowest * 1000:,.1f} ms",
        f"{outcome.peak / MEGABYTE:,.0f} MB",
    )


if __name__ == "__main__":
    sys.exit(main())
