"""What a click does, wherever it falls: an occurrence, a group, or what was drawn around.

The occurrence and the group are part of the view, so that a copied address shows them and Back
undoes them. What was drawn around may be large and lives in the session alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from components.core.schema import IntArray
from components.features.senses.compute.concordance import PAGE_SIZE
from components.features.senses.controls import CHOSEN, ONLY, ROWS, SORT
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = [
    "anew",
    "choose",
    "choose_group",
    "clear",
    "drawn",
    "first_page",
    "let_go",
    "on_map",
    "places_of",
    "to_page",
    "undrawn",
]

_DRAWN = "senses_drawn"
"""Under which a visit keeps the name of the word that it drew on, and the rows inside."""


def drawn() -> tuple[str, tuple[int, ...]] | None:
    """The name of a word and the rows that were drawn around on its map; None for none."""
    own: tuple[str, tuple[int, ...]] | None = session.kept(_DRAWN)
    return own


def choose(row: int, shown: Sequence[int]) -> None:
    """Look at an occurrence, or let it go where it is looked at; the concordance turns to it.

    Args:
        row: what names it.
        shown: the rows of the concordance in order; where it is none of them, all are shown.
    """
    view = session.current()
    if CHOSEN.of(view) == row:
        let_go()
        return
    view = CHOSEN.put(view, row)
    if row not in shown:
        session.keep(_DRAWN, None)
        view = _all(view)
    elif SORT.of(view) == "cosine":
        view = first_page(view)
    else:
        view = ROWS.put(view, shown.index(row) // PAGE_SIZE + 1)
    session.write(view)


def anew(view: ViewState) -> ViewState:
    """The view with nothing selected, at the first page: for another word or corpus."""
    session.keep(_DRAWN, None)
    return CHOSEN.put(_all(view), CHOSEN.default)


def undrawn(view: ViewState) -> ViewState:
    """The view at the first page, without what was drawn around: for another sense or group."""
    session.keep(_DRAWN, None)
    return first_page(view)


def first_page(view: ViewState) -> ViewState:
    """The view at the first page of the concordance: for another order."""
    return ROWS.put(view, ROWS.default)


def let_go() -> None:
    """Look at no occurrence."""
    session.write(CHOSEN.put(session.current(), CHOSEN.default))


def choose_group(key: str) -> None:
    """Show a group or a sense alone, or all where it is shown alone."""
    view = session.current()
    now = "" if ONLY.asked(view) == key else key
    session.keep(_DRAWN, None)
    session.write(ROWS.put(ONLY.put(view, now), ROWS.default))


def clear() -> None:
    """Show all occurrences."""
    session.keep(_DRAWN, None)
    session.write(_all(session.current()))


def to_page(page: int) -> None:
    """Turn the concordance to a page."""
    session.write(ROWS.put(session.current(), page))


def on_map(
    key: str, name: str, order: Sequence[IntArray], rows: Sequence[int], shown: Sequence[int]
) -> Callable[[], None]:
    """The callback of a map: a click chooses an occurrence, a lasso selects many.

    A session keeps it, so it must not refer to what is shown.

    Args:
        key: of the chart.
        name: of the word.
        order: the places of each of its first traces.
        rows: what names the occurrence at each place; -1 for one that cannot be chosen.
        shown: the rows of the concordance in order.
    """

    def selected() -> None:
        event = session.value(key)
        if event is None:
            return
        happened = event["selection"]
        found = [rows[place] for place in places_of(happened["points"], order)]
        own = [row for row in found if row >= 0]
        if happened["box"] or happened["lasso"]:
            session.keep(_DRAWN, (name, tuple(sorted(set(own)))) if own else None)
            session.write(_all(session.current()))
        elif own:
            choose(own[0], shown)
        elif not happened["points"]:  # the same point again, or twice beside all of them
            session.keep(_DRAWN, None)
            let_go()

    return selected


def places_of(points: Sequence[Mapping[str, Any]], order: Sequence[IntArray]) -> list[int]:
    """The occurrences that a chart reports; rings and what is no occurrence are left out."""
    found = []
    for point in points:
        trace, index = point.get("curve_number"), point.get("point_index")
        if type(trace) is not int or type(index) is not int:
            continue
        if 0 <= trace < len(order) and 0 <= index < len(order[trace]):
            found.append(int(order[trace][index]))
    return found


def _all(view: ViewState) -> ViewState:
    return first_page(ONLY.put(view, ONLY.default))
