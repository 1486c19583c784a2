"""What is marked on a map: a point, two pinned ones, a selection, what was searched for.

Point and pins are part of the view, so that a copied address shows them; they count for the points
that they were chosen among. A selection may be large and lives in the session alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.features.map.drawing import Picture
from components.features.map.request import PAGE, PANELS
from components.maps.points import Points
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = [
    "Marked",
    "Selection",
    "choose",
    "clear_selection",
    "found",
    "marked",
    "on_select",
    "pin",
]

_NAMES = ("point", "pin_a", "pin_b")


@dataclass(frozen=True)
class Selection:
    """Points that were selected, and on which drawing of which map."""

    of: str  # the points' name
    key: str  # of the chart's widget
    chart: str  # the drawing's name
    points: tuple[int, ...]


@dataclass(frozen=True)
class Marked:
    """Marked points by their index; None or empty where there is none."""

    point: int | None
    pin_a: int | None
    pin_b: int | None
    selection: Selection | None


def name_of(picture: Picture) -> str:
    """A short name that only maps of the same points share.

    Their number and first text count too: of a large corpus other points are drawn where each
    stands for every layer than where it stands once.
    """
    points = picture.points
    own = (picture.request.points_key, points.n_points, points.texts[:1])
    return hashlib.sha256(repr(own).encode()).hexdigest()[:12]


def marked(view: ViewState, picture: Picture) -> Marked:
    """What is marked on a map."""
    own = name_of(picture)
    n = picture.points.n_points
    known = view.control(PAGE, "marks_of", "") == own
    values = [int(view.control(PAGE, name, -1)) if known else -1 for name in _NAMES]
    point, pin_a, pin_b = (value if 0 <= value < n else None for value in values)
    selection: Selection | None = session.kept("map_selection")
    valid = selection is not None and selection.of == own
    return Marked(point, pin_a, pin_b, selection if valid else None)


def choose(picture: Picture, point: int | None) -> None:
    """Make this the point that is looked at closer."""
    _write(picture, "point", -1 if point is None else point)


def pin(picture: Picture, name: str, point: int | None) -> None:
    """Pin a point as "pin_a" or "pin_b"."""
    _write(picture, name, -1 if point is None else point)


def clear_selection() -> None:
    """Select nothing."""
    session.keep("map_selection", None)


def on_select(
    picture: Picture, key: str, chart: str, read: Callable[[Sequence[Mapping[str, Any]]], list[int]]
) -> Callable[[], None]:
    """The callback of a chart: one click chooses a point, a box or a lasso selects many.

    Args:
        key: of the chart's widget.
        chart: names the drawing, so that it is not drawn anew for what is marked on it already.
        read: gives points by what the chart tells of them.
    """

    def selected() -> None:
        event = session.value(key)
        if event is None:
            return
        happened = event["selection"]
        points = read(happened["points"])
        if happened["box"] or happened["lasso"]:
            own = Selection(name_of(picture), key, chart, tuple(sorted(set(points))))
            session.keep("map_selection", own)
            _look(PANELS[2])
        elif points:
            choose(picture, points[0])
        else:
            clear_selection()

    return selected


def found(points: Points, wanted: str) -> tuple[int, ...]:
    """The points whose name or sentence has what is searched for, letter case aside."""
    needle = wanted.strip().casefold()
    if not needle:
        return ()
    hits = {i for i, text in enumerate(points.texts) if needle in text.casefold()}
    exact = tuple(i for i, name in enumerate(points.names) if name.casefold() == needle)
    return exact or tuple(i for i, text in enumerate(points.sentence.tolist()) if text in hits)


def _write(picture: Picture, name: str, point: int) -> None:
    view, own = session.current(), name_of(picture)
    if view.control(PAGE, "marks_of", "") != own:
        for old in _NAMES:
            view = view.with_control(PAGE, old, -1, -1)
    view = view.with_control(PAGE, "marks_of", own, "").with_control(PAGE, name, point, -1)
    session.write(view.with_control(PAGE, "panel", PANELS[1], PANELS[0]))


def _look(panel: str) -> None:
    session.write(session.current().with_control(PAGE, "panel", panel, PANELS[0]))
