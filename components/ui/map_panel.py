"""Beside a map: how far it can be trusted, one point's neighbours, what is selected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from components.analysis.baseline import Band
from components.analysis.clusters import typical_words
from components.analysis.readings import (
    count_identical,
    escape,
    map_neighbours_reading,
    pinned_reading,
    selection_reading,
    verdict,
)
from components.analysis.similarity import cosine_matrix
from components.core.errors import ContextlensError
from components.ui import errors, export, inputs, map_marks, maps
from components.ui.map_drawn import follow
from components.ui.map_request import PAGE
from components.ui.map_shown import MapShown
from components.ui.maps import Checked
from components.ui.view import ViewState

__all__ = ["panel"]

_TABS = ("Trust", "Point", "Find")
_ICONS = {"trust": ":green[:material/check_circle:]", "care": ":orange[:material/info:]"}
_MOST_ROWS = 2_000


def panel(view: ViewState, what: MapShown, band: Band | None) -> None:
    """The three tabs; the one that a click concerns is in front."""
    n = 0 if what.marked.selection is None else len(what.marked.selection.points)
    names = [_TABS[0], _TABS[1], f"{_TABS[2]} ({n:,})" if n else _TABS[2]]
    front = (
        names[1]
        if what.point is not None
        else names[2]
        if n or what.found is not None
        else names[0]
    )
    trust, point, selection = st.tabs(names, default=front)
    with trust:
        _trust(what)
    with point:
        _point(what, band)
    with selection:
        _find(view, what)
        _selection(what)


def _trust(what: MapShown) -> None:
    """The honesty report."""
    honesty = what.honesty
    job = maps.stability_job(what.picture, what.layer)
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
            on_click=maps.check_stability,
            args=(what.picture, what.layer),
        )


def _checked(what: MapShown) -> Checked | None:
    job = maps.stability_job(what.picture, what.layer)
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
        true, near = what.true_neighbors(point), what.map_neighbors(point)
        names = what.points.names
        st.markdown(" ".join(map_neighbours_reading(names[point], true, near, names)))
        _neighbour_tables(what, point, true, near)
        left, middle, right = st.columns(3, gap="small")
        for place, name, title in ((left, "pin_a", "Pin as A"), (middle, "pin_b", "Pin as B")):
            place.button(title, key=f"map_{name}", icon=":material/push_pin:", width="stretch",
                         on_click=map_marks.pin, args=(picture, name, point))  # fmt: skip
        right.button("Let go", key="map_let_go", icon=":material/close:", width="stretch",
                     on_click=map_marks.choose, args=(picture, None))  # fmt: skip
    _pins(what, band)


def _neighbour_tables(what: MapShown, point: int, true: Sequence[int], near: Sequence[int]) -> None:
    both = set(true) & set(near)
    for title, rows in (("In the full space", true), ("On the map", near)):
        table = pd.DataFrame(
            {
                "": ["✓" if row in both else "" for row in rows],
                title: [_name(what, row, plain=True) for row in rows],
                "cosine": _cosines(what, point, rows),
                "sentence": [what.points.text(row) for row in rows],
            }
        )
        st.dataframe(
            table,
            hide_index=True,
            height=212,
            column_config={"cosine": st.column_config.NumberColumn(format="%.4f")},
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
    map_marks.pin(what.picture, "pin_a", None)
    map_marks.pin(what.picture, "pin_b", None)


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
    st.dataframe(
        pd.DataFrame(what.points.rows(rows[:_MOST_ROWS])),
        hide_index=True,
        height=330,
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
                 on_click=map_marks.clear_selection)  # fmt: skip


def _typical(what: MapShown, rows: Sequence[int]) -> tuple[str, ...]:
    """Words of the selected sentences that set them apart from the rest of the map."""
    inside = np.zeros(what.points.n_points, dtype=np.int64)
    inside[list(rows)] = 1
    chosen = np.zeros(len(what.points.texts), dtype=np.int64)
    np.maximum.at(chosen, what.points.sentence, inside)
    if chosen.all():
        return ()
    return tuple(typical_words(what.points.texts, chosen, n_words=3).get(1, ()))


def _cosines(what: MapShown, point: int, others: Sequence[int]) -> list[float]:
    """A point's exact cosines in the full space."""
    values: list[float] = cosine_matrix(what.vectors[[point, *others]])[0, 1:].tolist()
    return values


def _name(what: MapShown, point: int, *, plain: bool = False) -> str:
    name = what.points.names[point]
    cut = name if len(name) <= 40 else name[:39] + "…"
    return cut if plain else escape(cut)


def _sentence(what: MapShown, point: int) -> str:
    labels = [own[point] for own in what.points.labels.values() if own[point]]
    if what.points.unit == "sentences":
        return escape(" · ".join(labels[:3]))
    return escape(what.points.text(point))
