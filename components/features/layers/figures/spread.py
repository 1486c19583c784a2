"""The spread of a model's layers: random pairs' cosines, and the variance of the components."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.analysis.baseline import Band
from components.core.schema import FloatArray
from components.figures.theme import CATEGORICAL, NEUTRAL, figure, values

__all__ = ["random_pairs_lines", "variance_lines"]

_MAX_TICKS = 13


def random_pairs_lines(
    layers: Sequence[int], band: Band | None, *, layer: int, title: str, height: int = 320
) -> go.Figure:
    """The average cosine of random pairs of words at each layer, with the middle 90 percent."""
    x = list(layers)
    traces: list[dict[str, Any]] = []
    if band is not None:
        area = [*values(band.high), *values(band.low)[::-1]]
        traces = [
            {
                "type": "scatter",
                "mode": "lines",
                "x": [*x, *x[::-1]],
                "y": area,
                "fill": "toself",
                "fillcolor": "rgba(128,128,128,0.16)",
                "line": {"width": 0},
                "hoverinfo": "skip",
            },
            _line(x, band.mean, "average of random pairs", CATEGORICAL[0]),
        ]
    layout = {
        **_layer_axes(x, "cosine", (-0.25, 1.0)),
        "shapes": [_mark(layer)],
        "annotations": [] if band is None else [_end("average", float(band.mean[-1]))],
        "margin": {"l": 76, "r": 72},
    }
    return figure(traces, layout, title=title, height=height)


def variance_lines(
    layers: Sequence[int],
    shares: FloatArray,
    counts: Sequence[int],
    *,
    layer: int,
    title: str,
    height: int = 320,
) -> go.Figure:
    """The share of the variance that the first components hold, a line for each count of them."""
    x = list(layers)
    lines = [(count, shares[:, count - 1]) for count in counts]
    layout = {
        **_layer_axes(x, "share of the variance", (0.0, 1.0)),
        "shapes": [_mark(layer)],
        "annotations": [
            _end(f"first {count}" if count > 1 else "first", spot)
            for (count, _), spot in zip(lines, _apart([line[-1] for _, line in lines]), strict=True)
        ],
        "margin": {"l": 76, "r": 72},
    }
    traces = [
        _line(x, line, f"first {count}" if count > 1 else "first component", CATEGORICAL[i])
        for i, (count, line) in enumerate(lines)
    ]
    return figure(traces, layout, title=title, height=height)


def _mark(layer: int) -> dict[str, Any]:
    line = {"color": NEUTRAL, "width": 1, "dash": "dot"}
    ends = {"x0": layer, "x1": layer, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": line}


def _layer_axes(x: list[int], name: str, between: tuple[float, float]) -> dict[str, Any]:
    ticks = x[:: ceil(len(x) / _MAX_TICKS)]
    return {
        "xaxis": {"title": {"text": "layer"}, "tickvals": ticks, "zeroline": False},
        "yaxis": {"title": {"text": name}, "range": list(between), "zeroline": False},
    }


def _line(x: list[int], y: FloatArray, name: str, color: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": [None if np.isnan(v) else v for v in values(y)],
        "name": name,
        "line": {"color": color, "width": 2.25},
        "marker": {"size": 6},
        "hovertemplate": f"{name}<br>layer %{{x}}: %{{y:.4f}}<extra></extra>",
    }


def _apart(ends: Sequence[float]) -> list[float]:
    """Rising heights moved up where names there would touch."""
    spots: list[float] = []
    for end in np.nan_to_num(np.array(ends)).tolist():
        spots.append(max(end, spots[-1] + 0.08) if spots else end)
    return spots


def _end(text: str, y: float) -> dict[str, Any]:
    """A line's name at its right end."""
    where = {"x": 1, "xref": "paper", "y": y, "xanchor": "left", "xshift": 6}
    return {"text": text, **where, "showarrow": False}
