"""The cosine of two weighted sums of tokens, taken apart exactly into pairs of tokens.

With a = sum_i w_i a_i and b = sum_j v_j b_j, cos(a, b) = sum_ij w_i v_j <a_i, b_j> / (|a| |b|).
Each summand is the share of one token of either text. This is arithmetic and no cause: what a word
does to the score when it is not there is measured by leaving it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from components.core.schema import FloatArray
from components.features.why.measures.target import Doubles, vector_of
from components.features.why.measures.units import Unit

__all__ = ["Shares", "by_unit", "merged", "shares_of"]


@dataclass(frozen=True, eq=False)
class Shares:
    """What each pair of tokens, or of words, adds to a cosine.

    Attributes:
        cells: (n_first, n_second) float64, which sum to the cosine; may be negative.
    """

    cells: Doubles

    @property
    def rows(self) -> Doubles:
        """(n_first,) the share of each token of the first text."""
        sums: Doubles = self.cells.sum(axis=1)
        return sums

    @property
    def columns(self) -> Doubles:
        """(n_second,) the share of each token of the second text."""
        sums: Doubles = self.cells.sum(axis=0)
        return sums

    @property
    def total(self) -> float:
        """The sum of all cells."""
        return float(self.cells.sum())

    @property
    def bound(self) -> float:
        """The largest size of a cell, for colours centred on zero."""
        return float(np.abs(self.cells).max(initial=0.0))


def shares_of(
    first: FloatArray, second: FloatArray, first_weights: Doubles, second_weights: Doubles
) -> Shares:
    """The shares of all pairs of tokens.

    Args:
        first, second: (n_first, n_dims) and (n_second, n_dims) hidden states of one layer.
        first_weights, second_weights: (n_first,) and (n_second,) what each token counts.
    """
    a, b = vector_of(first, first_weights), vector_of(second, second_weights)
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    if length == 0:
        return Shares(np.zeros((len(first), len(second))))
    ours = first.astype(np.float64) * first_weights[:, None]
    theirs = second.astype(np.float64) * second_weights[:, None]
    return Shares(ours @ theirs.T / length)


def merged(shares: Shares, first: Sequence[Unit], second: Sequence[Unit]) -> Shares:
    """The shares of words and special tokens: the sums over their tokens."""
    return Shares(by_unit(by_unit(shares.cells, first).T, second).T)


def by_unit(values: Doubles, units: Sequence[Unit]) -> Doubles:
    """(n_units, ...) sums of (n_tokens, ...) over the tokens of each unit."""
    sums = np.zeros((len(units), *values.shape[1:]))
    for i, unit in enumerate(units):
        sums[i] = values[list(unit.positions)].sum(axis=0)
    return sums
