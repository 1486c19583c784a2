"""What an intervention does: how far a cosine moves, and how much of a way a vector goes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from components.features.why.measures.target import Doubles, cosine

__all__ = ["NOISE", "NO_WAY", "fraction", "interaction", "is_way", "pair_cosines"]

NOISE = 0.01
"""A change of a cosine up to which it is not told: two decimals hardly show it."""
NO_WAY = 1e-4
"""A way, in parts of the vectors' length, below which there is nothing to go."""


def pair_cosines(vectors: Sequence[Doubles]) -> Doubles:
    """(n_pairs,) the cosines of all pairs of n vectors, in the order of `combinations`."""
    return np.array([cosine(a, b) for a, b in combinations(vectors, 2)], dtype=np.float64)


def is_way(start: Doubles, end: Doubles) -> bool:
    """Whether two vectors differ by more than rounding."""
    size = max(float(np.linalg.norm(start)), float(np.linalg.norm(end)))
    return float(np.linalg.norm(end - start)) > NO_WAY * size


def fraction(moved: Doubles, start: Doubles, end: Doubles) -> float:
    """How much of the way from one vector to another a moved one has gone.

    The projection of its movement on the way: 0 at the start and 1 at the end, however far beside
    the way it lies; below 0 where it went the other way, above 1 where it went beyond the end.

    Raises:
        ValueError: start and end are the same vector, so there is no way; ask `is_way` first.
    """
    way = end - start
    length = float(way @ way)
    if length == 0:
        raise ValueError("The two vectors are the same: there is no way between them.")
    return float((moved - start) @ way / length)


def interaction(pairs: Doubles) -> Doubles:
    """(n, n) what two do together beyond the sum of what each does alone; 0 on the diagonal.

    Args:
        pairs: (n, n) changes with both left out, each alone on the diagonal.
    """
    alone = np.diag(pairs)
    both: Doubles = pairs - alone[:, None] - alone[None, :]
    np.fill_diagonal(both, 0.0)
    return both
