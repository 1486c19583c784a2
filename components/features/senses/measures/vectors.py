"""Vectors of one length, and cosines between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.errors import RequestError
from components.core.schema import FloatArray

__all__ = ["MAX_TABLE", "cosine_table", "cosines_to", "scaled"]

MAX_TABLE = 2_000
"""Vectors of which all pairs are compared at most: 16 MB of cosines."""


def scaled(vectors: NDArray[Any]) -> FloatArray:
    """(n, n_dims) float32 vectors scaled to length 1; one of length 0 stays as it is."""
    doubles = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(doubles, axis=-1, keepdims=True)
    units: FloatArray = np.divide(
        doubles, lengths, out=np.zeros_like(doubles), where=lengths > 0
    ).astype(np.float32)
    return units


def cosines_to(units: FloatArray, vector: FloatArray) -> FloatArray:
    """(n,) float32 cosines in [-1, 1] of scaled vectors with any vector."""
    cosines: FloatArray = np.clip(units @ scaled(vector), -1.0, 1.0)
    return cosines


def cosine_table(units: FloatArray) -> FloatArray:
    """(n, n) float32 cosines of all pairs of scaled vectors.

    Raises:
        RequestError: there are more than `MAX_TABLE`.
    """
    if len(units) > MAX_TABLE:
        raise RequestError(
            f"All pairs of {len(units):,} vectors are too many to compare; at most {MAX_TABLE:,} "
            "are. Choose fewer."
        )
    table: FloatArray = np.clip(units @ units.T, -1.0, 1.0)
    return table
