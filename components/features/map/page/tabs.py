"""What is said of a map under it: reading, what is on it, terms, tabs and downloads."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.language import say
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
from components.features.map.explain import FORMULA
from components.features.map.page.chart import CHART
from components.features.map.reading import frame_claims
from components.ui.widgets import export, kit

__all__ = ["downloads", "explain", "notes", "words"]

_FILE = "map"
_MOST_ROWS = 5_000


def words(shown: MapShown) -> None:
    """The reading."""
    kit.reading(shown.finding.reading, sure=shown.finding.sure)


def notes(shown: MapShown) -> None:
    """What is on the map and what is not, in a line."""
    points, corpus, gathered = shown.points, shown.picture.corpus, shown.picture.gathered
    said = [say(f"map.notes.{points.unit}", corpus=escape(corpus.name), n=points.n_points)]
    if shown.sampled:
        said.append(shown.sampled)
    if gathered.n_cut:
        said.append(say("map.notes.cut", n=gathered.n_cut))
    if shown.found is not None:
        said.append(say("map.notes.found", n=len(shown.found)))
    st.caption(" · ".join([*said, *(escape(note) for note in corpus.notes)]))
    n_layers, _, n_axes = shown.picture.coordinates.shape
    frame = frame_claims(n_layers, shown.layer, shown.enlarged, n_axes=n_axes)
    if frame and points.n_points > 1 and not shown.finding.every_layer:
        st.caption(" ".join(map(str, frame)))


def explain(shown: MapShown, card: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(shown), lambda: _under_the_hood(shown, card), say("map.limits"))


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
        st.caption(say("map.first_rows", shown=_MOST_ROWS, n=n))


def _under_the_hood(shown: MapShown, card: ModelCard) -> None:
    picture = shown.picture
    one_layer = len(picture.layers) == 1
    snippets = [
        (say("map.vectors_snippet"), vectors_snippet(shown, card)),
        (say("map.redraw_snippet"), drawing_snippet(shown, file=f"{_FILE}.npz")),
    ]
    kit.under_the_hood(
        formula=[
            FORMULA,
            f"{say(f'map.methods.{picture.method}')} {say('map.methods.misread')}",
            *([] if one_layer else [say(f"map.layer_maps.{picture.request.footing}")]),
        ],
        snippet=snippets,
        passport=picture.passport,
        shapes=kit.shapes(map_shapes(shown), key="map_shapes"),
    )
