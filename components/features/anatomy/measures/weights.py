"""The numbers inside one parameter, summed up: how they are spread, and in how many directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from components.core.schema import FloatArray

__all__ = ["SEED", "WeightStatistics", "evenly_spaced", "weight_statistics"]

SEED = 0
"""Of the random matrix that a trained one is compared with."""
_BINS = 61


@dataclass(frozen=True, eq=False)
class WeightStatistics:
    """One parameter in numbers.

    Attributes:
        shape: of the array that was measured.
        norm: Frobenius norm, the root of the sum of all squares.
        edges, counts: (n_bins + 1,) and (n_bins,) a histogram symmetric around zero.
        n_outside: values beyond the histogram's ends, counted in its outermost bins.
        singular: (rank,) float64 singular values, falling; empty for a vector.
        random: (rank,) the same of a random matrix with this one's shape, mean 0 and norm.
    """

    shape: tuple[int, ...]
    mean: float
    std: float
    low: float
    high: float
    norm: float
    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    n_outside: int
    singular: NDArray[np.float64]
    random: NDArray[np.float64]

    def n_for(self, share: float, values: NDArray[np.float64] | None = None) -> int:
        """How many of the largest singular values hold this share of the sum of all squares."""
        squares = np.cumsum((self.singular if values is None else values) ** 2)
        if not squares.size or squares[-1] == 0:
            return 0
        return int(np.searchsorted(squares, share * squares[-1] * (1 - 1e-12)) + 1)


def weight_statistics(array: FloatArray) -> WeightStatistics:
    """The statistics of one parameter, or of rows sampled from it."""
    flat = array.astype(np.float64).ravel()
    edges, counts, n_outside = _histogram(flat)
    singular = _singular_values(array) if array.ndim == 2 else np.zeros(0)
    return WeightStatistics(
        shape=array.shape,
        mean=float(flat.mean()),
        std=float(flat.std()),
        low=float(flat.min()),
        high=float(flat.max()),
        norm=float(np.linalg.norm(flat)),
        edges=edges,
        counts=counts,
        n_outside=n_outside,
        singular=singular,
        random=_random(array.shape, float(np.linalg.norm(flat))) if singular.size else singular,
    )


def evenly_spaced(n_rows: int, n_columns: int, most: int) -> NDArray[np.int64]:
    """Row numbers with equal steps between, so that the rows hold at most `most` values."""
    step = -(-n_rows // max(1, most // n_columns))
    return np.arange(0, n_rows, step, dtype=np.int64)


def _histogram(flat: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """Bins over the range that holds 99.8 % of the values; the ends take what is beyond."""
    centre = float(np.median(flat)) if flat.size and _is_off_zero(flat) else 0.0
    bound = float(np.quantile(np.abs(flat - centre), 0.998, method="higher")) or 1.0
    edges = centre + np.linspace(-bound, bound, _BINS + 1)
    counts, _ = np.histogram(np.clip(flat, edges[0], edges[-1]), bins=edges)
    return edges, counts.astype(np.int64), int((np.abs(flat - centre) > bound).sum())


def _is_off_zero(flat: NDArray[np.float64]) -> bool:
    """Whether the values lie around something other than zero, as a LayerNorm's weights do."""
    return abs(float(np.median(flat))) > 2 * float(np.abs(flat - np.median(flat)).mean())


def _singular_values(array: FloatArray) -> NDArray[np.float64]:
    """Through the smaller Gram matrix: a tenth of the time of a full decomposition."""
    wide = array.astype(np.float64)
    gram = wide @ wide.T if wide.shape[0] <= wide.shape[1] else wide.T @ wide
    values: NDArray[np.float64] = np.sqrt(np.clip(np.linalg.eigvalsh(gram)[::-1], 0.0, None))
    return values


def _random(shape: tuple[int, ...], norm: float) -> NDArray[np.float64]:
    """Singular values of a seeded random matrix, scaled to a norm."""
    values = np.random.default_rng(SEED).standard_normal(shape, dtype=np.float32)
    singular = _singular_values(values)
    return singular * (norm / float(np.linalg.norm(singular)))
