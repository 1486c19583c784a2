"""A map of all layers as an animated figure: a frame for each layer, and points' trails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray
from contextlens.features.map.coloring import UNCOLORED, Coloring, groups
from contextlens.features.map.frame import (
    BELOW,
    Ranges,
    above,
    axes_of,
    font_of,
    map_layout,
    map_ranges,
    sides,
    write_above,
)
from contextlens.features.map.scatter import (
    MIN_SOFT,
    NO_MARKS,
    MapMarks,
    kind_of,
    mark_traces,
    point_size,
    point_traces,
    soft_trace,
    stray_trace,
    trail_label,
)
from contextlens.figures.frames import add_frames
from contextlens.figures.side_names import SideName, margins, side_names
from contextlens.figures.theme import color_of, figure
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
    names: Mapping[int, Sequence[SideName]] = MappingProxyType({}),
    chosen_name: str = "",
    strays: Mapping[int, Sequence[int]] = MappingProxyType({}),
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
        names: names to write beside the map, by layer.
        chosen_name: the key of the name that stands out; "" for none.
        strays: points that the test of a word's senses sorts wrong, by layer.
        marks: highlighted points, at every layer.
        trails: points whose path through the layers is drawn, at most `MAX_TRAILS`.
        titles: the finding at each of `layers`; "" for no title.
        subtitle, stale, narrow: as in `map_scatter`.
        height: in pixels.

    Raises:
        RequestError: the coordinates do not fit points and layers, the layer is not among them,
            or there are too many trails.
    """
    positions = _checked_layers(points, coordinates, layers, layer, trails)
    row = list(layers).index(layer)
    kind, size = kind_of(points.n_points, 2), point_size(points.n_points)
    strength = 0.5 if len(trails) or stale else 1.0
    traces = point_traces(points, positions[row], color, chosen=marks.chosen, strength=strength)
    n_own = len(traces)
    every_range = [map_ranges(layer_places) for layer_places in positions]
    ranges = every_range[row]
    where = sides(positions[row], marks.labels, ranges)
    traces += _trails(positions[: row + 1], trails, points, color, marks, where)
    shown_names = {} if narrow else names
    has_names = any(map(len, shown_names.values()))
    if has_names:
        traces[:n_own] = [trace | {"showlegend": False} for trace in traces[:n_own]]
    traces += mark_traces(positions[row], marks, kind=kind, size=size, frame=ranges)
    has_strays = any(map(len, strays.values()))
    if has_strays:
        traces += stray_trace(positions[row], strays.get(layer, ()), kind=kind, size=size)
    has_soft = points.n_points >= MIN_SOFT and kind == "scatter"
    if has_soft:
        traces.append(soft_trace(positions[row], color, marks.chosen))
    is_listed = color.kind == "category" and n_own > 1 and not has_names
    side = max([8, *map(margins, shown_names.values())])
    layout = map_layout(ranges, legend=color.title if is_listed else "", narrow=narrow, side=side)
    room = height - above(title=titles[row], subtitle=subtitle, narrow=narrow) - BELOW
    looks = dict(zip(layers, _axis_ranges(every_range), strict=True))
    for n, own_ranges in zip(layers, every_range, strict=True):
        looks[n] |= side_names(
            shown_names.get(n, ()),
            own_ranges,
            height=room,
            chosen=chosen_name,
            in_order=color.is_scale,
        )
    layout["shapes"] = looks[layer]["shapes"]
    whole = figure(traces, layout, title=titles[row], height=height, narrow=narrow)
    plays = len(layers) > 1 and len(layers) * points.n_points <= MAX_PLAYED_POINTS
    write_above(whole, title=titles[row], subtitle=subtitle, narrow=narrow)
    whole.layout.annotations = looks[layer]["annotations"]
    if plays:
        frames = {
            n: _frame(traces, points, positions[: i + 1], color, trails, marks, every_range[i])
            for i, n in enumerate(layers)
        }
        for n, places in zip(layers, positions, strict=True):
            if has_strays:
                rows = np.asarray(strays.get(n, ()), dtype=np.int64)
                frames[n].append({"type": kind, **axes_of(places[rows])})
            if has_soft:
                frames[n].append({"type": kind, **axes_of(places)})
        add_frames(whole, frames, layer, titles, looks=looks, narrow=narrow)
    return whole


def _trails(
    path: FloatArray,
    trails: Sequence[int],
    points: Points,
    color: Coloring,
    marks: MapMarks,
    where: Mapping[int, str],
) -> list[dict[str, Any]]:
    """Return the traces of all trails up to the shown layer, the first with a row in the legend.

    Args:
        path: (n_layers, n_points, 2) the points' places up to the shown layer.
        trails: the points.
        points, color, marks: of the map.
        where: the side of its point on which a trail's name stands.
    """
    kind, size = kind_of(points.n_points, 2), point_size(points.n_points)
    traces: list[dict[str, Any]] = []
    for trail, ink in zip(trails, _trail_colors(points, color, trails), strict=True):
        own = _trail(path[:, trail], trail_label(marks, trail), ink, kind=kind, size=size)
        own[-1]["textposition"] = where.get(trail, "top center")
        traces += own
    if traces:
        traces[len(_PARTS) - 1] |= {"name": _WAY, "showlegend": True}
    return traces


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
    inks = {
        row: group.color_at(i)
        for group in groups(color, points.n_points)
        for i, row in enumerate(group.rows.tolist())
    }
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
        {"type": trace["type"], **moved} for trace, moved in zip(traces, moving_parts, strict=False)
    ]
