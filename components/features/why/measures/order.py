"""Whether shares and what leaving out does put words in the same order: shares are no causes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.features.why.measures.target import Doubles

__all__ = ["FEWEST", "Order", "order_of", "places"]

FEWEST = 3
"""Words below which no order is compared."""


@dataclass(frozen=True)
class Order:
    """Two orders of the same words: by share, and by how far leaving one out lowers the cosine.

    Attributes:
        tau: Kendall's tau-b (1945) of the two, from -1 (turned round) to 1 (the same); None where
            one of them has no order, as all its numbers are equal.
        by_share: the word with the largest share, by its place.
        place_left_out: the place of that word by leaving out, from 1; equal changes share the
            better place.
        by_leaving_out: the word whose absence lowers the cosine most.
        place_share: the place of that word by share, from 1.
    """

    tau: float | None
    by_share: int
    place_left_out: int
    by_leaving_out: int
    place_share: int


def order_of(shares: Doubles, changes: Doubles, *, margin: float = 0.0) -> Order | None:
    """Compare the two orders; None with fewer than `FEWEST` words.

    Args:
        shares: (n,) of each word.
        changes: (n,) of the cosine without each word: below 0 where it falls.
        margin: numbers that are nearer than this to the better one share its place.
    """
    if len(shares) < FEWEST:
        return None
    largest, lowest = int(np.argmax(shares)), int(np.argmin(changes))
    return Order(
        tau=_tau(shares, -changes),
        by_share=largest,
        place_left_out=places(-changes, margin)[largest],
        by_leaving_out=lowest,
        place_share=places(shares, margin)[lowest],
    )


def places(values: Doubles, margin: float = 0.0) -> list[int]:
    """The place of each value, 1 for the highest: one more than how many lie clearly above it."""
    return [1 + int((values > value + margin).sum()) for value in values]


def _tau(first: Doubles, second: Doubles) -> float | None:
    from scipy.stats import kendalltau

    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(kendalltau(first, second).statistic)
