"""A cosine on its ruler: the cosines of pairs of known kinds, and the place of one pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plotly import graph_objects as go

from components.analysis.ruler import Range
from components.figures.room import beside
from components.figures.theme import CATEGORICAL, INK, SMALLEST, figure

__all__ = ["ruler_figure"]

_COLORS = (CATEGORICAL[9], CATEGORICAL[3], CATEGORICAL[2], CATEGORICAL[4])
_LOW = 120  # a height in pixels that leaves little between the margins
_OWN = CATEGORICAL[0]


def ruler_figure(
    ranges: Sequence[Range],
    cosine: float,
    *,
    scale: tuple[float, float],
    middle: str = "median",
    height: int = 160,
) -> go.Figure:
    """Return bars from the 5th to the 95th percentile of each kind, their medians, and one cosine.

    Args:
        ranges: one for each kind, drawn from the top.
        cosine: the pair's own cosine.
        scale: the lowest and highest cosine of the axis.
        middle: the meaning of the mark within a bar: a mean if no median is known.
        height: in pixels.
    """
    names = [kind_range.kind for kind_range in ranges]
    bars: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "y": names,
        "base": [kind_range.low for kind_range in ranges],
        "x": [kind_range.high - kind_range.low for kind_range in ranges],
        "width": 0.5,
        "marker": {"color": _COLORS[: len(names)], "opacity": 0.55},
        "customdata": [
            [kind_range.low, kind_range.median, kind_range.high] for kind_range in ranges
        ],
        "hovertemplate": (
            f"%{{y}}<br>5%: %{{customdata[0]:.4f}}<br>{middle} %{{customdata[1]:.4f}}"
            "<br>95%: %{customdata[2]:.4f}<extra></extra>"
        ),
        "showlegend": False,
    }
    medians: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "x": [kind_range.median for kind_range in ranges],
        "y": names,
        "marker": {"symbol": "line-ns", "size": 16, "line": {"width": 2, "color": INK}},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    layout = {
        "xaxis": {
            "range": [min(scale[0], cosine), max(scale[1], cosine) + 0.02],
            "zeroline": False,
            "tickformat": ".1f",
        },
        "yaxis": {
            "autorange": "reversed",
            "showgrid": False,
            "showticklabels": bool(names),
            "zeroline": False,
            "ticks": "",
            "dtick": 1,
            "automargin": True,
        },
        "margin": {"l": beside(names), "r": 17, "t": 24 if height > _LOW else 20, "b": 38},
        "shapes": [_line(cosine)],
        "annotations": [_label(cosine)],
    }
    return figure([bars, medians], layout, title="", height=height)


def _line(cosine: float) -> dict[str, Any]:
    along = {"x0": cosine, "x1": cosine, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **along, "line": {"color": _OWN, "width": 3}}


def _label(cosine: float) -> dict[str, Any]:
    return {
        "text": f"<b>this pair {round(cosine, 2) + 0.0:.2f}</b>",
        "x": cosine,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": "right" if cosine > 0.5 else "left",
        "showarrow": False,
        "font": {"size": SMALLEST, "color": INK},
    }
