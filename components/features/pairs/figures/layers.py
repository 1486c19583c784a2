"""What each layer gives: the share of pairs that is judged right, or where the cosines lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.core.schema import FloatArray
from components.features.pairs.figures.marks import level, note, upright
from components.features.pairs.measures import Scores
from components.figures.theme import CATEGORICAL, NEUTRAL, figure, values

__all__ = ["accuracy_lines", "cosine_bands"]

_ALL = CATEGORICAL[0]


def accuracy_lines(
    layers: Sequence[int], scores: Scores, *, row: int, title: str, height: int = 340
) -> go.Figure:
    """The share that is judged right at each layer, its interval around it, the majority below."""
    x = list(layers)
    low = min(0.4, float(np.floor(min(scores.low.min(), scores.majority) * 10) / 10))
    band = {
        "type": "scatter",
        "mode": "lines",
        "fill": "toself",
        "hoverinfo": "skip",
        "x": [*x, *x[::-1]],
        "y": [*values(scores.high), *values(scores.low)[::-1]],
        "fillcolor": "rgba(0,114,178,0.16)",
        "line": {"width": 0},
    }
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": values(scores.accuracy),
        "name": "accuracy",
        "line": {"color": _ALL, "width": 2.5},
        "marker": {"size": 7},
        "customdata": np.stack(
            [scores.low, scores.high, scores.thresholds, scores.auc], axis=1
        ).tolist(),
        "hovertemplate": (
            "layer %{x}<br>accuracy %{y:.4f}<br>95 of 100: %{customdata[0]:.4f} to "
            "%{customdata[1]:.4f}<br>threshold %{customdata[2]:.4f}"
            "<br>AUC %{customdata[3]:.4f}<extra></extra>"
        ),
    }
    layout = {
        "xaxis": _layer_axis(x),
        "yaxis": {"title": {"text": "judged right"}, "range": [low, 1.02], "tickformat": ".0%"},
        "shapes": [
            level(scores.majority, x),
            upright(layers[row], color=NEUTRAL, width=1, dash="dot"),
        ],
        "annotations": [note(f"guessing {scores.majority:.0%}", x[-1], scores.majority)],
    }
    return figure([band, line], layout, title=title, height=height)


def cosine_bands(
    layers: Sequence[int],
    cosines: FloatArray,
    *,
    row: int,
    title: str,
    scale: tuple[float, float],
    height: int = 340,
) -> go.Figure:
    """Where the cosines lie at each layer: their median, the middle half, and nine of ten."""
    x = list(layers)
    cuts = np.percentile(cosines, [5, 25, 50, 75, 95], axis=1)
    shapes = [
        {
            "type": "scatter",
            "mode": "lines",
            "fill": "toself",
            "hoverinfo": "skip",
            "x": [*x, *x[::-1]],
            "y": [*values(high), *values(low)[::-1]],
            "fillcolor": "rgba(0,114,178,0.16)",
            "line": {"width": 0},
        }
        for low, high in ((cuts[0], cuts[4]), (cuts[1], cuts[3]))
    ]
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x,
        "y": values(cuts[2]),
        "name": "median",
        "line": {"color": _ALL, "width": 2.5},
        "marker": {"size": 7},
        "customdata": cuts.T.tolist(),
        "hovertemplate": (
            "layer %{x}<br>median %{y:.4f}<br>middle half: %{customdata[1]:.4f} to "
            "%{customdata[3]:.4f}<br>nine of ten: %{customdata[0]:.4f} to %{customdata[4]:.4f}"
            "<extra></extra>"
        ),
    }
    layout = {
        "xaxis": _layer_axis(x),
        "yaxis": {"title": {"text": "similarity"}, "range": [scale[0], scale[1] + 0.02]},
        "shapes": [upright(layers[row], color=NEUTRAL, width=1, dash="dot")],
    }
    return figure([*shapes, line], layout, title=title, height=height)


def _layer_axis(layers: list[int]) -> dict[str, Any]:
    return {
        "title": {"text": "layer (0 is the embedding layer)"},
        "tickvals": layers if len(layers) <= 13 else layers[:: 2 if len(layers) <= 25 else 4],
        "range": [layers[0] - 0.2, layers[-1] + 0.2],
        "zeroline": False,
        "showgrid": False,
    }
