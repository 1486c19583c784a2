"""The page's own widgets: its texts, a chart, cards and a table that select points, group names.

Their callbacks mark points in the view, or keep a selection in the session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

from contextlens.content.glossary import unmarked
from contextlens.content.language import say
from contextlens.content.wording import escape, shortened, two
from contextlens.features.map import controls
from contextlens.features.map.cards import cards_of
from contextlens.features.map.chart import (
    HEIGHT,
    MapChart,
    Order,
    chart_of,
    drawing_of,
    has_marks_apart,
    marks_apart,
    phone_height,
)
from contextlens.features.map.coloring import LAYER, Coloring
from contextlens.features.map.controls import (
    CARDS_PAGE_SIZE,
    MAX_GROUP_LABELS,
    MAX_GROUP_NAME_CHARACTERS,
    MAX_LISTED_STRAYS,
)
from contextlens.features.map.display import MapDisplay, with_marks
from contextlens.features.map.groups import GroupName, pack, renamed, unpack
from contextlens.features.map.hover import MAX_HOVERED, point_text
from contextlens.features.map.identity import name_of
from contextlens.features.map.names import members_of, names_of
from contextlens.features.map.scatter import MAX_SVG, is_index, point_size, selected_points
from contextlens.features.map.selection import NAMES, TABLE, PointSelection, table_selection
from contextlens.figures.side_names import SideName
from contextlens.figures.theme import INK
from contextlens.maps.points import context
from contextlens.ui.models.background import maps
from contextlens.ui.state import session
from contextlens.ui.state.controls import Number
from contextlens.ui.state.view import MAX_VALUE_CHARACTERS
from contextlens.ui.widgets import inputs, kit
from contextlens.ui.widgets.chips import visible
from contextlens.ui.widgets.component import component, css_class
from contextlens.ui.widgets.passages import Passage

CHART = "map_chart"
OTHER_CHART = f"{CHART}_other"
SELECTION = "map_selection"
"""The session key for the selected points."""
_TABLE_TURN = "map_table_turn"
"""The session key for the number of the table's widget; a new one has no selected rows."""
_CHART_TURN = "map_chart_turn"
"""The session key for the number of the drawing; a new one has no box or lasso."""

# --- The marks of points


def mark(of: str, marks: Mapping[Number, int | None], panel: str = "") -> None:
    """Mark points of the points with this name, and show a panel."""
    session.write(with_marks(session.current(), of, marks, panel=panel))


def open_point(of: str, point: int | None) -> None:
    """Open a point of the points with this name; None deselects it."""
    mark(of, {controls.POINT: point}, controls.POINT_PANEL)


def clear_selection() -> None:
    """Clear the selection, and that of the table: a new table has no selected rows."""
    session.keep(SELECTION, None)
    session.keep(_TABLE_TURN, (session.kept(_TABLE_TURN) or 0) + 1)


def draw_without_selection() -> None:
    """Clear the selection, and have the chart drawn without the browser's box or lasso."""
    clear_selection()
    session.keep(_CHART_TURN, (session.kept(_CHART_TURN) or 0) + 1)


# --- The chart

_CONFIG = {
    "displaylogo": False,
    "displayModeBar": True,
    "scrollZoom": True,
    # Keep only pan, box and lasso selection, zoom, and reset.
    "modeBarButtonsToRemove": ["autoScale2d", "toImage", "zoom2d"],
}


def map_chart(
    display: MapDisplay,
    *,
    key: str = CHART,
    linked: tuple[int, ...] | None = None,
    half: bool = False,
) -> None:
    """Draw a map that supports clicks and selection.

    Args:
        display: the map.
        key: the key of its chart.
        linked: points that are selected in the other map.
        half: True if it takes half of the page.
    """
    turn = session.kept(_CHART_TURN) or 0
    name, is_phone = drawing_of(display, f"{key} {turn}"), session.is_phone()
    height = phone_height(display) if is_phone else HEIGHT
    chart = chart_of(
        display, name, linked=linked, narrow=half or is_phone, height=height, turn=turn
    )
    n, order, of = display.drawn.n_points, chart.order, name_of(display.result)
    is_apart = has_marks_apart(display)

    def selected() -> None:  # the session keeps it, so it must not refer to the map
        event = session.value(key)
        if event is None:
            return
        event = event["selection"]
        points = sorted({point % n for point in selected_points(event["points"], order)})
        if event["box"] or event["lasso"]:
            session.keep(SELECTION, PointSelection(of, key, name, tuple(points)))
            session.write(controls.PANEL.put(session.current(), controls.FIND_SELECT))
        elif points:
            open_point(of, points[0])
        else:
            clear_selection()

    kit.chart(
        chart.figure,
        key=key,
        config={**_CONFIG, "displayModeBar": not is_phone},
        on_select=selected,
        selection_mode=("box", "lasso") if is_apart else ("points", "box", "lasso"),
        alt=say("map.alt", title=unmarked(display.headline), n=n),
    )
    if sum(map(len, order)) > MAX_HOVERED:
        _point_texts(display, chart, name, key=key)
    if is_apart:
        _marks(display, chart, name, key=key)
    if n < display.points.n_points:
        st.caption(say("map.no_webgl.points", shown=n, n=display.points.n_points))
    if display.result.request.settings.n_components == 3:
        st.caption(say("map.in_3d"))


def _point_texts(display: MapDisplay, chart: MapChart, drawing: str, *, key: str) -> None:
    """Show the text of the point at which a reader points, which the browser asks for.

    Only this part of the page runs for it. The session keeps the part, so it must not refer to the
    map. A place in the chart is another point's once the chart is drawn otherwise, so the browser
    says in which drawing it is. A figure that differs at all, as by a selection, is drawn anew and
    has to be listened to again.
    """
    order, figure = chart.order, chart.checksum
    request, n, color = display.result.request, display.drawn.n_points, display.drawn_color
    if display.finding.every_layer:
        layers = np.array(display.result.layers, dtype=np.float32)
        color = Coloring(LAYER, "measure", np.repeat(layers, n))
    own_key = f"{key}_text"

    def receive(asked: object) -> None:
        place = _place_in(asked, drawing)
        if place is not None:
            points = _points_at(place, order)
            session.keep(own_key, (drawing, place, points[0] if points else None))

    @st.fragment
    def answer() -> None:
        data: dict[str, object] = {"chart": css_class(key), "of": drawing, "place": []}
        data["figure"] = figure
        asked, result = session.kept(own_key), maps().result(request)
        if asked is not None and asked[0] == drawing:
            data["place"] = asked[1]
            if result is not None and asked[2] is not None:  # else there is no text any more
                text = point_text(result.points, asked[2] % n, color, asked[2])
                data["parts"] = [visible(text[part]) for part in ("before", "marked", "after")]
                data["labels"] = [visible(label) for label in text["labels"]]
        component("contextlens.features.map", "point_text", data, key=own_key, on_pick=receive)

    answer()


def _marks(display: MapDisplay, chart: MapChart, drawing: str, *, key: str) -> None:
    """Let the browser draw the marks over the chart, and open the point that is clicked.

    If Streamlit reported clicks, it would fade all other points, and report a point only once.
    """
    of, n, order = name_of(display.result), display.drawn.n_points, chart.order

    def receive(clicked: object) -> None:
        place = _place_in(clicked, drawing)
        points = [] if place is None else _points_at(place, order)
        if points:
            open_point(of, points[0])

    data = {
        "chart": css_class(key),
        "of": drawing,
        "figure": chart.checksum,
        "traces": marks_apart(display, drawing),
        "size": point_size(n),
        "ink": INK,
    }
    component("contextlens.features.map", "marks", data, key=f"{key}_marks", on_pick=receive)


def _place_in(message: object, drawing: str) -> list[int] | None:
    """Return the curve and the index that a browser names, if they are in this drawing."""
    if not isinstance(message, Mapping) or message.get("of") != drawing:
        return None
    place = message.get("place")
    is_place = isinstance(place, list) and len(place) == 2 and all(map(is_index, place))
    return place if is_place else None


def _points_at(place: Sequence[int], order: Order) -> list[int]:
    curve, index = place
    return selected_points([{"curve_number": curve, "point_index": index}], order)


# --- The names beside the map


def shown_names(display: MapDisplay) -> tuple[SideName, ...]:
    """The names on a map at the shown layer."""
    if display.finding.every_layer:
        return ()
    return names_of(display.result, display.row, display.row, display.finding)


def map_names(display: MapDisplay) -> None:
    """Let a click on a name select its points; list the names where the map is narrow."""
    names = shown_names(display)
    if not names or display.is_stale:
        return
    of, members = name_of(display.result), members_of(display.finding)
    rows = {name.key: tuple(members[name.key].tolist()) for name in names}
    chosen = display.chosen_name

    def receive(key: object) -> None:
        if not isinstance(key, str) or key not in rows:
            return
        if key == chosen:
            clear_selection()
            return
        session.keep(SELECTION, PointSelection(of, CHART, NAMES, rows[key], name=key))
        session.write(controls.PANEL.put(session.current(), controls.FIND_SELECT))

    listed = names  # a scale stands in its order
    if not display.finding.color.is_scale:
        listed = tuple(sorted(names, key=lambda name: -len(rows[name.key])))
    data = {
        "chart": css_class(CHART),
        "chosen": chosen,
        "about": say("map.names"),
        "names": [
            {
                "key": name.key,
                "text": visible(shortened(name.text, 40)),
                "label": name.label,
                "color": name.color,
                "place": name.place,
                "weight": name.weight,
                "n": len(rows[name.key]),
            }
            for name in listed
        ],
    }
    component("contextlens.features.map", "names", data, key="map_names", on_pick=receive)


def named(display: MapDisplay, selection: PointSelection) -> str:
    """The name whose points are selected, with their number, in Markdown."""
    names = {name.key: name.text for name in shown_names(display)}
    text = names.get(selection.name, selection.name)
    unit = display.points.unit
    one = unit.removesuffix("s")
    return say(
        "map.selection_panel.named", n=len(selection.points), name=escape(text), one=one, many=unit
    )


def stray_passages(display: MapDisplay) -> list[Passage]:
    """The first points that the test of a word's senses sorts wrong, and how."""
    tests, color = display.finding.senses, display.finding.color
    if tests is None:
        return []
    test, trial = tests.curve[display.row], tests.trial
    passages = []
    for point in display.finding.strays[display.row][:MAX_LISTED_STRAYS]:
        own, other = trial.senses[trial.codes[point]], trial.senses[test.predicted[point]]
        note = say("senses.strays.taken", own=own, other=other)
        ink = color.colors.get(str(color.values[point]), "")
        passages.append(Passage(context(display.points, point, longest=160), note, ink))
    return passages


# --- Points as cards

_FIRST_CARD = "map_cards_start"
"""The session key for the shown part of the list: the list's name and its first card."""
_TEXTS: tuple[Literal["before", "marked", "after", "label"], ...]
_TEXTS = ("before", "marked", "after", "label")


def card_list(display: MapDisplay, rows: Sequence[int], *, cosines: Sequence[float] = ()) -> None:
    """Draw some points as cards, a part of them at once.

    A click, or an arrow key that rests on a card, selects its point; Enter or a double click opens
    it. The browser shows the card that has the focus on the map's chart.

    Args:
        display: the map.
        rows: the points, in order.
        cosines: a similarity for each of them; none by default.
    """
    if not rows:
        return
    of, n = name_of(display.result), len(rows)
    name = (of, display.wanted, display.near_to, n, rows[0], rows[-1])
    before = session.kept(_FIRST_CARD)
    start = before[1] if before is not None and before[0] == name else 0
    page = slice(start, start + CARDS_PAGE_SIZE)
    cards = cards_of(display, rows[page], [two(cosine) for cosine in cosines[page]])
    known = {card["point"] for card in cards}

    def receive(message: object) -> None:
        if not isinstance(message, Mapping) or message.get("of") != of:
            return  # a card of other points
        point, action = message.get("point"), message.get("wish")
        if type(point) is int and point in known:  # `type`, because True is an int too
            if action == "choose":
                mark(of, {controls.POINT: point})
            elif action == "open":
                open_point(of, point)

    data = {
        "name": say("map.cards.name"),
        "of": of,
        "chosen": -1 if display.point is None else display.point,
        "chart": css_class(CHART),
        "cards": [card | {text: visible(card[text]) for text in _TEXTS} for card in cards],
    }
    component("contextlens.features.map", "cards", data, key="map_cards", on_pick=receive)
    if n > CARDS_PAGE_SIZE:
        inputs.steps(
            "map_cards",
            start,
            n,
            at_once=CARDS_PAGE_SIZE,
            on_step=lambda first: session.keep(_FIRST_CARD, (name, first)),
        )


# --- Points as rows

_FIRST_COLUMNS = {"on map": 0, "sentence": 1}


def points_table(display: MapDisplay) -> None:
    """The points as rows: those selected on the map, or all; rows select points in turn."""
    selection, of = display.marked.selection, name_of(display.result)
    is_own = selection is not None and selection.chart == TABLE
    filtered = None
    if selection is not None:
        filtered = selection.within if is_own else selection.points
    n = display.points.n_points if filtered is None else len(filtered)
    rows = tuple((range(n) if filtered is None else filtered)[: controls.MAX_LISTED_ROWS])
    numbers = {"n": n, "total": display.points.n_points}
    are_all = filtered is None
    st.caption(
        say("map.table_panel.all", **numbers) if are_all else say("map.table_panel.some", **numbers)
    )
    table = pd.DataFrame(display.points.rows(rows))
    identity = (of, rows, session.kept(_TABLE_TURN) or 0)
    key = f"map_rows_{hashlib.sha256(repr(identity).encode()).hexdigest()[:12]}"
    # A table that comes back marks the rows that it selected.
    marked = set(selection.points) if selection is not None and is_own else set()
    picked_rows = [i for i, row in enumerate(rows) if row in marked]

    def chosen() -> None:
        event = session.value(key)
        picked = [] if event is None else event["selection"]["rows"]
        session.keep(SELECTION, table_selection(of, CHART, rows, picked, are_all=are_all))

    st.dataframe(
        table,
        hide_index=True,
        height=380,
        column_order=sorted(table.columns, key=lambda name: _FIRST_COLUMNS.get(name, 2)),
        column_config={"sentence": st.column_config.TextColumn(width=176)},
        on_select=chosen,
        selection_mode="multi-row",
        selection_default={"selection": {"rows": picked_rows}},
        key=key,
    )
    if n > len(rows):
        st.caption(say("map.selection_panel.first_rows", shown=len(rows), n=n))


# --- The names of groups


def group_fields(display: MapDisplay) -> None:
    """A field for each group's name."""
    labels = display.finding.group_labels[:MAX_GROUP_LABELS]
    if not labels or display.is_stale:
        return
    with kit.menu(say("map.group_names.open"), icon="label"):
        st.caption(say("map.group_names.about"))
        for label in labels:
            number, before = label.cluster + 1, display.finding.groups.own_names.get(label.cluster)
            name = "" if before is None else before.name
            point = int(np.flatnonzero(display.finding.groups.numbers == label.cluster)[0])
            key = session.bind(f"map_group_{number}", name)
            st.text_input(
                say("map.group_names.field", number=number, n=label.n_points),
                name,
                max_chars=MAX_GROUP_NAME_CHARACTERS,
                placeholder=label.text or None,
                key=key,
                on_change=_name_group,
                args=(key, name_of(display.result), before, display.layer, point),
            )


def _name_group(key: str, of: str, before: GroupName | None, layer: int, point: int) -> None:
    if not session.is_shown(key):
        return
    view, control = session.current(), controls.GROUP_NAMES
    name = str(session.value(key) or "")
    packed = pack(of, renamed(unpack(of, control.of(view)), before, layer, point, name))
    if len(packed) > MAX_VALUE_CHARACTERS:
        session.remember(say("map.group_names.full"))
        return
    session.write(control.put(view, packed))


# --- A browser without WebGL

_NO_WEBGL = "map_no_webgl"


def has_webgl() -> bool:
    """Return False if the browser has answered that it has no WebGL."""
    return session.kept(_NO_WEBGL) is None


def check_webgl(display: MapDisplay) -> None:
    """Ask the browser for WebGL if the map needs it; say so if it has none."""
    in_space = controls.DIMS.of(session.current()) == "3-D"
    n_drawn = display.points.n_points * (len(display.frames) if display.finding.every_layer else 1)
    if not has_webgl():
        if in_space:
            st.caption(say("map.no_webgl.flat"))
    elif in_space or n_drawn > MAX_SVG:
        component(
            "contextlens.features.map",
            "webgl",
            {},
            key="map_webgl",
            on_pick=lambda answer: session.keep(_NO_WEBGL, answer),
        )
