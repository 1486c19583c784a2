"""Vectors in clusters for maps, and maps that must be the same."""

from __future__ import annotations

import numpy as np
import pytest

from components.maps.projection import Map
from components.maps.request import METHODS

__all__ = ["assert_same", "blobs", "by_method"]

by_method = pytest.mark.parametrize("method", METHODS)


def blobs(n: int, d: int = 12, seed: int = 0) -> np.ndarray:
    """Vectors in six clusters, far from the origin."""
    random = np.random.default_rng(seed)
    centres = 3 * random.normal(size=(6, d))
    return (centres[random.integers(0, 6, n)] + random.normal(size=(n, d)) + 2).astype(np.float32)


def assert_same(first: Map, second: Map) -> None:
    np.testing.assert_array_equal(first.coordinates, second.coordinates)
    np.testing.assert_array_equal(first.neighbors.indices, second.neighbors.indices)
    assert first.honesty == second.honesty
