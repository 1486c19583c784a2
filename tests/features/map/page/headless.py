"""The Map page as a visitor uses it, headless, and what its charts hold."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from contextlens.features.map.controls import PAGE
from contextlens.features.map.page import PLACE
from contextlens.maps.result import MapResult
from contextlens.ui.corpora.own_file import share
from contextlens.ui.files.uploads import keep, table_of
from contextlens.ui.models.background import jobs
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.pages import chart as figure_of
from tests.support.pages import framed as framed_on
from tests.support.pages import said, settled, shown_view

__all__ = [
    "around",
    "assert_whole",
    "click",
    "framed",
    "in_order",
    "picture",
    "places",
    "send",
    "shared",
    "values",
]


def framed(view: ViewState | str = DEFAULT) -> AppTest:
    return settled(framed_on(view, PAGE))


def picture(app: AppTest, place: str = PLACE) -> MapResult:
    """The map on screen, as the engine returned it."""
    job = jobs().get(app.session_state["_kept"][f"{place}_shown"])
    assert job is not None
    drawn: MapResult = job.result()
    return drawn


def assert_whole(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert places(app).shape[0] == picture(app).points.n_points
    assert said(app)


def values(given: Any) -> np.ndarray:
    """Decode an array from plotly."""
    if isinstance(given, dict):
        return np.frombuffer(base64.b64decode(given["bdata"]), dtype=given["dtype"])
    return np.asarray(given, dtype=float)


def places(app: AppTest, key: str = "map_chart") -> np.ndarray:
    """The coordinates of all points, in any order."""
    traces = [t for t in figure_of(app, key)["data"] if "hovertext" in t]
    axes = "xyz" if "z" in traces[0] else "xy"
    return np.concatenate([np.stack([values(t[a]) for a in axes], axis=1) for t in traces])


def in_order(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort(rows.T)]


def send(app: AppTest, key: str = "map_chart", **selection: Any) -> AppTest:
    """Return the page after a click on the chart or a selection of its points."""
    proto = next(e.proto for e in app.get("plotly_chart") if e.proto.id.endswith(key))
    states = app._tree.get_widget_states()
    event = {"selection": {"points": [], "box": [], "lasso": [], **selection}}
    states.widgets.add(id=proto.id, string_value=json.dumps(event))
    return settled(app._run(states))


def spot(app: AppTest, point: int, key: str = "map_chart") -> dict[str, Any]:
    """A point as the chart reports it."""
    own = picture(app).map.coordinates[picture(app).index_of(shown_view(app).layer), point]
    for curve, trace in enumerate(figure_of(app, key)["data"]):
        if "hovertext" in trace:
            there = np.stack([values(trace[axis]) for axis in "xy"], axis=1)
            found = np.flatnonzero((there == own[:2]).all(axis=1))
            if len(found):
                return {"curve_number": curve, "point_index": int(found[0])}
    raise AssertionError(f"point {point} is not in the chart")


def click(app: AppTest, point: int) -> AppTest:
    return send(app, points=[spot(app, point)])


def around(app: AppTest, *chosen: int, key: str = "map_chart") -> AppTest:
    """Draw a box around points."""
    return send(app, key, points=[spot(app, p, key) for p in chosen], box=[{"x": [0, 1]}])


def shared(name: str, content: bytes) -> str:
    """The digest of a file that another visitor mapped, with the guessed columns."""
    sheet = table_of(keep("another visit", name, content))
    assert sheet is not None
    return share("another visit", sheet, sheet.text_column, sheet.label_columns)
