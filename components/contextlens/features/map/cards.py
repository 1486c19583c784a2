"""The list of points beside a map: a card for each, with its word marked.

Python splits the texts, so JavaScript never converts an offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from contextlens.core.schema import IntArray
from contextlens.core.words import Span
from contextlens.features.map.coloring import groups
from contextlens.features.map.display import MapDisplay
from contextlens.features.map.find import span_of
from contextlens.maps.points import around

_LONGEST = 160  # characters of a sentence


class Card(TypedDict):
    """The texts of a card, and its point's position: the trace of the chart, and the index."""

    point: int
    before: str
    marked: str
    after: str
    label: str
    color: str
    note: str
    place: list[int]


def cards_of(display: MapDisplay, rows: Sequence[int], notes: Sequence[str] = ()) -> list[Card]:
    """Return the texts of each card, and the position of its point among the chart's traces."""
    points = display.points
    traces = groups(display.drawn_color, display.drawn.n_points)
    order = [group.rows for group in traces]
    cards: list[Card] = []
    for i, row in enumerate(rows):
        position = _position(order, row)
        text = points.text(row)
        start, end = _marked(display, row)
        parts = around(text, start, end, longest=_LONGEST)
        before, marked, after = parts if start < end else (parts[1], "", "")
        note = [display.labels.get(row, ""), notes[i] if notes else ""]
        cards.append(
            {
                "point": row,
                "before": before,
                "marked": marked,
                "after": after,
                "label": _label(display, row),
                "color": traces[position[0]].color_at(position[1]) if position else "",
                "note": " · ".join(filter(None, note)),
                "place": [] if display.finding.every_layer else position,
            }
        )
    return cards


def _marked(display: MapDisplay, row: int) -> Span:
    """The span of the searched text in a point's sentence, else of the point's own word."""
    start, end = (int(edge) for edge in display.points.spans[row])
    if display.points.unit == "sentences":
        start = end = 0
    text = display.points.text(row)
    match = span_of(text, display.wanted) if display.wanted else None
    is_named = text[start:end].casefold() == display.wanted.casefold()
    return (start, end) if match is None or is_named else match


def _label(display: MapDisplay, row: int) -> str:
    labels = display.points.labels
    column = display.finding.column or display.finding.color.title
    columns = [labels[column]] if column in labels else labels.values()
    label = next((values[row] for values in columns if values[row]), "")
    return display.finding.color.shown.get(label, label)


def _position(order: Sequence[IntArray], row: int) -> list[int]:
    """The trace of a point, and its index there; nothing for a point that is not drawn."""
    for trace, members in enumerate(order):
        indices = np.flatnonzero(members == row)
        if len(indices):
            return [trace, int(indices[0])]
    return []
