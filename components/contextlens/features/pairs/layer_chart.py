"""The parts of charts over the layers: lines and intervals, marks, and a key of colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.figures.theme import CATEGORICAL, NEUTRAL, SMALLEST, figure, values

HEIGHT = 340
BLUE = CATEGORICAL[0]
_TITLE = 14  # pixels from the top to the middle of a title, as for a title without a key


def interval(x: list[int], low: NDArray[Any], high: NDArray[Any]) -> dict[str, Any]:
    """Return the filled range between two lines over the layers."""
    return {
        "type": "scatter",
        "mode": "lines",
        "fill": "toself",
        "hoverinfo": "skip",
        "x": [*x, *x[::-1]],
        "y": [*values(high), *values(low)[::-1]],
        "fillcolor": "rgba(0,114,178,0.16)",
        "line": {"width": 0},
    }


def line(
    x: list[int],
    y: NDArray[Any],
    hover: Sequence[NDArray[Any]],
    *,
    name: str,
    template: str,
    color: str = BLUE,
    dash: str = "solid",
) -> dict[str, Any]:
    """Return a line over the layers.

    Args:
        x: the layers.
        y: the value at each.
        hover: further values at each layer, for the template.
        name: the line's name.
        template: the text on hover, after the layer.
        color: the line's colour.
        dash: how it is dashed.
    """
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": values(y),
        "name": name,
        "line": {"color": color, "width": 2.5, "dash": dash},
        "marker": {"size": 7},
        "customdata": np.stack(hover, axis=1).tolist(),
        "hovertemplate": f"layer %{{x}}<br>{template}<extra></extra>",
    }


def layer_axis(layers: list[int]) -> dict[str, Any]:
    """Return the axis of layers."""
    return {
        "title": {"text": "layer (0: before the first)"},
        "tickvals": layers if len(layers) <= 13 else layers[:: 2 if len(layers) <= 25 else 4],
        "range": [layers[0] - 0.2, layers[-1] + 0.2],
        "zeroline": False,
        "showgrid": False,
    }


def upright(x: float, *, color: str = NEUTRAL, width: int = 1, dash: str = "dot") -> dict[str, Any]:
    """Return a line from bottom to top at a given x; by default, that of the selected layer."""
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": {"color": color, "width": width, "dash": dash}}


def level(y: float, layers: list[int]) -> dict[str, Any]:
    """Return a dotted horizontal line across all layers."""
    ends = {"x0": layers[0] - 0.2, "x1": layers[-1] + 0.2, "y0": y, "y1": y}
    return {"type": "line", **ends, "line": {"color": NEUTRAL, "width": 1.5, "dash": "dot"}}


def note(text: str, x: float, y: float) -> dict[str, Any]:
    """Return a text whose upper right corner is at a point in the picture."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xanchor": "right",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": SMALLEST},
    }


def color_key(colors: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the legend of the colours, above the picture; for `keyed_figure`."""
    text = "   ".join(f'<span style="color:{color}">■</span> {name}' for name, color in colors)
    return {
        "text": text,
        "x": 0,
        "y": 1,
        "xref": "paper",
        "yref": "paper",
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 18,  # leaves a line for notes above a point
        "font": {"size": SMALLEST},
    }


def keyed_figure(traces: list[dict[str, Any]], layout: dict[str, Any], *, title: str) -> go.Figure:
    """Return a figure with room for a key below the title, which stays at its usual height."""
    margin = {"t": 72, **layout.pop("margin", {})}
    chart = figure(traces, {**layout, "margin": margin}, title=title, height=HEIGHT)
    chart.layout.title.update(y=1 - _TITLE / HEIGHT, yref="container", yanchor="middle")
    return chart
