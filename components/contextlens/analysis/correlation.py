"""The correlation of the pairs' cosines with graded scores, at each layer.

Nothing is learned from the scores, so all scored pairs count, whatever their split. Coefficients
are SciPy's. Intervals are Fisher's: the inverse hyperbolic tangent of a coefficient is about normal
with the variance 1 / (n - 3) for Pearson's r, and (1 + r² / 2) / (n - 3) for Spearman's (Bonett and
Wright, 2000, "Sample size requirements for estimating Pearson, Kendall and Spearman correlations").
They hold for pairs that have nothing to do with each other. For copies of pairs, n is Kish's
effective number (1965): the square of the number of pairs over the sum of the squares of how often
each one stands there; so pairs that all stand there equally often have the interval of one of each.

The functions take cosines, whatever vectors they come from.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.separation import RISK
from contextlens.core.schema import FloatArray, IntArray
from contextlens.core.words import split_words

__all__ = [
    "FEWEST",
    "Correlation",
    "Float64Array",
    "correlated",
    "percentiles",
    "shared_words",
    "spearman_interval",
    "spearman_of",
]

Float64Array = NDArray[np.float64]
FEWEST = 10
"""The fewest scored pairs from which anything is concluded."""
_EQUAL = 1e-5
"""Cosines that differ by less are equal but for rounding, and have no order."""
_READ = 2_500  # characters of a text, about as many as a model reads
_NONE = (math.nan, math.nan, math.nan)


@dataclass(frozen=True, eq=False)
class Correlation:
    """The correlation of cosines with scores at each layer; NaN where either are all equal.

    Attributes:
        rows: (n_scored,) int64, the pairs that have both a score and a cosine.
        spearman, spearman_low, spearman_high: (n_layers,) the rank correlation and its interval.
        pearson, pearson_low, pearson_high: (n_layers,) the linear correlation and its interval.
        shared_words: the rank correlation of the scores with the words that two texts share; NaN
            if that is the same for all pairs.
        has_equal_scores: True if all scores are the same.
        n_distinct: the number of different pairs among the rows.
        n_effective: the number of pairs for an interval: smaller where some are copies.
    """

    rows: IntArray
    spearman: Float64Array
    spearman_low: Float64Array
    spearman_high: Float64Array
    pearson: Float64Array
    pearson_low: Float64Array
    pearson_high: Float64Array
    shared_words: float = math.nan
    has_equal_scores: bool = False
    n_distinct: int = 0
    n_effective: float = 0.0

    @property
    def n(self) -> int:
        """The number of pairs that count."""
        return len(self.rows)

    @property
    def best(self) -> int | None:
        """The row of the layer with the highest rank correlation; None if no layer has one."""
        return None if np.isnan(self.spearman).all() else int(np.nanargmax(self.spearman))

    @property
    def is_clear(self) -> bool:
        """True if the best layer's rank correlation is above zero.

        The pairs that measure it also chose the layer, so its interval is widened to hold at all
        layers at once in 95 of 100 cases (Bonferroni).
        """
        if self.best is None or self.n_distinct < FEWEST:
            return False
        risk = RISK / len(self.spearman)
        r = float(self.spearman[self.best])
        return spearman_interval(r, self.n_effective, risk=risk)[0] > 0

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return self.rows.nbytes


def correlated(
    cosines: FloatArray,
    grades: Float64Array,
    *,
    shared: Float64Array | None = None,
    contents: IntArray | None = None,
) -> Correlation:
    """Return how closely cosines follow scores at each layer.

    Args:
        cosines: (n_layers, n_pairs); NaN for a pair that has no cosine.
        grades: (n_pairs,) the scores; NaN for a pair that has none.
        shared: (n_pairs,) the words that the texts share, from 0 to 1; None if not known.
        contents: (n_pairs,) equal numbers for pairs of the same texts; None if all differ.
    """
    rows = np.flatnonzero(~np.isnan(grades) & ~np.isnan(cosines).any(axis=0))
    scored = grades[rows]
    copies = np.unique(rows if contents is None else contents[rows], return_counts=True)[1]
    n = float(copies.sum() ** 2 / max(1, (copies**2).sum()))
    ranked = np.array([spearman_of(layer[rows], scored, n) for layer in cosines])
    linear = np.array([_pearson(layer[rows], scored, n) for layer in cosines])
    return Correlation(
        rows=rows,
        spearman=ranked[:, 0],
        spearman_low=ranked[:, 1],
        spearman_high=ranked[:, 2],
        pearson=linear[:, 0],
        pearson_low=linear[:, 1],
        pearson_high=linear[:, 2],
        shared_words=math.nan if shared is None else spearman_of(shared[rows], scored)[0],
        has_equal_scores=len(set(scored.tolist())) == 1,
        n_distinct=len(copies),
        n_effective=n,
    )


def spearman_interval(r: float, n: float, *, risk: float = RISK) -> tuple[float, float]:
    """Return the interval of a rank correlation of n pairs (Bonett and Wright, 2000)."""
    return _interval(r, n, variance=1 + r * r / 2, risk=risk)


def _interval(r: float, n: float, *, variance: float, risk: float = RISK) -> tuple[float, float]:
    """Fisher's interval of a correlation; of three pairs or fewer, all that there is."""
    if n <= 3:
        return -1.0, 1.0
    half = NormalDist().inv_cdf(1 - risk / 2) * math.sqrt(variance / (n - 3))
    middle = math.atanh(r) if abs(r) < 1 else math.copysign(math.inf, r)
    return math.tanh(middle - half), math.tanh(middle + half)


def spearman_of(
    values: NDArray[Any], grades: Float64Array, n: float | None = None
) -> tuple[float, float, float]:
    """Return a rank correlation and the ends of its interval; NaN where either are all equal.

    Args:
        values, grades: (n_values,).
        n: the effective number of values; None if each of them counts.
    """
    from scipy.stats import spearmanr

    if not _vary(values, grades):
        return _NONE
    r = min(max(float(spearmanr(values, grades).statistic), -1.0), 1.0)
    return r, *spearman_interval(r, len(values) if n is None else n)


def _pearson(values: NDArray[Any], grades: Float64Array, n: float) -> tuple[float, float, float]:
    from scipy.stats import pearsonr

    if not _vary(values, grades):
        return _NONE
    r = min(max(float(pearsonr(values.astype(float), grades).statistic), -1.0), 1.0)
    return r, *_interval(r, n, variance=1.0)


def _vary(values: NDArray[Any], grades: Float64Array) -> bool:
    """True if there are enough values for an interval, and neither are all equal."""
    return len(values) > 3 and bool(np.ptp(values) > _EQUAL and np.ptp(grades) > 0)


def percentiles(values: NDArray[Any]) -> Float64Array:
    """(2, n) the lowest and the highest percentile rank, in [0, 1], that each value may have.

    They differ only for values that several share, whose order is not known.
    """
    from scipy.stats import rankdata

    ends = np.stack([rankdata(values, "min"), rankdata(values, "max")])
    places: Float64Array = (ends - 0.5) / max(len(values), 1)
    return places


def shared_words(texts: Sequence[str], sides: IntArray) -> Float64Array:
    """(n_pairs,) how many words two texts share, from 0 for none to 1 for all.

    That is the cosine of their sets of words: |A and B| / sqrt(|A| |B|).

    Args:
        texts: each distinct text once; of a long one, the first words count.
        sides: (n_pairs, 2) int64, the texts of each pair.
    """
    words = [_words(text[:_READ]) for text in texts]
    shared = np.zeros(len(sides))
    for i, (a, b) in enumerate(sides.tolist()):
        shared[i] = len(words[a] & words[b]) / math.sqrt(len(words[a]) * len(words[b]) or 1)
    return shared


def _words(text: str) -> frozenset[str]:
    words = (text[slice(*span)].casefold() for span in split_words(text))
    return frozenset(sys.intern(word) for word in words if any(map(str.isalnum, word)))
