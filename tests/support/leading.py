"""What a sentence says of the most and the least of some numbers, checked against them.

The margins are written out again: nothing here asks the code that worded the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.support.true_words import cut, place

NAME = r"“[^”]*”(?: at position \d+)?"
NAMES = rf"{NAME}(?:(?: and {NAME})| and \d+ others)?"
SPAN = r"\S+(?: to \S+)?"


def two(value: float) -> str:
    """Two decimals, of zero without a sign."""
    said = f"{float(value):.2f}"
    return "0.00" if said == "-0.00" else said


@dataclass(frozen=True)
class Numbers:
    """Numbers of which a sentence tells the most and the least, or that they are alike.

    Attributes:
        values: them.
        margin: how near to the most still shares its place.
        said: how a number is written.
    """

    values: Sequence[float]
    margin: float = 0.01
    said: Callable[[float], str] = two

    @property
    def are_alike(self) -> bool:
        """Whether none can be called more than another."""
        return max(self.values) - min(self.values) <= 2 * self.margin

    def span(self, which: Sequence[float]) -> str:
        """How a group's numbers are written."""
        low, high = self.said(min(which)), self.said(max(which))
        return low if low == high else f"{low} to {high}"

    def assert_alike(self, span: str) -> None:
        """Nothing is far from anything."""
        assert self.are_alike
        assert span == self.span(self.values)

    def assert_leads(self, first: int, size: int, span: str, sign: int = 1) -> None:
        """The named one is the highest (or lowest), and so many share its place; not all do.

        Args:
            first: the one that is named, or named first.
            size: how many there are with it.
            span: their numbers as written; no other's is written like the named one's.
            sign: -1 for the lowest.
        """
        top = max(sign * value for value in self.values)
        near = [value for value in self.values if top - sign * value <= self.margin]
        far = {self.said(value) for value in self.values if top - sign * value > self.margin}
        assert sign * self.values[first] == top
        assert len(near) == size
        assert span == self.span(near)
        assert far
        assert self.said(self.values[first]) not in far


def group(names: str, labels: Sequence[str], positions: Sequence[int] = ()) -> tuple[int, int]:
    """The item that is named first, and how many there are: "“a”", "“a” and 3 others".

    Args:
        names: as written.
        labels: of all items.
        positions: of all items; their places where there are none.
    """
    first = re.match(r"“([^”]*)”(?: at position (\d+))?", names)
    assert first, names
    rest = names[first.end() :]
    many = re.fullmatch(r" and (\d+) others", rest)
    where = list(positions) or list(range(len(labels)))
    at = None if first[2] is None else str(where.index(int(first[2])))
    return place(first[1], at, labels), int(many[1]) + 1 if many else 2 if rest else 1


def titled(labels: Sequence[str], positions: Sequence[int] = ()) -> dict[str, int]:
    """The items by the names that a title has for them."""
    short = [cut(label) for label in labels]
    where = list(positions) or list(range(len(labels)))
    names = [
        f"{name} at position {at}" if short.count(name) > 1 else name
        for name, at in zip(short, where, strict=True)
    ]
    assert len(set(names)) == len(names)
    return {name: i for i, name in enumerate(names)}


def layers_in(said: str) -> list[int]:
    """The layers that are listed: "layers 1 to 4, 6"."""
    found: list[int] = []
    for part in re.sub(r"[Ll]ayers? ", "", said).split(", "):
        ends = [int(end) for end in part.split(" to ")]
        found.extend(range(ends[0], ends[-1] + 1))
    return found


def odd_values(random: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers from 0 to 1: spread, tied, almost tied, or all the same."""
    whole = random.uniform(0, 1, shape)
    how = random.integers(6)
    if how == 0:
        whole = whole.round(1)
    elif how == 1:
        whole = 0.5 + random.uniform(-0.015, 0.015, shape)
    elif how == 2:
        whole = random.integers(0, 2, shape) * 0.5 + random.uniform(0, 0.004, shape)
    elif how == 3:
        whole = np.full(shape, random.choice([0.0, 0.125, 1.0]))
    return whole.astype(np.float32)
