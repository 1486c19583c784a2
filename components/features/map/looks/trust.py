"""How far a map can be trusted: its measures, and two more seeds when they are asked for."""

from __future__ import annotations

import streamlit as st

from components.content.wording import escape
from components.core.errors import ContextlensError
from components.features.map import drawing
from components.features.map.compute.shown import MapShown
from components.features.map.drawing import Checked
from components.features.map.jobs import Job
from components.features.map.page.waiting import follow
from components.features.map.reading.maps import count_identical
from components.features.map.reading.trust import verdict
from components.maps.honesty import Honesty
from components.ui.frame import errors
from components.ui.widgets import kit

__all__ = ["trust_look"]

_ICONS = {"trust": ":green[:material/check_circle:]", "care": ":orange[:material/info:]"}


def trust_look(shown: MapShown) -> None:
    """The honesty report."""
    job = drawing.stability_job(shown.picture, shown.layer)
    checked = None if job is None or not job.done() else _checked(job)
    found = verdict(
        shown.honesty,
        None if checked is None else checked.stability,
        n_points=shown.points.n_points,
        n_identical=count_identical(shown.neighbors),
    )
    st.markdown(f"{_ICONS.get(found.word, ':orange[:material/warning:]')} {found.said}")
    if shown.picture.reason:
        st.caption(escape(shown.picture.reason))
    if shown.honesty is not None:
        _measures(shown.honesty)
    for note in found.notes:
        st.caption(note)
    if job is not None and not job.done() and not job.is_unwanted:
        follow(job, "map_stability")
    elif checked is None and shown.honesty is not None:
        _check_button(shown)


def _measures(honesty: Honesty) -> None:
    rows = {
        "trustworthiness": honesty.trustworthiness,
        "continuity": honesty.continuity,
        f"recall of {honesty.k}": honesty.recall,
    }
    bar = st.column_config.ProgressColumn(format="%.3f", min_value=0.0, max_value=1.0, width=128)
    kit.table(
        [{"measure": name, "0 to 1": value} for name, value in rows.items()],
        columns={"0 to 1": bar, "measure": st.column_config.TextColumn(width=112)},
        key="map_honesty",
    )


def _check_button(shown: MapShown) -> None:
    st.button(
        "Check with two more seeds",
        icon=":material/casino:",
        key="map_check",
        help="Draws the shown layer's map from two other random starts and compares the three.",
        on_click=drawing.check_stability,
        args=(shown.picture, shown.layer),
    )


def _checked(job: Job) -> Checked | None:
    if job.was_stopped:
        return None
    try:
        checked: Checked = job.future.result()
    except ContextlensError as exc:
        errors.show(exc)
        return None
    return checked
