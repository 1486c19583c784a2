"""The map itself, which can be clicked and drawn around, and its layer slider."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from plotly.graph_objects import Figure

from components.content.language import say
from components.core import ModelCard
from components.core.schema import IntArray
from components.features.map import marks as map_marks
from components.features.map.compute.colors import LAYER
from components.features.map.compute.once import once
from components.features.map.compute.shown import MapShown
from components.features.map.figures.axes import above
from components.features.map.figures.colors import coloring
from components.features.map.figures.layers import MAX_PLAYED_POINTS, MAX_TRAILS, layers_scatter
from components.features.map.figures.marks import Marks
from components.features.map.figures.one_layer import map_order, map_scatter, selected_points
from components.ui.state.view import ViewState
from components.ui.widgets import kit
from components.ui.widgets.layer_bar import layer_bar

__all__ = ["CHART", "HEIGHT", "OTHER_CHART", "layer_control", "map_chart"]

CHART = "map_chart"
OTHER_CHART = f"{CHART}_other"
HEIGHT = 560
_PHONE_WIDTH = 342
_PHONE_HEIGHTS = 320, 440
_LEGEND_HEIGHT = 48
_CONFIG = {
    "displaylogo": False,
    "displayModeBar": True,
    "scrollZoom": True,
    # What stays: to move the map, to draw around points, to look nearer, back to the whole.
    "modeBarButtonsToRemove": ["autoScale2d", "toImage", "zoom2d"],
}
Order = tuple[IntArray, ...]
"""The points of each trace of a figure."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure, the points of each of its traces, and about how much memory it takes."""

    figure: Figure
    order: Order
    nbytes: int


def map_chart(
    shown: MapShown,
    *,
    key: str = CHART,
    linked: tuple[int, ...] | None = None,
    half: bool = False,
) -> None:
    """A map that can be clicked and drawn around.

    Args:
        shown: the map.
        key: of its chart.
        linked: points that are selected in the other map.
        half: whether it has half of the page.
    """
    drawing = _drawing(shown, key)
    drawn = _drawn(drawing, shown, shown.marks(drawing, linked=linked), _room(shown, half=half))
    n, order = shown.points.n_points, drawn.order

    def read(points: Sequence[Mapping[str, Any]]) -> list[int]:
        return sorted({point % n for point in selected_points(points, order)})

    kit.chart(
        drawn.figure,
        key=key,
        config=_CONFIG,
        on_select=map_marks.on_select(map_marks.name_of(shown.picture), key, drawing, read),
        selection_mode=("points", "box", "lasso"),
        alt=say("map.alt", title=shown.title, n=n),
    )
    if shown.picture.request.settings.n_components == 3:
        st.caption(say("map.in_3d"))


def _room(shown: MapShown, *, half: bool) -> dict[str, Any]:
    """How a map is fitted to the page; on a phone it is no higher than its frames are."""
    if "Mobi" not in str(st.context.headers.get("User-Agent", "")):
        return {"narrow": half, "height": HEIGHT}
    shapes = [(top - bottom) / (right - left) for (left, right), (bottom, top), *_ in shown.frames]
    top = above(subtitle=bool(shown.sampled), narrow=True)
    least, most = _PHONE_HEIGHTS
    height = round(_PHONE_WIDTH * max(shapes)) + top + _LEGEND_HEIGHT
    return {"narrow": True, "height": min(max(height, least), most)}


def _drawn(drawing: str, shown: MapShown, marks: Marks, room: dict[str, Any]) -> Drawn:
    """The drawing, made anew only where it would be another; no session keeps it."""
    trails = _trails(shown) if _plays(shown) else []

    def draw() -> Drawn:
        figure, order = _figure(shown, marks, trails, room)
        return Drawn(figure, order, len(figure.to_json()))

    labels, own_room = (tuple(sorted(own.items())) for own in (marks.labels, room))
    given = (drawing, marks.chosen, labels, tuple(trails), own_room)
    return once(shown.picture, "drawing", *given, compute=draw)


def _figure(
    shown: MapShown, marks: Marks, trails: list[int], room: dict[str, Any]
) -> tuple[Figure, Order]:
    points, found = shown.points, shown.finding
    parts = ("" if room["narrow"] or found.every_layer else found.course, shown.sampled)
    subtitle = " · ".join(filter(None, parts))
    look = {"color": found.color, "stale": shown.is_stale, "subtitle": subtitle, **room}
    if found.every_layer:
        return _every_layer(shown, marks, look)
    look |= {"clusters": found.group_labels, "marks": marks}
    if _plays(shown):
        layers, places = shown.picture.layers, shown.picture.coordinates
        own: dict[str, Any] = {"layer": shown.layer, "trails": trails, "titles": found.titles}
        figure = layers_scatter(points, places, layers, **own, **look)
    else:
        figure = map_scatter(
            points, shown.places, title=shown.title, frame=shown.frames[shown.row], **look
        )
    return figure, map_order(found.color, points.n_points)


def _every_layer(shown: MapShown, marks: Marks, look: Mapping[str, Any]) -> tuple[Figure, Order]:
    """The points of all layers at once, once for each layer; and the points of each trace."""
    layers, n = shown.picture.layers, shown.points.n_points
    rows = np.tile(np.arange(n), len(layers))
    points = shown.points.take(rows)
    each = np.repeat(np.array(layers, dtype=np.float32), n)
    color = coloring(points, LAYER, extra={LAYER: each})
    chosen = None if marks.chosen is None else _at_all(marks.chosen, n, len(layers))
    rings = {title: _at_all(own, n, len(layers)) for title, own in marks.rings.items()}
    figure = map_scatter(
        points,
        shown.picture.coordinates.reshape(len(rows), -1),
        marks=Marks(chosen=chosen, rings=rings),
        title=say("map.every_layer", first=layers[0], last=layers[-1]),
        **{**look, "color": color},
    )
    return figure, map_order(color, len(rows))


def _at_all(points: Sequence[int], n: int, n_layers: int) -> tuple[int, ...]:
    return tuple(point + n * layer for layer in range(n_layers) for point in points)


def _drawing(shown: MapShown, key: str) -> str:
    """A name for all that decides how the map looks, but for the selection."""
    marked = shown.marked
    parts = (
        *(key, shown.finding.key, shown.is_stale, shown.wanted, shown.near_to),
        *(marked.point, marked.pin_a, marked.pin_b),
    )
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _plays(shown: MapShown) -> bool:
    layers, n, dims = shown.picture.coordinates.shape
    return bool(layers > 1 and dims == 2 and layers * n <= MAX_PLAYED_POINTS)


def _trails(shown: MapShown) -> list[int]:
    """The points whose way through the layers is drawn: the chosen, pinned and selected ones."""
    marked = shown.marked
    own = [p for p in (marked.point, marked.pin_a, marked.pin_b) if p is not None]
    for more in (shown.found or (), () if marked.selection is None else marked.selection.points):
        if len(more) <= MAX_TRAILS:
            own += more
    return list(dict.fromkeys(own))[:MAX_TRAILS]


def layer_control(view: ViewState, shown: MapShown, card: ModelCard) -> None:
    """The layer bar; of a map of one layer it asks for another map, and does not play."""
    if shown.layer < 0:
        st.caption(say("map.no_layers"))
        return
    plays = _plays(shown)
    framed = [CHART, OTHER_CHART] if plays else ()
    layer_bar(view, range(card.n_layers + 1), framed=framed, plays=plays)
