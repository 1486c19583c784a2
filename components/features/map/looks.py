"""The looks beside a map: its quality, one point, and a selection of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from components.analysis.baseline import Band
from components.analysis.ruler import Ruler
from components.analysis.words import POOLINGS
from components.content.language import Claim, say
from components.content.wording import escape
from components.core.schema import Passport
from components.features.map import marks
from components.features.map.compute import Again, MapShown
from components.features.map.controls import FIND, NEAR, PANEL, POINT_PANEL, TRUST
from components.features.map.reading import near_claim, neighbours_claim, pinned_claim
from components.features.map.trust import count_equal, trust_of
from components.jobs import Job
from components.maps.engine import Checked
from components.maps.map_quality import MapQuality
from components.maps.points import context
from components.ui.frame import errors
from components.ui.models import waiting
from components.ui.models.background import maps
from components.ui.state import session
from components.ui.state.view import ViewState
from components.ui.widgets import export, inputs, kit
from components.ui.widgets.comparison import drawing
from components.ui.widgets.comparison.ruler import RulerShown, pair_on_ruler, ruler_reading

__all__ = ["panel"]


# --- One point: its true neighbours beside those on the map

_LONGEST_NAME = 40


def point_look(shown: MapShown, band: Band | None, ruler: Ruler | None) -> None:
    """The selected point, if any, and the pinned ones."""
    if shown.point is None:
        st.caption(say("map.point_panel.empty"))
    else:
        st.markdown(f"**{_name(shown, shown.point)}** · {_sentence(shown, shown.point)}")
        _buttons(shown, shown.point)
        _neighbours(shown, shown.point)
    _pins(shown, band, ruler)


def _buttons(shown: MapShown, point: int) -> None:
    of = marks.name_of(shown.picture)
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


def _neighbours(shown: MapShown, point: int) -> None:
    """The nearest points in the full space and on the map, in words and as tables."""
    true, near = shown.true_neighbors(point), shown.map_neighbors(point)
    name = shown.called(point) if shown.finding.one_name else shown.points.names[point]
    kit.reading([neighbours_claim(name, true, near)], key="reading_point")
    for key, rows in (("full", true), ("here", near)):
        st.caption(say(f"map.point_panel.{key}"))
        _table(shown, point, key, rows, set(true) & set(near))


def _table(shown: MapShown, point: int, key: str, rows: Sequence[int], both: set[int]) -> None:
    points, unit = shown.points, shown.points.unit.removesuffix("s")
    named = points.unit == "sentences" or not shown.finding.one_name
    columns = {
        "": ["✓" if row in both else "" for row in rows],
        "on map": [shown.labels.get(row, "") for row in rows],
        "cosine": shown.cosines(point, rows),
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


def _pins(shown: MapShown, band: Band | None, ruler: Ruler | None) -> None:
    a, b = shown.marked.pin_a, shown.marked.pin_b
    if a is None and b is None:
        return
    if a is None or b is None:
        one = a if a is not None else b
        st.caption(say("map.point_panel.one_pin", name=_name(shown, one or 0)))
    else:
        on_ruler = _on_ruler(shown, a, b, ruler, band)
        if on_ruler is None or not on_ruler.ranges:
            kit.reading([_pinned(shown, a, b, band)], key="reading_pinned")
        else:
            names = {"a": _name(shown, a), "b": _name(shown, b)}
            st.caption(say("map.point_panel.pins", **names))
            kit.reading([ruler_reading(on_ruler)], key="reading_pinned")
            lowest = min(each.low for each in on_ruler.ranges)
            drawing.ruler(on_ruler, scale=(lowest, 1.0), key="map_ruler", height=160)
    of = marks.name_of(shown.picture)
    st.button(say("map.point_panel.unpin"), key="map_unpin", on_click=marks.unpin, args=(of,))


def _pinned(shown: MapShown, a: int, b: int, band: Band | None) -> Claim:
    has_layer = shown.layer >= 0
    return pinned_claim(
        shown.points.names[a],
        shown.points.names[b],
        shown.cosines(a, [b])[0],
        layer=shown.layer if has_layer else None,
        band=band if shown.points.unit == "words" and has_layer else None,
    )


def _on_ruler(
    shown: MapShown, a: int, b: int, ruler: Ruler | None, band: Band | None
) -> RulerShown | None:
    """Two pinned words among pairs of known kinds; None for other points, or several layers."""
    pooling = shown.picture.request.pooling
    if ruler is None or shown.points.unit != "words" or shown.layer < 0 or pooling not in POOLINGS:
        return None
    names = [shown.points.names[point] for point in (a, b)]
    cosine, at = shown.cosines(a, [b])[0], (shown.layer, pooling)
    return pair_on_ruler(names, cosine, ruler, at=at, band=band)


def _name(shown: MapShown, point: int) -> str:
    name = shown.points.names[point]
    return escape(name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…")


def _sentence(shown: MapShown, point: int) -> str:
    labels = [own[point] for own in shown.points.labels.values() if own[point]]
    if shown.points.unit == "sentences":
        return escape(" · ".join(labels[:3]))
    return escape(shown.points.text(point))


# --- Search results and selections

_MOST_ROWS = 2_000
_MOST_LISTED = 200
_FIRST = {"on map": 0, "sentence": 1}
_SNIPPET = 90  # characters


def selection_look(view: ViewState, shown: MapShown) -> None:
    """Points by word or sentence, points near a typed text, and selected points."""
    inputs.text(view, NEAR)
    _near(shown)
    inputs.text(view, FIND)
    _found(shown)
    selection = shown.marked.selection
    if selection is None:
        st.caption(say("map.selection_panel.empty"))
        return
    kit.reading(shown.selected_in_words(), key="reading_selection")
    _selection_table(shown, selection.points)
    _selection_buttons(shown, selection.points)


def _near(shown: MapShown) -> None:
    """The points nearest to a typed text, or the reason why there are none."""
    near = shown.near
    if near is None:
        return
    if near.problem:
        st.info(near.problem)
        return
    kit.reading([near_claim(near.name, near.cosines)], key="reading_near")
    cosine = {"cosine": list(near.cosines)}
    _listed(shown, near.rows, cosine, key="map_near_to")


def _found(shown: MapShown) -> None:
    if shown.found is None:
        return
    n = len(shown.found)
    st.caption(say("map.selection_panel.found" if n else "map.selection_panel.not_found", n=n))
    if n:
        _listed(shown, shown.found[:_MOST_LISTED], {}, key="map_found")


def _listed(
    shown: MapShown, rows: Sequence[int], more: Mapping[str, list[float]], *, key: str
) -> None:
    """Points with their numbers on the map, and a snippet of their text."""
    columns = {
        "on map": [shown.labels.get(row, "") for row in rows],
        **more,
        "text": ["".join(context(shown.points, row, longest=_SNIPPET)) for row in rows],
    }
    kit.table(
        pd.DataFrame(columns),
        exact=tuple(more),
        height=180,
        columns={"on map": st.column_config.TextColumn(width=56)},
        key=key,
    )


def _selection_table(shown: MapShown, rows: tuple[int, ...]) -> None:
    table = pd.DataFrame(shown.points.rows(rows[:_MOST_ROWS]))
    if any(row in shown.labels for row in rows):
        table.insert(0, "on map", [shown.labels.get(row, "") for row in rows[:_MOST_ROWS]])
    st.dataframe(
        table,
        hide_index=True,
        height=300,
        column_order=sorted(table.columns, key=lambda name: _FIRST.get(name, 2)),
        key="map_selection_table",
    )
    if len(rows) > _MOST_ROWS:
        st.caption(say("map.selection_panel.first_rows", shown=_MOST_ROWS, n=len(rows)))


def _selection_buttons(shown: MapShown, rows: tuple[int, ...]) -> None:
    left, right = st.columns(2, gap="small")
    left.download_button(
        say("map.selection_panel.download"),
        partial(_csv, Again.of(shown), rows, shown.picture.passport),
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


def _csv(again: Again, rows: tuple[int, ...], passport: Passport) -> bytes:
    return export.to_csv(again.shown().points.rows(rows), passport)


# --- The quality of a map

_PLACE = "map_stability"
"""The place where a visitor waits for two more seeds."""
_WANTED = f"{_PLACE}_wanted"


def trust_look(shown: MapShown) -> None:
    """The report on the map's quality."""
    job = _check(shown) if _is_wanted(shown) else maps().find_check(shown.picture, shown.layer)
    state = None if job is None else job.look(waiting.current_visitor(_PLACE)).state
    checked = _checked(job) if job is not None and state in {"done", "failed"} else None
    trust = trust_of(
        shown.honesty,
        None if checked is None else checked.stability,
        n_points=shown.points.n_points,
        n_equal=count_equal(shown.neighbors),
    )
    kit.reading([trust.claim], sure=trust.notes, key="reading_trust")
    if shown.picture.reason:
        st.caption(escape(shown.picture.reason))
    if shown.honesty is not None:
        _measures(shown.honesty)
    if job is not None and state in {"waiting", "running"}:
        waiting.follow(_check(shown), _PLACE)
    elif checked is None and shown.honesty is not None:
        _check_button(shown)


def _measures(honesty: MapQuality) -> None:
    rows = {
        "trustworthiness": honesty.trustworthiness,
        "continuity": honesty.continuity,
        f"recall of {honesty.k}": honesty.recall,
    }
    bar = st.column_config.ProgressColumn(format="%.4f", min_value=0.0, max_value=1.0, width=128)
    kit.table(
        [{"measure": name, "0 to 1": value} for name, value in rows.items()],
        columns={"0 to 1": bar, "measure": st.column_config.TextColumn(width=112)},
        key="map_honesty",
    )


def _check_button(shown: MapShown) -> None:
    st.button(
        say("map.trust_panel.check"),
        icon=":material/casino:",
        key="map_check",
        help=say("map.trust_panel.check_help"),
        on_click=session.keep,
        args=(_WANTED, _named(shown)),
    )


def _check(shown: MapShown) -> Job:
    return maps().check(shown.picture, shown.layer, waiting.current_visitor(_PLACE))


def _is_wanted(shown: MapShown) -> bool:
    """True if the button for this map was pressed just now."""
    wanted = session.kept(_WANTED)
    session.keep(_WANTED, None)
    return bool(wanted == _named(shown))


def _named(shown: MapShown) -> tuple[str, int]:
    """The names of the shown map and layer, because a session keeps what a button refers to."""
    return shown.picture.request.key, shown.layer


def _checked(job: Job) -> Checked | None:
    with errors.boundary(again=False):
        checked: Checked = job.result()
        return checked
    return None


# --- The choice of the look beside a map


def panel(view: ViewState, shown: MapShown, band: Band | None, ruler: Ruler | None) -> None:
    """Draw one of the three looks; a click or a selection on the map opens its own.

    Args:
        view: the current view.
        shown: the map.
        band: cosines of random pairs of words, if they apply.
        ruler: cosines of labelled pairs of words, if two are pinned.
    """
    look = inputs.choice(view, PANEL)
    if look == TRUST:
        trust_look(shown)
    elif look == POINT_PANEL:
        point_look(shown, band, ruler)
    else:
        selection_look(view, shown)
