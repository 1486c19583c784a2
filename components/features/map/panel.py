"""Beside a map: how far it can be trusted, one point's neighbours, what is selected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from components.analysis.baseline import Band
from components.analysis.similarity import cosine_matrix
from components.content.wording import escape
from components.core.errors import ContextlensError
from components.features.map import drawing, marks
from components.features.map.compute import MapShown
from components.features.map.drawing import Checked
from components.features.map.reading.maps import count_identical
from components.features.map.reading.points import (
    map_neighbours_reading,
    pinned_reading,
    selection_reading,
)
from components.features.map.reading.trust import verdict
from components.features.map.request import PAGE, PANELS
from components.features.map.waiting import follow
from components.maps.points import context
from components.maps.typical import typical_of
from components.ui.frame import errors
from components.ui.state.view import ViewState
from components.ui.widgets import export, inputs

__all__ = ["panel"]

_ICONS = {"trust": ":green[:material/check_circle:]", "care": ":orange[:material/info:]"}
_MOST_ROWS = 2_000


def panel(view: ViewState, what: MapShown, band: Band | None) -> None:
    """One of the three looks; a click or a selection on the map opens its own."""
    look = inputs.choice(view, PAGE, "panel", PANELS, "Look closer")
    if look == PANELS[0]:
        _trust(what)
    elif look == PANELS[1]:
        _point(what, band)
    else:
        _find(view, what)
        _selection(what)


def _trust(what: MapShown) -> None:
    """The honesty report."""
    honesty = what.honesty
    job = drawing.stability_job(what.picture, what.layer)
    checked = _checked(what) if job is not None and job.done() else None
    found = verdict(
        honesty,
        None if checked is None else checked.stability,
        n_points=what.points.n_points,
        n_identical=count_identical(what.neighbors),
    )
    st.markdown(f"{_ICONS.get(found.word, ':orange[:material/warning:]')} {found.said}")
    if what.picture.reason:
        st.caption(escape(what.picture.reason))
    if honesty is not None:
        rows = {
            "trustworthiness": honesty.trustworthiness,
            "continuity": honesty.continuity,
            f"recall of {honesty.k}": honesty.recall,
        }
        table = pd.DataFrame({"measure": list(rows), "0 to 1": list(rows.values())})
        bar = st.column_config.ProgressColumn(
            format="%.3f", min_value=0.0, max_value=1.0, width=128
        )
        st.dataframe(
            table,
            hide_index=True,
            column_config={"0 to 1": bar, "measure": st.column_config.TextColumn(width=112)},
            key="map_honesty",
        )
    for note in found.notes:
        st.caption(note)
    if job is not None and not job.done() and not job.is_unwanted:
        follow(job, "map_stability")
    elif checked is None and honesty is not None:
        st.button(
            "Check with two more seeds",
            icon=":material/casino:",
            key="map_check",
            help="Draws the shown layer's map from two other random starts and compares the three.",
            on_click=drawing.check_stability,
            args=(what.picture, what.layer),
        )


def _checked(what: MapShown) -> Checked | None:
    job = drawing.stability_job(what.picture, what.layer)
    if job is None or job.was_stopped:
        return None
    try:
        checked: Checked = job.future.result()
    except ContextlensError as exc:
        errors.show(exc)
        return None
    return checked


def _point(what: MapShown, band: Band | None) -> None:
    """The chosen point: its true neighbours beside those on the map; two pinned points."""
    picture, point = what.picture, what.point
    if point is None:
        st.caption("Click a point to see its nearest in the full space beside its nearest here.")
    else:
        st.markdown(f"**{_name(what, point)}** · {_sentence(what, point)}")
        left, middle, right = st.columns(3, gap="small")
        for place, name, title in ((left, "pin_a", "Pin as A"), (middle, "pin_b", "Pin as B")):
            place.button(title, key=f"map_{name}", width="stretch", on_click=marks.pin,
                         args=(picture, name, point))  # fmt: skip
        right.button("Let go", key="map_let_go", width="stretch", on_click=marks.choose,
                     args=(picture, None))  # fmt: skip
        true, near = what.true_neighbors(point), what.map_neighbors(point)
        names = {row: _called(what, row) for row in {*true, *near}}
        name = _called(what, point) if what.one_name else what.points.names[point]
        st.markdown(" ".join(map_neighbours_reading(name, true, near, names)))
        _neighbour_tables(what, true, near)
    _pins(what, band)


def _neighbour_tables(what: MapShown, true: Sequence[int], near: Sequence[int]) -> None:
    both = set(true) & set(near)
    point = what.point or 0
    for title, rows in (("In the full space", true), ("On the map", near)):
        st.caption(f"**{title}**, nearest first (✓ in both)")
        columns = {
            "": ["✓" if row in both else "" for row in rows],
            "cosine": _cosines(what, point, rows),
            what.points.unit.removesuffix("s"): [what.points.names[row] for row in rows],
            "sentence": [what.points.text(row) for row in rows],
        }
        if what.one_name and what.points.unit != "sentences":
            del columns[what.points.unit.removesuffix("s")]
        st.dataframe(
            pd.DataFrame(columns),
            hide_index=True,
            height=180,
            column_config={
                "": st.column_config.TextColumn(width=28),
                "cosine": st.column_config.NumberColumn(format="%.4f", width=64),
            },
            key=f"map_near_{title}",
        )


def _pins(what: MapShown, band: Band | None) -> None:
    a, b = what.marked.pin_a, what.marked.pin_b
    if a is None and b is None:
        return
    if a is None or b is None:
        one = a if a is not None else b
        st.caption(f"Pinned: {_name(what, one or 0)}. Pin a second point for their exact cosine.")
    else:
        words = what.points.unit == "words" and what.layer >= 0
        value = _cosines(what, a, [b])[0]
        st.markdown(
            pinned_reading(
                what.points.names[a],
                what.points.names[b],
                value,
                layer=what.layer if what.layer >= 0 else None,
                band=band if words else None,
            )
        )
    st.button("Take the pins away", key="map_unpin", on_click=_unpin, args=(what,))


def _unpin(what: MapShown) -> None:
    marks.pin(what.picture, "pin_a", None)
    marks.pin(what.picture, "pin_b", None)


def _find(view: ViewState, what: MapShown) -> None:
    """Points by their word or sentence; they get rings on the map."""
    inputs.text(view, PAGE, "find", "Find", placeholder="a word or part of a sentence")
    if what.found is not None:
        n = len(what.found)
        st.caption(f"**{n:,}** found" + (", ringed on the map." if n else ": try another word."))


def _selection(what: MapShown) -> None:
    """What a box or a lasso holds, as a sentence, a table and a file."""
    selection = what.marked.selection
    if selection is None:
        st.caption(
            "Choose the lasso or the box above the map and draw around points: they are listed "
            "here, and marked in the other map."
        )
        return
    rows = selection.points
    st.markdown(" ".join(selection_reading(what.points, rows, column=what.column,
                                           typical=_typical(what, rows))))  # fmt: skip
    table = pd.DataFrame(what.points.rows(rows[:_MOST_ROWS]))
    st.dataframe(
        table,
        hide_index=True,
        height=300,
        column_order=["sentence", *(name for name in table.columns if name != "sentence")],
        key="map_selection_table",
    )
    if len(rows) > _MOST_ROWS:
        st.caption(f"The first {_MOST_ROWS:,} are listed; the file has all {len(rows):,}.")
    left, right = st.columns(2, gap="small")
    left.download_button(
        "Download CSV",
        lambda: export.to_csv(what.points.rows(rows), what.picture.passport),
        file_name="map-selection.csv",
        mime="text/csv",
        on_click="ignore",
        icon=":material/download:",
        width="stretch",
        key="map_selection_csv",
    )
    right.button("Clear", icon=":material/close:", width="stretch", key="map_clear",
                 on_click=marks.clear_selection)  # fmt: skip


def _typical(what: MapShown, rows: Sequence[int]) -> tuple[str, ...]:
    """Words of the selected sentences that set them apart from the rest of the map."""
    inside = np.zeros(what.points.n_points, dtype=np.int64)
    inside[list(rows)] = 1
    chosen = np.zeros(len(what.points.texts), dtype=np.int64)
    np.maximum.at(chosen, what.points.sentence, inside)
    if chosen.all():
        return ()
    return typical_of(what.points.terms, np.arange(len(chosen)), chosen).get(1, ())


def _cosines(what: MapShown, point: int, others: Sequence[int]) -> list[float]:
    """A point's exact cosines in the full space."""
    values: list[float] = cosine_matrix(what.vectors[[point, *others]])[0, 1:].tolist()
    return values


def _called(what: MapShown, point: int) -> str:
    """A point's name, or some of its sentence where all points have the same name."""
    if not what.one_name:
        return what.points.names[point]
    return "".join(context(what.points, point, longest=40))


def _name(what: MapShown, point: int) -> str:
    name = what.points.names[point]
    return escape(name if len(name) <= 40 else name[:39] + "…")


def _sentence(what: MapShown, point: int) -> str:
    labels = [own[point] for own in what.points.labels.values() if own[point]]
    if what.points.unit == "sentences":
        return escape(" · ".join(labels[:3]))
    return escape(what.points.text(point))
