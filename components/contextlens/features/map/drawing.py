"""A map as the page draws it: one layer with a frame for each, or all layers at once.

No streamlit, and no visitor: a script draws the same map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.core.schema import IntArray
from contextlens.features.map.figures import (
    MAX_SVG,
    NO_MARKS,
    MapMarks,
    add_density,
    coloring,
    map_ranges,
)
from contextlens.features.map.finding import LAYER, Finding, sampled_note
from contextlens.features.map.layer_figures import (
    MAX_PLAYED_POINTS,
    layers_scatter,
    map_order,
    map_scatter,
)
from contextlens.maps.points import Points
from contextlens.maps.result import MapResult

Order = tuple[IntArray, ...]
"""The points of each trace of a figure."""


def plays(result: MapResult) -> bool:
    """True if a map has a frame for each layer."""
    layers, n, dims = result.map.coordinates.shape
    return bool(layers > 1 and dims == 2 and layers * n <= MAX_PLAYED_POINTS)


def draw_map(
    result: MapResult,
    row: int,
    finding: Finding,
    *,
    n_drawn: int | None = None,
    marks: MapMarks = NO_MARKS,
    trails: Sequence[int] = (),
    **look: Any,
) -> tuple[go.Figure, Order]:
    """Return the figure of a map, and the points of each of its traces.

    Args:
        result: the map.
        row: the shown layer's row in its arrays.
        finding: the finding at this layer.
        n_drawn: the number of points that are drawn, the first ones; None for all.
        marks: marks of drawn points.
        trails: the points whose path through the layers is drawn.
        look: `stale`, `narrow` and `height` of `layers_scatter` and `map_scatter`.
    """
    n_points = result.points.n_points
    n = n_points if n_drawn is None else min(n_drawn, n_points)
    points = result.points.take(range(n)) if n < n_points else result.points
    color = replace(finding.color, values=finding.color.values[:n])
    look |= {"color": color, "subtitle": sampled_note(result)}
    if finding.every_layer:
        return _every_layer(result, points, marks, look)
    look |= {"clusters": finding.group_labels, "marks": marks}
    coordinates = result.map.coordinates
    frames = [map_ranges(places) for places in coordinates]
    has_frames = plays(result)
    if has_frames:
        look |= {"layer": result.layers[row], "titles": finding.titles}
        drawn_trails = [trail for trail in trails if trail < n]
        places = coordinates[:, :n]
        figure = layers_scatter(points, places, result.layers, trails=drawn_trails, **look)
    else:
        look |= {"title": finding.titles[row], "frame": frames[row]}
        figure = map_scatter(points, coordinates[row, :n], **look)
    if n_points > MAX_SVG and coordinates.shape[2] == 2:
        rows = slice(None) if has_frames else slice(row, row + 1)
        add_density(figure, coordinates[rows], frames[rows], row if has_frames else 0)
    return figure, map_order(color, n)


def _every_layer(
    result: MapResult, drawn: Points, marks: MapMarks, look: Mapping[str, Any]
) -> tuple[go.Figure, Order]:
    """A figure with the points of all layers at once, and the points of each trace."""
    layers, n = result.layers, drawn.n_points
    rows = np.tile(np.arange(n), len(layers))
    points = drawn.take(rows)
    layer_of_point = np.repeat(np.array(layers, dtype=np.float32), n)
    color = coloring(points, LAYER, extra={LAYER: layer_of_point})
    chosen = None if marks.chosen is None else _at_all(marks.chosen, n, len(layers))
    rings = {title: _at_all(ringed, n, len(layers)) for title, ringed in marks.rings.items()}
    figure = map_scatter(
        points,
        result.map.coordinates[:, :n].reshape(len(rows), -1),
        marks=MapMarks(chosen=chosen, rings=rings),
        title=say("map.every_layer", first=layers[0], last=layers[-1]),
        **{**look, "color": color},
    )
    return figure, map_order(color, len(rows))


def _at_all(points: Sequence[int], n: int, n_layers: int) -> tuple[int, ...]:
    return tuple(point + n * layer for layer in range(n_layers) for point in points)
