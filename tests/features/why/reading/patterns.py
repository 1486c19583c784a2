"""How the readings of Why write numbers and name units, read back."""

from __future__ import annotations

import re

import numpy as np

from components.features.why.compute.score import Side

__all__ = ["CLEAR", "MANY", "SPAN", "WHO", "N", "close", "first_at", "largest_at", "number", "size"]

N = r"[−+]?\d+\.\d\d"
SPAN = rf"{N}(?: to {N})?"
WHO = r"(?:“[^”]*”(?: in place of “[^”]*”)?(?: at position \d+)? in [A-H])"
MANY = rf"{WHO}(?: and {WHO}| and \d+ others)?"
CLEAR = 0.005001


def number(said: str) -> float:
    return float(said.replace("−", "-").replace("+", ""))


def size(names: str) -> int:
    """How many are named: one, two, or the first and how many others."""
    many = re.search(r" and (\d+) others$", names)
    return int(many[1]) + 1 if many else len(re.findall(rf"{WHO}", names))


def first_at(names: str, sides: tuple[Side, Side], which: int | None = None) -> tuple[int, int]:
    """The side and unit that a name stands for."""
    found = re.match(r"“([^”]*)”(?: at position (\d+))? in ([A-H])", names)
    assert found, names
    side = next(i for i, s in enumerate(sides) if s.letter == found[3] and which in (None, i))
    own = [i for i, u in enumerate(sides[side].units) if u.label == found[1]]
    if found[2] is not None:
        own = [i for i in own if sides[side].units[i].positions[0] == int(found[2])]
    assert len(own) == 1, names
    return side, own[0]


def close(span: str, low: float, high: float) -> None:
    ends = [number(end) for end in span.split(" to ")]
    assert abs(ends[0] - low) < CLEAR, (span, low, high)
    assert abs(ends[-1] - high) < CLEAR, (span, low, high)


def largest_at(values: np.ndarray, margin: float) -> list[int]:
    return [k for k, value in enumerate(values) if values.max() - value <= margin]
