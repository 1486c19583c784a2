"""A map of all layers as an animated figure: a frame for each layer, and points' trails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray
from contextlens.features.map.coloring import UNCOLORED, Coloring, groups
from contextlens.features.map.frame import (
    STALE,
    Ranges,
    axes_of,
    cluster_notes,
    font_of,
    map_layout,
    map_ranges,
    sides,
    write_above,
)
from contextlens.features.map.scatter import (
    NO_MARKS,
    MapMarks,
    kind_of,
    mark_traces,
    point_size,
    point_traces,
    trail_label,
)
from contextlens.figures.frames import add_frames
from contextlens.figures.theme import color_of, figure
from contextlens.maps.clusters import ClusterLabel
from contextlens.maps.points import Points

MAX_PLAYED_POINTS = 150_000
"""Maximum number of points in all frames together for playback: 1.6 MB."""
MAX_TRAILS = 12
_PARTS = ((4, 99, 0.4), (1, 4, 0.7), (0, 1, 1.0))
"""Parts of a trail: newest and oldest age, in layers before the shown one, and opacity."""
_WAY = "its way through the layers"


def layers_scatter(
    points: Points,
    coordinates: FloatArray,
    layers: Sequence[int],
    *,
    layer: int,
    color: Coloring = UNCOLORED,
    clusters: Sequence[ClusterLabel] = (),
    marks: MapMarks = NO_MARKS,
    trails: Sequence[int] = (),
    titles: Sequence[str],
    subtitle: str = "",
    stale: bool = False,
    narrow: bool = False,
    height: int = 560,
) -> go.Figure:
    """The map at one layer, with a frame for each layer.

    The first traces are those of `map_scatter` with the same colouring, so `map_order` and
    `selected_points` work here too. There are no frames for more than `MAX_PLAYED_POINTS`.

    Args:
        points: the points.
        coordinates: (n_layers, n_points, 2), each layer starting from the one above.
        layers: the layer of each row of `coordinates`.
        layer: the layer shown.
        color: the column behind the colours.
        clusters: names to write on the map of the shown layer.
        marks: highlighted points, at every layer.
        trails: points whose path through the layers is drawn, at most `MAX_TRAILS`.
        titles: the finding at each of `layers`.
        subtitle, stale, narrow: as in `map_scatter`.
        height: in pixels.

    Raises:
        RequestError: the coordinates do not fit points and layers, the layer is not among them,
            or there are too many trails.
    """
    positions = _checked_layers(points, coordinates, layers, layer, trails)
    row = list(layers).index(layer)
    inks = _trail_colors(points, color, trails)
    kind, size = kind_of(points.n_points, 2), point_size(points.n_points)
    strength = 0.5 if len(trails) or stale else 1.0
    traces = point_traces(points, positions[row], color, chosen=marks.chosen, strength=strength)
    n_own = len(traces)
    names = [trail_label(marks, trail) for trail in trails]
    every_range = [map_ranges(layer_places) for layer_places in positions]
    ranges = every_range[row]
    where = sides(positions[row], marks.labels, ranges)
    for trail, name, ink in zip(trails, names, inks, strict=True):
        trail_traces = _trail(positions[: row + 1, trail], name, ink, kind=kind, size=size)
        trail_traces[-1]["textposition"] = where.get(trail, "top center")
        traces += trail_traces
    if trails:
        traces[n_own + len(_PARTS) - 1] |= {"name": _WAY, "showlegend": True}
    traces += mark_traces(positions[row], marks, kind=kind, size=size, frame=ranges)
    has_legend = color.kind == "category" and n_own > 1
    layout = map_layout(ranges, legend=color.title if has_legend else None)
    notes = [*([STALE] if stale else []), *cluster_notes(clusters, ranges, narrow=narrow)]
    looks = dict(zip(layers, _axis_ranges(every_range), strict=True))
    layout["annotations"] = notes
    whole = figure(traces, layout, title=titles[row], height=height, narrow=narrow)
    plays = len(layers) > 1 and len(layers) * points.n_points <= MAX_PLAYED_POINTS
    write_above(whole, subtitle=subtitle, narrow=narrow)
    if plays:
        paths = {n: positions[: i + 1] for i, n in enumerate(layers)}
        frames = {
            n: _frame(traces, points, paths[n], color, trails, marks, ranges)
            for n, ranges in zip(layers, every_range, strict=True)
        }
        add_frames(whole, frames, layer, titles, notes=notes, looks=looks, narrow=narrow)
    return whole


def _checked_layers(
    points: Points,
    coordinates: FloatArray,
    layers: Sequence[int],
    layer: int,
    trails: Sequence[int],
) -> FloatArray:
    positions = np.asarray(coordinates, dtype=np.float32)
    if positions.shape != (len(layers), points.n_points, 2):
        raise RequestError(
            f"{points.n_points} points at {len(layers)} layers need two coordinates for each; "
            f"given was an array of shape {positions.shape}."
        )
    if layer not in layers:
        raise RequestError(f"Layer {layer} is not on this map; it has {list(layers)}.")
    if len(trails) > MAX_TRAILS:
        raise RequestError(
            f"At most {MAX_TRAILS} points can leave trails, and {len(trails)} were chosen. "
            "Choose fewer."
        )
    return positions


def _axis_ranges(every_range: Sequence[Ranges]) -> list[dict[str, Any]]:
    """The part of the layout that belongs to one layer: the ranges of its axes."""
    return [{"xaxis": {"range": list(x)}, "yaxis": {"range": list(y)}} for x, y in every_range]


def _trail_colors(points: Points, color: Coloring, trails: Sequence[int]) -> list[str]:
    """The colour of each trail: that of its point's category, or a different one for each trail."""
    if color.kind != "category":
        return [color_of(i + 1) for i in range(len(trails))]
    inks = {int(row): group.color for group in groups(color, points.n_points) for row in group.rows}
    return [inks[trail] for trail in trails]


def _trail(
    path: FloatArray, name: str, color: str, *, kind: str, size: float
) -> list[dict[str, Any]]:
    """Lines through a point's positions up to the last one, with marks at both ends."""
    base = {"type": kind, "hoverinfo": "skip", "showlegend": False}
    lines = [
        {
            **base,
            "mode": "lines",
            **_part(path, first, last),
            "opacity": strength,
            "line": {"color": color, "width": 3},
        }
        for first, last, strength in _PARTS
    ]
    ends = {
        **base,
        "mode": "markers+text",
        **_ends(path),
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


def _part(path: FloatArray, first: int, last: int) -> dict[str, Any]:
    """The positions from `last` to `first` layers ago, both included."""
    end = len(path) - first
    return axes_of(path[max(0, len(path) - last - 1) : max(0, end)])


def _ends(path: FloatArray) -> dict[str, Any]:
    return axes_of(path[[0, -1]])


def _frame(
    traces: Sequence[dict[str, Any]],
    points: Points,
    positions: FloatArray,
    color: Coloring,
    trails: Sequence[int],
    marks: MapMarks,
    frame: Ranges,
) -> list[dict[str, Any]]:
    """The parts of the traces that move, at the last of these layers: coordinates, label sides."""
    moving_parts = [axes_of(positions[-1][group.rows]) for group in groups(color, points.n_points)]
    for trail in trails:
        path = positions[:, trail]
        moving_parts += [*(_part(path, first, last) for first, last, _ in _PARTS), _ends(path)]
    kind = kind_of(points.n_points, 2)
    marked = mark_traces(positions[-1], marks, kind=kind, size=0, frame=frame)
    moving = ("x", "y", "textposition")
    moving_parts += [{name: trace[name] for name in moving if name in trace} for trace in marked]
    return [
        {"type": trace["type"], **moved} for trace, moved in zip(traces, moving_parts, strict=True)
    ]
