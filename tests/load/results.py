"""The results: one table, one JSON file."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tests.benchmarks.machine import described, write
from tests.load.turns import Turn
from tests.load.visitor import Answer

__all__ = ["line", "ratios", "requests_per_second", "table", "write_json"]

_PACKAGES = ("streamlit", "starlette", "uvicorn", "websockets", "protobuf", "torch")
_HEAD = (
    *("app", "visitors", "asked", "errors", "requests/s", "p50 s", "p95 s"),
    *("MB before", "MB after a tenth", "MB at the end", "app's CPUs", "visitors' CPUs", "others"),
)


def table(turns: Sequence[Turn]) -> str:
    """A line for each turn, and the complaints."""
    rows = [_HEAD, *(_row(turn) for turn in turns)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    errors = Counter(a.error for turn in turns for a in _all(turn) if a.error)
    return "\n".join(
        [
            *(lines[0], "-" * len(lines[0]), *lines[1:]),
            *(f"{n} x {error}" for error, n in errors.most_common(10)),
            *(f"{_name(t)}: {_departure(t)}" for t in turns if t.left),
        ]
    )


def requests_per_second(turn: Turn) -> float:
    """Answers per second within the turn's time."""
    if not turn.answers:
        return 0.0
    end = min(a.asked for a in turn.answers) + turn.seconds
    return sum(not a.error and a.asked + a.seconds <= end for a in turn.answers) / turn.seconds


def line(turn: Turn) -> str:
    """A turn in one line."""
    return "  ".join(f"{cell} {name}" for name, cell in zip(_HEAD, _row(turn), strict=True))


def ratios(turns: Sequence[Turn]) -> str:
    """The first app's requests/s over each other one's, by the medians of their turns."""
    by_app: dict[str, list[float]] = {}
    for turn in turns:
        by_app.setdefault(turn.app, []).append(requests_per_second(turn))
    (first, own), *others = by_app.items()
    return "\n".join(
        f"{first} / {name}: {median(own) / median(rates):.2f} x the requests/s "
        f"({median(own):.1f} and {median(rates):.1f}, medians of {len(rates)})"
        for name, rates in others
        if median(rates)
    )


def write_json(turns: Sequence[Turn], path: Path) -> None:
    """Everything measured, for machines and for later comparison."""
    report = {
        "made": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "machine": described(),
        "versions": {name: metadata.version(name) for name in _PACKAGES},
        "turns": [_as_dict(turn) for turn in turns],
    }
    write(report, path)


def _row(turn: Turn) -> tuple[str, ...]:
    times = [a.seconds for a in turn.answers] or [float("nan")]
    p50, p95 = np.percentile(times, [50, 95])
    memory = turn.memory or (turn.before.mb,)
    return (
        *(turn.app, f"{turn.visitors} {turn.kind}", f"{len(turn.answers)}"),
        *(f"{_errors(turn)}", f"{requests_per_second(turn):.1f}", f"{p50:.3f}", f"{p95:.3f}"),
        *(f"{turn.before.mb:.0f}", f"{memory[len(memory) // 10]:.0f}", f"{memory[-1]:.0f}"),
        *(f"{turn.busy:.2f}", f"{turn.driver:.2f}", f"{turn.others:.0%}"),
    )


def _errors(turn: Turn) -> int:
    return sum(bool(a.error) for a in _all(turn))


def _all(turn: Turn) -> tuple[Answer, ...]:
    return turn.first + turn.answers


def _name(turn: Turn) -> str:
    return f"{turn.app}, {turn.visitors} {turn.kind}"


def _departure(turn: Turn) -> str:
    before, after = turn.before, turn.after
    return (
        f"{turn.left} visitors left; threads {before.threads} before and {after.threads} after, "
        f"open files {before.files} and {after.files}, memory {before.mb:.0f} and {after.mb:.0f} MB"
    )


def _as_dict(turn: Turn) -> dict[str, Any]:
    described = asdict(turn)
    described["answers"] = [round(a.seconds, 4) for a in turn.answers]
    described["first"] = [round(a.seconds, 4) for a in turn.first]
    described["memory"] = [round(mb) for mb in turn.memory]
    described["errors"] = dict(Counter(a.error for a in _all(turn) if a.error))
    described["requests_per_second"] = requests_per_second(turn)
    described["mean_kb"] = np.mean([a.n_bytes for a in turn.answers] or [0]) / 1e3
    return described
