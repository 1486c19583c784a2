"""The navigator: all heads of a model in the order of a habit, and the habits of those selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from contextlens.content.language import say
from contextlens.core.schema import FloatArray
from contextlens.features.attention.controls import SORT
from contextlens.features.attention.heads import HABITS, Heads, ranked
from contextlens.features.attention.selection import HeadSelection
from contextlens.ui.state.view import ViewState


@dataclass(frozen=True)
class HabitBar:
    """One habit of the chosen heads.

    Attributes:
        value: a share of attention, or the entropy relative to even attention; in [0, 1].
        even: the value of evenly spread attention.
        text: the value as written beside the bar.
    """

    name: str
    value: float
    even: float
    text: str


@dataclass(frozen=True, eq=False)
class Navigator:
    """All heads on one text, sorted.

    Attributes:
        heads: all heads, reduced.
        sort: the sort key of the heads.
        order: the (layer, head) pairs, sorted by it.
        selection: the heads that are shown.
    """

    heads: Heads
    sort: str
    order: Sequence[tuple[int, int]]
    selection: HeadSelection

    @property
    def selected(self) -> list[tuple[int, int]]:
        """The (layer, head) pairs that are shown."""
        return self.selection.heads(self.heads)

    def sort_titles(self) -> list[str]:
        """The titles of the sort keys, in the order of `SORT`."""
        ends = [say(f"attention.habit.{name}_focused") for name in ("least", "most")]
        return [*self.selection.habit_names, *ends]

    def titles(self) -> dict[str, str]:
        """The menu of heads, sorted: from values of `HEAD` to titles, "Layer 3, head 7 · 0.42"."""
        values, key = self._values(), f"attention.menu.{self._unit()}"
        return {
            f"{layer}.{head}": say(
                key, layer=layer, head=head, value=float(values[layer - 1, head])
            )
            for layer, head in self.order
        }

    def texts(self) -> list[list[str]]:
        """For each layer and head, the value of the habit by which heads are sorted, in words."""
        key = f"attention.hover.{self._unit()}"
        name = [*self.selection.habit_names, ""][HABITS.index(self._habit())]
        return [
            [say(key, name=name, value=value) for value in row] for row in self._values().tolist()
        ]

    def caption(self) -> str:
        """The caption of the bars."""
        layer, head = self.selection.layer, self.selection.head
        return say(f"attention.bars.{self.selection.scope}", n=layer, layer=layer, head=head)

    def bars(self) -> list[HabitBar]:
        """The mean habits of the selected heads, beside those of evenly spread attention."""
        habits, names = self.heads.habits, self.selection.habit_names
        means = np.mean([habits[layer - 1, head] for layer, head in self.selected], axis=0).tolist()
        *even, widest = self.heads.even.tolist()
        bits, entropy = means.pop(), say("attention.habit.entropy")
        return [
            *(
                HabitBar(name, value, expected, say("attention.bars.share", value=value))
                for name, value, expected in zip(names, means, even, strict=True)
            ),
            HabitBar(entropy, bits / (widest or 1.0), 1.0, say("attention.bars.bits", value=bits)),
        ]

    def table(self) -> pd.DataFrame:
        """Every head's habits, in the chosen order."""
        habits = np.array([self.heads.habits[layer - 1, head] for layer, head in self.order])
        names = [*self.selection.habit_names, "entropy (bits)"]
        table = pd.DataFrame(dict(zip(names, habits.T, strict=True)))
        table.insert(0, "layer", [layer for layer, _ in self.order])
        table.insert(1, "head", [head for _, head in self.order])
        return table

    def _habit(self) -> str:
        return "entropy" if self.sort == "focus" else self.sort

    def _unit(self) -> str:
        return "entropy" if self._habit() == "entropy" else "share"

    def _values(self) -> FloatArray:
        values: FloatArray = self.heads.habits[..., HABITS.index(self._habit())]
        return values


def ordered(view: ViewState, heads: Heads) -> list[tuple[int, int]]:
    """The (layer, head) of every head in the view's order."""
    by = SORT.of(view)
    return ranked(heads, "entropy", least=True) if by == "focus" else ranked(heads, by)
