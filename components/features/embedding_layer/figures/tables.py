"""Pictures of the position table, and of what a second text moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.core.schema import FloatArray
from components.figures.theme import CATEGORICAL, SEQUENTIAL, SIGNED, figure, plain, values

__all__ = ["moved_bars", "position_curve", "position_heatmap"]

_MAX_NUMBERS = 16  # bars that leave room for a number on each
_BARE = {"showgrid": False, "zeroline": False, "ticks": ""}


def position_heatmap(
    cosines: FloatArray, rows: Sequence[int], *, title: str, height: int = 400
) -> go.Figure:
    """Cosines of position rows with each other, on the page's scale.

    Args:
        cosines: (n_rows, n_rows).
        rows: the position that each row stands for, in equal steps.
        title: the finding.
        height: in pixels.
    """
    step = rows[1] - rows[0] if len(rows) > 1 else 1
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": np.round(cosines, 5).astype(np.float32),
        "x0": rows[0],
        "dx": step,
        "y0": rows[0],
        "dy": step,
        "zmin": -1,
        "zmax": 1,
        **SIGNED,
        "hovertemplate": "positions %{y} and %{x}<br>cosine %{z:.4f}<extra></extra>",
        "colorbar": {"title": {"text": "cosine"}, "thickness": 8, "len": 0.9},
    }
    layout = {
        "xaxis": {**_BARE, "title": {"text": "position"}},
        "yaxis": {**_BARE, "title": {"text": "position"}, "autorange": "reversed"},
    }
    return figure([trace], layout, title=title, height=height)


def position_curve(
    curve: FloatArray, explained: tuple[float, float], *, title: str, height: int = 400
) -> go.Figure:
    """The position rows on two principal components, joined in order and coloured by position."""
    places = list(range(len(curve)))
    marked = [p for p in (0, 1, 10, 50, 100, 200, 300, 400, len(curve) - 1) if p < len(curve)]
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": values(curve[:, 0]),
        "y": values(curve[:, 1]),
        "line": {"color": "rgba(128,128,128,0.35)", "width": 1},
        "marker": {
            "size": 5,
            "color": places,
            "colorscale": SEQUENTIAL,
            "colorbar": {"title": {"text": "position"}, "thickness": 8, "len": 0.9},
        },
        "text": places,
        "hovertemplate": "position %{text}<br>%{x:.4f}, %{y:.4f}<extra></extra>",
    }
    layout = {
        "xaxis": {"title": {"text": f"component 1 ({explained[0]:.0%} of variance)"}},
        "yaxis": {"title": {"text": f"component 2 ({explained[1]:.0%})"}},
        "annotations": [
            {
                "x": float(curve[p, 0]),
                "y": float(curve[p, 1]),
                "text": str(p),
                "showarrow": False,
                "yshift": 12,
            }
            for p in sorted(set(marked))
        ],
    }
    return figure([trace], layout, title=title, height=height)


def moved_bars(
    names: Sequence[str], moved: FloatArray, *, second: bool, title: str, height: int = 300
) -> go.Figure:
    """How far each token's vector at layer 0 moved, in shares of its length.

    Args:
        names: the tokens; escaped here.
        moved: (n_tokens,) length of the change over the vector's length before.
        second: whether the tokens of a second text follow those of the first.
        title: the finding.
        height: in pixels.
    """
    trace = {
        "type": "bar",
        "x": list(range(len(names))),
        "y": values(moved),
        "marker": {"color": CATEGORICAL[0]},
        "text": [f"{share:.0%}" for share in moved] if len(names) <= _MAX_NUMBERS else None,
        "textposition": "outside",
        "cliponaxis": False,
        "hovertemplate": "%{x}<br>moved by %{y:.2%} of its length<extra></extra>",
    }
    layout = {
        "xaxis": {
            **_BARE,
            "tickvals": list(range(len(names))),
            "ticktext": [plain(name, 12) for name in names],
            "automargin": True,
            "title": {
                "text": "tokens of the first text, then of the second" if second else "token"
            },
        },
        "yaxis": {
            "title": {"text": "moved, of its length"},
            "tickformat": ".0%",
            "range": [0, max(0.1, 1.15 * float(moved.max(initial=0)))],
        },
        "margin": {"l": 64, "r": 8, "b": 70},
    }
    return figure([trace], layout, title=title, height=height)
