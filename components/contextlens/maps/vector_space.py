"""Vectors prepared for comparison: rows whose Euclidean distances rank pairs as a metric does.

For cosine each vector is scaled to length one; a vector of length zero stays zero and is at
distance 1 from every other. For Euclidean distance the vectors are centred on their mean and
divided by one number, as the differences of large float32 products would otherwise lose their
precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray

__all__ = ["METRICS", "Metric", "VectorSpace", "checked_vectors"]

Metric = Literal["cosine", "euclidean"]
METRICS: tuple[Metric, ...] = get_args(Metric)
_SAME = 1e-6  # the float32 rounding error of equal vectors, as a share of the largest value


@dataclass(frozen=True, eq=False)
class VectorSpace:
    """Vectors prepared for comparison under a metric.

    Attributes:
        rows: (n, d) float32, of length one or zero (cosine), or centred and scaled (euclidean).
        metric: the metric of the distances.
        scale: the factor that turns a distance between rows into one between the vectors.
        half_squares: (n,) float32, half of each row's squared length.
    """

    rows: FloatArray
    metric: Metric
    scale: float
    half_squares: FloatArray

    @classmethod
    def of(cls, vectors: object, metric: Metric) -> VectorSpace:
        """Return the space of some vectors, (n, d) of any number type."""
        checked = checked_vectors(vectors)
        if metric not in METRICS:
            raise RequestError(
                f"{metric!r} is not a metric of a map. Choose one of {', '.join(METRICS)}."
            )
        rows, scale = _unit_rows(checked) if metric == "cosine" else _centred_rows(checked)
        half_squares = 0.5 * np.einsum("ij,ij->i", rows, rows)
        return cls(rows, metric, scale, half_squares.astype(np.float32))

    @property
    def n_points(self) -> int:
        """The number of vectors."""
        return len(self.rows)

    @property
    def all_same(self) -> bool:
        """True if all vectors are equal under the metric."""
        return bool(np.abs(self.rows - self.rows[:1]).max(initial=0.0) <= _SAME)

    def keys(self, points: slice | IntArray) -> FloatArray:
        """(m, n) keys, larger if nearer: dot products, less half the squares (Euclidean)."""
        products: FloatArray = self.rows[points] @ self.rows.T
        if self.metric == "euclidean":
            products -= self.half_squares
        return products

    def distances(self, first: IntArray, second: IntArray) -> FloatArray:
        """(m,) distances of pairs of points: 0 if equal; for cosine, 1 if either is zero."""
        differences = self.rows[first] - self.rows[second]
        squares = np.einsum("ij,ij->i", differences, differences)
        if self.metric == "euclidean":
            apart: FloatArray = (np.sqrt(squares) * self.scale).astype(np.float32)
            return apart
        zero = (self.half_squares[first] == 0) | (self.half_squares[second] == 0)
        cosine_distances: FloatArray = np.where(zero, 1.0, 0.5 * squares).astype(np.float32)
        return cosine_distances


def checked_vectors(vectors: object, *, n_axes: int = 2) -> FloatArray:
    """Return vectors as contiguous float32, (n, d) or (n_layers, n, d).

    Raises:
        RequestError: they are not numbers, have another shape, are empty, or are not finite in
            float32.
    """
    given = np.asarray(vectors)
    shape = "(n, d)" if n_axes == 2 else "(n_layers, n, d)"
    if given.dtype.kind not in "fiu" or given.ndim != n_axes:
        raise RequestError(
            f"A map needs an array of numbers of shape {shape}; "
            f"given were {given.dtype} values of shape {given.shape}."
        )
    if 0 in given.shape:
        raise RequestError(f"A map needs at least one vector; given was the shape {given.shape}.")
    with np.errstate(over="ignore"):
        checked: FloatArray = np.ascontiguousarray(given, dtype=np.float32)
    bad = ~np.isfinite(checked).all(axis=-1)
    if bad.any():
        raise RequestError(
            f"{bad.sum():,} of {bad.size:,} vectors hold values that are not finite "
            "(NaN, infinite, or too large for float32). Leave these rows out."
        )
    return checked


def _unit_rows(vectors: FloatArray) -> tuple[FloatArray, float]:
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    ones = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0)
    lengths = np.sqrt(np.einsum("ij,ij->i", ones, ones, dtype=np.float64))[:, None]
    rows = np.divide(ones, lengths, out=ones, where=lengths > 0, casting="same_kind")
    return rows, 1.0


def _centred_rows(vectors: FloatArray) -> tuple[FloatArray, float]:
    mean: NDArray[np.float64] = vectors.mean(axis=0, dtype=np.float64)
    largest = float(np.abs(vectors).max())
    scale = max(
        float((vectors.max(axis=0) - mean).max()), float((mean - vectors.min(axis=0)).max())
    )
    if scale <= _SAME * largest:
        return np.zeros_like(vectors), 1.0
    rows = np.empty_like(vectors)
    for begin in range(0, len(vectors), 4096):
        rows[begin : begin + 4096] = (vectors[begin : begin + 4096] - mean) / scale
    return rows, scale
