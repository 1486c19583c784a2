"""The numbers of the Attention page as rows and arrays: for its tables and its files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from components.features.attention.compute.attention import AttentionView
from components.features.attention.labels import habit_names

__all__ = ["arrays", "heads_table", "picked_table", "weight_rows", "weights_table"]


def weights_table(attention: AttentionView) -> pd.DataFrame:
    """The weights as shown: a row for each that attends, a column for each attended to.

    Each by its position, a word's by its first token's, and its label.
    """
    grid = attention.grid
    names = [f"{item.positions[0]} {item.label}" for item in grid.columns]
    table = pd.DataFrame(grid.weights, columns=names)
    table.insert(0, "from", [f"{item.positions[0]} {item.label}" for item in grid.rows])
    return table


def picked_table(attention: AttentionView) -> pd.DataFrame:
    """The weights of the picked token alone, for grids too wide to show whole."""
    side, index = attention.picked
    grid, own = attention.grid, side == "from"
    items = grid.columns if own else grid.rows
    picked = (grid.rows if own else grid.columns)[index].label
    return pd.DataFrame(
        {
            "position": [item.positions[0] for item in items],
            "token": [item.label for item in items],
            f"{side} {picked}": grid.weights[index] if own else grid.weights[:, index],
        }
    )


def heads_table(attention: AttentionView) -> pd.DataFrame:
    """Every head's habits, in the order that was asked."""
    habits, order = attention.heads.habits, attention.order
    rows = np.array([habits[layer - 1, head] for layer, head in order])
    names = [*habit_names(attention.selection), "entropy (bits)"]
    table = pd.DataFrame(dict(zip(names, rows.T, strict=True)))
    table.insert(0, "layer", [layer for layer, _ in order])
    table.insert(1, "head", [head for _, head in order])
    return table


def weight_rows(attention: AttentionView) -> list[dict[str, Any]]:
    """Every weight as shown, in a row of its own."""
    grid = attention.grid
    return [
        {
            "from position": row.positions[0],
            "from": row.label,
            "to position": column.positions[0],
            "to": column.label,
            "weight": float(weight),
        }
        for row, weights in zip(grid.rows, grid.weights, strict=True)
        for column, weight in zip(grid.columns, weights, strict=True)
    ]


def arrays(attention: AttentionView) -> dict[str, NDArray[Any]]:
    """What is shown and what is behind it, by name."""
    grid, heads, encoding = attention.grid, attention.heads, attention.encoding
    return {
        "weights": grid.weights,
        "rows": np.array([item.label for item in grid.rows]),
        "columns": np.array([item.label for item in grid.columns]),
        "attention": attention.weights,
        "layer_means": heads.layer_means,
        "habits": heads.habits,
        "habit_names": np.array([*habit_names(attention.selection), "entropy (bits)"]),
        "tokens": np.array(encoding.tokens),
        "token_ids": encoding.token_ids,
        "text": np.array(encoding.text),
        "pair": np.array(encoding.pair or ""),
    }
