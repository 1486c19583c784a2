"""The visible part of an attention matrix: tokens hidden, words merged, texts separated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from contextlens.analysis.tokens import TokenKind
from contextlens.core.schema import FloatArray, Tokens
from contextlens.core.words import with_marks
from contextlens.ui.panel import Rows

FORMULA = r"""
**Hidden special tokens.** With $S$ the tokens that are left, $A_{ij}$ for $i, j \in S$; divided by
what is left of each row:

$$A'_{ij} = \frac{A_{ij}}{\sum_{k \in S} A_{ik}}$$

**Words.** A word gets the sum of what its sub-tokens get, and gives the mean of what they give:

$$A_{vw} = \frac{1}{|v|} \sum_{i \in v} \sum_{j \in w} A_{ij}$$
""".strip()

_MERGING = (
    "attention = torch.stack([attention[:, tokens].sum(dim=1) for tokens in columns], dim=1)",
    "attention = torch.stack([attention[tokens].mean(dim=0) for tokens in rows])",
)
_Exact = NDArray[np.float64]  # used for merging and dividing, so that sums stay exact
Special = Literal["show", "hide", "renormalise"]
Direction = Literal["all", "forth", "back"]


@dataclass(frozen=True)
class Arrangement:
    """The options of a grid: special tokens, words or tokens, and the texts of rows and columns."""

    special: Special = "show"
    words: bool = False
    direction: Direction = "all"


@dataclass(frozen=True)
class GridItem:
    """A token, or a word of several tokens, as a row or column.

    Attributes:
        label: the text written on it.
        positions: the tokens that it covers.
        kind: the kind of its (first) token.
        text_id: 0 for the text, 1 for the pair, -1 for added tokens.
    """

    label: str
    positions: tuple[int, ...]
    kind: TokenKind
    text_id: int


@dataclass(frozen=True, eq=False)
class Grid:
    """Attention as shown.

    Attributes:
        rows, columns: the attending and the attended items.
        weights: (n_rows, n_columns) float32.
        hidden: the positions of the hidden tokens.
        renormalised: True if each row was divided by its sum after hiding.
    """

    rows: tuple[GridItem, ...]
    columns: tuple[GridItem, ...]
    weights: FloatArray
    hidden: tuple[int, ...]
    renormalised: bool

    @property
    def is_square(self) -> bool:
        """True if rows and columns are the same."""
        return self.rows == self.columns

    def index(self, side: str, position: int) -> int | None:
        """The index of the row ("from") or column ("to") with a token; None if none has it."""
        items = self.rows if side == "from" else self.columns
        return next((i for i, item in enumerate(items) if position in item.positions), None)

    def means(self) -> list[float]:
        """The mean weight of each column over the rows that are not padding."""
        real = [i for i, item in enumerate(self.rows) if item.kind != "padding"]
        means: list[float] = self.weights[real].mean(axis=0).tolist()
        return means

    def table(self) -> pd.DataFrame:
        """A row for each attending item, a column for each attended item.

        Each is named by its position (for a word, that of its first token) and its label.
        """
        names = [f"{item.positions[0]} {item.label}" for item in self.columns]
        table = pd.DataFrame(self.weights, columns=names)
        table.insert(0, "from", [f"{item.positions[0]} {item.label}" for item in self.rows])
        return table

    def picked_table(self, side: str, index: int) -> pd.DataFrame:
        """The weights of one row ("from") or column ("to"), for grids too wide to show in full."""
        is_row = side == "from"
        items = self.columns if is_row else self.rows
        picked = (self.rows if is_row else self.columns)[index].label
        return pd.DataFrame(
            {
                "position": [item.positions[0] for item in items],
                "token": [item.label for item in items],
                f"{side} {picked}": self.weights[index] if is_row else self.weights[:, index],
            }
        )

    def cells(self) -> Rows:
        """Every weight, one row each."""
        return [
            {
                "from position": row.positions[0],
                "from": row.label,
                "to position": column.positions[0],
                "to": column.label,
                "weight": float(weight),
            }
            for row, weights in zip(self.rows, self.weights, strict=True)
            for column, weight in zip(self.columns, weights, strict=True)
        ]

    def script(self) -> list[str]:
        """Lines of Python that arrange `attention` like this, and define `received`."""
        real = [i for i, item in enumerate(self.rows) if item.kind != "padding"]
        rows = "" if len(real) == len(self.rows) else f"[{real}]"
        return [*self._arranging(), f"received = attention{rows}.mean(dim=0)"]

    def _arranging(self) -> list[str]:
        rows = [list(item.positions) for item in self.rows]
        columns = [list(item.positions) for item in self.columns]
        n_tokens = sum(map(len, rows)) + len(self.hidden)
        if self.is_square and len(rows) == n_tokens:
            return []
        return [
            *self._hiding(),
            f"rows = {rows}  # tokens of each",
            f"columns = {columns}" if not self.is_square else "columns = rows",
            *_MERGING,
        ]

    def _hiding(self) -> list[str]:
        if not self.hidden:
            return []
        lines = ["attention = attention.clone()", f"attention[:, {list(self.hidden)}] = 0"]
        if self.renormalised:
            total = "attention.sum(dim=1, keepdim=True)"
            lines.append(f"attention = (attention / {total}).nan_to_num()")
        return lines


def arrange(
    attention: FloatArray,
    tokens: Tokens,
    kinds: Sequence[TokenKind],
    labels: Sequence[str],
    arrangement: Arrangement,
) -> Grid:
    """Arrange (n_tokens, n_tokens) weights as a grid.

    A word's column is the sum of its tokens' columns; its row is the mean of their rows.
    Tokens are not hidden, and texts not separated, if that would leave no row or column.
    """
    hidden = [] if arrangement.special == "show" else _hidden_positions(kinds)
    renormalised = bool(hidden) and arrangement.special == "renormalise"
    weights: _Exact = attention.astype(np.float64)
    weights[:, hidden] = 0
    if renormalised:
        weights = _renormalised(weights)
    rows, columns = _sides(
        _items(tokens, kinds, labels, hidden, words=arrangement.words), arrangement.direction
    )
    return Grid(rows, columns, _merge(weights, rows, columns), tuple(hidden), renormalised)


def _hidden_positions(kinds: Sequence[TokenKind]) -> list[int]:
    """Special tokens and padding; none if nothing else would be left."""
    hidden = [i for i, kind in enumerate(kinds) if kind in ("special", "padding")]
    return hidden if len(hidden) < len(kinds) else []


def _renormalised(weights: _Exact) -> _Exact:
    """Rows divided by their sums; a row of zeros is unchanged."""
    sums = weights.sum(axis=1, keepdims=True)
    divided: _Exact = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    return divided


def _items(
    tokens: Tokens,
    kinds: Sequence[TokenKind],
    labels: Sequence[str],
    hidden: Sequence[int],
    *,
    words: bool,
) -> list[GridItem]:
    groups: dict[tuple[int, int], list[int]] = {}
    left_out = set(hidden)
    for i in range(tokens.n_tokens):
        word = int(tokens.word_ids[i])
        key = (int(tokens.text_ids[i]), word) if words and word >= 0 else (-2, i)
        if i not in left_out:
            groups.setdefault(key, []).append(i)
    return [
        GridItem(
            label=_label(tokens, labels, positions),
            positions=tuple(positions),
            kind=kinds[positions[0]],
            text_id=int(tokens.text_ids[positions[0]]),
        )
        for positions in groups.values()
    ]


def _label(tokens: Tokens, labels: Sequence[str], positions: Sequence[int]) -> str:
    """A token's own label; for several tokens, the characters that they cover together."""
    if len(positions) == 1:
        return labels[positions[0]]
    text = tokens.text if tokens.text_ids[positions[0]] == 0 else tokens.pair or ""
    end = with_marks(text, int(tokens.offsets[positions, 1].max()))
    return text[int(tokens.offsets[positions, 0].min()) : end]


def _sides(
    items: Sequence[GridItem], direction: Direction
) -> tuple[tuple[GridItem, ...], tuple[GridItem, ...]]:
    first = tuple(item for item in items if item.text_id == 0)
    second = tuple(item for item in items if item.text_id == 1)
    if direction == "all" or not first or not second:
        return tuple(items), tuple(items)
    return (first, second) if direction == "forth" else (second, first)


def _merge(weights: _Exact, rows: Sequence[GridItem], columns: Sequence[GridItem]) -> FloatArray:
    """Sum over each column's tokens, then average over each row's."""
    if all(len(item.positions) == 1 for item in (*rows, *columns)):
        down, across = ([item.positions[0] for item in side] for side in (rows, columns))
        unmerged: FloatArray = weights[np.ix_(down, across)].astype(np.float32)
        return unmerged
    sums = _membership(columns, len(weights))
    means = _membership(rows, len(weights))
    means = means / means.sum(axis=1, keepdims=True)
    merged: FloatArray = (means @ weights @ sums.T).astype(np.float32)
    return merged


def _membership(items: Sequence[GridItem], n_tokens: int) -> _Exact:
    members = np.zeros((len(items), n_tokens))
    for i, item in enumerate(items):
        members[i, list(item.positions)] = 1
    return members
