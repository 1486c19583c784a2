"""A map of one layer as a figure: points, marks, and the shade where many points lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.corpus.columns import date_of
from contextlens.features.map.coloring import UNCOLORED, Coloring, PointGroup, groups
from contextlens.features.map.frame import (
    BELOW,
    Ranges,
    above,
    axes_of,
    cluster_notes,
    font_of,
    map_layout,
    map_ranges,
    sides,
    write_above,
)
from contextlens.features.map.hover import MAX_HOVERED, hover_texts
from contextlens.figures.side_names import SideName, margins, side_names
from contextlens.figures.theme import (
    CATEGORICAL,
    GROUND,
    INK,
    NEUTRAL,
    SEQUENTIAL,
    dot_size,
    figure,
    plain,
)
from contextlens.maps.clusters import ClusterLabel
from contextlens.maps.points import Points

# --- Highlighted points

_SYMBOLS = ("circle-open", "square-open", "diamond-open", "hexagon-open")
_IN_SPACE = (
    "circle-open",
    "square-open",
    "diamond-open",
)  # the symbols that plotly also has in three dimensions
_FOCUS, _NEAR = "the point", "its neighbours"


@dataclass(frozen=True)
class MapMarks:
    """The marked points of a map, by index.

    Attributes:
        chosen: the selected points; all others fade. None if nothing is selected.
        rings: groups of points by title ("Found", "Pinned"), each with its own ring symbol.
        focus: the point with lines to its neighbours, or None.
        neighbours: the ends of these lines.
        labels: the text beside points with a ring or a trail: a number, a letter.
    """

    chosen: Sequence[int] | None = None
    rings: Mapping[str, Sequence[int]] = field(default_factory=lambda: MappingProxyType({}))
    focus: int | None = None
    neighbours: Sequence[int] = ()
    labels: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))


NO_MARKS = MapMarks()


def mark_traces(
    positions: FloatArray, marks: MapMarks, *, kind: str, size: float, frame: Ranges
) -> list[dict[str, Any]]:
    """Lines, then rings, to draw over the points; trace kind and size match the points'."""
    ringed, where = _ringed(marks), sides(positions, marks.labels, frame)
    waiting = dict(marks.labels)  # a label is written once, even if its point has several rings
    traces = [_focus_lines(kind, positions, marks)] if _has_lines(marks) else []
    for title, symbol in zip(ringed, _symbols(ringed, marks, kind), strict=True):
        rows = ringed[title]
        labels = [plain(waiting.pop(row, "")) for row in rows]
        text = {"mode": "markers+text", "text": labels, "textfont": font_of(kind)}
        text["textposition"] = [where.get(row, "top center") for row in rows]
        width = 4 if title == _FOCUS else 2
        ring = {"symbol": symbol, "size": size + 5 + width, "color": INK}
        traces.append(
            {
                "type": kind,
                "mode": "markers",
                **axes_of(positions[np.asarray(rows, dtype=np.int64)]),
                "marker": {**ring, "line": {"width": width, "color": INK}},
                "name": plain(title),
                "hoverinfo": "skip",
                **(text if any(labels) else {}),
            }
        )
    return traces


def trail_label(marks: MapMarks, point: int) -> str:
    """The text at the end of a point's trail: its label, or "" if a ring shows it."""
    has_ring = any(point in rows for rows in _ringed(marks).values())
    return "" if has_ring else plain(marks.labels.get(point, ""))


def _symbols(ringed: Mapping[str, Any], marks: MapMarks, kind: str) -> list[str]:
    """Circles for the selected point and its neighbours, another symbol for each group."""
    shapes = _IN_SPACE if kind == "scatter3d" else _SYMBOLS
    others = [title for title in ringed if title in marks.rings]
    rings = {title: shapes[i % len(shapes)] for i, title in enumerate(others)}
    return [({_FOCUS: "circle-open", _NEAR: "circle-open"} | rings)[title] for title in ringed]


def _has_lines(marks: MapMarks) -> bool:
    return marks.focus is not None and len(marks.neighbours) > 0


def _ringed(marks: MapMarks) -> dict[str, Sequence[int]]:
    near: dict[str, Sequence[int]] = {} if marks.focus is None else {_FOCUS: [marks.focus]}
    if len(marks.neighbours):
        near[_NEAR] = marks.neighbours
    return {title: rows for title, rows in {**near, **marks.rings}.items() if len(rows)}


def _focus_lines(kind: str, positions: FloatArray, marks: MapMarks) -> dict[str, Any]:
    """One trace with a separate line from the focus to each neighbour."""
    gap = np.full(positions.shape[1], np.nan, dtype=np.float32)
    ends = [
        row for near in marks.neighbours for row in (positions[marks.focus], positions[near], gap)
    ]
    return {
        "type": kind,
        "mode": "lines",
        **axes_of(np.array(ends)),
        "line": {"color": INK, "width": 1.5},
        "opacity": 0.6,
        "hoverinfo": "skip",
        "showlegend": False,
    }


# --- The points of a map as traces

MAX_SVG = 2_000
"""Up to this many points are drawn as SVG, which works in every browser and stays sharp. More are
drawn by WebGL; a browser without it shows a grey box instead of the map."""
_FADED = 0.12
_N_DATES = 4  # on a colour bar
_OPACITIES = ((2_000, 0.85), (10_000, 0.7), (MAX_HOVERED, 0.6), (10**9, 0.25))
"""For each maximum number of points, their opacity."""
MIN_SOFT, _SOFT_SIZE, _SOFT_OPACITY = 60, 27.0, 0.035
"""From this many points on, a soft disc behind each shows where many lie."""
_EDGE = 0.6  # pixels of the ground's colour around each dot of a crowd


def point_traces(
    points: Points,
    positions: FloatArray,
    color: Coloring,
    *,
    chosen: Sequence[int] | None = None,
    strength: float = 1.0,
) -> list[dict[str, Any]]:
    """A trace for each group of points: for each category, or one for all.

    If some points are selected, all others fade; a strength below 1 makes all paler.
    """
    is_crowd = points.n_points > MAX_HOVERED
    texts = [] if is_crowd else hover_texts(points, color)
    size = point_size(points.n_points, positions.shape[1])
    opacity = next(own for most, own in _OPACITIES if points.n_points <= most)
    kind = kind_of(points.n_points, positions.shape[1])
    is_chosen = np.zeros(points.n_points, dtype=bool)
    is_chosen[np.asarray([] if chosen is None else chosen, dtype=np.int64)] = True
    traces = []
    for group in groups(color, points.n_points):
        trace: dict[str, Any] = {
            "type": kind,
            "mode": "markers",
            **axes_of(positions[group.rows]),
            "marker": _marker(group, color, size=size, opacity=opacity * strength),
            "name": group.name,
            "legendrank": 1001 if group.last else 1000,
            "showlegend": bool(group.name),
        }
        if is_crowd:
            trace["hoverinfo"] = "none"  # unlike "skip", it leaves clicks
            trace["marker"] |= {"line": {"width": 0}, **_color_numbers(group)}
        else:
            trace["hovertext"] = [texts[i] for i in group.rows]
            trace["hovertemplate"] = "%{hovertext}<extra></extra>"
        if kind != "scatter3d":
            trace["unselected"] = {"marker": {"opacity": _FADED}}
            if chosen is not None:
                trace["selectedpoints"] = np.flatnonzero(is_chosen[group.rows]).tolist()
        traces.append(trace)
    return traces


def kind_of(n_points: int, n_axes: int) -> str:
    """The kind of trace for this many points.

    A whole map has one kind: WebGL lies over SVG, so points would hide rings drawn as SVG.
    """
    if n_axes == 3:
        return "scatter3d"
    return "scatter" if n_points <= MAX_SVG else "scattergl"


def point_size(n_points: int, n_axes: int = 2) -> float:
    """The size, in pixels, of each point on a map with this many."""
    size = dot_size(n_points)
    return size if n_axes == 2 else size / 2


def _marker(group: PointGroup, color: Coloring, *, size: float, opacity: float) -> dict[str, Any]:
    edge = {"width": _EDGE if len(group.rows) >= MIN_SOFT else 0, "color": GROUND}
    marker: dict[str, Any] = {"size": size, "opacity": opacity, "line": edge}
    if group.numbers is None:
        return {**marker, "color": list(group.colors) or group.color}
    low, high = float(group.numbers.min()), float(group.numbers.max())
    bar = {"title": {"text": plain(color.title), "side": "right"}, "thickness": 8, "len": 0.9}
    if color.dates:
        ticks = np.unique(np.linspace(low, high, _N_DATES).round()).tolist()
        bar |= {"tickvals": ticks, "ticktext": [date_of(tick) for tick in ticks]}
    ends = {"cmin": low, "cmax": high, "colorscale": SEQUENTIAL, "colorbar": bar}
    return {**marker, "color": group.numbers, **ends}


def _color_numbers(group: PointGroup) -> dict[str, Any]:
    """The colours of a trace's points as a typed array; nothing if they share one."""
    if not group.colors:
        return {}
    colors, codes = np.unique(np.array(group.colors), return_inverse=True)
    last = max(1, len(colors) - 1)
    scale = [[i / last, str(color)] for i, color in enumerate(colors)]
    scale = scale if len(scale) > 1 else [*scale, [1, scale[0][1]]]
    ends = {"cmin": 0, "cmax": last, "colorscale": scale, "showscale": False}
    return {"color": codes.astype(np.uint16), **ends}


# --- The figure


def map_scatter(
    points: Points,
    coordinates: FloatArray,
    *,
    color: Coloring = UNCOLORED,
    clusters: Sequence[ClusterLabel] = (),
    names: Sequence[SideName] = (),
    chosen_name: str = "",
    marks: MapMarks = NO_MARKS,
    strays: Sequence[int] = (),
    title: str,
    subtitle: str = "",
    frame: Ranges | None = None,
    stale: bool = False,
    narrow: bool = False,
    height: int = 560,
) -> go.Figure:
    """A map, with each point where the projection put it.

    Args:
        points: the points.
        coordinates: (n_points, 2 or 3) of a projection, without a unit, so the axes have none.
        color: the column behind the colours.
        clusters: names to write into a map in space.
        names: names to write beside a map in two dimensions.
        chosen_name: the key of the name that stands out; "" for none.
        marks: highlighted points.
        strays: points that the test of a word's senses sorts wrong.
        title: the finding; "" for none.
        subtitle: a line below the title; "" for none.
        frame: the ranges of the axes; by default they hold all points.
        stale: True if the settings have changed since; the map is then paler.
        narrow: True if it has a phone's width: the names are in its legend.
        height: in pixels.

    Raises:
        RequestError: the number of coordinates or values differs from that of the points.
    """
    positions = _checked_layer(points, coordinates)
    strength = 0.5 if stale else 1.0
    traces = point_traces(points, positions, color, chosen=marks.chosen, strength=strength)
    kind, size = kind_of(*positions.shape), point_size(*positions.shape)
    ranges = map_ranges(positions) if frame is None else frame
    shown_names = () if narrow else names
    traces = [trace | (_UNLISTED if shown_names else {}) for trace in traces]
    traces += mark_traces(positions, marks, kind=kind, size=size, frame=ranges)
    traces += stray_trace(positions, strays, kind=kind, size=size) if len(strays) else []
    if len(positions) >= MIN_SOFT and kind == "scatter":
        traces.append(soft_trace(positions, color, marks.chosen))
    side = max(8, margins(shown_names))
    legend = color.title if color.kind == "category" and not shown_names else ""
    layout = map_layout(ranges, legend=legend, narrow=narrow, side=side)
    if positions.shape[1] == 2:
        room = height - above(title=title, subtitle=subtitle, narrow=narrow) - BELOW
        in_order = color.is_scale
        layout |= side_names(
            shown_names, ranges, height=room, chosen=chosen_name, in_order=in_order
        )
    else:
        layout["scene"]["annotations"] = _notes_in_space(clusters, ranges)
    whole = figure(traces, layout, title=title, height=height, narrow=narrow)
    write_above(whole, title=title, subtitle=subtitle, narrow=narrow)
    return whole


_UNLISTED = {"showlegend": False}


def stray_trace(
    positions: FloatArray, strays: Sequence[int], *, kind: str, size: float
) -> list[dict[str, Any]]:
    """Rings around points that the test of a word's senses sorts wrong."""
    ring = {"symbol": "circle-open", "size": size + 5, "color": INK, "line": {"width": 2}}
    return [
        {
            "type": kind,
            "mode": "markers",
            **axes_of(positions[np.asarray(strays, dtype=np.int64)]),
            "marker": ring,
            "name": say("senses.strays.ring"),
            "hoverinfo": "skip",
            "showlegend": True,
        }
    ]


def soft_trace(
    positions: FloatArray, color: Coloring, chosen: Sequence[int] | None = None
) -> dict[str, Any]:
    """A large faint disc behind each point, so that a crowd has a ground in its colour."""
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        **axes_of(positions),
        "marker": {
            "size": _SOFT_SIZE,
            "opacity": _SOFT_OPACITY,
            "color": point_colors(color, len(positions)),
            "line": {"width": 0},
        },
        "hoverinfo": "skip",
        "showlegend": False,
        "zorder": -1,
        "unselected": {"marker": {"opacity": _SOFT_OPACITY / 6}},
    }
    return trace if chosen is None else trace | {"selectedpoints": list(chosen)}


def point_colors(color: Coloring, n_points: int) -> list[str]:
    """The colour of each point; a neutral one where a column has numbers."""
    if color.kind == "none":
        return [CATEGORICAL[0]] * n_points
    if color.kind == "measure":
        return [NEUTRAL] * n_points
    return [color.colors.get(str(value), NEUTRAL) for value in color.values]


def map_order(color: Coloring, n_points: int) -> tuple[IntArray, ...]:
    """The points of each of the first traces of `map_scatter`, for `selected_points`."""
    return tuple(group.rows for group in groups(color, n_points))


def is_index(value: object) -> bool:
    """True if a value from a browser, which can send anything, can be an index."""
    return type(value) is int and 0 <= value < 2**31  # `type`, because True is an int too


def selected_points(
    event_points: Sequence[Mapping[str, Any]], order: Sequence[IntArray]
) -> list[int]:
    """The points that a reader selected on the map: unique indices, ascending.

    Args:
        event_points: `selection.points` of Streamlit's chart: each has its `curve_number` and its
            `point_index`; points that the map does not have are ignored.
        order: `map_order` of the same map.
    """
    ends = np.cumsum([0, *(len(rows) for rows in order)])
    pairs = [(p.get("curve_number"), p.get("point_index")) for p in event_points]
    valid = [pair for pair in pairs if all(map(is_index, pair))]
    curves, indices = np.array(valid, dtype=np.int64).reshape(-1, 2).T
    is_known = curves < len(order)
    curves, indices = curves[is_known], indices[is_known]
    within = indices < (ends[1:] - ends[:-1])[curves]
    every = np.concatenate([*order, np.zeros(0, dtype=np.int64)])
    chosen: list[int] = np.unique(every[(ends[curves] + indices)[within]]).tolist()
    return chosen


def _checked_layer(points: Points, coordinates: FloatArray) -> FloatArray:
    positions = np.asarray(coordinates, dtype=np.float32)
    if positions.ndim != 2 or positions.shape[1] not in (2, 3) or len(positions) != points.n_points:
        raise RequestError(
            f"A map of {points.n_points} points needs 2 or 3 coordinates for each; "
            f"given was an array of shape {positions.shape}."
        )
    return positions


def _notes_in_space(
    clusters: Sequence[ClusterLabel], ranges: Sequence[tuple[float, float]]
) -> list[dict[str, Any]]:
    """The cluster names in three dimensions that do not touch when seen from above."""
    notes = cluster_notes(clusters, ranges[:2])
    heights = {label.place[:2]: label.place[2] for label in clusters}
    return [{**note, "z": heights[note["x"], note["y"]]} for note in notes]


# --- The density of points, under them

_CELLS = 96, 64  # across and up
_BLUR = 1.6  # the kernel's standard deviation, in cells
_SHADES = [[0, "rgba(128,128,128,0)"], [1, "rgba(128,128,128,0.6)"]]


def add_density(
    chart: go.Figure, coordinates: FloatArray, frames: Sequence[Ranges], row: int
) -> None:
    """Shade a figure's ground where many points lie over each other, in each of its frames.

    The shade grows with the square root of the number of points around, blurred by a Gaussian
    kernel: otherwise one heap would leave no shade for all others. It has its own trace, the last.

    Args:
        chart: the figure of a map in two dimensions.
        coordinates: (n_layers, n_points, 2).
        frames: the ranges of the axes at each layer.
        row: the shown layer's row.
    """
    shades = [_density(positions, own) for positions, own in zip(coordinates, frames, strict=True)]
    chart.add_trace(shades[row])
    for frame, shade in zip(chart.frames, shades, strict=False):  # no frames if it does not play
        frame.data = (*frame.data, shade)
        frame.traces = (*frame.traces, len(chart.data) - 1)


def _density(positions: FloatArray, ranges: Ranges) -> dict[str, Any]:
    from scipy.ndimage import gaussian_filter

    counts, *edges = np.histogram2d(positions[:, 0], positions[:, 1], bins=_CELLS, range=ranges)
    density = np.sqrt(gaussian_filter(counts, _BLUR, mode="constant"))
    x, y = ((edge[:-1] + edge[1:]) / 2 for edge in edges)
    return {
        "type": "heatmap",
        "x": x.astype(np.float32),
        "y": y.astype(np.float32),
        "z": density.T.astype(np.float32),
        "colorscale": _SHADES,
        "showscale": False,
        "showlegend": False,
        "hoverinfo": "skip",
        "zsmooth": "best",
    }
