"""How well the senses of a word part at one layer: the nearest centroid, held out.

A word vector is scaled to length 1; a centroid is the mean of its sense's training vectors, scaled
to length 1; the sense with the highest cosine wins. (Not scikit-learn's `NearestCentroid`, which
does not scale the means.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from components.core.schema import FloatArray, IntArray
from components.features.senses.measures.trials import Trial
from components.features.senses.measures.vectors import scaled

__all__ = [
    "LOW_COSINE",
    "LOW_MARGIN",
    "MAX_SILHOUETTE",
    "RISK",
    "Separation",
    "best_of",
    "centroids",
    "separation",
    "silhouette",
    "two_nearest",
    "wilson",
]

RISK = 0.05
"""How often an interval may miss."""
MAX_SILHOUETTE = 1_000
"""Vectors that a silhouette is measured on; all pairs of them are compared."""
LOW_MARGIN, LOW_COSINE = 0.10, 0.05
"""The shares of the tested occurrences whose margins, and whose cosines, count as low."""


@dataclass(frozen=True, eq=False)
class Separation:
    """What the test of the nearest centroid gives at one layer.

    Attributes:
        layer: which one.
        right, n: how many of the tested occurrences get their own sense.
        interval: where the share may lie, Wilson's interval at 95%.
        predicted: (n_occurrences,) the sense that each tested one gets, by number; -1 for others.
        margins: (n,) of each tested one, its cosine to the nearest centroid less the second's.
        confusion: (n_senses, n_senses) how often a sense (row) gets another's name (column).
        silhouette: mean silhouette of all that take part, by cosine distance, in [-1, 1]; nan
            where it is not defined.
        low_margin: a tenth of the margins are lower.
        low_cosine: a twentieth of the tested have a lower cosine to their nearest centroid.
    """

    layer: int
    right: int
    n: int
    interval: tuple[float, float]
    predicted: IntArray
    margins: FloatArray
    confusion: IntArray
    silhouette: float
    low_margin: float
    low_cosine: float

    @property
    def accuracy(self) -> float:
        """The share of the tested that get their own sense."""
        return self.right / self.n


def wilson(right: int, n: int, *, risk: float = RISK) -> tuple[float, float]:
    """Wilson's score interval (1927) of a share of n observations; n at least 1."""
    z = NormalDist().inv_cdf(1 - risk / 2)
    share, whole = right / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / whole
    half = z / whole * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))


def centroids(units: FloatArray, codes: IntArray, n: int) -> FloatArray:
    """(n, n_dims) the scaled mean of each sense's scaled vectors; zeros for one without any."""
    members = codes == np.arange(n)[:, None]
    return scaled(members.astype(np.float64) @ units)


def two_nearest(
    units: FloatArray, centres: FloatArray
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """For each vector the nearest and the second centroid, and the cosines to both.

    One without examples (zeros) is never nearest. With fewer than two, the second is -1 at -1.
    """
    there = np.linalg.norm(centres, axis=1) > 0
    cosines = np.where(there, units @ centres.T, -np.inf)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :2]
    rows = np.arange(len(units))
    first, best = order[:, 0], cosines[rows, order[:, 0]]
    if there.sum() < 2:
        return first, np.full(len(units), -1), best, np.full(len(units), -1.0)
    return first, order[:, 1], best, cosines[rows, order[:, 1]]


def separation(units: FloatArray, trial: Trial, layer: int) -> Separation:
    """The test at one layer.

    Args:
        units: (n, n_dims) the occurrences' vectors, scaled.
        trial: who is tested on whom; one without a problem.
        layer: which layer the vectors are of.
    """
    n_senses = len(trial.senses)
    predicted = np.full(len(units), -1, dtype=np.int64)
    best, margins = np.zeros(len(units)), np.zeros(len(units))
    for fold in range(trial.n_folds):
        rows = np.flatnonzero(trial.folds == fold)
        learned = np.where(trial.teaches & (trial.folds != fold), trial.codes, -1)
        centres = centroids(units, learned, n_senses)
        predicted[rows], _, best[rows], second = two_nearest(units[rows], centres)
        margins[rows] = best[rows] - second
    tested = trial.tested
    confusion = np.zeros((n_senses, n_senses), dtype=np.int64)
    np.add.at(confusion, (trial.codes[tested], predicted[tested]), 1)
    right, n = int(np.trace(confusion)), len(tested)
    return Separation(
        layer=layer,
        right=right,
        n=n,
        interval=wilson(right, n),
        predicted=predicted,
        margins=margins[tested].astype(np.float32),
        confusion=confusion,
        silhouette=silhouette(units, trial.codes),
        low_margin=float(np.quantile(margins[tested], LOW_MARGIN)),
        low_cosine=float(np.quantile(best[tested], LOW_COSINE)),
    )


def silhouette(units: FloatArray, codes: IntArray) -> float:
    """The mean silhouette (Rousseeuw 1987) by cosine distance; nan where it is not defined.

    Of more than `MAX_SILHOUETTE` vectors, that of a sample with a fixed seed.
    """
    from sklearn.metrics import silhouette_score

    own = np.flatnonzero(codes >= 0)
    if len(own) > MAX_SILHOUETTE:
        own = np.random.default_rng(0).choice(own, MAX_SILHOUETTE, replace=False)
    n_kinds = len(np.unique(codes[own]))
    if not 2 <= n_kinds < len(own):
        return float("nan")
    return float(silhouette_score(units[own], codes[own], metric="cosine"))


def best_of(curve: Sequence[Separation]) -> tuple[list[int], list[int]]:
    """The layers with most right, and the others whose share lies within the best's interval."""
    most = max(own.right for own in curve)
    best = [own.layer for own in curve if own.right == most]
    low = next(own.interval[0] for own in curve if own.right == most)
    near = [own.layer for own in curve if own.right < most and own.accuracy >= low]
    return best, near
