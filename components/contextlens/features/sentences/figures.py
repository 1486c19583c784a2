"""The figures of the page Sentence vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.content.wording import two
from contextlens.core.schema import FloatArray
from contextlens.features.sentences.measures import Accuracy
from contextlens.figures.room import beside
from contextlens.figures.svg import HEIGHT, WIDTH, drawing, fitted, text_at
from contextlens.figures.theme import (
    CATEGORICAL,
    GROUND,
    INK,
    MUTED,
    NEUTRAL,
    SEQUENTIAL,
    SMALLEST,
    figure,
    ink_on,
    plain,
)

MATRIX_WIDTH = 300
"""Pixels of one matrix: two stand side by side on a desk, one on a phone."""
_BARE = {"showgrid": False, "zeroline": False, "ticks": "", "fixedrange": True}


_MOST_NUMBERED = 8
"""The most sentences whose cells have numbers, and rows letters."""


def matrix_height(n: int) -> int:
    """The height of a matrix of n sentences, in pixels."""
    return 84 + 32 * min(n, _MOST_NUMBERED)


def matrix_chart(
    cosines: FloatArray,
    shares: FloatArray,
    letters: Sequence[str],
    *,
    scale: tuple[float, float],
    title: str,
) -> go.Figure:
    """The cosines of every pair of sentences by one way, with a number on each cell.

    Args:
        cosines: (n, n).
        shares: (n, n) the share of random pairs below each.
        letters: the sentences' letters.
        scale: the ends of the colour scale, the same for all ways.
        title: the way.
    """
    is_numbered = len(letters) <= _MOST_NUMBERED
    places = (cosines - scale[0]) / (scale[1] - scale[0])
    is_high = np.array([[ink_on(place) == GROUND for place in row] for row in places.tolist()])
    traces: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            "x": list(letters),
            "y": list(letters),
            "z": [[round(float(v), 4) if ok else None for v, ok in zip(*row, strict=True)]
                  for row in zip(cosines, mask, strict=True)],
            "customdata": np.round(100 * shares, 1).tolist(),
            "zmin": scale[0],
            "zmax": scale[1],
            "colorscale": SEQUENTIAL,
            "showscale": False,
            "xgap": int(is_numbered),
            "ygap": int(is_numbered),
            "texttemplate": "%{z:.2f}" if is_numbered else "",
            "textfont": {"color": color},
            "hoverongaps": False,
            "hovertemplate": "%{y} ~ %{x}<br>cosine %{z:.4f}<br>"
            "above %{customdata}% of random pairs<extra></extra>",
        }
        for mask, color in ((is_high, GROUND), (~is_high, INK))
    ]  # fmt: skip
    layout = {
        "xaxis": {**_BARE, "side": "bottom", "showticklabels": is_numbered},
        "yaxis": {**_BARE, "autorange": "reversed", "showticklabels": is_numbered},
        "margin": {"l": 28, "r": 8, "t": 36, "b": 40},
    }
    return figure(traces, layout, title=title, height=matrix_height(len(letters)), narrow=True)


def matrices_drawing(
    cosines: FloatArray, letters: Sequence[str], titles: Sequence[str], scale: tuple[float, float]
) -> str:
    """All matrices on one drawing, to be saved as a picture."""
    n_columns = min(4, len(titles))
    n_rows = -(-len(titles) // n_columns)
    width, height = WIDTH / n_columns, HEIGHT / n_rows
    side = min((width - 36) / len(letters), (height - 52) / len(letters))
    parts: list[str] = []
    for at, title in enumerate(titles):
        left, top = width * (at % n_columns) + 20, height * (at // n_columns) + 34
        parts.append(text_at(left, top - 14, fitted(title, width - 24, 11), 11, 1.0))
        names = letters if len(letters) <= _MOST_NUMBERED else [""] * len(letters)
        for i, name in enumerate(names):
            parts.append(text_at(left - 14, top + side * (i + 0.65), name, 10, 0.7))
            below = top + side * len(letters) + 12
            parts.append(text_at(left + side * (i + 0.4), below, name, 10, 0.7))
            for j in range(len(letters)):
                value = float(cosines[at, i, j])
                depth = (value - scale[0]) / (scale[1] - scale[0])
                x, y = left + side * j, top + side * i
                parts.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{side - 1:.1f}" '
                    f'height="{side - 1:.1f}" fill="{CATEGORICAL[0]}" '
                    f'fill-opacity="{0.6 * depth:.3f}"/>'
                )
                if side > 22:
                    middle = x + (side - 1) / 2
                    more = 'text-anchor="middle"'
                    parts.append(text_at(middle, y + side * 0.62, two(value), 8, 1.0, more))
    return drawing(parts)


def accuracy_bars(
    found: Sequence[Accuracy],
    names: Sequence[str],
    baseline: float,
    *,
    title: str,
    axis: str,
    guessing: str,
) -> go.Figure:
    """The accuracy by each way with its interval, best on top, and a line for guessing.

    Args:
        found: the accuracies, best first.
        names: the ways' names.
        baseline: the accuracy of always guessing the commonest label.
        title: the finding.
        axis: what is measured.
        guessing: the name of the line.
    """
    labels = [plain(name, 40) for name in names]
    shares = np.array([each.share for each in found])
    low, high = np.array([each.interval for each in found]).T
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": np.round(100 * shares, 2).tolist(),
        "y": labels,
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": np.round(100 * (high - shares), 2).tolist(),
            "arrayminus": np.round(100 * (shares - low), 2).tolist(),
            "thickness": 3,
            "width": 0,
            "color": CATEGORICAL[0],
        },
        "marker": {"size": 13, "color": CATEGORICAL[0]},
        "customdata": np.round(100 * np.array([low, high]).T, 1).tolist(),
        "hovertemplate": "%{y}<br>%{x:.1f}% (95% interval %{customdata[0]} to %{customdata[1]})"
        "<extra></extra>",
    }
    line = {"color": NEUTRAL, "width": 2, "dash": "dot"}
    at = 100 * baseline
    layout = {
        "xaxis": {"title": {"text": axis}, "range": [0, 101], "ticksuffix": "%", "zeroline": False},
        "yaxis": {"autorange": "reversed", "automargin": True, "showgrid": False},
        "shapes": [
            {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": line}
        ],
        "annotations": [
            {
                "text": guessing,
                "x": at,
                "y": 1,
                "yref": "paper",
                "xanchor": "left" if at < 50 else "right",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": SMALLEST, "color": MUTED},
            }
        ],
        "margin": {"l": beside(labels, most=240), "t": 78, "b": 74, "r": 26},
    }
    return figure([trace], layout, title=title, height=accuracy_height(len(found)), narrow=True)


def accuracy_height(n: int) -> int:
    """The height of a chart of n ways, in pixels."""
    return 150 + 34 * n
