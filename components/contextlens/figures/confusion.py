"""How often each label is taken for each other one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.core.schema import IntArray
from contextlens.figures.theme import SEQUENTIAL, figure, plain, values

__all__ = ["MAX_CONFUSED", "confusion_heatmap"]

MAX_CONFUSED = 12
"""The labels that are drawn, the most frequent ones."""


def confusion_heatmap(
    confusion: IntArray, labels: Sequence[str], *, kind: str, title: str, height: int = 320
) -> go.Figure:
    """Return counts of true (down) by predicted labels (across), for the first `MAX_CONFUSED`.

    Args:
        confusion: (n, n) how often a label (row) is predicted as another (column).
        labels: the labels, most frequent first.
        kind: what the labels are, such as "sense".
        title: the finding.
        height: in pixels.
    """
    n = min(len(labels), MAX_CONFUSED)
    counts = confusion[:n, :n]
    names = _different([plain(label) for label in labels[:n]])
    shares = counts / np.maximum(confusion[:n].sum(axis=1, keepdims=True), 1)
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
        "text": counts.tolist(),
        "texttemplate": "%{text}",
        "hovertemplate": (
            "%{y} is taken for %{x}<br>%{text} times, %{z:.4f} of its own<extra></extra>"
        ),
        "colorbar": {"title": {"text": f"share of the {kind}"}, "thickness": 8, "len": 0.9},
    }
    layout = {
        "xaxis": {"title": {"text": "taken for"}, "type": "category", "showgrid": False},
        "yaxis": {
            "title": {"text": kind},
            "type": "category",
            "autorange": "reversed",
            "showgrid": False,
            "automargin": True,
        },
    }
    return figure([trace], layout, title=title, height=height)


def _different(names: Sequence[str]) -> list[str]:
    """The names, with a number added to those that are the same once they are cut."""
    return [
        name if names.count(name) == 1 else f"{name} ({names[: i + 1].count(name)})"
        for i, name in enumerate(names)
    ]
