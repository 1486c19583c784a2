"""Drawing maps for visitors: large ones by a click, one per place; and what a session keeps."""

from __future__ import annotations

import io
import re
import threading
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.core.byte_cache import ByteCache
from contextlens.features.map.controls import FIND_SELECT, PAGE
from contextlens.jobs import Job, JobKind, Jobs, Task, Visitor
from contextlens.maps.engine import MAPS, READINGS, Maps
from contextlens.ui.models.background import jobs, maps
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.features.map.page.headless import picture
from tests.support.fields import field
from tests.support.maps import QUICK, map_view
from tests.support.memory import reachable_bytes
from tests.support.pages import everything_said, framed, press, settled

SECONDS = 300
LONG = {"every_word": True, "method": "tsne"}
MB = 1_000_000


def on_map(view: ViewState) -> AppTest:
    return settled(framed(view, PAGE))


def go(app: AppTest, view: ViewState) -> AppTest:
    """The same visit on another view, as after a link."""
    app.query_params["s"] = encode(view)
    return app.run()


def under_way() -> list[Job]:
    return [job for kind in (MAPS, READINGS) for job in jobs().under_way(kind)]


def has_button(app: AppTest, key: str) -> bool:
    return any(button.key == key for button in app.button)


# Large maps


@pytest.mark.slow
def test_neither_an_address_nor_a_changed_control_starts_a_large_map() -> None:
    app = on_map(map_view(**LONG))
    assert not under_way()
    assert "Drawing this map takes about **" in everything_said(app)
    assert has_button(app, "map_progress_begin")
    app = on_map(map_view(every_word=True, at_most="5000"))  # about ten seconds
    assert not under_way()
    assert has_button(app, "map_progress_begin")
    app = on_map(map_view(every_word=True, **QUICK))
    small = picture(app)
    app = field(app.selectbox, f"{PAGE}_method").set_value("tsne").run()
    assert not under_way()
    assert has_button(app, "map_progress_begin")
    assert picture(app) is small  # still shown, as an older one
    app = app.button(key="map_progress_begin").click().run()
    assert under_way()
    app = settled(app.button(key="map_progress_cancel").click().run())
    assert "This map was stopped. Drawing this map takes about" in everything_said(app)


def test_a_place_of_a_page_waits_for_one_map_and_lets_the_one_before_go() -> None:
    app = on_map(map_view(**LONG, seed=1))
    app = app.button(key="map_progress_begin").click().run()
    first = jobs().get(app.session_state["_kept"]["map_progress_awaited"])
    assert first is not None
    app = go(app, map_view(**LONG, seed=2))
    assert not first.is_unwanted()  # the visitor may come back, and has begun nothing else
    app = app.button(key="map_progress_begin").click().run()
    second = jobs().get(app.session_state["_kept"]["map_progress_awaited"])
    assert second is not None
    assert second is not first
    assert first.wait(SECONDS)
    assert first.was_stopped
    assert not second.done()
    app.button(key="map_progress_cancel").click().run()
    assert second.wait(SECONDS)


# Results that had to make room


class Huge:
    """Larger than the whole store."""

    nbytes = 10**12


def make_room() -> None:
    """Fill the store with another visitor's result."""
    once = JobKind("others", n_at_once=1, keeps=False)
    assert jobs().start(Task("huge", once, lambda _: Huge())).wait(SECONDS)


def test_a_map_that_had_to_make_room_is_drawn_again_and_then_asks_before() -> None:
    app = on_map(map_view(**QUICK, seed=11))
    first = picture(app)
    for _ in range(2):
        make_room()
        assert maps().result(first.request) is None
        app = settled(app.run())
        assert picture(app) is not first
        np.testing.assert_array_equal(picture(app).map.coordinates, first.map.coordinates)
    make_room()
    app = settled(app.run())
    assert "This map was removed from memory. Drawing this map takes about" in everything_said(app)
    assert not under_way()
    app = settled(press(app, "map_progress_begin"))
    np.testing.assert_array_equal(picture(app).map.coordinates, first.map.coordinates)
    assert not has_button(app, "map_progress_begin")


def test_the_files_of_a_map_that_had_to_make_room_can_be_had_still(files: dict[str, Any]) -> None:
    app = on_map(map_view(**QUICK, seed=13, layer=2))
    own = picture(app)
    table = files["map.csv"]()
    make_room()
    assert files["map.csv"]() == table
    make_room()
    with np.load(io.BytesIO(files["map.npz"]()), allow_pickle=False) as found:
        np.testing.assert_array_equal(found["coordinates"], own.map.coordinates[2])


# Too many


def test_where_too_many_maps_wait_the_page_says_so_and_keeps_what_it_has(
    request: pytest.FixtureRequest,
) -> None:
    app = on_map(map_view(**QUICK, seed=21))
    old = picture(app)
    go_on = threading.Event()
    request.addfinalizer(go_on.set)
    for i in range(MAPS.n_at_once + MAPS.n_waiting):
        tab = Visitor(f"tab {i}")
        jobs().start(Task(("tab", i), MAPS, lambda _: go_on.wait(SECONDS)), tab)
    app = go(app, map_view(**QUICK, seed=22))
    assert not app.exception
    assert [re.sub(r"\\(.)", r"\1", error.value) for error in app.error] == [
        "This server has 50 maps waiting already, as many as it may have. Try again in a minute."
    ]
    assert picture(app) is old
    assert "This is the old map" in everything_said(app)
    go_on.set()
    for job in jobs().under_way(MAPS):
        assert job.wait(SECONDS)
    app = settled(press(app, "map_progress_again"))
    assert not app.error
    assert picture(app).request.settings.seed == 22


# What a session holds


@pytest.mark.slow
def test_a_session_holds_no_map(files: dict[str, Any]) -> None:
    several = {"every_word": True, "at_most": "5000", "beside": "seed", **QUICK}
    app = on_map(map_view(panel=FIND_SELECT, **several))
    for key in ("map_progress_begin", "map_other_progress_begin"):
        if has_button(app, key):
            app = settled(press(app, key))
    drawn = picture(app)
    assert drawn.points.n_points > 4_000
    assert drawn.nbytes > 50 * MB
    assert len([c for c in app.get("plotly_chart") if "map_chart" in c.proto.id]) == 2
    held = reachable_bytes(app.session_state._state, files, shared=(Jobs, Job, Maps, ByteCache))
    assert held < 2 * MB
    empty = on_map(DEFAULT)
    least = reachable_bytes(empty.session_state._state, shared=(Jobs, Job, Maps, ByteCache))
    assert held < least + MB
    assert {type(value).__name__ for value in app.session_state["_kept"].values()} <= {
        "NoneType", "str", "tuple", "bool", "int", "dict",
    }  # fmt: skip
