"""Names at the ends of lines, moved apart so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

__all__ = ["spread"]


def spread(spots: Sequence[float], gap: float, scale: tuple[float, float]) -> list[float]:
    """The same heights, moved as little as a single sweep up and down can so that gaps stay."""
    order = sorted(range(len(spots)), key=lambda i: spots[i])
    placed = list(spots)
    for lower, upper in pairwise(order):
        placed[upper] = max(placed[upper], placed[lower] + gap)
    over = max((placed[i] for i in order), default=0.0) - scale[1]
    if over > 0 and order:
        placed[order[-1]] -= over
        for upper, lower in pairwise(order[::-1]):
            placed[lower] = min(placed[lower], placed[upper] - gap)
    return placed
