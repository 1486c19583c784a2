"""Position tables: their rows compared, drawn in two dimensions, and told from a fixed formula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.core.schema import FloatArray
from components.features.embedding_layer.measures.words import row_cosines

__all__ = ["Positions", "distance_means", "look_at_positions", "sinusoid"]

_FIXED = 0.99
"""Mean cosine with the fixed formula from which on a table is taken for it."""


@dataclass(frozen=True, eq=False)
class Positions:
    """What a position table looks like.

    Attributes:
        first: the first row that a text uses; the rows before it (RoBERTa, MPNet) are left out.
        cosines: (n_rows, n_rows) of the usable rows.
        curve: (n_rows, 2) the rows on their first two principal components.
        explained: the share of the variance on each of the two.
        fixed: mean cosine of the rows with those of the fixed sine and cosine formula.
    """

    first: int
    cosines: FloatArray
    curve: FloatArray
    explained: tuple[float, float]
    fixed: float

    @property
    def is_fixed(self) -> bool:
        """Whether the table holds the fixed formula's rows, up to their lengths."""
        return self.fixed >= _FIXED


def look_at_positions(table: FloatArray, first: int) -> Positions:
    """The comparison of a table's rows from `first` on with each other and with the formula."""
    rows = table[first:]
    formula = sinusoid(*table.shape)[first:]
    own = np.linalg.norm(rows, axis=1) * np.linalg.norm(formula, axis=1)
    fixed = float(((rows * formula).sum(axis=1) / np.maximum(own, 1e-12)).mean())
    curve, explained = _principal(rows)
    return Positions(first, row_cosines(rows, rows), curve, explained, fixed)


def sinusoid(n_rows: int, n_dims: int) -> FloatArray:
    """(n_rows, n_dims) the fixed position vectors of Vaswani et al. 2017, section 3.5."""
    dims = np.arange(n_dims)
    angles = np.arange(n_rows)[:, None] / 10_000 ** (2 * (dims // 2) / n_dims)
    table: FloatArray = np.where(dims % 2 == 0, np.sin(angles), np.cos(angles)).astype(np.float32)
    return table


def distance_means(cosines: FloatArray) -> FloatArray:
    """(n_rows,) the mean cosine of rows that are 0, 1, 2, ... positions apart."""
    n = len(cosines)
    means: FloatArray = np.array([np.diagonal(cosines, k).mean() for k in range(n)], np.float32)
    return means


def _principal(rows: FloatArray) -> tuple[FloatArray, tuple[float, float]]:
    """Coordinates on the first two principal components, and the variance that they hold.

    From the (n_rows, n_rows) matrix of inner products: the same as PCA and quicker for few rows.
    """
    centred = rows.astype(np.float64) - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    top = np.maximum(values[::-1][:2], 0)
    curve = vectors[:, ::-1][:, :2] * np.sqrt(top)
    if curve.shape[1] < 2:
        curve = np.pad(curve, ((0, 0), (0, 2 - curve.shape[1])))
        top = np.pad(top, (0, 2 - len(top)))
    whole = max(float(np.maximum(values, 0).sum()), 1e-24)
    return curve.astype(np.float32), (float(top[0]) / whole, float(top[1]) / whole)
