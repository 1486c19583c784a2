"""The frame of a map: axes that have no numbers, because a projection's axes have no unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.core.schema import FloatArray
from components.figures.theme import CATEGORICAL, MAP_AXIS, NEUTRAL, SMALLEST, plain

__all__ = ["INK", "NAME_FONT", "STALE", "above", "axes_of", "font_of", "map_layout", "write_above"]

INK = "#000037"
"""Streamlit's own sign for its text colour, light or dark; a near black anywhere else."""
NAME_FONT = {"size": 13, "weight": 700, "color": INK, "shadow": "auto"}
"""For names on a map: with a halo that contrasts with them, so that they are read over points."""
STALE = {
    "text": "Drawn with earlier settings",
    "x": 0,
    "xref": "paper",
    "xanchor": "left",
    "xshift": 8,
    "y": 1,
    "yref": "paper",
    "yanchor": "top",
    "yshift": -8,
    "showarrow": False,
    "font": {"size": 13},
    "bgcolor": "rgba(128,128,128,0.25)",
}
_LINES = {"showgrid": True, "gridcolor": NEUTRAL, "gridwidth": 1, "zeroline": False}
_CAMERA = {"eye": {"x": 1.1, "y": 1.1, "z": 0.8}}
_EDGE, _BAR, _LINE, _SMALL_LINE = 8, 34, 26, 26
"""Pixels above a map, row by row: its edge, plotly's bar, a line of the title, one below."""
_LONGEST_LINE = 120
_LEGEND = {
    "orientation": "h",
    "x": 0,
    "y": -0.02,
    "yanchor": "top",
    "itemsizing": "constant",
}


def axes_of(places: FloatArray) -> dict[str, Any]:
    """Coordinates by axis, as float32, which plotly sends as bytes."""
    return {
        axis: np.ascontiguousarray(places[:, i], dtype=np.float32)
        for i, axis in enumerate("xyz"[: places.shape[1]])
    }


def font_of(kind: str) -> dict[str, Any]:
    """The names' font in traces of a kind; only SVG has halos."""
    return {k: v for k, v in NAME_FONT.items() if k != "shadow" or kind == "scatter"}


def above(*, subtitle: bool, narrow: bool) -> int:
    """The pixels above a map's frame: plotly's bar where it is narrow, title, subtitle."""
    rows = ((_BAR, narrow), (_LINE, True), (_LINE, narrow), (_SMALL_LINE, subtitle))
    return _EDGE + sum(pixels for pixels, is_there in rows if is_there)


def write_above(whole: go.Figure, *, subtitle: str, narrow: bool = False) -> None:
    """Puts the title, and a line under it, above a map, in rows of their own.

    Plotly's bar has its place beside the frame, or above all of it where that is narrow.
    """
    has_line = bool(subtitle)
    whole.layout.margin.t = above(subtitle=has_line, narrow=narrow)
    whole.layout.title.update(
        yref="container", y=1, yanchor="top", pad={"t": _EDGE + (_BAR if narrow else 0), "l": 8}
    )
    if has_line:
        line = {"text": plain(subtitle, _LONGEST_LINE), "font": {"size": SMALLEST}}
        whole.layout.title.subtitle = line
    tools = {"bgcolor": "rgba(0,0,0,0)", "color": NEUTRAL, "activecolor": CATEGORICAL[0]}
    whole.layout.modebar = tools | ({} if narrow else {"orientation": "v"})
    if not narrow:
        whole.layout.margin.r = _BAR


def _headed(legend: str) -> dict[str, Any]:
    title = {"text": plain(legend), "side": "left", "font": {"size": SMALLEST}}
    return {"title": title} if legend else {}


def map_layout(ranges: Sequence[tuple[float, float]], *, legend: str | None) -> dict[str, Any]:
    """Axes without numbers at one scale, a thin frame, and a legend under the map.

    The frame is as wide and high as the ranges ask for, whatever the room: it holds them and no
    more.

    Args:
        ranges: what each axis shows.
        legend: what it is headed with; None for no legend.
    """
    layout: dict[str, Any] = {
        "dragmode": "pan",
        "hovermode": "closest",
        "showlegend": legend is not None,
        "legend": {**_LEGEND, **_headed(legend or "")},
        "margin": {"l": 8, "r": 8, "b": 8, "pad": 0},
    }
    if len(ranges) == 3:
        bare = {"showticklabels": False, "title": {"text": ""}, "showbackground": False}
        axes = {f"{axis}axis": {**bare, **_LINES} for axis in "xyz"}
        return {
            **layout,
            "dragmode": "turntable",
            "scene": {**axes, "aspectmode": "data", "camera": _CAMERA},
        }
    x, y = ({"range": list(own), **MAP_AXIS} for own in ranges)
    return {**layout, "xaxis": x, "yaxis": {**y, "scaleanchor": "x"}}
