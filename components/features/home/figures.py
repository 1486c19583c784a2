"""Pictures of two words that move apart over the layers, large and as thumbnails on cards."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.core.schema import FloatArray
from components.figures.frames import add_frames
from components.figures.theme import SMALLEST, color_of, figure, plain, values

__all__ = ["parting", "thumbnail"]

_OVER_THE_BAR = {"l": 128, "r": 8}
"""Pixels beside the picture, so that each layer is above its place on the layer bar."""
_LEAST = 20.0
"""The smallest range of degrees in the picture, so that a small gap looks small."""


def parting(
    degrees: FloatArray,
    layers: Sequence[int],
    names: tuple[str, str],
    *,
    layer: int,
    titles: Sequence[str],
    height: int = 126,
) -> go.Figure:
    """Two dots whose gap is the angle between two vectors, with a frame for each layer.

    Args:
        degrees: (n_layers,) between the two words' vectors.
        layers: the layer of each row.
        names: the text at the two dots.
        layer: the layer shown.
        titles: the finding at each layer.
        height: in pixels.
    """
    halves: FloatArray = np.stack([degrees / 2, -degrees / 2]).astype(np.float32)
    row = list(layers).index(layer)
    moving = _moving(halves, layers, row)
    still = [_line(half, layers, color_of(i), 0.3) for i, half in enumerate(halves)]
    room = max(float(degrees.max()), _LEAST) / 2 * 1.25
    layout = {
        "xaxis": {
            "range": [layers[0], layers[-1]] if len(layers) > 1 else None,
            "visible": False,
        },
        "yaxis": {
            "range": [-room, room],
            "visible": False,
        },
        "margin": {**_OVER_THE_BAR, "t": 32, "b": 20},
    }
    notes = [_name(name, half, i) for i, (name, half) in enumerate(zip(names, halves, strict=True))]
    chart = figure(
        [*moving, *still], {**layout, "annotations": notes}, title=titles[row], height=height
    )
    if len(layers) > 1:
        rows = {n: _moving(halves, layers, i) for i, n in enumerate(layers)}
        looks = {n: {"annotations": notes} for n in layers}
        add_frames(chart, rows, layer, titles, looks=looks)
    return chart


def _moving(halves: FloatArray, layers: Sequence[int], row: int) -> list[dict[str, Any]]:
    """The two paths up to a layer, and the dots at their ends."""
    ways = [
        _line(half[: row + 1], layers[: row + 1], color_of(i), 1.0) for i, half in enumerate(halves)
    ]
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": [layers[row]] * 2,
        "y": values(halves[:, row]),
        "marker": {"size": 16, "color": [color_of(0), color_of(1)]},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    return [*ways, dots]


def _line(half: FloatArray, layers: Sequence[int], color: str, strength: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(layers),
        "y": values(half),
        "line": {"color": color, "width": 3},
        "opacity": strength,
        "hoverinfo": "skip",
    }


def _name(name: str, half: FloatArray, index: int) -> dict[str, Any]:
    """A word above or below the right end of its path."""
    return {
        "text": f'<span style="color:{color_of(index)}">●</span> {plain(name, 20)}',
        "x": 1,
        "xref": "paper",
        "xanchor": "right",
        "xshift": 8,
        "y": float(half[-1]),
        "yanchor": "bottom" if index == 0 else "top",
        "yshift": 8 if index == 0 else -8,
        "showarrow": False,
        "font": {"size": SMALLEST},
    }


def thumbnail(degrees: FloatArray, *, width: int = 96, height: int = 44) -> str:
    """A picture of two words that move apart, as an SVG data URL."""
    middle, room = height / 2, height / 2 - 4
    half = np.minimum(degrees / 2 / 45, 1.0) * room  # an angle of 90 degrees fills the height
    x = np.linspace(4, width - 6, len(degrees))
    parts = []
    for i, side in enumerate((-half, half)):
        points = " ".join(f"{a:.1f},{middle + b:.1f}" for a, b in zip(x, side, strict=True))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{color_of(i)}" stroke-width="2"/>'
            f'<circle cx="{x[-1]:.1f}" cy="{middle + side[-1]:.1f}" r="4" fill="{color_of(i)}"/>'
        )
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
