"""The navigator: all heads of a model, in the order of what joins two words, or of a habit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from contextlens.content.language import say
from contextlens.core.schema import FloatArray
from contextlens.features.attention.controls import PAIR
from contextlens.features.attention.heads import HABITS, Heads, ranked
from contextlens.features.attention.selection import HeadSelection

_N_LISTED = 4  # heads beside the grid


@dataclass(frozen=True, eq=False)
class Navigator:
    """All heads on one text, sorted.

    Attributes:
        heads: all heads, reduced.
        sort: the sort key of the heads.
        order: the (layer, head) pairs, sorted by it.
        selection: the heads that are shown.
        joins: (n_layers, n_heads) what each head takes in for the one chosen word from the other.
        names: these two words, in plain text.
    """

    heads: Heads
    sort: str
    order: Sequence[tuple[int, int]]
    selection: HeadSelection
    joins: FloatArray
    names: tuple[str, str]

    @property
    def selected(self) -> list[tuple[int, int]]:
        """The (layer, head) pairs that are shown."""
        return self.selection.heads(self.heads)

    def sort_titles(self) -> list[str]:
        """The titles of the sort keys, in the order of `SORT`."""
        ends = [say(f"attention.habit.{name}_focused") for name in ("least", "most")]
        return [self._pair_title(), *self.selection.habit_names, *ends]

    def shades(self) -> FloatArray:
        """(n_layers, n_heads) from 0 to 1: how far each head has what heads are sorted by."""
        values = -self._values() if self.sort == "focus" else self._values()
        low = 0.0 if self._unit() == "share" else float(values.min())
        spread = float(values.max()) - low
        shades: FloatArray = (values - low) / (spread or 1.0)
        return shades

    def texts(self) -> list[list[str]]:
        """For each layer and head, the value by which heads are sorted, in words."""
        key = f"attention.hover.{self._unit()}"
        names: dict[str, str] = dict(zip(HABITS, self.selection.habit_names, strict=False))
        name = self._pair_title() if self.sort == PAIR else names.get(self.sort, "")
        return [
            [say(key, name=name, value=value) for value in row] for row in self._values().tolist()
        ]

    def listed(self) -> list[tuple[int, int, str]]:
        """The first heads of the order, each with its layer and its value as written beside it."""
        values, key = self._values(), f"attention.listed.{self._unit()}"
        return [
            (layer, head, say(key, value=float(values[layer - 1, head])))
            for layer, head in self.order[:_N_LISTED]
        ]

    def table(self) -> pd.DataFrame:
        """What every head has of the two words and of each habit, in the chosen order."""
        names = [self._pair_title(), *self.selection.habit_names, "entropy (bits)"]
        every = np.concatenate([self.joins[..., None], self.heads.habits], axis=-1)
        values = np.array([every[layer - 1, head] for layer, head in self.order])
        table = pd.DataFrame(dict(zip(names, values.T, strict=True)))
        table.insert(0, "layer", [layer for layer, _ in self.order])
        table.insert(1, "head", [head + 1 for _, head in self.order])
        return table

    def _pair_title(self) -> str:
        return say("attention.habit.pair", one=self.names[0], other=self.names[1])

    def _unit(self) -> Literal["entropy", "share"]:
        return "entropy" if self.sort in ("entropy", "focus") else "share"

    def _values(self) -> FloatArray:
        if self.sort == PAIR:
            return self.joins
        habit = "entropy" if self.sort == "focus" else self.sort
        values: FloatArray = self.heads.habits[..., HABITS.index(habit)]
        return values


def ordered(sort: str, heads: Heads, joins: FloatArray) -> list[tuple[int, int]]:
    """The (layer, head) of every head, sorted."""
    if sort == PAIR:
        return ranked(joins)
    if sort == "focus":
        return ranked(-heads.habits[..., HABITS.index("entropy")])
    return ranked(heads.habits[..., HABITS.index(sort)])
