"""A map as a view shows it: the layer, the finding, the marked points, the selection.

The point and the pins are part of the view, so a copied address shows them. They apply only to
maps of the same points. A selection may be large and lives only in the session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.similarity import cosine_matrix
from contextlens.content.language import say
from contextlens.core import EncoderService
from contextlens.core.schema import FloatArray, IntArray
from contextlens.features.map.coloring import LAYER, Coloring, color_of
from contextlens.features.map.controls import (
    FIND,
    FIND_SELECT,
    GROUP_NAMES,
    MARKED,
    MARKS_OF,
    N_LISTED_NEIGHBORS,
    NEAR,
    PANEL,
    POINT_PANEL,
)
from contextlens.features.map.find import NearestPoints, nearest_to, search
from contextlens.features.map.finding import Finding, finding_of
from contextlens.features.map.frame import Ranges, map_ranges
from contextlens.features.map.groups import pack, unpack
from contextlens.features.map.identity import name_of, once
from contextlens.features.map.scatter import MAX_SVG, MapMarks
from contextlens.features.map.selection import PointSelection, selection_claims, typical_words
from contextlens.maps.map_quality import MapQuality
from contextlens.maps.neighbors import Neighbors, neighbors_of
from contextlens.maps.points import Points, context
from contextlens.maps.result import MapResult
from contextlens.ui.state.controls import Number
from contextlens.ui.state.view import ViewState

# --- The marked points


@dataclass(frozen=True)
class MarkedPoints:
    """Marked points by index; None or empty if there are none."""

    point: int | None
    pin_a: int | None
    pin_b: int | None
    selection: PointSelection | None


def marked(view: ViewState, result: MapResult, selection: PointSelection | None) -> MarkedPoints:
    """Return the marks on a map, and the selection if it is one of its points."""
    name, n = name_of(result), result.points.n_points
    known = MARKS_OF.of(view) == name
    values = [control.of(view) if known else -1 for control in MARKED]
    point, pin_a, pin_b = (value if 0 <= value < n else None for value in values)
    is_valid = selection is not None and selection.of == name
    return MarkedPoints(point, pin_a, pin_b, selection if is_valid else None)


def with_marks(
    view: ViewState, of: str, marks: Mapping[Number, int | None], *, panel: str = ""
) -> ViewState:
    """Return a view with marked points; marks of other points are removed.

    Args:
        view: the view.
        of: the name of the map's points.
        marks: the point of each of the controls `MARKED`; None removes it.
        panel: the panel to show; "" for the same.
    """
    if MARKS_OF.of(view) != of:
        for control in MARKED:
            view = control.put(view, control.default)
    view = MARKS_OF.put(view, of)
    for control, point in marks.items():
        view = control.put(view, control.default if point is None else point)
    return PANEL.put(view, panel) if panel else view


def with_first_marks(
    view: ViewState, first: MapResult, result: MapResult, rows: IntArray
) -> ViewState:
    """Return a view whose marks and names on a first map are those of the whole map.

    Args:
        view: the view.
        first: the map of the texts that were read first.
        result: the map of all texts.
        rows: its points that are on the first map too, in the order of that map.
    """
    before, after, n = name_of(first), name_of(result), len(rows)
    names = [name for name in unpack(before, GROUP_NAMES.of(view)) if name.point < n]
    if names:
        moved = [name._replace(point=int(rows[name.point])) for name in names]
        view = GROUP_NAMES.put(view, pack(after, moved))
    if MARKS_OF.of(view) != before:
        return view
    points = {control: control.of(view) for control in MARKED}
    marks = {c: int(rows[point]) if 0 <= point < n else None for c, point in points.items()}
    return with_marks(view, after, marks)


# --- A map as a view shows it

_MAX_NAME_LENGTH = 32
_MAX_NUMBERED = 12
"""Up to this many matching or selected points have numbers on the map."""


@dataclass(frozen=True, eq=False)
class MapDisplay:
    """A map as the page shows it.

    Attributes:
        result: the map that was drawn.
        is_stale: True if the controls have changed since.
        row: the shown layer's row in the arrays of the map.
        finding: the finding at this layer.
        wanted: the search text; "" for none.
        near_to: the text whose nearest points are requested; "" for none.
        near: the points nearest to it; None without a text, and on a stale map.
        marked: the marked points.
        panel: the panel beside the map.
        max_drawn: the number of points that the browser can draw; None for all.
        follow_rest: draws the progress of the map, if only a part of it is there yet.
    """

    result: MapResult
    is_stale: bool
    row: int
    finding: Finding
    wanted: str
    near_to: str
    near: NearestPoints | None
    marked: MarkedPoints
    panel: str
    max_drawn: int | None = None
    follow_rest: Callable[[], None] | None = None

    @property
    def points(self) -> Points:
        """The description of each point."""
        return self.result.points

    @property
    def title(self) -> str:
        """The finding at the shown layer."""
        return self.finding.titles[self.row]

    @property
    def headline(self) -> str:
        """The finding above the map, in Markdown, or what a map of all layers at once shows."""
        layers = self.result.layers
        if self.finding.every_layer:
            return say("map.every_layer", first=layers[0], last=layers[-1])
        return " ".join(self.finding.claims)

    @property
    def chosen_name(self) -> str:
        """The key of the name whose points are selected; "" for none."""
        selection = self.marked.selection
        return "" if selection is None else selection.name

    @property
    def layer(self) -> int:
        """The shown layer; -1 for the pooler's output."""
        return self.result.layers[self.row]

    @property
    def positions(self) -> FloatArray:
        """(n_points, 2 or 3) coordinates on the map."""
        positions: FloatArray = self.result.map.coordinates[self.row]
        return positions

    @cached_property
    def drawn(self) -> Points:
        """The drawn points: the first ones if the browser cannot draw them all."""
        n = self.points.n_points
        n_drawn = n if self.max_drawn is None else self.max_drawn
        return self.points.take(range(n_drawn)) if n_drawn < n else self.points

    @cached_property
    def drawn_color(self) -> Coloring:
        """The colours of the drawn points."""
        color = self.finding.color
        return replace(color, values=color.values[: self.drawn.n_points])

    @cached_property
    def frames(self) -> list[Ranges]:
        """The axis ranges at each layer, which hold all points of the layer."""
        return [map_ranges(positions) for positions in self.result.map.coordinates]

    @property
    def vectors(self) -> FloatArray:
        """(n_points, n_dims) in the full space."""
        vectors: FloatArray = self.result.vectors[self.row]
        return vectors

    @property
    def neighbors(self) -> Neighbors:
        """The true neighbours at the shown layer."""
        return self.result.map.neighbors[self.row]

    @property
    def quality(self) -> MapQuality | None:
        """The quality of the shown layer's map."""
        return self.result.map.quality[self.row]

    @property
    def point(self) -> int | None:
        """The selected point."""
        return self.marked.point

    @cached_property
    def matches(self) -> tuple[int, ...] | None:
        """The points that match the search; None without a search."""
        if not self.wanted:
            return None
        rows: NDArray[np.int64] = once(
            self.result,
            "found",
            self.wanted,
            compute=lambda: np.array(search(self.points, self.wanted), dtype=np.int64),
        )
        return tuple(rows.tolist())

    def drawn_marks(self, marks: MapMarks) -> MapMarks:
        """The marks of points that are drawn."""
        n = self.drawn.n_points
        if n == self.points.n_points:
            return marks
        rings = {title: [row for row in rows if row < n] for title, rows in marks.rings.items()}
        return MapMarks(
            chosen=None if marks.chosen is None else [row for row in marks.chosen if row < n],
            rings={title: rows for title, rows in rings.items() if rows},
            focus=marks.focus if marks.focus is not None and marks.focus < n else None,
            neighbours=[row for row in marks.neighbours if row < n],
            labels={row: label for row, label in marks.labels.items() if row < n},
        )

    @cached_property
    def labels(self) -> Mapping[int, str]:
        """The number or letter beside each labelled point; the tables beside the map repeat it."""
        pins = zip((self.marked.pin_a, self.marked.pin_b), "AB", strict=True)
        letters = {point: letter for point, letter in pins if point is not None}
        return {**{row: str(i) for i, row in enumerate(self._listed(), 1)}, **letters}

    def _listed(self) -> Sequence[int]:
        """The points that the shown panel lists, in its order; none if there are too many."""
        if self.panel == POINT_PANEL and self.point is not None:
            return self.true_neighbors(self.point)
        selection = self.marked.selection
        listed: Sequence[int] = ()
        if self.panel == FIND_SELECT and self.near is not None:
            listed = self.near.point_ids
        elif self.panel == FIND_SELECT:
            listed = self.matches or (() if selection is None else selection.points)
        return listed if len(listed) <= _MAX_NUMBERED else ()

    def called(self, point: int) -> str:
        """A point's name, or part of its sentence if all points have the same name."""
        if not self.finding.one_name:
            return self.points.names[point]
        return "".join(context(self.points, point, longest=_MAX_NAME_LENGTH))

    def cosines(self, point: int, others: Sequence[int]) -> list[float]:
        """The exact cosines of a point with others in the full space."""
        values: list[float] = cosine_matrix(self.vectors[[point, *others]])[0, 1:].tolist()
        return values

    def true_neighbors(self, point: int) -> list[int]:
        """The nearest points in the full space, nearest first."""
        k = min(N_LISTED_NEIGHBORS, self.points.n_points - 1)
        if self.neighbors.recall is None and self.neighbors.k >= k:
            rows: list[int] = self.neighbors.indices[point, :k].tolist()
            return rows

        def compute() -> list[int]:
            metric = self.result.request.settings.metric
            nearest: list[int] = neighbors_of(self.vectors, point, k, metric)[0].tolist()
            return nearest

        return once(self.result, "near", self.row, point, compute=compute)

    def map_neighbors(self, point: int) -> list[int]:
        """The nearest points on the map, nearest first."""
        k = min(N_LISTED_NEIGHBORS, self.points.n_points - 1)
        apart = np.linalg.norm(self.positions - self.positions[point], axis=1)
        apart[point] = np.inf
        rows: list[int] = np.argsort(apart, kind="stable")[:k].tolist()
        return rows

    def marks(self, chart: str, *, linked: tuple[int, ...] | None = None) -> MapMarks:
        """The marks in the picture; a selection is included only if it was made on another drawing.

        Args:
            chart: the name of the drawing.
            linked: points that are selected in the other map.
        """
        pins = tuple(p for p in (self.marked.pin_a, self.marked.pin_b) if p is not None)
        near = () if self.near is None else self.near.point_ids
        rings = {"Nearest to the text": near, "Found": self.matches or (), "Pinned": pins}
        selection, point = self.marked.selection, self.point
        if linked is None and selection is not None and selection.chart != chart:
            linked = selection.points
        return MapMarks(
            chosen=linked,
            rings={title: rows for title, rows in rings.items() if rows},
            focus=point,
            neighbours=() if point is None else tuple(self.true_neighbors(point)),
            labels=self.labels,
        )

    def selected_in_words(self) -> tuple[str, ...]:
        """The description of a selection by box or lasso, in sentences."""
        selection = self.marked.selection
        rows = () if selection is None else selection.points

        def compute() -> tuple[str, ...]:
            typical = typical_words(self.points, rows)
            column = self.finding.column
            claims = selection_claims(self.points, rows, column=column, typical=typical)
            return tuple(map(str, claims))

        return once(self.result, "selected", rows, self.finding.column, compute=compute)


def map_display(
    view: ViewState,
    result: MapResult,
    *,
    service: EncoderService | None = None,
    selection: PointSelection | None = None,
    is_stale: bool = False,
    follow_rest: Callable[[], None] | None = None,
    order: tuple[str, ...] = (),
    layer: int | None = None,
    has_webgl: bool = True,
) -> MapDisplay:
    """Return a map as the view shows it.

    Args:
        view: the current view.
        result: the map.
        service: encodes a text whose nearest points are requested; None for no such points.
        selection: the selected points, on this map or on another one.
        is_stale: True if the view asks for another map.
        follow_rest: draws the progress of the map, if only a part of it is there yet.
        order: the categories of another map, whose colours are kept.
        layer: the layer to show; by default the view's.
        has_webgl: False if the browser can only draw a few points.
    """
    row = result.index_of(view.layer if layer is None else layer)
    by, near_to, near = color_of(view, result), NEAR.of(view).strip(), None
    names = unpack(name_of(result), GROUP_NAMES.of(view))
    if service is not None and near_to and not is_stale:  # the model of a stale map may be gone
        near = nearest_to(service, result, row, near_to, model=view.model)

    def compute() -> Finding:
        return finding_of(result, row, by, order, names)

    return MapDisplay(
        result=result,
        is_stale=is_stale,
        row=row,
        finding=once(result, "finding", row, by, order, names, compute=compute),
        wanted=FIND.of(view).strip(),
        near_to=near_to,
        near=near,
        marked=marked(view, result, selection),
        panel=PANEL.of(view),
        max_drawn=None if has_webgl else MAX_SVG // (len(result.layers) if by == LAYER else 1),
        follow_rest=follow_rest,
    )


def linked_points(one: MapDisplay, other: MapDisplay, points: tuple[int, ...]) -> tuple[int, ...]:
    """The other map's points for the same words of the same texts."""

    def compute() -> IntArray:
        spots = one.result.point_ids
        chosen = {spots[i] for i in points if i < len(spots)}
        return np.array(
            [i for i, spot in enumerate(other.result.point_ids) if spot in chosen], dtype=int
        )

    rows = once(other.result, "linked", one.result.request.key, points, compute=compute)
    return tuple(rows.tolist())
