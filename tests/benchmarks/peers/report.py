"""The comparisons as one table, as JSON, and as the table that the documentation keeps."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

from docs.sections import replace_section
from tests.benchmarks.machine import described, write
from tests.benchmarks.peers.rows import Group, Row

__all__ = ["TABLE", "behind", "keep", "markdown", "report", "table"]

BUSY = 0.1
TABLE = "peers"
_HEAD = ("task", "Contextlens", "what else", "it takes", "times as good", "rounds", "verdict")


def report(groups: Mapping[str, Group]) -> dict[str, Any]:
    """All that was measured, for machines, for later comparison and for the table."""
    rows = [row for group in groups.values() for row in group.rows]
    packages = {"streamlit", "numpy", *(name for row in rows for name in row.packages)}
    return {
        "made": time.strftime("%Y-%m-%d"),
        "machine": described(),
        "contextlens": metadata.version("contextlens"),
        "versions": {name: metadata.version(name) for name in sorted(packages)},
        "rows": [_as_dict(row) for row in rows],
        "missing": {m.peer: m.remedy for group in groups.values() for m in group.missing},
        "share_of_machine_taken_by_others": {
            name: round(group.others, 3) for name, group in groups.items()
        },
    }


def keep(given: Mapping[str, Any], path: Path) -> None:
    """As JSON, and as the table of the page beside it.

    Raises:
        ValueError: the page lacks the marks of its table.
    """
    page = path.with_suffix(".md")
    text = replace_section(page.read_text(encoding="utf-8"), TABLE, markdown(given))
    write(given, path)
    page.write_text(text, encoding="utf-8")


def table(given: Mapping[str, Any]) -> str:
    """For a terminal: the rows, what could not be asked, where we fall behind."""
    rows = [_HEAD, *map(_cells, given["rows"])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    said = [*_made(given), *_missing(given), *_busy(given), *behind(given)]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], "", *said])


def markdown(given: Mapping[str, Any]) -> str:
    """The same for the documentation."""
    rows = [_HEAD, tuple("---" for _ in _HEAD), *map(_cells, given["rows"])]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    said = [*_made(given), *_missing(given), *_busy(given), *behind(given)]
    return "\n".join([*lines, "", "\n".join(f"- {line}" for line in said)])


def behind(given: Mapping[str, Any]) -> list[str]:
    """A sentence for each row in which we fall behind."""
    return [
        f"Contextlens falls behind {row['peer']} in “{row['task']}”: "
        f"{_value(row['ours'], row['unit'])} against {_value(row['theirs'], row['unit'])}."
        for row in given["rows"]
        if row["verdict"] == "BEHIND"
    ]


def _as_dict(row: Row) -> dict[str, Any]:
    return {
        "task": row.task,
        "peer": row.peer,
        "unit": row.unit,
        "better": row.better,
        "ours": median(row.ours),
        "theirs": median(row.theirs),
        "ratio": row.ratio,
        "verdict": row.verdict,
        "slack": row.slack,
        "rounds": {"ours": list(row.ours), "theirs": list(row.theirs), "ratio": list(row.ratios)},
    }


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    ratios: Sequence[float] = row["rounds"]["ratio"]
    one = max(ratios) - min(ratios) < 0.005 * row["ratio"]
    return (
        row["task"],
        _value(row["ours"], row["unit"]),
        row["peer"],
        _value(row["theirs"], row["unit"]),
        f"{_number(row['ratio'])} x",
        "" if one else f"{_number(min(ratios))} to {_number(max(ratios))}",
        row["verdict"],
    )


def _value(value: float, unit: str) -> str:
    return f"{_number(value)} {unit}" if unit else f"{value:.3f}"


def _number(value: float) -> str:
    """Three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.{1 if value >= 10 else 2}f}"


def _made(given: Mapping[str, Any]) -> list[str]:
    machine, versions = given["machine"], given["versions"]
    return [
        f"{given['made']}, {machine['processor']}, {machine['cpus']} cores, "
        f"{machine['memory_gb']:.0f} GB, Python {machine['python']}; Contextlens "
        f"{given['contextlens']}, " + ", ".join(f"{n} {v}" for n, v in versions.items()) + ".",
        "Medians of the rounds. “Level” is what the rounds do not tell apart, or what is worse by "
        "less than counts (docs/benchmarks.md).",
    ]


def _missing(given: Mapping[str, Any]) -> list[str]:
    return [f"{peer} was not asked: {remedy}" for peer, remedy in given["missing"].items()]


def _busy(given: Mapping[str, Any]) -> list[str]:
    shares = given["share_of_machine_taken_by_others"].items()
    busy = [f"{name} {share:.0%}" for name, share in shares if share > BUSY]
    return [f"Other programs took part of the machine ({', '.join(busy)})."] if busy else []
