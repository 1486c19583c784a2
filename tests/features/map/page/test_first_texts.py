"""A large map on the page: first some texts, then all of them without a click, or Cancel."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.core import Encoding
from contextlens.core.service import LocalService
from contextlens.features.map.controls import MARKS_OF, PAGE, PIN_A, POINT
from contextlens.features.map.display import with_marks
from contextlens.features.map.identity import name_of
from contextlens.features.map.selection import PointSelection
from contextlens.features.map.widgets import CHART, SELECTION
from contextlens.maps import plan
from contextlens.maps.engine import Maps
from contextlens.ui.corpora.controls import COLLECTION, FILE, FILE_NAME, OWN_FILE
from contextlens.ui.models.background import jobs
from contextlens.ui.state.view import ViewState
from tests.features.map.page.headless import assert_whole, picture, places, shared
from tests.support.maps import QUICK, map_view
from tests.support.pages import arrived, everything_said, framed, press, settled, shown_view

N, N_FIRST = 100, 30
SO_FAR = f"**{N_FIRST} of {N}** texts so far, at layer 6."
ONLY = f"These are **{N_FIRST} of {N}** texts. The others were not read."


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A gate before the last text of a file; large maps have few texts here."""
    gate = threading.Event()
    encode = LocalService._encode

    def gated(service: LocalService, loaded: Any, texts: Any, **given: Any) -> list[Encoding]:
        if any("behind the gate" in text for text in texts):
            assert gate.wait(300)
        return encode(service, loaded, texts, **given)

    monkeypatch.setattr(LocalService, "_encode", gated)
    for name, value in {"_MIN_FIRST": 0, "_MAX_FIRST": N_FIRST, "_REST_SECONDS": 0}.items():
        monkeypatch.setattr(plan, name, value)
    yield gate
    gate.set()


def file_view(name: str, layer: int | None = None) -> ViewState:
    rows = [f"{name} {i}: a {'good' if i % 3 else 'bad'} film" for i in range(N - 1)]
    file = "\n".join(["text", *rows, f"{name}: behind the gate"])
    view = COLLECTION.put(map_view(layer=layer, unit="sentences", **QUICK), OWN_FILE)
    return FILE_NAME.put(FILE.put(view, shared(f"{name}.csv", file.encode())), f"{name}.csv")


def until_drawn(app: AppTest) -> AppTest:
    """The page with the first map, while the others are read."""
    while not app.get("plotly_chart"):
        app = arrived(app.run())
    return app


def test_the_first_texts_are_on_the_map_until_all_are(gate: threading.Event) -> None:
    app = until_drawn(framed(file_view("films"), PAGE))
    assert SO_FAR in everything_said(app)
    assert_whole(app)
    first = picture(app)
    assert len(places(app)) == N_FIRST
    assert app.get("progress")
    other = until_drawn(framed(file_view("films"), PAGE))
    assert picture(other) is first, "another visitor shares it"
    gate.set()
    app = settled(app.run())
    assert "so far" not in everything_said(app)
    assert_whole(app)
    assert picture(app).points.n_points == N
    assert picture(app).layers == tuple(range(7))
    assert picture(settled(other.run())) is picture(app)


def test_a_cancelled_map_keeps_its_first_texts_and_can_go_on(gate: threading.Event) -> None:
    app = until_drawn(framed(file_view("cancelled"), PAGE))
    job = jobs().get(app.session_state["_kept"]["map_progress_awaited"])
    assert job is not None
    app = press(app, "map_progress_cancel")
    gate.set()
    assert job.wait(300)
    assert job.was_stopped
    app = settled(app.run())
    assert ONLY in everything_said(app)
    assert "so far" not in everything_said(app)
    assert "This map was stopped." in everything_said(app)
    assert "old map" not in everything_said(app)
    assert_whole(app)
    assert len(places(app)) == N_FIRST
    app = settled(press(app, "map_progress_begin"))
    assert picture(app).points.n_points == N
    assert "so far" not in everything_said(app)


def test_who_leaves_and_comes_back_finds_the_map_as_far_as_it_is(gate: threading.Event) -> None:
    view = file_view("back")
    app = until_drawn(framed(view, PAGE))
    app = arrived(app.switch_page("pages/tokens.py").run())
    app = until_drawn(arrived(app.switch_page(f"pages/{PAGE}.py").run()))
    assert SO_FAR in everything_said(app)
    gate.set()
    app = settled(app.run())
    assert picture(app).points.n_points == N


def test_the_first_texts_say_at_which_layer_they_are(gate: threading.Event) -> None:
    app = until_drawn(framed(file_view("layers", layer=2), PAGE))
    assert SO_FAR in everything_said(app)
    first = picture(app)
    assert first.layers == (6,)
    gate.set()
    app = settled(app.run())
    np.testing.assert_array_equal(
        np.sort(places(app), axis=0), np.sort(picture(app).map.coordinates[2], axis=0)
    )


def test_a_second_map_of_another_layer_does_not_show_the_first_texts(
    gate: threading.Event,
) -> None:
    view = file_view("beside")
    own = {**view.controls[PAGE], "beside": "layer", "other_layer": 2}
    view = replace(view, controls={**view.controls, PAGE: own})
    app = until_drawn(framed(view, PAGE))
    assert len(app.get("plotly_chart")) == 1
    gate.set()
    app = settled(app.run())
    assert len(app.get("plotly_chart")) == 2


def test_a_chosen_file_is_drawn_without_a_click(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.set()
    monkeypatch.setattr(Maps, "token_seconds", lambda *_: 0.02)
    rows = [f"chosen {i}: a film" for i in range(50)]
    app = press(framed(map_view(**QUICK), PAGE), f"{PAGE}_add_texts")
    app = app.text_area(key=f"{PAGE}_paste").set_value("\n".join(rows)).run()
    app = settled(press(app, f"{PAGE}_paste_use"))
    assert not app.info
    assert picture(app).points.n_points == 50
    changed = shown_view(app).with_control(PAGE, "unit", "tokens", "words")
    app = settled(framed(changed, PAGE))
    assert app.button(key="map_progress_begin"), "a changed control begins nothing as large"


def test_points_marked_on_the_first_map_are_marked_on_the_whole_one(gate: threading.Event) -> None:
    first = picture(until_drawn(framed(file_view("marked"), PAGE)))
    marks = {POINT: 7, PIN_A: 20}
    view = with_marks(file_view("marked"), name_of(first), marks)
    app = until_drawn(framed(view, PAGE))
    selection = PointSelection(name_of(first), CHART, "a drawing", (2, 3, 20))
    app.session_state["_kept"][SELECTION] = selection
    gate.set()
    app = settled(app.run())
    whole, after = picture(app), shown_view(app)
    assert whole.points.n_points == N
    assert MARKS_OF.of(after) == name_of(whole)
    for control, point in marks.items():
        assert whole.points.text(control.of(after)) == first.points.text(point)
    kept = app.session_state["_kept"][SELECTION].points
    assert [whole.points.text(i) for i in kept] == [first.points.text(i) for i in selection.points]
