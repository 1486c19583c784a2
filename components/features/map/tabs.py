"""What is said of a map: reading, what is on it, terms, tabs and downloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from components.content.wording import escape
from components.core import ModelCard
from components.features.map import costs
from components.features.map.compute import MapShown, senses
from components.features.map.explain import FORMULA, LAYER_MAPS, LIMITS, METHODS, MISREAD
from components.features.map.page import CHART
from components.features.map.reading.layers import senses_reading
from components.features.map.reading.maps import map_reading
from components.features.map.snippet.redraw import redraw_snippet
from components.features.map.snippet.vectors import MapText, map_vectors_snippet
from components.ui.widgets import export, kit

__all__ = ["downloads", "explain", "notes", "terms", "words"]

_FILE = "map"
_N_SNIPPET = 3
_MOST_ROWS = 5_000


def words(what: MapShown) -> None:
    """The reading."""
    points, column = what.points, what.column
    if parts := senses(what.picture, column):
        agreed, word = parts
        kit.reading(senses_reading(agreed, what.picture.layers, what.layer, word))
        return
    names = {own.cluster: ", ".join(own.words) for own in what.group_labels}
    n = max(names, default=-1) + 1
    kit.reading(
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
    n, total = len(points.texts), costs.n_able(what.picture.request, corpus)
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
    kit.terms(
        "map", "UMAP", "PCA", "t-SNE", "trustworthiness", "continuity", "neighbour recall",
        "true neighbours", "joint fit", "aligned fit", "cluster label",
    )  # fmt: skip


def explain(what: MapShown, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(what), lambda: _under_the_hood(what, card), LIMITS)


def downloads(what: MapShown, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    passport = what.picture.passport
    with kit.downloads(place, export.caption(passport), chart=CHART, name=_FILE):
        kit.download_files(_FILE, passport, rows=lambda: _rows(what), arrays=lambda: _arrays(what))


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
        kit.passport(what.picture.passport)


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
