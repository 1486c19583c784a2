"""Points of a map that stand out: chosen ones, search hits, pinned ones, neighbours with lines.

Beside them stand numbers or letters, which tables of the page have too: names would pile up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from components.core.schema import FloatArray, IntArray
from components.features.map.figures.axes import INK, axes_of, font_of
from components.features.map.figures.frame import Ranges
from components.features.map.figures.numbers import sides
from components.figures.theme import plain

__all__ = ["NO_MARKS", "Marks", "mark_rows", "mark_traces", "trail_label"]

_SYMBOLS = ("square-open", "diamond-open", "triangle-up-open", "hexagon-open")
_IN_SPACE = ("square-open", "diamond-open")  # of those, what three dimensions have
_FOCUS, _NEAR = "the point", "its neighbours"


@dataclass(frozen=True)
class Marks:
    """What to mark on a map, by the points' numbers.

    Attributes:
        chosen: these stay as they are and all others fade; None where nothing is chosen.
        rings: kinds of points by title ("search hits", "pinned"), each with rings of its own.
        focus: a point from which lines go to its neighbours, or None.
        neighbours: where the lines go.
        labels: what is written beside points that have a ring or a trail: a number, a letter.
    """

    chosen: Sequence[int] | None = None
    rings: Mapping[str, Sequence[int]] = field(default_factory=lambda: MappingProxyType({}))
    focus: int | None = None
    neighbours: Sequence[int] = ()
    labels: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))


NO_MARKS = Marks()


def mark_rows(marks: Marks) -> list[IntArray]:
    """The points of each trace of `mark_traces`, in the same order."""
    lines = [np.zeros(0, dtype=np.int64)] if _has_lines(marks) else []
    return [*lines, *(np.asarray(own, dtype=np.int64) for own in _ringed(marks).values())]


def mark_traces(
    places: FloatArray, marks: Marks, *, kind: str, size: float, frame: Ranges
) -> list[dict[str, Any]]:
    """Lines, then rings, to draw over the points; kind of trace and size are the points' own."""
    ringed, where = _ringed(marks), sides(places, marks.labels, frame)
    waiting = dict(marks.labels)  # each is written once, whatever rings its point has
    traces = [_lines(kind, places, marks)] if _has_lines(marks) else []
    for title, symbol in zip(ringed, _symbols(ringed, marks, kind), strict=True):
        own = ringed[title]
        labels = [plain(waiting.pop(row, "")) for row in own]
        text = {"mode": "markers+text", "text": labels, "textfont": font_of(kind)}
        text["textposition"] = [where.get(row, "top center") for row in own]
        ring = {"symbol": symbol, "size": size + (3 if symbol == "circle" else 7), "color": INK}
        traces.append(
            {
                "type": kind,
                "mode": "markers",
                **axes_of(places[np.asarray(own, dtype=np.int64)]),
                "marker": {**ring, "line": {"width": 2, "color": INK}},
                "name": plain(title),
                "hoverinfo": "skip",
                **(text if any(labels) else {}),
            }
        )
    return traces


def trail_label(marks: Marks, point: int) -> str:
    """What is written at the end of a point's trail: its label, unless a ring has it."""
    has_ring = any(point in own for own in _ringed(marks).values())
    return "" if has_ring else plain(marks.labels.get(point, ""))


def _symbols(ringed: Mapping[str, Any], marks: Marks, kind: str) -> list[str]:
    """A disc for a point, circles for its neighbours, other shapes for each kind of ring."""
    shapes = _IN_SPACE if kind == "scatter3d" else _SYMBOLS
    others = [title for title in ringed if title in marks.rings]
    rings = {title: shapes[i % len(shapes)] for i, title in enumerate(others)}
    return [({_FOCUS: "circle", _NEAR: "circle-open"} | rings)[title] for title in ringed]


def _has_lines(marks: Marks) -> bool:
    return marks.focus is not None and len(marks.neighbours) > 0


def _ringed(marks: Marks) -> dict[str, Sequence[int]]:
    near: dict[str, Sequence[int]] = {} if marks.focus is None else {_FOCUS: [marks.focus]}
    if len(marks.neighbours):
        near[_NEAR] = marks.neighbours
    return {title: rows for title, rows in {**near, **marks.rings}.items() if len(rows)}


def _lines(kind: str, places: FloatArray, marks: Marks) -> dict[str, Any]:
    """One line trace from the focus to each neighbour and back."""
    gap = np.full(places.shape[1], np.nan, dtype=np.float32)
    ways = [row for near in marks.neighbours for row in (places[marks.focus], places[near], gap)]
    return {
        "type": kind,
        "mode": "lines",
        **axes_of(np.array(ways)),
        "line": {"color": INK, "width": 1.5},
        "opacity": 0.6,
        "hoverinfo": "skip",
        "showlegend": False,
    }
