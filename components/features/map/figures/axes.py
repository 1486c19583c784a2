"""The frame of a map: axes that have no numbers, because a projection's axes have no unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from components.core.schema import FloatArray
from components.figures.theme import NEUTRAL

__all__ = ["INK", "NAME_FONT", "STALE", "axes_of", "font_of", "map_layout"]

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
_BARE = {
    "constrain": "domain",
    "showticklabels": False,
    "ticks": "",
    "showgrid": False,
    "zeroline": False,
    "showline": True,
    "mirror": True,
    "linewidth": 1,
    "linecolor": "rgba(128,128,128,0.35)",
}
_CAMERA = {"eye": {"x": 1.1, "y": 1.1, "z": 0.8}}
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


def map_layout(
    ranges: Sequence[tuple[float, float]], *, legend: bool, narrow: bool = False
) -> dict[str, Any]:
    """Axes without numbers at one scale, a thin frame, and a legend under the map.

    The frame is as wide and high as the ranges ask for, whatever the room: it holds them and no
    more. The title has room below the mode bar: in two lines where the map is narrow.
    """
    layout: dict[str, Any] = {
        "dragmode": "pan",
        "hovermode": "closest",
        "showlegend": legend,
        "legend": _LEGEND,
        "margin": {"l": 8, "r": 8, "t": 100 if narrow else 76, "b": 8, "pad": 0},
    }
    if len(ranges) == 3:
        bare = {"showticklabels": False, "title": {"text": ""}, "showbackground": False}
        axes = {f"{axis}axis": {**bare, **_LINES} for axis in "xyz"}
        return {
            **layout,
            "dragmode": "turntable",
            "scene": {**axes, "aspectmode": "data", "camera": _CAMERA},
        }
    x, y = ({"range": list(own), **_BARE} for own in ranges)
    return {**layout, "xaxis": x, "yaxis": {**y, "scaleanchor": "x"}}
