"""A map as the page draws it: one layer with a frame for each, or all layers at once.

No streamlit, and no visitor: a script draws the same map.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from plotly import graph_objects as go

from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core.schema import IntArray
from contextlens.features.map.coloring import LAYER, coloring
from contextlens.features.map.display import MapDisplay
from contextlens.features.map.finding import Finding
from contextlens.features.map.frame import above, map_ranges
from contextlens.features.map.hover import MAX_HOVERED
from contextlens.features.map.identity import once
from contextlens.features.map.layer_frames import MAX_PLAYED_POINTS, MAX_TRAILS, layers_scatter
from contextlens.features.map.names import names_of
from contextlens.features.map.scatter import (
    MAX_SVG,
    NO_MARKS,
    MapMarks,
    add_density,
    kind_of,
    map_order,
    map_scatter,
    mark_traces,
    point_size,
)
from contextlens.maps.points import Points
from contextlens.maps.result import MapResult

HEIGHT = 560
_PHONE_WIDTH = 342
_PHONE_HEIGHTS = 320, 440
_LEGEND_HEIGHT = 48
_MAX_APART = 2_000  # points that match a search
Order = tuple[IntArray, ...]
"""The points of each trace of a figure."""


@dataclass(frozen=True, eq=False)
class MapChart:
    """A figure, the points of each of its traces, its approximate memory, and its checksum."""

    figure: go.Figure
    order: Order
    nbytes: int
    checksum: str


def chart_of(
    display: MapDisplay,
    drawing: str,
    *,
    linked: tuple[int, ...] | None = None,
    narrow: bool = False,
    height: int = HEIGHT,
    turn: int = 0,
) -> MapChart:
    """Return the chart of a map; it is drawn again only if it would differ.

    Args:
        display: the map.
        drawing: its name, from `drawing_of`.
        linked: points that are selected in the other map.
        narrow: True if it has a phone's width.
        height: in pixels.
        turn: a number that makes it another chart, without what the browser selected in it.
    """
    marks = display.marks(drawing, linked=linked)
    if has_marks_apart(display):
        marks = MapMarks(chosen=marks.chosen)
    trails = _trails(display) if plays(display.result) else []
    size = {"narrow": narrow, "height": height}

    def compute() -> MapChart:
        return _chart(display, marks, trails, size, turn)

    options = (tuple(sorted(values.items())) for values in (marks.labels, size))
    given = (drawing, marks.chosen, tuple(trails), *options)
    return once(display.result, "drawing", *given, compute=compute)


def has_marks_apart(display: MapDisplay) -> bool:
    """Return True if the browser draws the marks of points over the chart that it has.

    A chart of many points takes megabytes, too many to send again for a mark. Where many points are
    marked, as they match a search, the marks take as many.
    """
    dims, is_one_layer = display.positions.shape[1], not display.finding.every_layer
    is_crowd = display.drawn.n_points > MAX_HOVERED and len(display.matches or ()) <= _MAX_APART
    return is_crowd and dims == 2 and is_one_layer and not plays(display.result)


def marks_apart(display: MapDisplay, drawing: str) -> list[dict[str, Any]]:
    """Return the marks that the browser draws, as traces in JSON's own types."""
    positions = display.positions[: display.drawn.n_points]
    traces = mark_traces(
        positions,
        display.drawn_marks(display.marks(drawing)),
        kind=kind_of(*positions.shape),
        size=point_size(*positions.shape),
        frame=display.frames[display.row],
    )
    for trace in traces:
        for axis in "xy":
            trace[axis] = [None if np.isnan(value) else float(value) for value in trace[axis]]
    return traces


def drawing_of(display: MapDisplay, key: str) -> str:
    """Return a name for all that decides how the chart looks, except selections and marks apart."""
    marked, is_apart = display.marked, has_marks_apart(display)
    parts = (
        *(key, display.finding.key, display.is_stale, display.max_drawn),
        *(() if is_apart else (display.wanted, display.near_to)),
        *(() if is_apart else (marked.point, marked.pin_a, marked.pin_b)),
    )
    return _digest(repr(parts))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def phone_height(display: MapDisplay) -> int:
    """Return the height of a map on a phone, no more than its frames need."""
    shapes = [
        (top - bottom) / (right - left) for (left, right), (bottom, top), *_ in display.frames
    ]
    rows = above(title="", subtitle="", narrow=True)
    lowest, highest = _PHONE_HEIGHTS
    height = round(_PHONE_WIDTH * max(shapes)) + rows + _LEGEND_HEIGHT
    return min(max(height, lowest), highest)


def _chart(
    display: MapDisplay, marks: MapMarks, trails: list[int], size: dict[str, Any], turn: int
) -> MapChart:
    figure, order = draw_map(
        display.result,
        display.row,
        display.finding,
        n_drawn=display.max_drawn,
        marks=display.drawn_marks(marks),
        trails=trails,
        stale=display.is_stale,
        chosen_name=display.chosen_name,
        titled=False,
        **size,
    )
    if turn:
        figure.update_layout(meta=turn)
    text = figure.to_json()
    return MapChart(figure, order, len(text), _digest(text))


def _trails(display: MapDisplay) -> list[int]:
    """The points with a trail: the chosen and pinned ones, and selected ones if they are few."""
    marked = display.marked
    trails = [p for p in (marked.point, marked.pin_a, marked.pin_b) if p is not None]
    selected = () if marked.selection is None else marked.selection.points
    if len(selected) <= MAX_TRAILS:
        trails += selected
    return list(dict.fromkeys(trails))[:MAX_TRAILS]


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
    titled: bool = True,
    **options: Any,
) -> tuple[go.Figure, Order]:
    """Return the figure of a map, and the points of each of its traces.

    Args:
        result: the map.
        row: the shown layer's row in its arrays.
        finding: the finding at this layer.
        n_drawn: the number of points that are drawn, the first ones; None for all.
        marks: marks of drawn points.
        trails: the points whose path through the layers is drawn.
        titled: False without a title, as on a page, where the finding stands above the picture.
        options: `stale`, `chosen_name`, `narrow`, `height` of `layers_scatter`, `map_scatter`.
    """
    n_points = result.points.n_points
    n = n_points if n_drawn is None else min(n_drawn, n_points)
    points = result.points.take(range(n)) if n < n_points else result.points
    color = replace(finding.color, values=finding.color.values[:n])
    options |= {"color": color, "subtitle": sampled_note(result) if titled else ""}
    titles = finding.titles if titled else ("",) * len(finding.titles)
    if finding.every_layer:
        title = say("map.every_layer", first=result.layers[0], last=result.layers[-1])
        return _every_layer(result, points, marks, {**options, "title": title if titled else ""})
    options |= {"marks": marks}
    coordinates = result.map.coordinates
    frames = [map_ranges(positions) for positions in coordinates]
    has_frames = plays(result)
    if has_frames:
        options |= {"layer": result.layers[row], "titles": titles}
        options["names"] = {
            layer: names_of(result, i, row, finding) for i, layer in enumerate(result.layers)
        }
        options["strays"] = {
            layer: [stray for stray in strays if stray < n]
            for layer, strays in zip(result.layers, finding.strays, strict=False)
        }
        drawn_trails = [trail for trail in trails if trail < n]
        positions = coordinates[:, :n]
        figure = layers_scatter(points, positions, result.layers, trails=drawn_trails, **options)
    else:
        options |= {"title": titles[row], "frame": frames[row], "clusters": finding.group_labels}
        options["names"] = names_of(result, row, row, finding)
        if finding.strays:
            options["strays"] = [stray for stray in finding.strays[row] if stray < n]
        figure = map_scatter(points, coordinates[row, :n], **options)
    if n_points > MAX_SVG and coordinates.shape[2] == 2:
        rows = slice(None) if has_frames else slice(row, row + 1)
        add_density(figure, coordinates[rows], frames[rows], row if has_frames else 0)
    return figure, map_order(color, n)


def _every_layer(
    result: MapResult, drawn: Points, marks: MapMarks, options: Mapping[str, Any]
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
        **{**options, "color": color},
    )
    return figure, map_order(color, len(rows))


def _at_all(points: Sequence[int], n: int, n_layers: int) -> tuple[int, ...]:
    return tuple(point + n * layer for layer in range(n_layers) for point in points)


def sampled_note(result: MapResult) -> str:
    """Return a note on how many of the texts are on a map; "" if all are."""
    n, total, most = len(result.points.texts), result.n_able, result.request.most
    if result.is_first:
        return say("map.notes.first", n=n, total=total)
    return say("map.notes.sampled", n=n, total=total, most=most) if n < total else ""


def notes_of(display: MapDisplay) -> str:
    """Return notes in one line on the mapped points and those left out."""
    points, corpus, gathered = display.points, display.result.corpus, display.result.gathered
    parts = [say(f"map.notes.{points.unit}", corpus=escape(corpus.name), n=points.n_points)]
    parts += filter(None, (sampled_note(display.result), escape(display.result.map.reason)))
    if gathered.n_cut:
        settings = {} if gathered.passport is None else gathered.passport.settings
        limit = settings.get("max_length")
        if limit is None:
            parts.append(say("map.notes.cut", n=gathered.n_cut))
        else:
            parts.append(say("map.notes.cut_at", n=gathered.n_cut, limit=limit))
    if points.n_points > 1:
        parts.append(say("map.notes.near"))
    if display.matches is not None:
        parts.append(say("map.notes.found", n=len(display.matches)))
    return " · ".join([*parts, *(escape(note) for note in corpus.notes)])
