"""The results of benchmarks: raw rounds, ratios and targets, one table, one JSON file."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any, Literal

from tests.benchmarks.machine import described, write

__all__ = ["Outcome", "Ratio", "table", "write_json"]

BUSY = 0.1
PACKAGES = (
    "lancedb",
    "numpy",
    "playwright",
    "plotly",
    "sentence-transformers",
    "streamlit",
    "tokenizers",
    "torch",
    "transformers",
    "umap-learn",
)


@dataclass(frozen=True)
class Ratio:
    """One number, the median of its rounds, with a target or only for information."""

    name: str
    rounds: tuple[float, ...]
    target: float | None = None
    kind: Literal["at most", "at least"] = "at most"
    unit: str = "x"

    @property
    def value(self) -> float:
        """The median of the rounds."""
        return median(self.rounds)

    @property
    def verdict(self) -> str:
        """Met or missed; empty if there is no target."""
        if self.target is None:
            return ""
        met = self.value >= self.target if self.kind == "at least" else self.value <= self.target
        return "met" if met else "MISSED"


@dataclass(frozen=True)
class Outcome:
    """A benchmark's results.

    Attributes:
        ratios: the rows of the table.
        raw: every single measurement, by a name that ends in its unit.
        notes: other facts, such as how the work was made up.
    """

    ratios: Sequence[Ratio]
    raw: Mapping[str, Sequence[float]]
    notes: Mapping[str, Any] = field(default_factory=dict)
    others: float = 0.0  # share of the machine that other programs took, 0 to 1


def table(outcomes: Mapping[str, Outcome]) -> str:
    """All ratios, one a line."""
    rows = [("benchmark", "measured", "rounds", "target", "verdict")]
    for name, outcome in outcomes.items():
        rows += [_row(name, ratio) for ratio in outcome.ratios]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    busy = [f"{name} {o.others:.0%}" for name, o in outcomes.items() if o.others > BUSY]
    warning = f"\n\nOther programs took part of the machine ({', '.join(busy)}): run these again."
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]]) + (warning if busy else "")


def _row(name: str, ratio: Ratio) -> tuple[str, str, str, str, str]:
    spread = f"{min(ratio.rounds):.2f} to {max(ratio.rounds):.2f}" if len(ratio.rounds) > 1 else ""
    target = "" if ratio.target is None else f"{ratio.kind} {ratio.target:g} {ratio.unit}"
    value = f"{ratio.value:.2f} {ratio.unit}"
    return f"{name}: {ratio.name}", value, spread, target, ratio.verdict


def write_json(outcomes: Mapping[str, Outcome], path: Path) -> None:
    """Write every measurement, for machines and later comparison."""
    report = {
        "made": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "machine": {
            **described(),
            "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        },
        "versions": {name: metadata.version(name) for name in PACKAGES},
        "benchmarks": {name: _as_dict(outcome) for name, outcome in outcomes.items()},
    }
    write(report, path)


def _as_dict(outcome: Outcome) -> dict[str, Any]:
    return {
        "ratios": [
            {
                "name": ratio.name,
                "median": ratio.value,
                "rounds": list(ratio.rounds),
                "target": ratio.target,
                "kind": ratio.kind if ratio.target is not None else None,
                "unit": ratio.unit,
                "verdict": ratio.verdict.lower() or None,
            }
            for ratio in outcome.ratios
        ],
        "medians": {name: median(values) for name, values in outcome.raw.items()},
        "raw": {name: list(values) for name, values in outcome.raw.items()},
        "notes": dict(outcome.notes),
        "share_of_machine_taken_by_others": round(outcome.others, 3),
    }
