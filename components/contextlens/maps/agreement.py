"""The share of points whose nearest point in the full space has the same label, beside chance.

This module checks what a map seems to say about labels. It looks for neighbours in the model's
space, not on the map. The points of one sentence share its context and often its label, so only
points of other sentences count as neighbours, for the share and for chance.

The interval of a share is that of Clopper and Pearson (1934), at 95%. Points are not independent:
two points that are each other's nearest agree both or neither, and equal vectors are one vector, so
each group of these counts as one observation. Shares are compared in whole per cent, as pages show
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.core.schema import FloatArray, IntArray

__all__ = ["RISK", "Agreement", "LabelShare", "agreement", "share_interval", "whole_percent"]

Interval = tuple[float, float]
"""The lower and the upper end, in [0, 1]."""
RISK = 0.05
"""The risk that an interval misses the true share."""
_TIED = 1e-6
"""Smaller differences between distances of vectors of length one are rounding errors."""


@dataclass(frozen=True)
class LabelShare:
    """One label: the number of its points, and how often their nearest point has it too."""

    name: str
    n: int
    share: float
    chance: float
    n_apart: int

    @property
    def excess(self) -> float:
        """The excess over chance, as a share of what chance leaves: 0 at chance, 1 if all agree."""
        return _excess(self.share, self.chance)

    def is_above(self, other: LabelShare, risk: float) -> bool:
        """True if this label has the higher share and more excess over chance, at this risk."""
        low = share_interval(self.share, self.n_apart, risk)[0]
        high = share_interval(other.share, other.n_apart, risk)[1]
        beyond = _excess(low, self.chance) > _excess(high, other.chance)
        return whole_percent(low) > whole_percent(high) and beyond


@dataclass(frozen=True)
class Agreement:
    """The share of points whose nearest point has the same label.

    Attributes:
        share: the share among the counted points, in [0, 1]; tied nearest points count in equal
            parts.
        chance: the share that is expected if the nearest point is drawn at random.
        n: the number of counted points: labelled ones with a labelled neighbour in another
            sentence.
        labels: each label of at least two counted points, the one with the most excess first.
        n_apart: the number of independent observations among the counted points, at most `n`.
        commonest: the label that most of the counted points carry.
        baseline: the share of counted points with that label, which is the accuracy of always
            guessing it.
    """

    share: float
    chance: float
    n: int
    labels: tuple[LabelShare, ...]
    n_apart: int
    commonest: str = ""
    baseline: float = 0.0

    @cached_property
    def interval(self) -> Interval:
        """The 95% interval of the share."""
        return share_interval(self.share, self.n_apart)

    @property
    def is_clear(self) -> bool:
        """True if the share lies above chance."""
        return whole_percent(self.interval[0]) > whole_percent(self.chance)

    def ends(self, least: int = 1) -> tuple[LabelShare, LabelShare] | None:
        """Return the labels with the most and the least excess; None if their intervals overlap.

        Only labels of at least `least` points are compared. Their intervals are wide enough that
        in 95 of 100 cases all labels lie within theirs.
        """
        kinds = [kind for kind in self.labels if kind.n >= least]
        if len(kinds) < 2:
            return None
        best, worst = kinds[0], kinds[-1]
        return (best, worst) if best.is_above(worst, RISK / len(kinds)) else None


def share_interval(share: float, n: int, risk: float = RISK) -> Interval:
    """Return Clopper and Pearson's interval of a share of n independent observations.

    Args:
        share: in [0, 1]; it may count parts of observations.
        n: at least 1.
        risk: the risk that the interval misses the true share.
    """
    from scipy.special import betaincinv

    hits = share * n
    low = float(betaincinv(hits, n - hits + 1, risk / 2)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - risk / 2)) if hits < n else 1.0
    return min(low, share), max(high, share)  # guards against rounding


def whole_percent(share: float) -> int:
    """Return a share in whole per cent, as pages show it."""
    return round(100 * share)


def agreement(
    labels: Sequence[str],
    sentence: IntArray,
    indices: IntArray,
    distances: FloatArray,
) -> Agreement | None:
    """Return the agreement from lists of true neighbours; None if no two points can be compared.

    Args:
        labels: a label for each point, "" if it has none.
        sentence: (n_points,) the index of each point's sentence.
        indices: (n_points, k) the nearest points in the full space, with or without the point
            itself.
        distances: (n_points, k) their distances, in ascending order.
    """
    case = _LabelledPoints(labels, sentence)
    allowed = case.allowed(np.arange(case.n)[:, None], indices)
    same = case.codes[:, None] == case.codes[indices]
    tied = _nearest(distances, allowed)
    n_tied = tied.sum(axis=1)
    shares = (tied & same).sum(axis=1) / np.maximum(n_tied, 1)
    return case.summed(shares, n_tied > 0, _observations(indices, tied, distances <= _TIED))


def _nearest(distances: FloatArray, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(n, k) True for the allowed points that are the nearest of their row, or equally near."""
    values = np.where(allowed, distances, np.inf)
    least = values.min(axis=1, keepdims=True, initial=np.inf)
    slack = _TIED * np.maximum(1.0, np.where(np.isfinite(least), least, 0))
    tied: NDArray[np.bool_] = allowed & (values <= least + slack)
    return tied


def _observations(
    indices: IntArray, tied: NDArray[np.bool_], equal: NDArray[np.bool_]
) -> NDArray[Any]:
    """(n,) a number for each point; points with the same number count as one observation.

    Args:
        indices: (n, k) neighbours.
        tied: (n, k) True for a point's nearest neighbours.
        equal: (n, k) True for neighbours with the point's own vector.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    def links(which: NDArray[np.bool_]) -> Any:
        rows, places = np.nonzero(which)
        ones = np.ones(len(rows), np.int32)
        return csr_array((ones, (rows, indices[rows, places])), (len(indices), len(indices)))

    nearest = links(tied)
    both_ways = nearest.multiply(nearest.T)
    numbers: NDArray[Any] = connected_components(both_ways + links(tied & equal), False)[1]
    return numbers


class _LabelledPoints:
    """Labels as numbers, -1 for none, and the points that may be neighbours of each other."""

    def __init__(self, labels: Sequence[str], sentence: IntArray) -> None:
        self.n = len(labels)
        self.names = sorted({label for label in labels if label})
        places = {name: i for i, name in enumerate(self.names)}
        self.codes = np.array([places.get(label, -1) for label in labels], dtype=np.int64)
        self.labelled = self.codes >= 0
        # Points of a single sentence may all be neighbours of each other.
        alone = len(np.unique(sentence[self.labelled])) < 2
        self.group = np.arange(self.n) if alone else np.asarray(sentence)

    def allowed(self, rows: IntArray, columns: IntArray) -> NDArray[np.bool_]:
        """True where a point of `columns` may count as a neighbour of one of `rows`."""
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

    def summed(
        self, shares: NDArray[Any], has_neighbour: NDArray[np.bool_], observations: NDArray[Any]
    ) -> Agreement | None:
        """Return the agreement of all points that have a neighbour to be compared with."""
        if not has_neighbour.any():
            return None
        codes, share, chance = (
            self.codes[has_neighbour],
            shares[has_neighbour],
            self.chances()[has_neighbour],
        )
        n_own = np.bincount(codes, minlength=len(self.names))
        sums = [np.bincount(codes, values, minlength=len(self.names)) for values in (share, chance)]
        groups = np.unique(np.stack([observations[has_neighbour], codes]), axis=1)
        n_apart = np.bincount(groups[1], minlength=len(self.names)).tolist()
        kinds = [
            LabelShare(name, int(n), float(alike / n), float(drawn / n), apart)
            for name, n, alike, drawn, apart in zip(self.names, n_own, *sums, n_apart, strict=True)
            if n > 1
        ]
        kinds.sort(key=lambda kind: (-kind.excess, kind.name))
        means, n_groups = (float(share.mean()), float(chance.mean())), len(np.unique(groups[0]))
        most = int(n_own.argmax())
        commonest = self.names[most], float(n_own[most] / len(codes))
        return Agreement(*means, len(codes), tuple(kinds), n_groups, *commonest)


def _excess(share: float, chance: float) -> float:
    return (share - chance) / (1 - chance) if chance < 1 else 0.0
