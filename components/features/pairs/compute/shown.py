"""Pairs as the page looks at them: one layer of what was computed, and which pairs to read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from components.core.schema import FloatArray, IntArray
from components.features.pairs.compute.pair_set import PairSet
from components.features.pairs.compute.task import Compared
from components.features.pairs.measures import DIFFERENT, SAME, Scores
from components.ui.state.view import ViewState

__all__ = ["PairsShown", "chosen_layer", "to_read"]


@dataclass(frozen=True, eq=False)
class PairsShown:
    """Pairs at one layer.

    Attributes:
        pairs: what is compared.
        compared: what was computed of them.
        row: of the layer that is looked at.
    """

    pairs: PairSet
    compared: Compared
    row: int

    @property
    def layer(self) -> int:
        """The layer that is looked at."""
        return self.compared.layers[self.row]

    @property
    def scores(self) -> Scores | None:
        """What thresholds get right, where that can be said."""
        return self.compared.scores

    @property
    def cosines(self) -> FloatArray:
        """(n_pairs,) at the layer."""
        own: FloatArray = self.compared.cosines[self.row]
        return own

    @cached_property
    def there(self) -> IntArray:
        """The pairs that have a cosine."""
        return np.flatnonzero(~np.isnan(self.cosines))

    @property
    def n_lost(self) -> int:
        """Pairs whose word the model does not read."""
        return self.pairs.n - len(self.there)

    @property
    def threshold(self) -> float | None:
        """The cut at the layer."""
        return None if self.scores is None else float(self.scores.thresholds[self.row])

    @cached_property
    def says(self) -> NDArray[np.bool_] | None:
        """(n_pairs,) bool, which are called the same; None without a threshold."""
        scores = self.scores
        if scores is None:
            return None
        said: NDArray[np.bool_] = self.cosines >= scores.thresholds[self.row]
        said[scores.rows] = scores.says[self.row]  # of folds, by the threshold of the others
        return said


def chosen_layer(view: ViewState, layers: tuple[int, ...]) -> int:
    """The row of the layer that a view asks for; the last where it names none of these."""
    return layers.index(view.layer) if view.layer in layers else len(layers) - 1


def to_read(shown: PairsShown, which: str) -> IntArray:
    """Pairs in the order in which they are read: what is furthest on the wrong side comes first."""
    there = shown.there
    if which in {"most", "least"} or shown.scores is None:
        order = np.argsort(shown.cosines[there], kind="stable")
        found: IntArray = there[order if which == "least" else order[::-1]]
        return found
    wrong = shown.scores.wrong(shown.row)
    gold = shown.pairs.gold[wrong]
    if which == "called_same":
        wrong = wrong[gold == DIFFERENT]
    if which == "called_different":
        wrong = wrong[gold == SAME]
    beyond = np.abs(shown.cosines[wrong] - shown.scores.thresholds[shown.row])
    ordered: IntArray = wrong[np.argsort(-beyond, kind="stable")]
    return ordered
