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
from components.figures.map_colors import coloring
from components.figures.map_layers import MAX_PLAYED_POINTS, MAX_TRAILS, layers_scatter
from components.figures.map_marks import Marks
from components.figures.maps import map_order, map_scatter, selected_points
from components.ui import inputs, map_marks
from components.ui.map_request import PAGE
from components.ui.map_shown import LAYER, MapShown
from components.ui.view import ViewState

__all__ = ["CHART", "HEIGHT", "PANEL_HEIGHT", "layer_control", "picture"]

CHART = "map_chart"
HEIGHT = 440
PANEL_HEIGHT = 640
_CONFIG = {
    "displaylogo": False,
    "displayModeBar": True,
    "scrollZoom": True,
    "modeBarButtonsToRemove": ["autoScale2d", "toImage"],
}


def picture(
    view: ViewState, what: MapShown, *, key: str = CHART, linked: tuple[int, ...] | None = None
) -> None:
    """A map that can be clicked and drawn around."""
    drawing = _drawing(view, what, key)
    marks = what.marks(drawing, linked=linked)
    narrow = "Mobi" in str(st.context.headers.get("User-Agent", ""))
    n = what.points.n_points
    order = map_order(what.color, n)
    if what.every_layer:
        figure, order = _every_layer(what, marks, narrow=narrow)
    elif _plays(what):
        figure = layers_scatter(
            what.points,
            what.picture.coordinates,
            what.picture.layers,
            layer=what.layer,
            color=what.color,
            clusters=what.group_labels,
            marks=marks,
            trails=_trails(what),
            titles=what.titles,
            stale=what.is_stale,
            narrow=narrow,
            height=HEIGHT,
        )
    else:
        figure = map_scatter(
            what.points,
            what.places,
            color=what.color,
            clusters=what.group_labels,
            marks=marks,
            title=what.title,
            stale=what.is_stale,
            narrow=narrow,
            height=HEIGHT,
        )

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


def _every_layer(
    what: MapShown, marks: Marks, *, narrow: bool
) -> tuple[Figure, tuple[IntArray, ...]]:
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
        color=color,
        marks=Marks(chosen=chosen, rings=rings),
        title=f"All layers at once, {layers[0]} to {layers[-1]}",
        stale=what.is_stale,
        narrow=narrow,
        height=HEIGHT,
    )
    return figure, map_order(color, len(rows))


def _at_all(points: Sequence[int], n: int, n_layers: int) -> tuple[int, ...]:
    return tuple(point + n * layer for layer in range(n_layers) for point in points)


def _drawing(view: ViewState, what: MapShown, key: str) -> str:
    """A name for all that decides how the map looks, but for the selection."""
    parts = (
        *(key, what.picture.request.key, what.row, what.is_stale, what.color.title, what.found),
        what.every_layer,
        *(what.marked.point, what.marked.pin_a, what.marked.pin_b),
        str(view.control(PAGE, "trails", default=False)),
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
