"""How words of two sentences are named: “bank” in A, with its position where one stands twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from components.content.wording import MARGIN, bold, leading, placed, several, span, two
from components.features.why.compute.score import Side
from components.features.why.measures.units import Unit

__all__ = ["best", "named", "placed_in", "signed", "token_named"]


def named(unit: Unit, side: Side) -> str:
    """A word or special token of a sentence: “bank” in A."""
    return f"{placed_in(unit, side)} in {side.letter}"


def placed_in(unit: Unit, side: Side) -> str:
    """The same where it is clear which sentence is meant: “bank”."""
    return placed(unit.label, unit.positions[0], [other.label for other in side.units])


def token_named(position: int, side: Side) -> str:
    """A token of a sentence: “##on” in A."""
    return f"{placed(side.labels[position], position, side.labels)} in {side.letter}"


def signed(value: float) -> str:
    """A change to two decimals, in bold, with its sign."""
    rounded = round(value, 2)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else ""
    return f"**{sign}{two(abs(value))}**"


def best(
    values: Sequence[float], names: Callable[[int], str], *, margin: float = MARGIN
) -> tuple[str, str, int]:
    """What has the highest values to within a margin: named, their values, and how many."""
    found = leading(values, margin)
    return (
        several([names(i) for i in found]),
        span([values[i] for i in found], bold),
        len(found),
    )
