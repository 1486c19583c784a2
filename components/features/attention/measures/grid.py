"""Which part of an attention matrix is shown, and in which units: tokens or words, all or some.

The order is fixed: hide special tokens (and renormalise), merge sub-tokens into words, and then
keep one text's rows and the other's columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from components.analysis.tokens import Kind
from components.core.schema import FloatArray, Tokens

__all__ = ["Arrangement", "Direction", "Grid", "Item", "Special", "arrange"]

_Exact = NDArray[np.float64]  # merged and divided in, so that sums stay exact
Special = Literal["show", "hide", "renormalise"]
Direction = Literal["all", "forth", "back"]


@dataclass(frozen=True)
class Arrangement:
    """What is asked of a grid: its special tokens, words or tokens, and whose rows and columns."""

    special: Special = "show"
    words: bool = False
    direction: Direction = "all"


@dataclass(frozen=True)
class Item:
    """A token, or a word of several, as a row or column.

    Attributes:
        label: what is written on it.
        positions: the tokens that it stands for.
        kind: what its (first) token is.
        text_id: 0 for the text, 1 for the pair, -1 for added tokens.
    """

    label: str
    positions: tuple[int, ...]
    kind: Kind
    text_id: int


@dataclass(frozen=True, eq=False)
class Grid:
    """Attention as shown.

    Attributes:
        rows, columns: which tokens attend, and to which.
        weights: (n_rows, n_columns) float32.
        hidden: the positions of tokens that were hidden.
        renormalised: whether each row was divided by its sum after hiding.
    """

    rows: tuple[Item, ...]
    columns: tuple[Item, ...]
    weights: FloatArray
    hidden: tuple[int, ...]
    renormalised: bool

    @property
    def is_square(self) -> bool:
        """Whether rows and columns are the same."""
        return self.rows == self.columns


def arrange(
    attention: FloatArray,
    tokens: Tokens,
    kinds: Sequence[Kind],
    labels: Sequence[str],
    how: Arrangement,
) -> Grid:
    """(n_tokens, n_tokens) weights as a grid. Merged, a word gets the sum and gives the mean.

    What would leave nothing is not done: the caller sees it in `hidden` and in the rows.
    """
    hidden = [] if how.special == "show" else _to_hide(kinds)
    renormalised = bool(hidden) and how.special == "renormalise"
    weights: _Exact = attention.astype(np.float64)
    weights[:, hidden] = 0
    if renormalised:
        weights = _renormalised(weights)
    rows, columns = _sides(_items(tokens, kinds, labels, hidden, words=how.words), how.direction)
    return Grid(rows, columns, _merge(weights, rows, columns), tuple(hidden), renormalised)


def _to_hide(kinds: Sequence[Kind]) -> list[int]:
    """Special tokens and padding; none where nothing else would be left."""
    hidden = [i for i, kind in enumerate(kinds) if kind in ("special", "padding")]
    return hidden if len(hidden) < len(kinds) else []


def _renormalised(weights: _Exact) -> _Exact:
    """Rows divided by their sums; a row of nothing but zeros stays."""
    sums = weights.sum(axis=1, keepdims=True)
    divided: _Exact = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    return divided


def _items(
    tokens: Tokens,
    kinds: Sequence[Kind],
    labels: Sequence[str],
    hidden: Sequence[int],
    *,
    words: bool,
) -> list[Item]:
    groups: dict[tuple[int, int], list[int]] = {}
    gone = set(hidden)
    for i in range(tokens.n_tokens):
        word = int(tokens.word_ids[i])
        key = (int(tokens.text_ids[i]), word) if words and word >= 0 else (-2, i)
        if i not in gone:
            groups.setdefault(key, []).append(i)
    return [
        Item(_label(tokens, labels, own), tuple(own), kinds[own[0]], int(tokens.text_ids[own[0]]))
        for own in groups.values()
    ]


def _label(tokens: Tokens, labels: Sequence[str], own: Sequence[int]) -> str:
    """A token's own label; of several, the characters that they stand for together."""
    if len(own) == 1:
        return labels[own[0]]
    text = tokens.text if tokens.text_ids[own[0]] == 0 else tokens.pair or ""
    return text[int(tokens.offsets[own, 0].min()) : int(tokens.offsets[own, 1].max())]


def _sides(
    items: Sequence[Item], direction: Direction
) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    first = tuple(item for item in items if item.text_id == 0)
    second = tuple(item for item in items if item.text_id == 1)
    if direction == "all" or not first or not second:
        return tuple(items), tuple(items)
    return (first, second) if direction == "forth" else (second, first)


def _merge(weights: _Exact, rows: Sequence[Item], columns: Sequence[Item]) -> FloatArray:
    """Sums over each column's tokens, then means over each row's."""
    if all(len(item.positions) == 1 for item in (*rows, *columns)):
        own, theirs = ([item.positions[0] for item in side] for side in (rows, columns))
        alone: FloatArray = weights[np.ix_(own, theirs)].astype(np.float32)
        return alone
    sums = _membership(columns, len(weights))
    means = _membership(rows, len(weights))
    means = means / means.sum(axis=1, keepdims=True)
    merged: FloatArray = (means @ weights @ sums.T).astype(np.float32)
    return merged


def _membership(items: Sequence[Item], n_tokens: int) -> _Exact:
    inside = np.zeros((len(items), n_tokens))
    for i, item in enumerate(items):
        inside[i, list(item.positions)] = 1
    return inside
