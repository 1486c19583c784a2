"""How far shares and what leaving out does put words in the same order: shares are no causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from components.features.why.measures.target import Doubles

__all__ = ["FEWEST", "UNRELATED", "Order", "order_of"]

FEWEST = 8
"""Words below which two orders are not compared."""
UNRELATED = 0.2
"""Kendall's tau up to which the orders count as unrelated."""


@dataclass(frozen=True)
class Order:
    """Two orders of the same words: by share, and by how far leaving one out lowers the cosine.

    Attributes:
        verdict: "same" or "opposite" where tau lies further from 0 than 19 of 20 random orders
            do; "unrelated" where it is small; else "cannot tell".
        tau: Kendall's tau-b (1945) of the two, from -1 (turned round) to 1 (the same); None where
            one of them has no order, as all its numbers are equal.
    """

    verdict: Literal["same", "opposite", "unrelated", "cannot tell"]
    tau: float | None


def order_of(shares: Doubles, changes: Doubles) -> Order:
    """Compare the two orders.

    Args:
        shares: (n,) of each word.
        changes: (n,) of the cosine without each word: below 0 where it falls.
    """
    from scipy.stats import kendalltau

    n = len(shares)
    if n < 2 or np.ptp(shares) == 0 or np.ptp(changes) == 0:
        return Order("cannot tell", None)
    tau = float(kendalltau(shares, -changes).statistic)
    if n < FEWEST:
        return Order("cannot tell", tau)
    by_chance = 1.96 * float(np.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1))))
    if abs(tau) > by_chance:
        return Order("same" if tau > 0 else "opposite", tau)
    return Order("unrelated" if abs(tau) <= UNRELATED else "cannot tell", tau)
