"""Tokens in two columns, with lines from each to those it attends to, as a component of the page.

The weights travel as base64 of float32, a third of their bytes as text; the browser draws only the
lines that can be seen. User text travels as JSON and is shown as text, never as HTML. Must not
import torch or transformers.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypedDict

import numpy as np

from components.features.attention.measures.grid import Grid, Item
from components.ui.widgets.chips import visible
from components.ui.widgets.component import component

__all__ = ["attention_lines"]


class _Item(TypedDict):
    position: int
    text: str
    kind: str


def attention_lines(
    grid: Grid,
    *,
    key: str,
    picked: tuple[str, int],
    verbs: tuple[str, str],
    on_pick: Callable[[str, int], None],
) -> None:
    """Shows a grid as lines; calls `on_pick(side, position)` when a token is picked.

    Args:
        grid: rows on the left, columns on the right.
        key: the component's own key.
        picked: "from" and a row, or "to" and a column, whose weights stand as numbers.
        verbs: the headings of the two columns.
        on_pick: a callback in Streamlit's sense; the position is that of the item's first token.
    """

    known = _known(grid)  # not the weights, which the session would keep

    def receive(sent: object) -> None:
        pick = _checked(sent, known)
        if pick is not None:
            on_pick(*pick)

    side, index = picked
    data: Mapping[str, object] = {
        "rows": _items(grid.rows),
        "columns": _items(grid.columns),
        "weights": base64.b64encode(np.ascontiguousarray(grid.weights, "<f4").tobytes()).decode(),
        "picked": {"side": side, "index": int(index)},
        "verbs": list(verbs),
    }
    component("components.features.attention", "lines", data, key=key, on_pick=receive)


def _items(items: Sequence[Item]) -> list[_Item]:
    return [
        {
            "position": int(item.positions[0]),
            "text": visible(item.label),
            "kind": item.kind.split(" ")[0],
        }
        for item in items
    ]


def _known(grid: Grid) -> dict[str, frozenset[int]]:
    """Where the items of each side begin."""
    sides = {"from": grid.rows, "to": grid.columns}
    return {side: frozenset(item.positions[0] for item in own) for side, own in sides.items()}


def _checked(pick: object, known: Mapping[str, Collection[int]]) -> tuple[str, int] | None:
    """The side and position that the browser reported; None where the grid has no such item."""
    if not isinstance(pick, Mapping):
        return None
    side, position = pick.get("side"), pick.get("position")
    if not isinstance(side, str) or type(position) is not int:
        return None
    return (side, position) if position in known.get(side, ()) else None
