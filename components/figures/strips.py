"""Vectors as heat strips: one row each, dimensions across, a signed scale centred on zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.core.schema import FloatArray
from components.figures.theme import SIGNED, figure, plain, values

__all__ = ["signed_bound", "vector_strips"]


def signed_bound(*arrays: FloatArray) -> float:
    """The end of a scale that is symmetric around zero: 99.5 of 100 values lie within.

    A few values of [CLS] and [SEP] are ten times the others and would leave no colour for them.
    """
    together = np.concatenate([np.abs(array).ravel() for array in arrays])
    return float(np.quantile(together, 0.995, method="lower")) or 1.0 if together.size else 1.0


def vector_strips(
    rows: FloatArray,
    names: Sequence[str],
    *,
    title: str,
    bound: float | None = None,
    first: int = 0,
    chosen: int | None = None,
    height: int = 300,
) -> go.Figure:
    """(n_rows, n_dims) vectors as strips, exact values on hover.

    Args:
        rows: the values.
        names: each row's name, on the axis; a token's own text, escaped here.
        title: the finding.
        bound: the scale runs from minus this to this; by default `signed_bound` of the rows.
        first: the number of the first dimension shown.
        chosen: the row with a mark before its name.
        height: in pixels.
    """
    end = signed_bound(rows) if bound is None else bound
    shown = [f"▸ {plain(name)}" if i == chosen else plain(name) for i, name in enumerate(names)]
    places = list(range(len(shown)))
    dims = list(range(first, first + rows.shape[1]))
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": [values(row) for row in rows],
        "x": dims,
        "y": places,
        "zmin": -end,
        "zmax": end,
        **SIGNED,
        "ygap": 2,
        "customdata": [[name] * len(dims) for name in shown],
        "hovertemplate": "%{customdata}<br>dimension %{x}: %{z:.4f}<extra></extra>",
        "colorbar": {"title": {"text": "value"}, "thickness": 8, "len": 0.9},
    }
    layout = {
        "xaxis": {"title": {"text": "dimension"}, "showgrid": False, "zeroline": False},
        "yaxis": {
            "tickvals": places,
            "ticktext": shown,
            "autorange": "reversed",
            "showgrid": False,
            "zeroline": False,
        },
        "margin": {"l": 110, "r": 68, "b": 76},
    }
    return figure([trace], layout, title=title, height=height)
