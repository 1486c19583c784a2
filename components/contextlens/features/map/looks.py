"""The looks beside a map: its quality, one point, and a selection of points."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from contextlens.analysis.baseline import Band
from contextlens.analysis.ruler import Ruler
from contextlens.analysis.words import POOLINGS
from contextlens.content.language import Claim, say
from contextlens.content.wording import escape
from contextlens.core.schema import Passport
from contextlens.features.map import marks
from contextlens.features.map.cards import point_cards
from contextlens.features.map.compute import MapDisplay, MapRecipe
from contextlens.features.map.controls import FIND, NEAR, PANEL, POINT_PANEL, TABLE_PANEL, TRUST
from contextlens.features.map.reading import near_claim, neighbours_claim, pinned_claim
from contextlens.features.map.trust import count_equal, trust_of
from contextlens.jobs import Job
from contextlens.maps.map_quality import MapQuality
from contextlens.maps.stability import Stability
from contextlens.ui.frame import errors
from contextlens.ui.models import waiting
from contextlens.ui.models.background import maps
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.comparison import drawing
from contextlens.ui.widgets.comparison.ruler import RulerShown, pair_on_ruler, ruler_reading

# --- One point: its true neighbours beside those on the map

_LONGEST_NAME = 40


def point_look(display: MapDisplay, band: Band | None, ruler: Ruler | None) -> None:
    """The selected point, if any, and the pinned ones."""
    if display.point is None:
        st.caption(say("map.point_panel.empty"))
    else:
        st.markdown(f"**{_name(display, display.point)}** · {_sentence(display, display.point)}")
        _buttons(display, display.point)
        _neighbours(display, display.point)
    _pins(display, band, ruler)


def _buttons(display: MapDisplay, point: int) -> None:
    of = marks.name_of(display.result)
    left, middle, right = st.columns(3, gap="small")
    for place, name in ((left, "A"), (middle, "B")):
        place.button(
            say(f"map.point_panel.pin_{name.lower()}"),
            key=f"map_to_pin_{name.lower()}",
            width="stretch",
            on_click=marks.pin,
            args=(of, name, point),
        )
    clear = say("map.point_panel.clear")
    right.button(clear, key="map_let_go", width="stretch", on_click=marks.choose, args=(of, None))


def _neighbours(display: MapDisplay, point: int) -> None:
    """The nearest points in the full space and on the map, in words and as tables."""
    true, near = display.true_neighbors(point), display.map_neighbors(point)
    name = display.called(point) if display.finding.one_name else display.points.names[point]
    kit.reading([neighbours_claim(name, true, near)], key="reading_point")
    for key, rows in (("full", true), ("here", near)):
        st.caption(say(f"map.point_panel.{key}"))
        _table(display, point, key, rows, set(true) & set(near))


def _table(display: MapDisplay, point: int, key: str, rows: Sequence[int], both: set[int]) -> None:
    points, unit = display.points, display.points.unit.removesuffix("s")
    named = points.unit == "sentences" or not display.finding.one_name
    columns = {
        "": ["✓" if row in both else "" for row in rows],
        "on map": [display.labels.get(row, "") for row in rows],
        "cosine": display.cosines(point, rows),
        **({unit: [points.names[row] for row in rows]} if named else {}),
        "sentence": [points.text(row) for row in rows],
    }
    kit.table(
        pd.DataFrame(columns),
        height=180,
        columns={
            "": st.column_config.TextColumn(width=28),
            "on map": st.column_config.TextColumn(width=56),
            "cosine": st.column_config.NumberColumn(format="%.4f", width=64),
        },
        key=f"map_near_{key}",
    )


def _pins(display: MapDisplay, band: Band | None, ruler: Ruler | None) -> None:
    a, b = display.marked.pin_a, display.marked.pin_b
    if a is None and b is None:
        return
    if a is None or b is None:
        one = a if a is not None else b
        st.caption(say("map.point_panel.one_pin", name=_name(display, one or 0)))
    else:
        on_ruler = _on_ruler(display, a, b, ruler, band)
        if on_ruler is None or not on_ruler.ranges:
            kit.reading([_pinned(display, a, b, band)], key="reading_pinned")
        else:
            names = {"a": _name(display, a), "b": _name(display, b)}
            st.caption(say("map.point_panel.pins", **names))
            kit.reading([ruler_reading(on_ruler)], key="reading_pinned")
            lowest = min(kind.low for kind in on_ruler.ranges)
            drawing.ruler(on_ruler, scale=(lowest, 1.0), key="map_ruler", height=160)
    of = marks.name_of(display.result)
    st.button(say("map.point_panel.unpin"), key="map_unpin", on_click=marks.unpin, args=(of,))


def _pinned(display: MapDisplay, a: int, b: int, band: Band | None) -> Claim:
    has_layer = display.layer >= 0
    return pinned_claim(
        display.points.names[a],
        display.points.names[b],
        display.cosines(a, [b])[0],
        layer=display.layer if has_layer else None,
        band=band if display.points.unit == "words" and has_layer else None,
    )


def _on_ruler(
    display: MapDisplay, a: int, b: int, ruler: Ruler | None, band: Band | None
) -> RulerShown | None:
    """Two pinned words on the ruler; None if it does not apply to these points or vectors."""
    pooling = display.result.request.pooling
    if (
        ruler is None
        or display.points.unit != "words"
        or display.layer < 0
        or pooling not in POOLINGS
    ):
        return None
    names = [display.points.names[point] for point in (a, b)]
    cosine, at = display.cosines(a, [b])[0], (display.layer, pooling)
    return pair_on_ruler(names, cosine, ruler, at=at, band=band)


def _name(display: MapDisplay, point: int) -> str:
    name = display.points.names[point]
    return escape(name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…")


def _sentence(display: MapDisplay, point: int) -> str:
    labels = [column[point] for column in display.points.labels.values() if column[point]]
    if display.points.unit == "sentences":
        return escape(" · ".join(labels[:3]))
    return escape(display.points.text(point))


# --- Points as cards: found, nearest to a text, selected, or all

_AT_ONCE = 20
_START = "map_cards_start"
"""The session key for the shown part of the list: the list's name and its first card."""


def find_look(view: ViewState, display: MapDisplay, chart: str) -> None:
    """Points near a typed text; else all points, or those found, of the selected ones if any."""
    inputs.text(view, FIND)
    inputs.text(view, NEAR)
    near, selection = display.near, display.marked.selection
    if near is not None and near.problem:
        st.info(near.problem)
    elif near is not None:
        kit.reading([near_claim(near.name, near.cosines)], key="reading_near")
        _cards(display, near.rows, chart, cosines=near.cosines)
        return
    rows: Sequence[int] = range(display.points.n_points)
    if display.matches is not None:
        rows, n = display.matches, len(display.matches)
        st.caption(say("map.selection_panel.found" if n else "map.selection_panel.not_found", n=n))
    elif selection is None:
        st.caption(say("map.selection_panel.empty"))
    if selection is not None:
        found = set(rows)
        rows = [row for row in selection.points if row in found]
        kit.reading(display.selected_in_words(), key="reading_selection")
    _cards(display, rows, chart)
    if selection is not None:
        _selection_buttons(display, selection.points)


def _cards(
    display: MapDisplay, rows: Sequence[int], chart: str, *, cosines: Sequence[float] = ()
) -> None:
    """Some points as cards, a part of them at once."""
    if not rows:
        return
    of, n = marks.name_of(display.result), len(rows)
    name = (of, display.wanted, display.near_to, n, rows[0], rows[-1])
    before = session.kept(_START)
    start = before[1] if before is not None and before[0] == name else 0
    part = slice(start, start + _AT_ONCE)
    point_cards(
        display,
        rows[part],
        notes=[f"{cosine:.2f}" for cosine in cosines[part]],
        chart=chart,
        on_choose=partial(marks.ring, of),
        on_open=partial(marks.choose, of),
    )
    if n > _AT_ONCE:
        inputs.steps(
            "map_cards",
            start,
            n,
            at_once=_AT_ONCE,
            on_step=lambda first: session.keep(_START, (name, first)),
        )


# --- Points as a table

_MOST_ROWS = 2_000
_FIRST = {"on map": 0, "sentence": 1}


def table_look(display: MapDisplay, chart: str) -> None:
    """The points as rows: those selected on the map, or all; rows select points in turn."""
    selection, of = display.marked.selection, marks.name_of(display.result)
    if selection is None:
        filtered = None
    else:
        filtered = selection.within if selection.chart == marks.TABLE else selection.points
    n = display.points.n_points if filtered is None else len(filtered)
    rows = tuple((range(n) if filtered is None else filtered)[:_MOST_ROWS])
    case = "all" if filtered is None else "some"
    st.caption(say(f"map.table_panel.{case}", n=n, total=display.points.n_points))
    table = pd.DataFrame(display.points.rows(rows))
    identity = (of, rows, marks.table_turn())
    key = f"map_rows_{hashlib.sha256(repr(identity).encode()).hexdigest()[:12]}"
    are_all = filtered is None
    # A table that comes back marks the rows that it selected.
    own = selection is not None and selection.chart == marks.TABLE
    marked = set(selection.points) if selection is not None and own else set()
    picked_rows = [i for i, row in enumerate(rows) if row in marked]

    def chosen() -> None:
        event = session.value(key)
        picked = [] if event is None else event["selection"]["rows"]
        marks.select_rows(of, chart, rows, picked, are_all=are_all)

    st.dataframe(
        table,
        hide_index=True,
        height=380,
        column_order=sorted(table.columns, key=lambda name: _FIRST.get(name, 2)),
        column_config={"sentence": st.column_config.TextColumn(width=176)},
        on_select=chosen,
        selection_mode="multi-row",
        selection_default={"selection": {"rows": picked_rows}},
        key=key,
    )
    if n > len(rows):
        st.caption(say("map.selection_panel.first_rows", shown=len(rows), n=n))
    if selection is not None:
        _selection_buttons(display, selection.points)


def _selection_buttons(display: MapDisplay, rows: tuple[int, ...]) -> None:
    left, right = st.columns(2, gap="small")
    left.download_button(
        say("map.selection_panel.download"),
        partial(_csv, MapRecipe.of(display), rows, display.result.passport),
        file_name="map-selection.csv",
        mime="text/csv",
        on_click="ignore",
        icon=":material/download:",
        width="stretch",
        key="map_selection_csv",
    )
    right.button(
        say("map.selection_panel.clear"),
        icon=":material/close:",
        width="stretch",
        key="map_clear",
        on_click=marks.clear_selection,
    )


def _csv(recipe: MapRecipe, rows: tuple[int, ...], passport: Passport) -> bytes:
    return export.to_csv(recipe.display().points.rows(rows), passport)


# --- The quality of a map

_PLACE = "map_stability"
"""The name under which a visitor waits for the maps of two more seeds."""
_WANTED = f"{_PLACE}_wanted"


def trust_look(display: MapDisplay) -> None:
    """The report on the map's quality."""
    job = (
        _check(display) if _is_wanted(display) else maps().find_check(display.result, display.layer)
    )
    state = None if job is None else job.look(waiting.current_visitor(_PLACE)).state
    stability = _stability(job) if job is not None and state in {"done", "failed"} else None
    trust = trust_of(
        display.quality,
        stability,
        n_points=display.points.n_points,
        n_equal=count_equal(display.neighbors),
    )
    kit.reading([trust.claim], sure=trust.notes, key="reading_trust")
    if display.quality is not None:
        _measures(display.quality)
    if job is not None and state in {"waiting", "running"}:
        waiting.follow(_check(display), _PLACE)
    elif stability is None and display.quality is not None:
        _check_button(display)


def _measures(quality: MapQuality) -> None:
    rows = {
        "trustworthiness": quality.trustworthiness,
        "continuity": quality.continuity,
        f"recall of {quality.k}": quality.recall,
    }
    bar = st.column_config.ProgressColumn(format="%.4f", min_value=0.0, max_value=1.0, width=128)
    kit.table(
        [{"measure": name, "0 to 1": value} for name, value in rows.items()],
        columns={"0 to 1": bar, "measure": st.column_config.TextColumn(width=112)},
        key="map_honesty",
    )


def _check_button(display: MapDisplay) -> None:
    st.button(
        say("map.trust_panel.check"),
        icon=":material/casino:",
        key="map_check",
        help=say("map.trust_panel.check_help"),
        on_click=session.keep,
        args=(_WANTED, _named(display)),
    )


def _check(display: MapDisplay) -> Job:
    return maps().check(display.result, display.layer, waiting.current_visitor(_PLACE))


def _is_wanted(display: MapDisplay) -> bool:
    """True in the first run after the button for this map was pressed."""
    wanted = session.kept(_WANTED)
    session.keep(_WANTED, None)
    return bool(wanted == _named(display))


def _named(display: MapDisplay) -> tuple[str, int]:
    """The shown map's key and layer: the session keeps a button's arguments, so not the map."""
    return display.result.request.key, display.layer


def _stability(job: Job) -> Stability | None:
    with errors.boundary(again=False):
        stability: Stability = job.result()
        return stability
    return None


# --- The choice of the look beside a map


def panel(
    view: ViewState, display: MapDisplay, band: Band | None, ruler: Ruler | None, *, chart: str
) -> None:
    """Draw one of the four looks; a click or a selection on the map opens the look for it.

    Args:
        view: the current view.
        display: the map.
        band: cosines of random pairs of words, if they apply.
        ruler: cosines of labelled pairs of words, if two points are pinned.
        chart: the key of the map's chart.
    """
    look = inputs.choice(view, PANEL)
    if look == TRUST:
        trust_look(display)
    elif look == POINT_PANEL:
        point_look(display, band, ruler)
    elif look == TABLE_PANEL:
        table_look(display, chart)
    else:
        find_look(view, display, chart)
