"""A map with the choices of how to look at it: layer, colours, groups, marks, title."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st

from components.core.schema import FloatArray, IntArray
from components.corpus.corpus import Corpus
from components.features.map import marks as map_marks
from components.features.map.drawing import Picture
from components.features.map.figures.colors import Coloring, coloring
from components.features.map.figures.marks import Marks
from components.features.map.marks import Marked
from components.features.map.reading.layers import senses_title
from components.features.map.reading.maps import label_agreement, map_title
from components.features.map.request import PAGE
from components.features.map.waiting import Drawn
from components.maps.agreement import Agreement
from components.maps.clusters import ClusterLabel, cluster, cluster_labels
from components.maps.honesty import Honesty
from components.maps.neighbors import Neighbors, neighbors_of
from components.maps.points import Points, Unit
from components.ui.state.view import ViewState

__all__ = [
    "GROUPS",
    "LAYER",
    "N_NEIGHBORS",
    "MapShown",
    "color_names",
    "senses",
    "shown",
    "usual_color",
]

GROUPS = "group on the map"
NOTHING = "nothing"
LAYER = "layer"
"""Points of all layers at once, coloured by their layer."""
N_NEIGHBORS = 10
_MOST_LABELS = 200
_LABELLED = 60
"""Points from which groups have names on the map: in fewer texts no word is typical."""


@dataclass(frozen=True, eq=False)
class MapShown:
    """A map as it is looked at.

    Attributes:
        row: of the layer that is shown, in the picture's arrays.
        column: the labels that colours and readings go by, or None.
        groups: (n_points,) each point's group on the shown layer's map, -1 for none.
        found: the points that were searched for; None where nothing was.
        every_layer: whether the points of all layers are drawn at once.
    """

    picture: Picture
    is_stale: bool
    row: int
    color: Coloring
    column: str | None
    groups: IntArray
    group_labels: tuple[ClusterLabel, ...]
    found: tuple[int, ...] | None
    marked: Marked
    titles: tuple[str, ...]
    every_layer: bool

    @property
    def points(self) -> Points:
        """What each point is."""
        return self.picture.points

    @property
    def title(self) -> str:
        """The finding at the shown layer."""
        return self.titles[self.row]

    @property
    def layer(self) -> int:
        """The layer that is shown; -1 for the pooler's output."""
        return self.picture.layers[self.row]

    @property
    def places(self) -> FloatArray:
        """(n_points, 2 or 3) on the map."""
        places: FloatArray = self.picture.coordinates[self.row]
        return places

    @property
    def vectors(self) -> FloatArray:
        """(n_points, n_dims) in the full space."""
        vectors: FloatArray = self.picture.vectors[self.row]
        return vectors

    @property
    def neighbors(self) -> Neighbors:
        """The true neighbours at the shown layer."""
        return self.picture.neighbors[self.row]

    @property
    def honesty(self) -> Honesty | None:
        """How far the shown layer's map can be trusted."""
        return self.picture.honesty[self.row]

    @property
    def point(self) -> int | None:
        """The point that is looked at closer."""
        return self.marked.point

    @cached_property
    def one_name(self) -> bool:
        """Whether all points are called the same, as in a map of one word."""
        return len({name.casefold() for name in self.points.names}) == 1

    def true_neighbors(self, point: int) -> list[int]:
        """The nearest points in the full space, nearest first."""
        k = min(N_NEIGHBORS, self.points.n_points - 1)
        if self.neighbors.indices.shape[1] >= k:
            rows: list[int] = self.neighbors.indices[point, :k].tolist()
            return rows
        found = neighbors_of(self.vectors, point, k, self.picture.request.settings.metric)
        return [int(row) for row in found[0]]

    def map_neighbors(self, point: int) -> list[int]:
        """The nearest points on the map, nearest first."""
        k = min(N_NEIGHBORS, self.points.n_points - 1)
        apart = np.linalg.norm(self.places - self.places[point], axis=1)
        apart[point] = np.inf
        rows: list[int] = np.argsort(apart, kind="stable")[:k].tolist()
        return rows

    def marks(self, chart: str, *, linked: tuple[int, ...] | None = None) -> Marks:
        """What is marked in the picture; a selection only where it was not made on this drawing."""
        pins = [p for p in (self.marked.pin_a, self.marked.pin_b) if p is not None]
        rings = {
            **({"Found": self.found} if self.found else {}),
            **({"Pinned": tuple(pins)} if pins else {}),
        }
        selection = self.marked.selection
        own = None
        if linked is not None:
            own = linked
        elif selection is not None and selection.chart != chart:
            own = selection.points
        point = self.point
        return Marks(
            chosen=own,
            rings=rings,
            focus=point,
            neighbours=() if point is None else tuple(self.true_neighbors(point)),
        )


def color_names(unit: Unit, corpus: Corpus | None) -> list[str]:
    """What points can be coloured by."""
    own = {
        "words": ["word", "part of text"],
        "tokens": ["token", "kind of token", "part of text"],
        "sentences": ["part of the texts"],
    }[unit]
    measures = ["sentence length in characters"]
    if unit != "sentences":
        measures.insert(0, "position in the sentence")
    given = [] if corpus is None else list(corpus.labels)
    return list(dict.fromkeys([*given, *own, GROUPS, LAYER, *measures, NOTHING]))


def usual_color(unit: Unit, corpus: Corpus | None, only: tuple[str, ...]) -> str:
    """What points are coloured by unless the view says otherwise."""
    if corpus is None or not corpus.labels:
        return GROUPS
    if corpus.spans is not None:  # chosen words: told apart by word, and one of them by its senses
        return "sense" if len(only) == 1 and unit == "words" else "word"
    varied = {title: len(set(own)) for title, own in corpus.labels.items()}
    return next((title for title, n in varied.items() if 1 < n <= _MOST_LABELS), GROUPS)


def shown(
    view: ViewState, drawn: Drawn, *, order: tuple[str, ...] = (), layer: int | None = None
) -> MapShown:
    """A map as the view looks at it.

    Args:
        order: another map's categories, to keep their colours.
        layer: the one to show; by default the view's.
    """
    picture = drawn.picture
    row = picture.index_of(view.layer if layer is None else layer)
    groups, labels = _groups(picture.request.key, row, picture.coordinates[row], picture.points)
    by = _color(view, picture)
    named = {own.cluster: ", ".join(own.words) for own in labels}
    extra = {GROUPS: tuple(named.get(g, "") or ("" if g < 0 else f"group {g + 1}") for g in groups)}
    plain = by in {NOTHING, LAYER}
    color = coloring(picture.points, "" if plain else by, extra=extra, order=order)
    column = by if by in picture.points.labels else None
    wanted = str(view.control(PAGE, "find", ""))
    return MapShown(
        picture=picture,
        is_stale=drawn.is_stale,
        row=row,
        color=color,
        column=column,
        groups=groups,
        group_labels=labels if picture.points.n_points >= _LABELLED else (),
        found=map_marks.found(picture.points, wanted) if wanted.strip() else None,
        every_layer=by == LAYER,
        marked=map_marks.marked(view, picture),
        titles=_titles(picture, row, column, groups),
    )


def _color(view: ViewState, picture: Picture) -> str:
    """The column that the view asks for, where these points have it."""
    request = picture.request
    usual = usual_color(request.unit, picture.corpus, request.only)
    asked = str(view.control(PAGE, "color", "")) or usual
    for name in (asked, f"{asked} (label)", usual):
        if name in {*picture.points.labels, *picture.points.measures, GROUPS, NOTHING, "token"}:
            return name
        if name == LAYER and len(picture.layers) > 1:
            return name
    return GROUPS


def _titles(picture: Picture, row: int, column: str | None, groups: IntArray) -> tuple[str, ...]:
    """The finding at each layer; groups are known at the shown one alone."""
    points = picture.points
    if parts := senses(picture, column):
        agreed, word = parts
        return (senses_title(agreed, picture.layers, word),) * len(picture.layers)
    return tuple(
        map_title(
            points,
            agreed=label_agreement(points, column, own) if column else None,
            column=column,
            clusters=groups if i == row else None,
            honesty=picture.honesty[i],
        )
        for i, own in enumerate(picture.neighbors)
    )


def senses(picture: Picture, column: str | None) -> tuple[list[Agreement], str] | None:
    """How far a word's senses keep together at each layer, and the word; None for other maps."""
    words = set(picture.points.labels.get("word", ()))
    if column != "sense" or len(words) != 1 or len(picture.layers) < 2:
        return None
    agreed = [label_agreement(picture.points, column, own) for own in picture.neighbors]
    known = [own for own in agreed if own is not None]
    return (known, next(iter(words))) if len(known) == len(agreed) else None


@st.cache_resource(show_spinner=False, max_entries=256)
def _groups(
    key: str, row: int, _places: FloatArray, _points: Points
) -> tuple[IntArray, tuple[ClusterLabel, ...]]:
    """A map's groups and their names; the key and row stand for the rest."""
    del key, row
    groups = cluster(_places)
    return groups, cluster_labels(_points, _places, groups)
