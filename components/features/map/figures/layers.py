"""One map through all layers: the points move, and chosen points leave trails.

The axes stay wherever one frame suits all layers; where it comes nearer, the map says so.

The layers must have been projected together; maps of their own for each would move without cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.core.errors import RequestError
from components.core.schema import FloatArray
from components.features.map.figures.axes import STALE, axes_of, font_of, map_layout, write_above
from components.features.map.figures.colors import UNCOLORED, Coloring, groups
from components.features.map.figures.frame import Ranges, enlarged, is_enlarged, map_frames
from components.features.map.figures.labels import cluster_notes
from components.features.map.figures.marks import NO_MARKS, Marks, mark_traces, trail_label
from components.features.map.figures.numbers import sides
from components.features.map.figures.points import kind_of, point_size, point_traces
from components.figures.frames import add_frames
from components.figures.theme import color_of, figure
from components.maps.clusters import ClusterLabel
from components.maps.points import Points

__all__ = ["MAX_PLAYED_POINTS", "MAX_TRAILS", "layers_scatter"]

MAX_PLAYED_POINTS = 150_000
"""Points in all frames together that are sent to be played: 1.6 MB."""
MAX_TRAILS = 12
_SMALL = {"showarrow": False, "font": {"size": 13}}
_PARTS = ((4, 99, 0.4), (1, 4, 0.7), (0, 1, 1.0))
"""Parts of a trail: from and to how many layers ago, and how strong."""


def layers_scatter(
    points: Points,
    coordinates: FloatArray,
    layers: Sequence[int],
    *,
    layer: int,
    color: Coloring = UNCOLORED,
    clusters: Sequence[ClusterLabel] = (),
    marks: Marks = NO_MARKS,
    trails: Sequence[int] = (),
    titles: Sequence[str],
    subtitle: str = "",
    stale: bool = False,
    narrow: bool = False,
    height: int = 560,
) -> go.Figure:
    """The map at one layer, and a frame for each of them.

    Its first traces are those of `map_scatter` with the same colouring, so `map_order` and
    `selected_points` hold here too. More than `MAX_PLAYED_POINTS` have no frames.

    Args:
        points: what the points are.
        coordinates: (n_layers, n_points, 2), projected together.
        layers: the layer of each row of `coordinates`.
        layer: the layer shown.
        color: what the colours stand for.
        clusters: names to write on the map of the layer shown.
        marks: points that stand out, at every layer.
        trails: points whose way through the layers is drawn, at most `MAX_TRAILS`.
        titles: the finding at each of `layers`.
        subtitle, stale, narrow: as in `map_scatter`.
        height: in pixels.

    Raises:
        RequestError: the coordinates do not fit points and layers, the layer is not among them,
            or there are too many trails.
    """
    places = _checked(points, coordinates, layers, layer, trails)
    shown = list(layers).index(layer)
    ink = _trail_colors(points, color, trails)
    kind, size = kind_of(points.n_points, 2), point_size(points.n_points)
    strength = 0.5 if len(trails) or stale else 1.0
    traces = point_traces(points, places[shown], color, chosen=marks.chosen, strength=strength)
    n_own = len(traces)
    names = [trail_label(marks, trail) for trail in trails]
    every_range = map_frames(places)
    ranges = every_range[shown]
    where = sides(places[shown], marks.labels, ranges)
    for trail, name, own in zip(trails, names, ink, strict=True):
        way = _trail(places[: shown + 1, trail], name, own, kind=kind, size=size)
        way[-1]["textposition"] = where.get(trail, "top center")
        traces += way
    traces += mark_traces(places[shown], marks, kind=kind, size=size, frame=ranges)
    has_legend = color.kind == "category" and n_own > 1
    layout = map_layout(ranges, legend=color.title if has_legend else None)
    notes = [*([STALE] if stale else []), *cluster_notes(clusters, ranges, narrow=narrow)]
    looks = dict(zip(layers, _looks(every_range), strict=True))
    layout["annotations"] = [*looks[layer]["annotations"], *notes]
    whole = figure(traces, layout, title=titles[shown], height=height, narrow=narrow)
    plays = len(layers) > 1 and len(layers) * points.n_points <= MAX_PLAYED_POINTS
    write_above(whole, subtitle=subtitle, narrow=narrow)
    if plays:
        ways = {n: places[: i + 1] for i, n in enumerate(layers)}
        frames = {
            n: _frame(traces, points, ways[n], color, trails, marks, own)
            for n, own in zip(layers, every_range, strict=True)
        }
        add_frames(whole, frames, layer, titles, notes=notes, looks=looks, narrow=narrow)
    return whole


def _checked(
    points: Points,
    coordinates: FloatArray,
    layers: Sequence[int],
    layer: int,
    trails: Sequence[int],
) -> FloatArray:
    places = np.asarray(coordinates, dtype=np.float32)
    if places.shape != (len(layers), points.n_points, 2):
        raise RequestError(
            f"{points.n_points} points at {len(layers)} layers need two coordinates for each; "
            f"given was an array of shape {places.shape}."
        )
    if layer not in layers:
        raise RequestError(f"Layer {layer} is not on this map; it has {list(layers)}.")
    if len(trails) > MAX_TRAILS:
        raise RequestError(
            f"At most {MAX_TRAILS} points can leave trails, and {len(trails)} were chosen. "
            "Choose fewer."
        )
    return places


def _looks(every_range: Sequence[Ranges]) -> list[dict[str, Any]]:
    """What of the layout is a layer's own: what the axes show, and how much it is enlarged."""
    return [
        {
            "xaxis": {"range": list(x)},
            "yaxis": {"range": list(y)},
            "annotations": [_enlarged_note(times)] if is_enlarged(times) else [],
        }
        for (x, y), times in zip(every_range, enlarged(every_range), strict=True)
    ]


def _enlarged_note(times: float) -> dict[str, Any]:
    where = {"x": 0, "xref": "x domain", "xanchor": "left", "xshift": 8}
    low = {"y": 0, "yref": "y domain", "yanchor": "bottom", "yshift": 6}
    return {"text": f"enlarged {times:.1f} times", **where, **low, **_SMALL}


def _trail_colors(points: Points, color: Coloring, trails: Sequence[int]) -> list[str]:
    """A trail has its point's category's colour; where there is none, one of its own."""
    if color.kind != "category":
        return [color_of(i + 1) for i in range(len(trails))]
    inks = {int(row): own.color for own in groups(color, points.n_points) for row in own.rows}
    return [inks[trail] for trail in trails]


def _trail(
    way: FloatArray, name: str, color: str, *, kind: str, size: float
) -> list[dict[str, Any]]:
    """Lines through a point's places up to the last one, and marks at both ends."""
    base = {"type": kind, "hoverinfo": "skip", "showlegend": False}
    lines = [
        {
            **base,
            "mode": "lines",
            **_part(way, first, last),
            "opacity": strength,
            "line": {"color": color, "width": 3},
        }
        for first, last, strength in _PARTS
    ]
    ends = {
        **base,
        "mode": "markers+text",
        **_ends(way),
        "text": ["", name],
        "textfont": font_of(kind),
        "marker": {
            "symbol": ["circle-open", "circle"],
            "size": [size, size + 4],
            "color": color,
            "line": {"width": 2, "color": color},
        },
    }
    return [*lines, ends]


def _part(way: FloatArray, first: int, last: int) -> dict[str, Any]:
    """The places from `last` to `first` layers ago, both included."""
    end = len(way) - first
    return axes_of(way[max(0, len(way) - last - 1) : max(0, end)])


def _ends(way: FloatArray) -> dict[str, Any]:
    return axes_of(way[[0, -1]])


def _frame(
    traces: Sequence[dict[str, Any]],
    points: Points,
    places: FloatArray,
    color: Coloring,
    trails: Sequence[int],
    marks: Marks,
    frame: Ranges,
) -> list[dict[str, Any]]:
    """What moves, at the last of the layers given: coordinates, and the sides of numbers."""
    own = [axes_of(places[-1][group.rows]) for group in groups(color, points.n_points)]
    for trail in trails:
        way = places[:, trail]
        own += [*(_part(way, first, last) for first, last, _ in _PARTS), _ends(way)]
    kind = kind_of(points.n_points, 2)
    marked = mark_traces(places[-1], marks, kind=kind, size=0, frame=frame)
    moving = ("x", "y", "textposition")
    own += [{name: trace[name] for name in moving if name in trace} for trace in marked]
    return [{"type": trace["type"], **moved} for trace, moved in zip(traces, own, strict=True)]
