"""A picture of all heads: the weights of each as a small square, layers down and heads across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.core.schema import FloatArray
from contextlens.figures.theme import NEUTRAL, SEQUENTIAL, figure

_WIDTH, _MAX_HEIGHT = 900, 1_100  # pixels of all squares together
_GAP = 1  # cells between two squares


def all_heads_figure(
    pictures: FloatArray, selected: Sequence[tuple[int, int]], *, title: str
) -> go.Figure:
    """(n_layers, n_heads, n_cells, n_cells) weights, each head from none to its largest cell.

    The square root lifts faint cells. A frame is around the selected (layer, head) if it is one.
    """
    n_layers, n_heads, n_cells, _ = pictures.shape
    step = n_cells + _GAP
    z = np.full((n_layers * step - _GAP, n_heads * step - _GAP), np.nan, np.float32)
    peaks = pictures.max(axis=(-2, -1), keepdims=True)
    scaled = np.sqrt(np.divide(pictures, peaks, out=np.zeros_like(pictures), where=peaks > 0))
    names = np.full(z.shape, "", object)
    for layer in range(n_layers):
        for head in range(n_heads):
            place = np.s_[
                layer * step : layer * step + n_cells, head * step : head * step + n_cells
            ]
            z[place] = scaled[layer, head]
            names[place] = say("attention.tile", layer=layer + 1, head=head + 1)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": z,
        "text": names,
        "zmin": 0.0,
        "zmax": 1.0,
        "colorscale": SEQUENTIAL,
        "showscale": False,
        "hoverongaps": False,
        "hovertemplate": "%{text}<extra></extra>",
    }
    middle = (n_cells - 1) / 2

    def axis(n: int) -> dict[str, Any]:
        return {
            "tickvals": [i * step + middle for i in range(n)],
            "ticktext": [str(i + 1) for i in range(n)],
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
        }

    layout = {
        "xaxis": axis(n_heads) | {"side": "top"},
        "yaxis": axis(n_layers) | {"autorange": "reversed"},
        "margin": {"t": 72, "l": 32, "b": 8},
        "shapes": [_frame(*selected[0], step, n_cells)] if len(selected) == 1 else [],
    }
    height = 80 + min(_MAX_HEIGHT, round(n_layers * _WIDTH / n_heads))
    return figure([trace], layout, title=title, height=height)


def _frame(layer: int, head: int, step: int, n_cells: int) -> dict[str, Any]:
    left, top = head * step - 1, (layer - 1) * step - 1
    ends = {"x0": left, "x1": left + n_cells + 1, "y0": top, "y1": top + n_cells + 1}
    return {"type": "rect", **ends, "line": {"color": NEUTRAL, "width": 3}}
