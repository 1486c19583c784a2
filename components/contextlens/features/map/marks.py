"""The marks on a map: a point, two pinned ones, a selection, search results.

The point and the pins are part of the view, so a copied address shows them. They apply only to
maps of the same points. A selection may be large and lives only in the session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from contextlens.features.map.controls import (
    FIND_SELECT,
    MARKED,
    MARKS_OF,
    PANEL,
    PIN_A,
    PIN_B,
    POINT,
    POINT_PANEL,
)
from contextlens.maps.points import Points
from contextlens.maps.result import MapResult
from contextlens.ui.state import session
from contextlens.ui.state.controls import Number
from contextlens.ui.state.view import ViewState

_TURN = "map_table_turn"

TABLE = "table"
"""Stands for a drawing's name if points were selected in the table."""


@dataclass(frozen=True)
class PointSelection:
    """Selected points, with the drawing and the map on which they were selected."""

    of: str  # the name of the map's points, from `name_of`
    key: str  # the key of the chart's widget
    chart: str  # the drawing's name, or `TABLE`
    points: tuple[int, ...]
    within: tuple[int, ...] | None = None  # the rows of the table in which they were selected


@dataclass(frozen=True)
class MarkedPoints:
    """Marked points by index; None or empty if there are none."""

    point: int | None
    pin_a: int | None
    pin_b: int | None
    selection: PointSelection | None


def name_of(result: MapResult) -> str:
    """A short name that only maps of the same points share.

    It includes their number and first text: in a large corpus, a map of all layers samples other
    points than a map of one layer.
    """
    points = result.points
    identity = (result.request.points_key, points.n_points, points.texts[:1])
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:12]


def marked(view: ViewState, result: MapResult) -> MarkedPoints:
    """The marks on a map."""
    name = name_of(result)
    n = result.points.n_points
    known = MARKS_OF.of(view) == name
    values = [control.of(view) if known else -1 for control in MARKED]
    point, pin_a, pin_b = (value if 0 <= value < n else None for value in values)
    selection: PointSelection | None = session.kept("map_selection")
    valid = selection is not None and selection.of == name
    return MarkedPoints(point, pin_a, pin_b, selection if valid else None)


def choose(of: str, point: int | None) -> None:
    """Open a point of the points with this name; None deselects it."""
    _write(of, {POINT: point}, panel=POINT_PANEL)


def ring(of: str, point: int) -> None:
    """Select a point on maps of the points with this name; the panel stays."""
    _write(of, {POINT: point})


def pin(of: str, name: Literal["A", "B"], point: int) -> None:
    """Pin a point as A or as B."""
    _write(of, {PIN_A if name == "A" else PIN_B: point}, panel=POINT_PANEL)


def unpin(of: str) -> None:
    """Remove both pins."""
    _write(of, {PIN_A: None, PIN_B: None}, panel=POINT_PANEL)


def clear_selection() -> None:
    """Clear the selection, and that of the table."""
    session.keep("map_selection", None)
    session.keep(_TURN, table_turn() + 1)


def table_turn() -> int:
    """The number of the table's widget; a new one has no selected rows."""
    return int(session.kept(_TURN) or 0)


def select_rows(
    of: str, key: str, rows: tuple[int, ...], chosen: Sequence[int], *, are_all: bool
) -> None:
    """Select points in the table; if none are chosen, those that it was filtered by, if any.

    Args:
        of: the name of the map's points.
        key: the key of the chart that draws these points.
        rows: the points in the table.
        chosen: the indices of the chosen rows.
        are_all: True if the table was not filtered.
    """
    points = tuple(sorted(rows[i] for i in chosen if 0 <= i < len(rows)))
    if points:
        within = None if are_all else rows
        session.keep("map_selection", PointSelection(of, key, TABLE, points, within))
    elif are_all:
        session.keep("map_selection", None)
    else:
        session.keep("map_selection", PointSelection(of, key, TABLE, rows, rows))


def on_select(
    of: str, key: str, chart: str, read: Callable[[Sequence[Mapping[str, Any]]], list[int]]
) -> Callable[[], None]:
    """The callback of a chart: one click chooses a point, a box or a lasso selects many.

    A session keeps it, so it must not refer to the map.

    Args:
        of: the name of the map's points.
        key: the key of the chart's widget.
        chart: the name of the drawing, which its own selection must not redraw.
        read: returns points from the chart's event.
    """

    def selected() -> None:
        event = session.value(key)
        if event is None:
            return
        happened = event["selection"]
        points = read(happened["points"])
        if happened["box"] or happened["lasso"]:
            selection = PointSelection(of, key, chart, tuple(sorted(set(points))))
            session.keep("map_selection", selection)
            session.write(PANEL.put(session.current(), FIND_SELECT))
        elif points:
            choose(of, points[0])
        else:
            clear_selection()

    return selected


def search(points: Points, wanted: str) -> tuple[int, ...]:
    """The points with this name, or else all points of sentences that contain it, ignoring case."""
    needle = wanted.strip().casefold()
    if not needle:
        return ()
    hits = {i for i, text in enumerate(points.texts) if needle in text.casefold()}
    exact = tuple(i for i, name in enumerate(points.names) if name.casefold() == needle)
    return exact or tuple(i for i, text in enumerate(points.sentence.tolist()) if text in hits)


def span_of(text: str, wanted: str) -> tuple[int, int] | None:
    """The first place of a searched text in code points, ignoring case; None if it is not there.

    A character may casefold to several, as "ß" does; a match that begins or ends within one of them
    takes the whole character.
    """
    needle = wanted.strip().casefold()
    at = text.casefold().find(needle) if needle else -1
    if at < 0:
        return None
    owners = [i for i, character in enumerate(text) for _ in character.casefold()]
    return owners[at], owners[at + len(needle) - 1] + 1


def _write(of: str, marks: Mapping[Number, int | None], *, panel: str = "") -> None:
    """Mark points, and show a panel; marks of other points are removed."""
    view = session.current()
    if MARKS_OF.of(view) != of:
        for control in MARKED:
            view = control.put(view, control.default)
    view = MARKS_OF.put(view, of)
    for control, point in marks.items():
        view = control.put(view, control.default if point is None else point)
    session.write(PANEL.put(view, panel) if panel else view)
