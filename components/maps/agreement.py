"""How often the nearest point in the full space carries the same label, beside chance.

What a map seems to say of labels is checked here where the model holds the points, not where they
are drawn. Points of one sentence share its context and often its label, so a point's neighbours
count from other sentences only, and so does chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.schema import FloatArray, IntArray

__all__ = ["Agreement", "LabelShare", "agreement"]

_TIED = 1e-6
"""Distances of vectors of one length that differ by less are rounding in float32."""


@dataclass(frozen=True)
class LabelShare:
    """One label: how many points carry it, and how often a nearest point does too."""

    name: str
    n: int
    share: float
    chance: float

    @property
    def excess(self) -> float:
        """How much of what chance leaves is reached: 0 at chance, 1 where all agree."""
        return _excess(self.share, self.chance)


@dataclass(frozen=True)
class Agreement:
    """How often a point's nearest one carries the point's own label.

    Attributes:
        share: of the counted points, in [0, 1]; tied nearest points count in equal parts.
        chance: what a nearest point drawn at random would give.
        n: points counted: labelled ones that have a labelled neighbour in another sentence.
        labels: each label of two counted points or more, the one that keeps together best first.
    """

    share: float
    chance: float
    n: int
    labels: tuple[LabelShare, ...]

    @property
    def excess(self) -> float:
        """How much of what chance leaves is reached: 0 at chance, 1 where all agree."""
        return _excess(self.share, self.chance)

    def ends(self, least: int = 1) -> tuple[LabelShare, LabelShare] | None:
        """The labels of at least so many points that keep together best and worst."""
        kinds = [kind for kind in self.labels if kind.n >= least]
        if len(kinds) < 2:
            return None
        best = max(kinds, key=lambda kind: (kind.excess, kind.n))
        return best, min(kinds, key=lambda kind: (kind.excess, -kind.n))

    @property
    def margin(self) -> float:
        """Two standard errors of the share under chance.

        Two points that are each other's nearest are one observation, not two: hence the variance
        of a binomial share is doubled.
        """
        return 2 * math.sqrt(2 * self.chance * (1 - self.chance) / self.n)

    @property
    def is_clear(self) -> bool:
        """Whether the share lies above what chance explains."""
        return self.share > self.chance + self.margin


def agreement(
    labels: Sequence[str],
    sentence: IntArray,
    indices: IntArray,
    distances: FloatArray,
) -> Agreement | None:
    """Agreement from lists of true neighbours; None where no two points can be compared.

    Args:
        labels: a label for each point, "" where it has none.
        sentence: (n_points,) which sentence each point stands in.
        indices: (n_points, k) the nearest points in the full space, the point itself or not.
        distances: (n_points, k) how far they are, rising.
    """
    case = _Case(labels, sentence)
    allowed = case.allowed(np.arange(case.n)[:, None], indices)
    same = case.codes[:, None] == case.codes[indices]
    return case.summed(*_same_share(-distances, allowed, same))


def _same_share(
    closeness: NDArray[Any], allowed: NDArray[np.bool_], same: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """For each row the share of its nearest allowed points that are of its kind, ties split."""
    values = np.where(allowed, closeness, -np.inf)
    best = values.max(axis=1, keepdims=True, initial=-np.inf)
    found = np.isfinite(best[:, 0])
    slack = _TIED * np.maximum(1.0, np.abs(np.where(np.isfinite(best), best, 0)))
    tied = allowed & (values >= best - slack)
    return (tied & same).sum(axis=1) / np.maximum(tied.sum(axis=1), 1), found


class _Case:
    """Labels as numbers, -1 for none, and who may be whose neighbour."""

    def __init__(self, labels: Sequence[str], sentence: IntArray) -> None:
        self.n = len(labels)
        self.names = sorted({label for label in labels if label})
        places = {name: i for i, name in enumerate(self.names)}
        self.codes = np.array([places.get(label, -1) for label in labels], dtype=np.int64)
        self.labelled = self.codes >= 0
        alone = len(np.unique(sentence[self.labelled])) < 2
        self.group = np.arange(self.n) if alone else np.asarray(sentence)

    def allowed(self, rows: IntArray, columns: IntArray) -> NDArray[np.bool_]:
        """Whether the points of `columns` may count as neighbours of those of `rows`."""
        labelled = self.labelled[rows] & self.labelled[columns]
        allowed: NDArray[np.bool_] = labelled & (self.group[rows] != self.group[columns])
        return allowed

    def chances(self) -> NDArray[np.float64]:
        """(n_points,) the share of each point's possible neighbours that carry its label."""
        codes, group = self.codes[self.labelled], self.group[self.labelled]
        both = group * len(self.names) + codes
        _, place, counts = np.unique(both, return_inverse=True, return_counts=True)
        chances = np.zeros(self.n)
        others = len(codes) - np.bincount(group)[group]
        alike = np.bincount(codes)[codes] - counts[place]
        chances[self.labelled] = alike / np.maximum(others, 1)
        return chances

    def summed(self, shares: NDArray[Any], found: NDArray[np.bool_]) -> Agreement | None:
        """The agreement of all points that have a neighbour to be compared with."""
        if not found.any():
            return None
        codes, share, chance = self.codes[found], shares[found], self.chances()[found]
        n_own = np.bincount(codes, minlength=len(self.names))
        sums = [np.bincount(codes, each, minlength=len(self.names)) for each in (share, chance)]
        kinds = [
            LabelShare(name, int(n), float(alike / n), float(drawn / n))
            for name, n, alike, drawn in zip(self.names, n_own, *sums, strict=True)
            if n > 1
        ]
        kinds.sort(key=lambda kind: (-kind.excess, kind.name))
        return Agreement(float(share.mean()), float(chance.mean()), len(codes), tuple(kinds))


def _excess(share: float, chance: float) -> float:
    return (share - chance) / (1 - chance) if chance < 1 else 0.0
