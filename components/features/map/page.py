"""The map itself, which can be clicked and drawn around, and its layer slider."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st
from plotly.graph_objects import Figure

from components.core import ModelCard
from components.core.schema import IntArray
from components.features.map import marks as map_marks
from components.features.map.compute import LAYER, MapShown
from components.features.map.figures.colors import coloring
from components.features.map.figures.layers import MAX_PLAYED_POINTS, MAX_TRAILS, layers_scatter
from components.features.map.figures.marks import Marks
from components.features.map.figures.one_layer import map_order, map_scatter, selected_points
from components.ui.state import session
from components.ui.state.view import ViewState
from components.ui.widgets import inputs

__all__ = ["CHART", "HEIGHT", "PANEL_HEIGHT", "layer_control", "picture"]

CHART = "map_chart"
HEIGHT, PHONE_HEIGHT = 460, 400
PANEL_HEIGHT = 640
_CONFIG = {
    "displaylogo": False,
    "displayModeBar": True,
    "scrollZoom": True,
    "modeBarButtonsToRemove": ["autoScale2d", "toImage"],
}
Order = tuple[IntArray, ...]
"""The points of each trace of a figure."""


def picture(
    what: MapShown,
    *,
    key: str = CHART,
    linked: tuple[int, ...] | None = None,
    half: bool = False,
) -> None:
    """A map that can be clicked and drawn around.

    Args:
        what: the map.
        key: of its chart.
        linked: points that are selected in the other map.
        half: whether it has half of the page.
    """
    drawing = _drawing(what, key)
    marks = what.marks(drawing, linked=linked)
    phone = "Mobi" in str(st.context.headers.get("User-Agent", ""))
    room = {"narrow": half or phone, "height": PHONE_HEIGHT if phone else HEIGHT}
    figure, order = _kept(drawing, key, what, marks, room)
    n = what.points.n_points

    def read(points: Sequence[Mapping[str, Any]]) -> list[int]:
        return sorted({point % n for point in selected_points(points, order)})

    st.plotly_chart(
        figure,
        key=key,
        config=_CONFIG,
        on_select=map_marks.on_select(what.picture, key, drawing, read),
        selection_mode=("points", "box", "lasso"),
        alt=f"{what.title}. A map of {what.points.n_points:,} {what.points.unit}; the table under "
        "it has every point.",
    )
    if what.picture.request.settings.n_components == 3:
        st.caption("In three dimensions nothing can be drawn around: choose 2-D for the lasso.")


def _kept(
    drawing: str, key: str, what: MapShown, marks: Marks, room: dict[str, Any]
) -> tuple[Figure, Order]:
    """The figure and the points of its traces; made anew only where it would be another."""
    trails = _trails(what) if _plays(what) else []
    parts = (drawing, marks.chosen, trails, room)
    known: tuple[object, tuple[Figure, Order]] | None = session.kept(f"{key}_figure")
    if known is None or known[0] != parts:
        known = parts, _figure(what, marks, trails, room)
        session.keep(f"{key}_figure", known)
    return known[1]


def _figure(
    what: MapShown, marks: Marks, trails: list[int], room: dict[str, Any]
) -> tuple[Figure, Order]:
    points = what.points
    look = {"color": what.color, "stale": what.is_stale, **room}
    if what.every_layer:
        return _every_layer(what, marks, look)
    look |= {"clusters": what.group_labels, "marks": marks}
    if _plays(what):
        layers, places = what.picture.layers, what.picture.coordinates
        own: dict[str, Any] = {"layer": what.layer, "trails": trails, "titles": what.titles}
        figure = layers_scatter(points, places, layers, **own, **look)
    else:
        figure = map_scatter(points, what.places, title=what.title, **look)
    return figure, map_order(what.color, points.n_points)


def _every_layer(what: MapShown, marks: Marks, look: Mapping[str, Any]) -> tuple[Figure, Order]:
    """The points of all layers at once, once for each layer; and the points of each trace."""
    layers, n = what.picture.layers, what.points.n_points
    rows = np.tile(np.arange(n), len(layers))
    points = what.points.take(rows)
    each = np.repeat(np.array(layers, dtype=np.float32), n)
    color = coloring(points, LAYER, extra={LAYER: each})
    chosen = None if marks.chosen is None else _at_all(marks.chosen, n, len(layers))
    rings = {title: _at_all(own, n, len(layers)) for title, own in marks.rings.items()}
    figure = map_scatter(
        points,
        what.picture.coordinates.reshape(len(rows), -1),
        marks=Marks(chosen=chosen, rings=rings),
        title=f"All layers at once, {layers[0]} to {layers[-1]}",
        **{**look, "color": color},
    )
    return figure, map_order(color, len(rows))


def _at_all(points: Sequence[int], n: int, n_layers: int) -> tuple[int, ...]:
    return tuple(point + n * layer for layer in range(n_layers) for point in points)


def _drawing(what: MapShown, key: str) -> str:
    """A name for all that decides how the map looks, but for the selection."""
    parts = (
        *(key, what.picture.request.key, what.row, what.is_stale, what.found),
        *(what.color.title, what.color.order, what.every_layer),
        *(what.marked.point, what.marked.pin_a, what.marked.pin_b),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _plays(what: MapShown) -> bool:
    layers, n, dims = what.picture.coordinates.shape
    return bool(layers > 1 and dims == 2 and layers * n <= MAX_PLAYED_POINTS)


def _trails(what: MapShown) -> list[int]:
    """The points whose way through the layers is drawn: the chosen, pinned and selected ones."""
    marked = what.marked
    own = [p for p in (marked.point, marked.pin_a, marked.pin_b) if p is not None]
    for more in (what.found or (), () if marked.selection is None else marked.selection.points):
        if len(more) <= MAX_TRAILS:
            own += more
    return list(dict.fromkeys(own))[:MAX_TRAILS]


def layer_control(view: ViewState, what: MapShown, card: ModelCard) -> None:
    """The layer slider; of a map of one layer it asks for another map."""
    if what.layer < 0:
        st.caption("The pooler's output has no layers.")
        return
    layers = list(range(card.n_layers + 1))
    inputs.layer_slider(view, layers, key="map_layer")
