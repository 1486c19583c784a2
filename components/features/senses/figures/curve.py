"""How well a word's senses part at every layer, and which are taken for which."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.analysis.separation import Separation
from components.figures.labels import spread
from components.figures.theme import CATEGORICAL, NEUTRAL, SEQUENTIAL, figure, plain, values

__all__ = ["MAX_CONFUSED", "confusion_heatmap", "separation_curve"]

MAX_CONFUSED = 12
"""Senses that the heatmap has room for; the most frequent."""
_MAX_TICKS = 13
_SECOND = CATEGORICAL[3]
_BAND = "rgba(0,114,178,0.18)"


def separation_curve(
    curves: Sequence[tuple[str, Sequence[Separation]]],
    chance: float,
    *,
    layer: int,
    title: str,
    narrow: bool = False,
    height: int = 340,
) -> go.Figure:
    """The share that gets the right sense at each layer, with its interval; silhouette beside.

    Args:
        curves: one word's, or two to compare, each with its name; silhouettes of one alone.
        chance: what naming the most frequent sense gives, of the first.
        layer: the layer shown.
        title: the finding.
        narrow: whether its title is broken into lines.
        height: in pixels.
    """
    colors = (CATEGORICAL[0], CATEGORICAL[1])
    traces: list[dict[str, Any]] = []
    for color, (name, curve) in zip(colors, curves, strict=False):
        traces += _with_band(curve, plain(name), color)
    if len(curves) == 1:
        traces += _silhouettes(curves[0][1])
    layers = sorted({own.layer for _, curve in curves for own in curve})
    layout = {
        "xaxis": {
            "title": {"text": "layer (0 is the embedding layer)"},
            "tickvals": layers[:: max(1, ceil(len(layers) / _MAX_TICKS))],
            "zeroline": False,
            "showgrid": False,
        },
        "yaxis": {
            "title": {"text": "right sense, and silhouette"},
            "range": [min([0.0, *_silhouette_floor(curves)]), 1.02],
            "tickformat": ".0%",
            "zeroline": False,
        },
        "shapes": [_mark(layer), _chance_line(chance)],
        "annotations": [*_ends(curves), _chance_label(chance)],
        "margin": {"r": 96, "t": 64 if narrow else 40},
    }
    return figure(traces, layout, title=title, height=height, narrow=narrow)


def confusion_heatmap(
    own: Separation, senses: Sequence[str], *, title: str, height: int = 320
) -> go.Figure:
    """How often each sense (down) gets each name (across), of the most frequent `MAX_CONFUSED`."""
    n = min(len(senses), MAX_CONFUSED)
    counts = own.confusion[:n, :n]
    names = _different([plain(sense) for sense in senses[:n]])
    shares = counts / np.maximum(own.confusion[:n].sum(axis=1, keepdims=True), 1)
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": names,
        "y": names,
        "z": [values(row) for row in shares],
        "zmin": 0.0,
        "zmax": 1.0,
        "colorscale": SEQUENTIAL,
        "xgap": 2,
        "ygap": 2,
        "customdata": counts.tolist(),
        "texttemplate": "%{customdata}",
        "hovertemplate": (
            "%{y} is taken for %{x}<br>%{customdata} times, %{z:.4f} of its own<extra></extra>"
        ),
        "colorbar": {"title": {"text": "share of the sense"}, "thickness": 8, "len": 0.9},
    }
    layout = {
        "xaxis": {"title": {"text": "taken for"}, "type": "category", "showgrid": False},
        "yaxis": {
            "title": {"text": "sense"},
            "type": "category",
            "autorange": "reversed",
            "showgrid": False,
            "automargin": True,
        },
    }
    return figure([trace], layout, title=title, height=height)


def _with_band(curve: Sequence[Separation], name: str, color: str) -> list[dict[str, Any]]:
    x = [own.layer for own in curve]
    low, high = ([own.interval[i] for own in curve] for i in (0, 1))
    band = {
        "type": "scatter",
        "mode": "lines",
        "x": [*x, *x[::-1]],
        "y": [*_rounded(high), *_rounded(low)[::-1]],
        "fill": "toself",
        "fillcolor": _BAND if color == CATEGORICAL[0] else "rgba(230,159,0,0.18)",
        "line": {"width": 0},
        "hoverinfo": "skip",
    }
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": _rounded([own.accuracy for own in curve]),
        "name": name,
        "line": {"color": color, "width": 2.5},
        "marker": {"size": 7},
        "customdata": [[own.right, own.n, *own.interval] for own in curve],
        "hovertemplate": (
            f"{name}<br>layer %{{x}}: %{{y:.4f}}<br>%{{customdata[0]}} of %{{customdata[1]}} "
            "right<br>95% from %{customdata[2]:.4f} to %{customdata[3]:.4f}<extra></extra>"
        ),
    }
    return [band, line]


def _silhouettes(curve: Sequence[Separation]) -> list[dict[str, Any]]:
    return [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": [own.layer for own in curve],
            "y": [None if np.isnan(own.silhouette) else round(own.silhouette, 5) for own in curve],
            "name": "silhouette",
            "line": {"color": _SECOND, "width": 1.75, "dash": "dot"},
            "marker": {"size": 5},
            "hovertemplate": "silhouette<br>layer %{x}: %{y:.4f}<extra></extra>",
        }
    ]


def _silhouette_floor(curves: Sequence[tuple[str, Sequence[Separation]]]) -> list[float]:
    if len(curves) != 1:
        return []
    return [own.silhouette - 0.02 for own in curves[0][1] if own.silhouette < 0]


def _ends(curves: Sequence[tuple[str, Sequence[Separation]]]) -> list[dict[str, Any]]:
    """The lines' names at their right ends."""
    labels = [(plain(name, 14), curve[-1].accuracy) for name, curve in curves if curve]
    if len(curves) == 1 and curves[0][1] and not np.isnan(curves[0][1][-1].silhouette):
        labels.append(("silhouette", curves[0][1][-1].silhouette))
    where = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 6, "showarrow": False}
    spots = spread([y for _, y in labels], 0.08, (-0.2, 1.0))
    return [{"text": text, "y": y, **where} for (text, _), y in zip(labels, spots, strict=True)]


def _chance_line(chance: float) -> dict[str, Any]:
    ends = {"x0": 0, "x1": 1, "xref": "paper", "y0": chance, "y1": chance}
    return {"type": "line", **ends, "line": {"color": NEUTRAL, "width": 1.5, "dash": "dash"}}


def _chance_label(chance: float) -> dict[str, Any]:
    where = {"x": 0, "xref": "paper", "xanchor": "left", "y": chance, "yanchor": "bottom"}
    return {"text": "always guessing", **where, "showarrow": False}


def _mark(layer: int) -> dict[str, Any]:
    line = {"color": NEUTRAL, "width": 1, "dash": "dot"}
    ends = {"x0": layer, "x1": layer, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **ends, "line": line}


def _different(names: Sequence[str]) -> list[str]:
    """Names made different where two read alike when cut."""
    return [
        name if names.count(name) == 1 else f"{name} ({names[: i + 1].count(name)})"
        for i, name in enumerate(names)
    ]


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(float(number), 5) for number in numbers]
