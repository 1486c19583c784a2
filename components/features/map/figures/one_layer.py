"""Maps of words, tokens or sentences: every point can be named, chosen and traced to its sentence.

A projection's axes have no unit and no numbers; both have one scale, so that distances are seen as
they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from plotly import graph_objects as go

from components.core.errors import RequestError
from components.core.schema import FloatArray, IntArray
from components.features.map.figures.axes import STALE, map_layout, write_above
from components.features.map.figures.colors import UNCOLORED, Coloring, groups
from components.features.map.figures.frame import Ranges, map_ranges
from components.features.map.figures.labels import cluster_notes
from components.features.map.figures.marks import NO_MARKS, Marks, mark_rows, mark_traces
from components.features.map.figures.points import kind_of, point_size, point_traces, shape_traces
from components.figures.theme import figure
from components.maps.clusters import ClusterLabel
from components.maps.points import Points

__all__ = [
    "map_order",
    "map_scatter",
    "selected_points",
]


def map_scatter(
    points: Points,
    coordinates: FloatArray,
    *,
    color: Coloring = UNCOLORED,
    shapes: Coloring = UNCOLORED,
    clusters: Sequence[ClusterLabel] = (),
    marks: Marks = NO_MARKS,
    title: str,
    subtitle: str = "",
    frame: Ranges | None = None,
    stale: bool = False,
    narrow: bool = False,
    height: int = 560,
) -> go.Figure:
    """A map: each point where the projection put it.

    Args:
        points: what the points are.
        coordinates: (n_points, 2 or 3), of a projection: without a unit, so the axes have none.
        color: what their colours stand for.
        shapes: labels told apart by shape as well: the senses of one word, say.
        clusters: names to write on the map; those that would touch a larger one's are left out.
        marks: points that stand out.
        title: the finding.
        subtitle: a line below it; "" for none.
        frame: what the axes show; by default all points.
        stale: the settings have changed since; the map is shown paler, with a note.
        narrow: whether it has a phone's width: fewer names, and they are chosen to fit there.
        height: in pixels.

    Raises:
        RequestError: coordinates or values are not as many as points.
    """
    places = _checked(points, coordinates)
    strength = 0.5 if stale else 1.0
    traces = point_traces(
        points, places, color, chosen=marks.chosen, strength=strength, shapes=shapes
    )
    kind, size = kind_of(*places.shape), point_size(*places.shape)
    ranges = map_ranges(places) if frame is None else frame
    traces += mark_traces(places, marks, kind=kind, size=size, frame=ranges)
    traces += shape_traces(shapes, kind)
    has_legend = color.kind == "category" or shapes.kind == "category" or bool(mark_rows(marks))
    legend = (color.title if color.kind == "category" else "") if has_legend else None
    layout = map_layout(ranges, legend=legend)
    notes = [STALE] if stale else []
    if places.shape[1] == 2:
        notes += cluster_notes(clusters, ranges, narrow=narrow)
    else:
        layout["scene"]["annotations"] = _notes_in_space(clusters, ranges)
    layout["annotations"] = notes
    whole = figure(traces, layout, title=title, height=height, narrow=narrow)
    write_above(whole, subtitle=subtitle, narrow=narrow)
    return whole


def map_order(color: Coloring, n_points: int, marks: Marks = NO_MARKS) -> tuple[IntArray, ...]:
    """The points of each trace of `map_scatter` that has any, for `selected_points`."""
    return (*(group.rows for group in groups(color, n_points)), *mark_rows(marks))


def selected_points(
    event_points: Sequence[Mapping[str, Any]], order: Sequence[IntArray]
) -> list[int]:
    """The points that a reader chose on the map, by number, rising, each once.

    Args:
        event_points: `selection.points` of Streamlit's chart: each has its `curve_number` and its
            `point_index`; those that the map does not have are left out.
        order: `map_order` of the same map.
    """
    ends = np.cumsum([0, *(len(rows) for rows in order)])
    pairs = [(p.get("curve_number", -1), p.get("point_index", -1)) for p in event_points]
    curves, indices = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    there = (curves >= 0) & (curves < len(order)) & (indices >= 0)
    curves, indices = curves[there], indices[there]
    within = indices < (ends[1:] - ends[:-1])[curves]
    every = np.concatenate([*order, np.zeros(0, dtype=np.int64)])
    chosen: list[int] = np.unique(every[(ends[curves] + indices)[within]]).tolist()
    return chosen


def _checked(points: Points, coordinates: FloatArray) -> FloatArray:
    places = np.asarray(coordinates, dtype=np.float32)
    if places.ndim != 2 or places.shape[1] not in (2, 3) or len(places) != points.n_points:
        raise RequestError(
            f"A map of {points.n_points} points needs 2 or 3 coordinates for each; "
            f"given was an array of shape {places.shape}."
        )
    return places


def _notes_in_space(
    clusters: Sequence[ClusterLabel], ranges: Sequence[tuple[float, float]]
) -> list[dict[str, Any]]:
    """The same names in three dimensions: those that do not touch seen from above."""
    notes = cluster_notes(clusters, ranges[:2])
    heights = {own.place[:2]: own.place[2] for own in clusters}
    return [{**note, "z": heights[note["x"], note["y"]]} for note in notes]
