"""Shuffled labels, for permutation tests of labels that are predicted under cross-validation.

An interval for independent answers is too narrow there: similar texts lie in different folds, so
their answers are right or wrong together. A permutation test needs no independence. It shuffles the
labels, learns and tests again, and takes the best of all vectors each time, so that it allows for
their choice too (the maxT method of Westfall and Young, "Resampling-Based Multiple Testing", 1993).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.core.schema import IntArray

__all__ = ["MAX_SHUFFLES", "MIN_SHUFFLES", "n_shuffles", "shuffled"]

MAX_SHUFFLES, MIN_SHUFFLES = 199, 39
"""The true labels are above all of 39 shuffles by luck in 2.5%; more detect weaker relations."""


def n_shuffles(products: float, max_products: float) -> int:
    """Return the number of shuffles that bounded work allows: `MAX_SHUFFLES` or fewer.

    Args:
        products: the multiplications for one shuffle.
        max_products: the multiplications for all, above which there are fewer shuffles.
    """
    n = min(MAX_SHUFFLES, max(MIN_SHUFFLES, int(max_products / products)))
    return n - (n + 1) % 40  # so that 2.5% of them and the true labels is a whole number


def shuffled(targets: NDArray[Any], folds: IntArray, n: int) -> NDArray[Any]:
    """(n_texts, n + 1) the targets, and n times the targets shuffled within each fold or part."""
    random = np.random.default_rng(0)
    columns = np.tile(targets[:, None], n + 1)
    for fold in np.unique(folds):
        texts = np.flatnonzero(folds == fold)
        columns[texts, 1:] = random.permuted(columns[texts, 1:], axis=0)
    return columns
