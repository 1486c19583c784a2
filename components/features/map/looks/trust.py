"""How far a map can be trusted: its measures, and two more seeds when they are asked for."""

from __future__ import annotations

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.features.map.compute.shown import MapShown
from components.features.map.trust import count_equal, trust_of
from components.jobs import Job
from components.maps.engine import Checked
from components.maps.honesty import Honesty
from components.ui.frame import errors
from components.ui.models import waiting
from components.ui.models.background import maps
from components.ui.state import session
from components.ui.widgets import kit

__all__ = ["trust_look"]

_PLACE = "map_stability"
"""Where a visitor waits for two more seeds."""
_WANTED = f"{_PLACE}_wanted"


def trust_look(shown: MapShown) -> None:
    """The honesty report."""
    job = _check(shown) if _is_wanted(shown) else maps().find_check(shown.picture, shown.layer)
    state = None if job is None else job.look(waiting.me(_PLACE)).state
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


def _measures(honesty: Honesty) -> None:
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
    return maps().check(shown.picture, shown.layer, waiting.me(_PLACE))


def _is_wanted(shown: MapShown) -> bool:
    """Whether the button for this map was pressed just now."""
    wanted = session.kept(_WANTED)
    session.keep(_WANTED, None)
    return bool(wanted == _named(shown))


def _named(shown: MapShown) -> tuple[str, int]:
    """The shown map and layer by name: what a button refers to stays in the session."""
    return shown.picture.request.key, shown.layer


def _checked(job: Job) -> Checked | None:
    with errors.boundary(again=False):
        checked: Checked = job.result()
        return checked
    return None
