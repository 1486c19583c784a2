"""A cosine on its ruler: the cosines of pairs of known kinds, and the place of one pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plotly import graph_objects as go

from contextlens.analysis.ruler import Range
from contextlens.content.wording import two
from contextlens.figures.margins import beside, width
from contextlens.figures.theme import CATEGORICAL, INK, MUTED, SMALLEST, figure

__all__ = ["Stretch", "line_ruler", "ruler_figure"]

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
        "margin": {
            "l": beside(names, most=180) + 12,  # automargin takes more than the names
            "r": 17,
            "t": 24 if height > _LOW else 20,
            "b": 40,
        },
        "shapes": [_line(cosine)],
        "annotations": [_label(cosine)],
    }
    return figure([bars, medians], layout, title="", height=height)


@dataclass(frozen=True)
class Stretch:
    """A part of a ruler that is a single line.

    Attributes:
        name: its meaning, written under it.
        low, high: its lowest and highest cosine.
        color: its colour.
    """

    name: str
    low: float
    high: float
    color: str = "rgba(128,128,128,0.5)"


_SHORTEST = 320  # pixels of the line on a phone
_TRACK = "rgba(128,128,128,0.16)"


def line_ruler(
    stretches: Sequence[Stretch],
    cosine: float,
    *,
    scale: tuple[float, float],
    cut: float | None = None,
    label: str = "",
    height: int = 104,
) -> go.Figure:
    """Return one line from the lowest to the highest cosine, its named parts, and one cosine.

    Args:
        stretches: the parts; the first and the last name must fit beside each other.
        cosine: the pair's own cosine.
        scale: the lowest and highest cosine of the line.
        cut: a threshold, drawn across the line; None for none.
        label: the text above the pair's own cosine; "" for "this pair" with the cosine.
        height: in pixels.
    """
    low, high = min(scale[0], cosine), max(scale[1], cosine)
    track = _bar(low, high, _TRACK)
    parts = [_bar(part.low, part.high, part.color) for part in stretches]
    own: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "x": [cosine],
        "y": [0],
        "marker": {"size": 18, "color": _OWN, "line": {"width": 2, "color": "white"}},
        "cliponaxis": False,
        "hovertemplate": "%{x:.4f}<extra></extra>",
        "showlegend": False,
    }
    layout = {
        "xaxis": {
            "range": [low, high],
            "zeroline": False,
            "showgrid": False,
            "showticklabels": False,
            "ticks": "",
        },
        "yaxis": {"range": [-1, 1], "visible": False},
        "margin": {"l": 12, "r": 12, "t": 26, "b": 26},
        "shapes": [track, *parts, *([] if cut is None else [_across(cut)])],
        "annotations": [_label(cosine, label), *(_name(part, (low, high)) for part in stretches)],
    }
    return figure([own], layout, title="", height=height)


def _bar(low: float, high: float, color: str) -> dict[str, Any]:
    ends = {"x0": low, "x1": high, "y0": -0.4, "y1": 0.4}
    return {"type": "rect", **ends, "fillcolor": color, "line": {"width": 0}, "layer": "below"}


def _across(cut: float) -> dict[str, Any]:
    ends = {"x0": cut, "x1": cut, "y0": -0.8, "y1": 0.8}
    return {"type": "line", **ends, "line": {"color": INK, "width": 3}}


def _name(part: Stretch, scale: tuple[float, float]) -> dict[str, Any]:
    """The name of a part: in the middle under it, or at the end of the line that it is near."""
    low, high = scale
    middle = (part.low + part.high) / 2
    half = (high - low) * width(part.name) / _SHORTEST / 2
    x, anchor = middle, "center"
    if part.low <= low or middle - half < low:
        x, anchor = low, "left"
    elif part.high >= high or middle + half > high:
        x, anchor = high, "right"
    return {
        "text": part.name,
        "x": x,
        "xanchor": anchor,
        "y": 0,
        "yref": "paper",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": SMALLEST, "color": MUTED},
    }


def _line(cosine: float) -> dict[str, Any]:
    along = {"x0": cosine, "x1": cosine, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", **along, "line": {"color": _OWN, "width": 3}}


def _label(cosine: float, label: str = "") -> dict[str, Any]:
    return {
        "text": f"<b>{label or f'this pair {two(cosine)}'}</b>",
        "x": cosine,
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": "right" if cosine > 0.5 else "left",
        "showarrow": False,
        "font": {"size": SMALLEST, "color": INK},
    }
