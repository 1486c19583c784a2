"""The points of a map as traces: one for each category, or one for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from components.core.schema import FloatArray
from components.features.map.figures.axes import axes_of
from components.features.map.figures.colors import UNCOLORED, Coloring, Group, groups
from components.features.map.figures.hover import hover_texts
from components.figures.theme import NEUTRAL, SEQUENTIAL, plain
from components.maps.points import Points

__all__ = ["MAX_SVG", "SHAPES", "kind_of", "point_size", "point_traces", "shape_traces"]

MAX_SVG = 2_000
"""Points that are drawn as SVG, which every browser shows and which stays sharp; more are drawn by
WebGL, without which plotly shows a grey box in place of the map."""
SHAPES = ("circle", "diamond", "square", "x", "cross")
"""Shapes of the most frequent values of a second column; the last is for all others."""
_FADED = 0.12
_SIZES = ((300, 9.0, 0.85), (2_000, 7.0, 0.8), (10_000, 5.0, 0.7), (10**9, 3.5, 0.6))
"""Up to how many points: their size in pixels, their opacity."""


def point_traces(
    points: Points,
    places: FloatArray,
    color: Coloring,
    *,
    chosen: Sequence[int] | None = None,
    strength: float = 1.0,
    shapes: Coloring = UNCOLORED,
) -> list[dict[str, Any]]:
    """A trace for each group of points: each category, or all of them.

    Where some are chosen, all others fade; below a strength of 1 all are paler.
    """
    texts = hover_texts(points, color)
    size, opacity = point_size(points.n_points, places.shape[1]), _look(points.n_points)[1]
    kind = kind_of(points.n_points, places.shape[1])
    is_chosen = np.zeros(points.n_points, dtype=bool)
    is_chosen[np.asarray([] if chosen is None else chosen, dtype=np.int64)] = True
    traces = []
    for group in groups(color, points.n_points):
        trace: dict[str, Any] = {
            "type": kind,
            "mode": "markers",
            **axes_of(places[group.rows]),
            "marker": _marker(group, color, size=size, opacity=opacity * strength),
            "name": group.name,
            "legendrank": 1001 if group.last else 1000,
            "hovertext": [texts[i] for i in group.rows],
            "hovertemplate": "%{hovertext}<extra></extra>",
        }
        if shapes.kind == "category":
            trace["marker"]["symbol"] = [_shape(shapes, i) for i in group.rows]
        if kind != "scatter3d":
            trace["unselected"] = {"marker": {"opacity": _FADED}}
            if chosen is not None:
                trace["selectedpoints"] = np.flatnonzero(is_chosen[group.rows]).tolist()
        traces.append(trace)
    return traces


def shape_traces(shapes: Coloring, kind: str) -> list[dict[str, Any]]:
    """What the shapes stand for, for the legend alone: traces without a point in sight."""
    if shapes.kind != "category":
        return []
    named = shapes.order[: len(SHAPES) - 1]
    entries = list(zip(map(plain, named), SHAPES, strict=False))
    if set(shapes.values) - set(named):
        entries.append(("other", SHAPES[-1]))
    return [
        {
            "type": kind,
            "mode": "markers",
            **{axis: [None] for axis in ("xyz" if kind == "scatter3d" else "xy")},
            "marker": {"symbol": shape, "color": NEUTRAL, "size": 9},
            "name": name,
            "hoverinfo": "skip",
        }
        for name, shape in entries
    ]


def _shape(shapes: Coloring, point: int) -> str:
    named = shapes.order[: len(SHAPES) - 1]
    value = str(shapes.values[point])
    return SHAPES[named.index(value)] if value in named else SHAPES[-1]


def kind_of(n_points: int, n_axes: int) -> str:
    """The traces that draw so many points.

    One kind for a whole map: WebGL lies over SVG, so rings drawn as SVG would be hidden by points.
    """
    if n_axes == 3:
        return "scatter3d"
    return "scatter" if n_points <= MAX_SVG else "scattergl"


def point_size(n_points: int, n_axes: int = 2) -> float:
    """How large a point is on a map of so many, in pixels."""
    size = _look(n_points)[0]
    return size if n_axes == 2 else size / 2


def _look(n_points: int) -> tuple[float, float]:
    return next((size, opacity) for most, size, opacity in _SIZES if n_points <= most)


def _marker(group: Group, color: Coloring, *, size: float, opacity: float) -> dict[str, Any]:
    marker: dict[str, Any] = {"size": size, "opacity": opacity, "line": {"width": 0}}
    if group.numbers is None:
        return {**marker, "color": group.color}
    low, high = color.scale or (float(group.numbers.min()), float(group.numbers.max()))
    bar = {"title": {"text": plain(color.title), "side": "right"}, "thickness": 8, "len": 0.9}
    ends = {"cmin": low, "cmax": high, "colorscale": SEQUENTIAL, "colorbar": bar}
    return {**marker, "color": group.numbers, **ends}
