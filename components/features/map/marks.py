"""The marks on a map: a point, two pinned ones, a selection, search results.

The point and the pins are part of the view, so a copied address shows them. They apply only to
maps of the same points. A selection may be large and lives only in the session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from components.features.map.controls import (
    FIND_SELECT,
    MARKED,
    MARKS_OF,
    PANEL,
    PIN_A,
    PIN_B,
    POINT,
    POINT_PANEL,
)
from components.maps.points import Points
from components.maps.result import MapResult
from components.ui.state import session
from components.ui.state.controls import Number
from components.ui.state.view import ViewState

__all__ = [
    "MarkedPoints",
    "PointSelection",
    "choose",
    "clear_selection",
    "marked",
    "name_of",
    "on_select",
    "pin",
    "search",
    "unpin",
]


@dataclass(frozen=True)
class PointSelection:
    """Selected points, with the drawing and the map on which they were selected."""

    of: str  # the name of the map's points, from `name_of`
    key: str  # the key of the chart's widget
    chart: str  # the drawing's name
    points: tuple[int, ...]


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
    """Select a point on maps of the points with this name; None deselects it."""
    _write(of, {POINT: point})


def pin(of: str, name: Literal["A", "B"], point: int) -> None:
    """Pin a point as A or as B."""
    _write(of, {PIN_A if name == "A" else PIN_B: point})


def unpin(of: str) -> None:
    """Remove both pins."""
    _write(of, {PIN_A: None, PIN_B: None})


def clear_selection() -> None:
    """Clear the selection."""
    session.keep("map_selection", None)


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


def _write(of: str, marks: Mapping[Number, int | None]) -> None:
    """Mark points and show their look; marks of other points are removed."""
    view = session.current()
    if MARKS_OF.of(view) != of:
        for control in MARKED:
            view = control.put(view, control.default)
    view = MARKS_OF.put(view, of)
    for control, point in marks.items():
        view = control.put(view, control.default if point is None else point)
    session.write(PANEL.put(view, POINT_PANEL))
