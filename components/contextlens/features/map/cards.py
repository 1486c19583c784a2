"""The list of points beside a map: a card for each, its word marked, to select by click or keys.

Python splits the texts, so JavaScript never converts an offset. Must not import torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

import numpy as np

from contextlens.content.language import say
from contextlens.core.schema import IntArray
from contextlens.core.words import Span
from contextlens.features.map.compute import MapDisplay
from contextlens.features.map.figures import groups
from contextlens.features.map.marks import span_of
from contextlens.maps.points import around
from contextlens.ui.widgets.chips import visible
from contextlens.ui.widgets.component import component, css_class

_LONGEST = 160  # characters of a sentence


class _Card(TypedDict):
    point: int
    before: str
    marked: str
    after: str
    label: str
    color: str
    note: str
    place: list[int]


def point_cards(
    display: MapDisplay,
    rows: Sequence[int],
    *,
    notes: Sequence[str] = (),
    chart: str,
    on_choose: Callable[[int], None],
    on_open: Callable[[int], None],
) -> None:
    """Draw the cards of some points.

    Args:
        display: the map.
        rows: the points, in order.
        notes: a short text for each card; none by default.
        chart: the key of the map's chart, on which the browser shows the card that has the focus.
        on_choose: called with a point that is clicked, or that arrow keys rest on.
        on_open: called with a point on Enter or a double click.
    """

    def receive(message: object) -> None:
        if not isinstance(message, Mapping):
            return
        point, wish = message.get("point"), message.get("wish")
        if type(point) is int and point in rows:  # `type`, because True is an int too
            {"choose": on_choose, "open": on_open}.get(str(wish), _ignore)(point)

    data = {
        "name": say("map.cards.name"),
        "chosen": -1 if display.point is None else display.point,
        "chart": css_class(chart),
        "cards": cards_of(display, rows, notes),
    }
    component("contextlens.features.map", "cards", data, key="map_cards", on_pick=receive)


def _ignore(_point: int) -> None:
    """Do nothing, as for a message that no card sends."""


def cards_of(display: MapDisplay, rows: Sequence[int], notes: Sequence[str] = ()) -> list[_Card]:
    """What each card shows, and the place of its point among the chart's traces."""
    points = display.points
    traces = groups(display.drawn_color, display.drawn.n_points)
    order = [group.rows for group in traces]
    cards: list[_Card] = []
    for i, row in enumerate(rows):
        place = _place(order, row)
        text = points.text(row)
        start, end = _marked(display, row)
        parts = around(text, start, end, longest=_LONGEST)
        before, marked, after = parts if start < end else (parts[1], "", "")
        note = [display.labels.get(row, ""), notes[i] if notes else ""]
        cards.append(
            {
                "point": row,
                "before": visible(before),
                "marked": visible(marked),
                "after": visible(after),
                "label": visible(_label(display, row)),
                "color": traces[place[0]].color if place else "",
                "note": " · ".join(filter(None, note)),
                "place": [] if display.finding.every_layer else place,
            }
        )
    return cards


def _marked(display: MapDisplay, row: int) -> Span:
    """The span of the searched text in a point's sentence, else of the point's own word."""
    start, end = (int(edge) for edge in display.points.spans[row])
    if display.points.unit == "sentences":
        start = end = 0
    text = display.points.text(row)
    found = span_of(text, display.wanted) if display.wanted else None
    is_named = text[start:end].casefold() == display.wanted.casefold()
    return (start, end) if found is None or is_named else found


def _label(display: MapDisplay, row: int) -> str:
    labels = display.points.labels
    column = display.finding.column or display.finding.color.title
    columns = [labels[column]] if column in labels else labels.values()
    return next((values[row] for values in columns if values[row]), "")


def _place(order: Sequence[IntArray], row: int) -> list[int]:
    """The trace of a point, and its index there; nothing for a point that is not drawn."""
    for trace, members in enumerate(order):
        found = np.flatnonzero(members == row)
        if len(found):
            return [trace, int(found[0])]
    return []
