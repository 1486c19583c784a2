"""The picture of a text at a model's limit: one bar, what fits and what is cut off."""

from __future__ import annotations

from typing import Any

from plotly import graph_objects as go

from components.content.language import say
from components.figures.theme import CATEGORICAL, NEUTRAL, figure

__all__ = ["limit_bar"]


def limit_bar(n_kept: int, n_cut: int, *, limit: int, title: str, height: int = 130) -> go.Figure:
    """One text as a bar of tokens, the part behind the limit hatched."""
    hatch = {"shape": "/", "fgcolor": CATEGORICAL[3], "size": 7, "solidity": 0.3}
    cut = {"color": "rgba(128,128,128,0.07)", "pattern": hatch}
    traces = [_bar("masks.limit.bar_fit", 0, n_kept, {"color": CATEGORICAL[0]})]
    if n_cut:
        traces.append(_bar("masks.limit.bar_cut", n_kept, n_cut, cut))
    edge = {"x0": limit, "x1": limit, "y0": 0, "y1": 1, "yref": "paper", "type": "line"}
    layout = {
        "barmode": "overlay",
        "xaxis": {
            "title": {"text": say("masks.limit.axis")},
            "range": [0, 1.04 * max(limit, n_kept + n_cut)],
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {"visible": False},
        "shapes": [{**edge, "line": {"color": NEUTRAL, "width": 2, "dash": "dot"}}],
        "margin": {"l": 8, "r": 8, "t": 36, "b": 44},
    }
    return figure(traces, layout, title=title, height=height)


def _bar(fate: str, start: int, n: int, marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "x": [n],
        "base": [start],
        "y": [0],
        "marker": marker,
        "hovertemplate": f"{say(fate, n=n)}<extra></extra>",
    }
