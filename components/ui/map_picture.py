"""The map itself, alone or beside another, its layer slider, reading, tabs and downloads."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator

from components.analysis.readings import (
    escape,
    map_reading,
    senses_reading,
)
from components.analysis.snippets import MapText, map_vectors_snippet, redraw_snippet
from components.content.explain.projection import FORMULA, LAYER_MAPS, LIMITS, METHODS, MISREAD
from components.core import ModelCard
from components.core.schema import IntArray
from components.figures.map_colors import coloring
from components.figures.map_layers import MAX_PLAYED_POINTS, MAX_TRAILS, layers_scatter
from components.figures.map_marks import Marks
from components.figures.maps import map_order, map_scatter, selected_points
from components.ui import export, inputs, map_marks, maps, shell
from components.ui.map_request import PAGE
from components.ui.map_shown import LAYER, MapShown, senses
from components.ui.view import ViewState

__all__ = [
    "CHART",
    "HEIGHT",
    "downloads",
    "explain",
    "layer_control",
    "notes",
    "picture",
    "terms",
    "words",
]

CHART = "map_chart"
HEIGHT = 440
PANEL_HEIGHT = 640
_FILE = "map"
_N_SNIPPET = 3
_MOST_ROWS = 5_000
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


def words(what: MapShown) -> None:
    """The reading."""
    points, column = what.points, what.column
    if parts := senses(what.picture, column):
        agreed, word = parts
        shell.reading(senses_reading(agreed, what.picture.layers, what.layer, word))
        return
    names = {own.cluster: ", ".join(own.words) for own in what.group_labels}
    n = max(names, default=-1) + 1
    shell.reading(
        map_reading(
            points,
            what.neighbors,
            column=column,
            clusters=what.groups if column is None else None,
            cluster_names=[names.get(i, "") for i in range(n)],
        )
    )


def notes(what: MapShown) -> None:
    """What is on the map and what is not, in a line."""
    points, corpus, gathered = what.points, what.picture.corpus, what.picture.gathered
    n, total = len(points.texts), maps.n_able(what.picture.request, corpus)
    unit = points.unit if points.n_points != 1 else points.unit.removesuffix("s")
    said = [f"{escape(corpus.name)}: **{points.n_points:,}** {unit}"]
    if n < total:
        said.append(f"from {n:,} of {total:,} texts, chosen at random")
    if gathered.n_cut:
        said.append(
            f"{gathered.n_cut:,} texts are longer than the model takes; their end is left out"
        )
    if what.found is not None:
        said.append(f"**{len(what.found):,}** found")
    st.caption(" · ".join([*said, *(escape(note) for note in corpus.notes)]))


def terms() -> None:
    """The terms that the page uses, each with its meaning at hand."""
    shell.terms(
        "map", "UMAP", "PCA", "t-SNE", "trustworthiness", "continuity", "neighbour recall",
        "true neighbours", "joint fit", "aligned fit", "cluster label",
    )  # fmt: skip


def explain(what: MapShown, card: ModelCard) -> None:
    """The tabs under the picture."""
    shell.tabs(lambda: _numbers(what), lambda: _under_the_hood(what, card), LIMITS)


def downloads(what: MapShown, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    passport = what.picture.passport
    with shell.downloads(place, export.caption(passport), chart=CHART, name=_FILE):
        shell.numbers(_FILE, passport, rows=lambda: _rows(what), arrays=lambda: _arrays(what))


def _rows(what: MapShown, most: int | None = None) -> list[dict[str, Any]]:
    """The points with their places."""
    chosen = range(what.points.n_points)[:most]
    axes = ("x", "y", "z")[: what.places.shape[1]]
    groups = {own.cluster: " · ".join(own.words) for own in what.group_labels}
    return [
        {
            **row,
            "group": groups.get(int(what.groups[i]), ""),
            **dict(zip(axes, map(float, what.places[i]), strict=True)),
        }
        for i, row in zip(chosen, what.points.rows(list(chosen)), strict=True)
    ]


def _arrays(what: MapShown) -> Mapping[str, NDArray[Any]]:
    """What the map was made of: the redrawing snippet reads it."""
    return {
        "vectors": what.vectors,
        "coordinates": what.places,
        "neighbor_indices": what.neighbors.indices,
        "neighbor_distances": what.neighbors.distances,
        "layers": np.array(what.picture.layers),
        "all_coordinates": what.picture.coordinates,
        "all_vectors": what.picture.vectors,
        "sentence": what.points.sentence,
        "spans": what.points.spans,
        "names": np.array(what.points.names),
        "texts": np.array(what.points.texts),
    }


def _numbers(what: MapShown) -> None:
    st.dataframe(pd.DataFrame(_rows(what, _MOST_ROWS)), hide_index=True, key="map_table")
    n = what.points.n_points
    if n > _MOST_ROWS:
        st.caption(f"The first {_MOST_ROWS:,} of {n:,} points; the download has them all.")


def _under_the_hood(what: MapShown, card: ModelCard) -> None:
    formula, code = st.columns(2, gap="medium")
    with formula:
        st.markdown(FORMULA)
        st.markdown(f"{METHODS[what.picture.method]} {MISREAD}")
        if len(what.picture.layers) > 1:
            st.markdown(LAYER_MAPS[what.picture.request.footing])
    with code:
        st.markdown("**The vectors with transformers alone**, of this map's first sentences")
        st.code(_vectors_snippet(what, card), language="python")
        if len(what.picture.layers) == 1:
            st.markdown("**The same map with a script of your own**, from this page's NPZ")
            st.code(redraw_snippet(what.picture.as_map(), file=f"{_FILE}.npz"), language="python")
        else:
            st.caption(
                "For a script that draws this map again, choose “The chosen layer alone” in the "
                "settings."
            )
        st.markdown("**Shapes**")
        st.dataframe(pd.DataFrame(_shapes(what)), hide_index=True, key="map_shapes")
        st.markdown("**Passport**")
        shell.passport_json(what.picture.passport)


def _vectors_snippet(what: MapShown, card: ModelCard) -> str:
    points, request = what.points, what.picture.request
    chosen = sorted(set(points.sentence.tolist()))[:_N_SNIPPET]
    spans: dict[int, list[tuple[int, int]]] = {i: [] for i in chosen}
    for text, (start, end) in zip(points.sentence.tolist(), points.spans.tolist(), strict=True):
        if text in spans:
            spans[text].append((start, end))
    texts = [MapText(points.texts[i], tuple(own)) for i, own in spans.items()]
    return map_vectors_snippet(
        card,
        texts,
        points.unit,
        max(what.layer, 0),
        pooling=request.pooling,  # type: ignore[arg-type]
        added=request.special,
    )


def _shapes(what: MapShown) -> list[dict[str, str]]:
    return [
        {"array": "vectors (points, dims)", "shape": str(what.vectors.shape)},
        {"array": "places on the map (points, axes)", "shape": str(what.places.shape)},
        {"array": "true neighbours (points, k)", "shape": str(what.neighbors.indices.shape)},
        {"array": "places at all layers", "shape": str(what.picture.coordinates.shape)},
    ]
