"""What is said of a map under it: reading, what is on it, terms, tabs and downloads."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.wording import escape
from components.core import ModelCard
from components.features.map.compute.again import Again
from components.features.map.compute.files import (
    drawing_snippet,
    map_arrays,
    map_shapes,
    map_table,
    vectors_snippet,
)
from components.features.map.compute.shown import MapShown
from components.features.map.explain import FORMULA, LAYER_MAPS, LIMITS, METHODS, MISREAD
from components.features.map.page.chart import CHART
from components.features.map.reading.frames import frame_reading
from components.ui.widgets import export, kit

__all__ = ["downloads", "explain", "notes", "words"]

_FILE = "map"
_MOST_ROWS = 5_000
_VECTORS = "**The vectors with transformers alone**, of this map's first sentences"
_AGAIN = "**The map with a script of your own**, from this page's NPZ"


def words(shown: MapShown) -> None:
    """The reading."""
    kit.reading(shown.finding.reading, sure=shown.finding.sure)


def notes(shown: MapShown) -> None:
    """What is on the map and what is not, in a line."""
    points, corpus, gathered = shown.points, shown.picture.corpus, shown.picture.gathered
    unit = points.unit if points.n_points != 1 else points.unit.removesuffix("s")
    said = [f"{escape(corpus.name)}: **{points.n_points:,}** {unit}"]
    if shown.sampled:
        said.append(f"from {shown.sampled}")
    if gathered.n_cut:
        said.append(
            f"{gathered.n_cut:,} texts are longer than the model takes; their end is left out"
        )
    if shown.found is not None:
        said.append(f"**{len(shown.found):,}** found")
    st.caption(" · ".join([*said, *(escape(note) for note in corpus.notes)]))
    n_layers, _, n_axes = shown.picture.coordinates.shape
    frame = frame_reading(n_layers, shown.layer, shown.enlarged, n_axes=n_axes)
    if frame and not shown.finding.every_layer:
        st.caption(frame)


def explain(shown: MapShown, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(shown), lambda: _under_the_hood(shown, card), LIMITS)


def downloads(shown: MapShown, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    passport, again = shown.picture.passport, Again.of(shown)
    with kit.downloads(place, export.caption(passport), chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            passport,
            rows=lambda: map_table(again.shown()).to_dict("records"),
            arrays=lambda: map_arrays(again.shown()),
        )


def _numbers(shown: MapShown) -> None:
    kit.table(map_table(shown, _MOST_ROWS), key="map_table")
    n = shown.points.n_points
    if n > _MOST_ROWS:
        st.caption(f"The first {_MOST_ROWS:,} of {n:,} points; the download has them all.")


def _under_the_hood(shown: MapShown, card: ModelCard) -> None:
    picture = shown.picture
    one_layer = len(picture.layers) == 1
    snippets = [
        (_VECTORS, vectors_snippet(shown, card)),
        (_AGAIN, drawing_snippet(shown, file=f"{_FILE}.npz")),
    ]
    kit.under_the_hood(
        formula=[
            FORMULA,
            f"{METHODS[picture.method]} {MISREAD}",
            *([] if one_layer else [LAYER_MAPS[picture.request.footing]]),
        ],
        snippet=snippets,
        passport=picture.passport,
        shapes=kit.shapes(map_shapes(shown), key="map_shapes"),
    )
