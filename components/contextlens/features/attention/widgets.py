"""The components of the Attention page: the grid of heads, and lines between tokens."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypedDict

import numpy as np

from contextlens.core.schema import FloatArray
from contextlens.features.attention.grid import Grid, GridItem
from contextlens.ui.widgets.chips import visible
from contextlens.ui.widgets.component import component

# --- All heads as shades


def attention_heads(
    shades: FloatArray,
    values: Sequence[Sequence[str]],
    *,
    key: str,
    chosen: Sequence[tuple[int, int]],
    listed: Sequence[tuple[int, int, str]],
    caption: str,
    on_pick: Callable[[int, int], None],
) -> None:
    """Show (n_layers, n_heads) shades; call `on_pick(layer, head)` when a head is picked.

    Args:
        shades: from 0 to 1.
        values: for each layer and head, its description: "previous token 0.42".
        key: the component's own key.
        chosen: the (layer, head) pairs with a ring; layers from 1, heads from 0.
        listed: the strongest heads, each with its value.
        caption: the sentence below the grid.
        on_pick: a Streamlit callback.
    """
    n_layers, n_heads = shades.shape

    def receive(sent: object) -> None:
        pick = _checked_head(sent, n_layers, n_heads)
        if pick is not None:
            on_pick(*pick)

    data: Mapping[str, object] = {
        "layers": int(n_layers),
        "heads": int(n_heads),
        "shades": [[round(float(shade), 3) for shade in row] for row in shades],
        "values": [list(row) for row in values],
        "chosen": [[int(layer), int(head)] for layer, head in chosen],
        "listed": [
            {"layer": int(layer), "head": int(head), "text": text} for layer, head, text in listed
        ],
        "caption": caption,
    }
    component("contextlens.features.attention", "heads", data, key=key, on_pick=receive)


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
    picked: tuple[str, int, int],
    verbs: tuple[str, str],
    hint: str,
    on_pick: Callable[[str, int], None],
) -> None:
    """Show a grid as lines; call `on_pick(side, position)` when a token is picked.

    Args:
        grid: rows on the left, columns on the right.
        key: the component's own key.
        picked: the side of the token whose weights are written as numbers, "from" or "to", and
            the row and the column of the two chosen tokens.
        verbs: the headings of the two columns.
        hint: what a click does.
        on_pick: a Streamlit callback; the position is that of the item's first token.
    """

    positions = _first_positions(grid)  # keeps the weights out of the session's callback

    def receive(sent: object) -> None:
        pick = _checked_side(sent, positions)
        if pick is not None:
            on_pick(*pick)

    side, row, column = picked
    data: Mapping[str, object] = {
        "rows": _items(grid.rows),
        "columns": _items(grid.columns),
        "weights": base64.b64encode(np.ascontiguousarray(grid.weights, "<f4").tobytes()).decode(),
        "picked": {"side": side, "from": int(row), "to": int(column)},
        "verbs": list(verbs),
        "hint": hint,
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
