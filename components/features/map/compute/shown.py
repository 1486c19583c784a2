"""A map as a view looks at it: layer, colours, groups, what is marked and searched for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from components.analysis.similarity import cosine_matrix
from components.content.language import say
from components.core.schema import FloatArray, IntArray
from components.features.map import marks as map_marks
from components.features.map.compute.colors import color_of
from components.features.map.compute.finding import Finding, finding
from components.features.map.compute.near import Near, nearest_to
from components.features.map.compute.once import once
from components.features.map.controls import FIND, FIND_SELECT, NEAR, PANEL, POINT_PANEL
from components.features.map.figures.frame import Ranges, enlarged, map_frames, map_ranges
from components.features.map.figures.marks import Marks
from components.features.map.marks import Marked
from components.features.map.reading import selection_claims
from components.maps.honesty import Honesty
from components.maps.neighbors import Neighbors, neighbors_of
from components.maps.picture import Picture
from components.maps.points import Points, context
from components.maps.typical import typical_of
from components.ui.state.view import ViewState

__all__ = ["N_NEIGHBORS", "MapShown", "linked_points", "map_shown"]

N_NEIGHBORS = 10
_LONGEST_NAME = 32
_MAX_NUMBERED = 12
"""Points up to which those found or selected have numbers on the map."""


@dataclass(frozen=True, eq=False)
class MapShown:
    """A map as it is looked at.

    Attributes:
        picture: the map that was drawn.
        is_stale: whether it is an older one than the controls say.
        row: of the layer that is shown, in the picture's arrays.
        finding: what is found on it.
        wanted: what is searched for; "" for nothing.
        near_to: the text whose nearest points are asked for; "" for none.
        marked: the points that are marked.
        panel: which look stands beside the map.
    """

    picture: Picture
    is_stale: bool
    row: int
    finding: Finding
    wanted: str
    near_to: str
    marked: Marked
    panel: str

    @property
    def points(self) -> Points:
        """What each point is."""
        return self.picture.points

    @property
    def title(self) -> str:
        """The finding at the shown layer."""
        return self.finding.titles[self.row]

    @property
    def layer(self) -> int:
        """The layer that is shown; -1 for the pooler's output."""
        return self.picture.layers[self.row]

    @property
    def places(self) -> FloatArray:
        """(n_points, 2 or 3) on the map."""
        places: FloatArray = self.picture.coordinates[self.row]
        return places

    @cached_property
    def frames(self) -> list[Ranges]:
        """What the axes show at each layer; in three dimensions all points of that layer."""
        layers = self.picture.coordinates
        return map_frames(layers) if layers.shape[2] == 2 else [map_ranges(own) for own in layers]

    @property
    def enlarged(self) -> float:
        """How many times larger the shown layer is drawn than in the frame that holds them all."""
        return enlarged(self.frames)[self.row] if self.places.shape[1] == 2 else 1.0

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
    def found(self) -> tuple[int, ...] | None:
        """The points that were searched for; None where nothing was."""
        if not self.wanted:
            return None
        rows: NDArray[np.int64] = once(
            self.picture,
            "found",
            self.wanted,
            compute=lambda: np.array(map_marks.found(self.points, self.wanted), dtype=np.int64),
        )
        return tuple(rows.tolist())

    @property
    def near(self) -> Near | None:
        """The points nearest to a typed text; None without one, and on an older map."""
        if not self.near_to or self.is_stale:  # its model may be gone
            return None
        return nearest_to(self.picture, self.row, self.near_to)

    @cached_property
    def labels(self) -> Mapping[int, str]:
        """What is written beside points on the map, as in the tables of the look beside it."""
        pins = zip((self.marked.pin_a, self.marked.pin_b), "AB", strict=True)
        letters = {point: letter for point, letter in pins if point is not None}
        return {**{row: str(i) for i, row in enumerate(self._listed(), 1)}, **letters}

    def _listed(self) -> Sequence[int]:
        """The points that the shown look lists, in its order, where they are few."""
        if self.panel == POINT_PANEL and self.point is not None:
            return self.true_neighbors(self.point)
        selection = self.marked.selection
        listed: Sequence[int] = ()
        if self.panel == FIND_SELECT and self.near is not None:
            listed = self.near.rows
        elif self.panel == FIND_SELECT:
            listed = self.found or (() if selection is None else selection.points)
        return listed if len(listed) <= _MAX_NUMBERED else ()

    @property
    def n_able(self) -> int:
        """How many texts may have points."""
        return self.picture.n_able

    @property
    def sampled(self) -> str:
        """How many of the texts are on the map, where not all are."""
        n, total = len(self.points.texts), self.n_able
        return say("map.notes.sampled", n=n, total=total) if n < total else ""

    def called(self, point: int) -> str:
        """A point's name, or some of its sentence where all points have the same name."""
        if not self.finding.one_name:
            return self.points.names[point]
        return "".join(context(self.points, point, longest=_LONGEST_NAME))

    def cosines(self, point: int, others: Sequence[int]) -> list[float]:
        """A point's exact cosines in the full space."""
        values: list[float] = cosine_matrix(self.vectors[[point, *others]])[0, 1:].tolist()
        return values

    def true_neighbors(self, point: int) -> list[int]:
        """The nearest points in the full space, nearest first."""
        k = min(N_NEIGHBORS, self.points.n_points - 1)
        if self.neighbors.indices.shape[1] >= k:
            rows: list[int] = self.neighbors.indices[point, :k].tolist()
            return rows
        return once(self.picture, "near", self.row, point, compute=lambda: self._near(point, k))

    def _near(self, point: int, k: int) -> list[int]:
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
        """What is marked in the picture; a selection only where it was not made on this drawing.

        Args:
            chart: the drawing.
            linked: points that are selected in the other map.
        """
        pins = tuple(p for p in (self.marked.pin_a, self.marked.pin_b) if p is not None)
        near = () if self.near is None else self.near.rows
        rings = {"Nearest to the text": near, "Found": self.found or (), "Pinned": pins}
        selection, point = self.marked.selection, self.point
        if linked is None and selection is not None and selection.chart != chart:
            linked = selection.points
        return Marks(
            chosen=linked,
            rings={title: rows for title, rows in rings.items() if rows},
            focus=point,
            neighbours=() if point is None else tuple(self.true_neighbors(point)),
            labels=self.labels,
        )

    def selected_in_words(self) -> tuple[str, ...]:
        """What a box or a lasso holds."""
        selection = self.marked.selection
        rows = () if selection is None else selection.points

        def compute() -> tuple[str, ...]:
            typical = _typical(self.points, rows)
            column = self.finding.column
            claims = selection_claims(self.points, rows, column=column, typical=typical)
            return tuple(map(str, claims))

        return once(self.picture, "selected", rows, self.finding.column, compute=compute)


def map_shown(
    view: ViewState,
    picture: Picture,
    *,
    is_stale: bool = False,
    order: tuple[str, ...] = (),
    layer: int | None = None,
) -> MapShown:
    """A map as the view looks at it.

    Args:
        view: what is chosen.
        picture: the map.
        is_stale: whether it is an older one than the view asks for.
        order: another map's categories, to keep their colours.
        layer: the one to show; by default the view's.
    """
    row = picture.index_of(view.layer if layer is None else layer)
    return MapShown(
        picture=picture,
        is_stale=is_stale,
        row=row,
        finding=finding(picture, row, color_of(view, picture), order),
        wanted=FIND.of(view).strip(),
        near_to=NEAR.of(view).strip(),
        marked=map_marks.marked(view, picture),
        panel=PANEL.of(view),
    )


def linked_points(one: MapShown, other: MapShown, points: tuple[int, ...]) -> tuple[int, ...]:
    """The other map's points that stand for the same words of the same texts."""

    def compute() -> IntArray:
        spots = one.picture.spots
        own = {spots[i] for i in points if i < len(spots)}
        return np.array([i for i, spot in enumerate(other.picture.spots) if spot in own], dtype=int)

    found = once(other.picture, "linked", one.picture.request.key, points, compute=compute)
    return tuple(found.tolist())


def _typical(points: Points, rows: Sequence[int]) -> tuple[str, ...]:
    """Words of the selected sentences that set them apart from the rest of the map."""
    inside = np.zeros(points.n_points, dtype=np.int64)
    inside[list(rows)] = 1
    chosen = np.zeros(len(points.texts), dtype=np.int64)
    np.maximum.at(chosen, points.sentence, inside)
    if chosen.all():
        return ()
    return typical_of(points.terms, np.arange(len(chosen)), chosen).get(1, ())
