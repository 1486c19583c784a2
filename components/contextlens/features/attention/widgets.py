"""The components of the Attention page: the grid of heads, and lines between tokens."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypedDict

import numpy as np

from contextlens.core.schema import FloatArray
from contextlens.features.attention.grid import Grid, GridItem
from contextlens.features.attention.navigator import HabitBar
from contextlens.ui.widgets.chips import visible
from contextlens.ui.widgets.component import component

# --- All heads as small pictures


def attention_heads(
    pictures: FloatArray,
    values: Sequence[Sequence[str]],
    *,
    key: str,
    chosen: Sequence[tuple[int, int]],
    best: Sequence[tuple[int, int]],
    bars: Sequence[HabitBar],
    caption: str,
    on_pick: Callable[[int, int], None],
) -> None:
    """Show (n_layers, n_heads, n, n) pictures; call `on_pick(layer, head)` when one is picked.

    Args:
        pictures: means of blocks of weights.
        values: for each layer and head, its description: "previous token 0.42".
        key: the component's own key.
        chosen: the (layer, head) pairs with a ring; layers from 1, heads from 0.
        best: the pairs that get a dot: the first ones in the chosen order.
        bars: the habits of the selection.
        caption: the caption of the bars.
        on_pick: a Streamlit callback.
    """
    n_layers, n_heads, n_cells, _ = pictures.shape

    def receive(sent: object) -> None:
        pick = _checked_head(sent, n_layers, n_heads)
        if pick is not None:
            on_pick(*pick)

    data: Mapping[str, object] = {
        "layers": int(n_layers),
        "heads": int(n_heads),
        "cells": int(n_cells),
        "pictures": base64.b64encode(_bytes(pictures)).decode(),
        "values": [list(row) for row in values],
        "chosen": [[int(layer), int(head)] for layer, head in chosen],
        "best": [[int(layer), int(head)] for layer, head in best],
        "bars": [
            {"name": b.name, "value": float(b.value), "even": float(b.even), "text": b.text}
            for b in bars
        ],
        "caption": caption,
    }
    component("contextlens.features.attention", "heads", data, key=key, on_pick=receive)


def _bytes(pictures: FloatArray) -> bytes:
    """Each picture scaled so that its largest cell is 255; the square root lifts faint cells."""
    peaks = pictures.max(axis=(-2, -1), keepdims=True)
    scaled = np.divide(pictures, peaks, out=np.zeros_like(pictures), where=peaks > 0)
    cells = np.round(255 * np.sqrt(scaled)).astype(np.uint8)
    return bytes(cells.tobytes())


def _checked_head(pick: object, n_layers: int, n_heads: int) -> tuple[int, int] | None:
    """The layer and head that the browser reported; None if the model has no such head."""
    if not isinstance(pick, Mapping):
        return None
    layer, head = pick.get("layer"), pick.get("head")
    if type(layer) is not int or type(head) is not int:
        return None
    return (layer, head) if 1 <= layer <= n_layers and 0 <= head < n_heads else None


# --- Tokens in two columns


class _ItemData(TypedDict):
    position: int
    text: str
    kind: str


def attention_lines(
    grid: Grid,
    *,
    key: str,
    title: str,
    picked: tuple[str, int],
    verbs: tuple[str, str],
    on_pick: Callable[[str, int], None],
) -> None:
    """Show a grid as lines; call `on_pick(side, position)` when a token is picked.

    Args:
        grid: rows on the left, columns on the right.
        key: the component's own key.
        title: the finding, in plain text.
        picked: ("from", row) or ("to", column), whose weights are written as numbers.
        verbs: the headings of the two columns.
        on_pick: a Streamlit callback; the position is that of the item's first token.
    """

    positions = _first_positions(grid)  # keeps the weights out of the session's callback

    def receive(sent: object) -> None:
        pick = _checked_side(sent, positions)
        if pick is not None:
            on_pick(*pick)

    side, index = picked
    data: Mapping[str, object] = {
        "title": title,
        "rows": _items(grid.rows),
        "columns": _items(grid.columns),
        "weights": base64.b64encode(np.ascontiguousarray(grid.weights, "<f4").tobytes()).decode(),
        "picked": {"side": side, "index": int(index)},
        "verbs": list(verbs),
    }
    component("contextlens.features.attention", "lines", data, key=key, on_pick=receive)


def _items(items: Sequence[GridItem]) -> list[_ItemData]:
    return [
        {
            "position": int(item.positions[0]),
            "text": visible(item.label),
            "kind": item.kind.split(" ")[0],
        }
        for item in items
    ]


def _first_positions(grid: Grid) -> dict[str, frozenset[int]]:
    """The positions at which the items of each side begin."""
    sides = {"from": grid.rows, "to": grid.columns}
    return {side: frozenset(item.positions[0] for item in items) for side, items in sides.items()}


def _checked_side(pick: object, positions: Mapping[str, Collection[int]]) -> tuple[str, int] | None:
    """The side and position that the browser reported; None if the grid has no such item."""
    if not isinstance(pick, Mapping):
        return None
    side, position = pick.get("side"), pick.get("position")
    if not isinstance(side, str) or type(position) is not int:
        return None
    return (side, position) if position in positions.get(side, ()) else None
