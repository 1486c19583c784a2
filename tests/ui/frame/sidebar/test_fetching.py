"""While a model is fetched the page goes on with the one it has, and the wish can be taken back."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from components.core import BUNDLED_ID
from components.jobs import Job
from components.ui.models import runtime, tasks
from components.ui.models.background import jobs
from components.ui.state.address import encode
from components.ui.state.view import DEFAULT
from tests.support.hub_server import HubServer, Reply, Request, hub_server
from tests.support.pages import choose, finish_background_work, framed, press, shown_view, type_in
from tests.ui.frame.sidebar.headless import (
    PRESET,
    SECOND,
    SECONDS,
    TEXT,
    WEIGHTS,
    app_on,
    assert_goes_on,
    pending,
    pick_model,
    picked,
    weights_asked,
)


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def load_of(model: str) -> Job:
    """The last load of a model."""
    load = jobs().get(tasks.load_key(model))
    assert load is not None
    return load


@pytest.mark.slow
def test_the_page_goes_on_with_its_model_until_the_other_is_there(
    server: HubServer, gate: threading.Event
) -> None:
    app = type_in(framed(replace(DEFAULT, layer=5)), TEXT)
    app = pick_model(app, PRESET)
    assert_goes_on(app)
    assert picked(app) == PRESET
    assert pending(app)
    app = type_in(app, "My python eats mice")
    assert_goes_on(app, text="My python eats mice")
    assert (shown_view(app).layer, pending(app)) == (5, True)
    gate.set()
    finish_background_work()
    app = app.run()
    assert_goes_on(app, PRESET, "My python eats mice")
    assert shown_view(app).layer is None
    assert not pending(app)
    assert picked(app) == PRESET


@pytest.mark.slow
def test_what_is_fetched_and_how_far_it_is_stands_in_the_sidebar(
    server: HubServer, gate: threading.Event
) -> None:
    app = pick_model(framed(), PRESET)
    until(lambda: weights_asked(server) == 1)
    app = app.run()
    (bar,) = app.sidebar.get("progress")
    assert bar.proto.text.replace("\\", "").startswith(f"Fetching {PRESET}: 0.")
    assert " MB" in bar.proto.text
    assert 0 <= bar.proto.value < 100


@pytest.mark.slow
def test_back_after_the_change_is_not_undone(server: HubServer) -> None:
    app = type_in(framed(), TEXT)
    before = app.query_params["s"]
    app = choose(app, PRESET)
    assert shown_view(app).model == PRESET
    app.query_params["s"] = before
    app = app.run()
    assert_goes_on(app)
    assert_goes_on(app.run())
    assert picked(app) == BUNDLED_ID


@pytest.mark.slow
def test_cancel_is_immediate_and_stops_the_fetch(server: HubServer, gate: threading.Event) -> None:
    app = pick_model(type_in(framed(), TEXT), PRESET)
    until(lambda: weights_asked(server) == 1)
    load = load_of(PRESET)
    app = press(app, "wish_cancel")
    assert not load.done(), "the hub has not said a word since"
    assert_goes_on(app)
    assert not pending(app)
    assert picked(app) == BUNDLED_ID
    gate.set()
    until(load.done)
    assert load.was_stopped
    app = app.run()
    assert_goes_on(app)
    assert not app.error


@pytest.mark.slow
def test_a_retry_works_while_the_cancelled_fetch_still_hangs(
    server: HubServer, served: Path, gate: threading.Event
) -> None:
    app = pick_model(type_in(framed(), TEXT), PRESET)
    load = load_of(PRESET)
    weights = (served / WEIGHTS).stat().st_size

    def only_weights_are_missing() -> bool:
        status = load.look()
        return status.total_bytes is not None and status.done_bytes + weights == status.total_bytes

    until(only_weights_are_missing)
    app = press(app, "wish_cancel")
    app = pick_model(app, PRESET)
    assert pending(app)
    gate.set()
    finish_background_work()
    assert_goes_on(app.run(), PRESET)
    assert load_of(PRESET) is load


@pytest.mark.slow
def test_cancel_works_where_the_hub_says_nothing_at_all(server: HubServer) -> None:
    silent = threading.Event()

    def wait(_: Request, reply: Reply) -> Reply:
        silent.wait(SECONDS)
        return reply

    server.faults = wait
    try:
        app = pick_model(type_in(framed(), TEXT), PRESET)
        assert pending(app)
        started = time.perf_counter()
        app = press(app, "wish_cancel")
        assert time.perf_counter() - started < 3
        assert_goes_on(app)
    finally:
        silent.set()


@pytest.mark.slow
def test_of_two_quick_choices_the_second_counts(server: HubServer, gate: threading.Event) -> None:
    app = pick_model(type_in(framed(), TEXT), PRESET)
    until(lambda: weights_asked(server) == 1)
    first = load_of(PRESET)
    app = pick_model(app, SECOND)
    assert (picked(app), pending(app)) == (SECOND, True)
    gate.set()
    finish_background_work()
    assert_goes_on(app.run(), SECOND)
    assert first.was_stopped


@pytest.mark.slow
def test_choosing_the_model_in_use_again_takes_the_wish_back(
    server: HubServer, gate: threading.Event
) -> None:
    app = pick_model(type_in(framed(), TEXT), PRESET)
    app = pick_model(app, BUNDLED_ID)
    assert not pending(app)
    gate.set()
    finish_background_work()
    assert_goes_on(app.run())


@pytest.mark.slow
def test_reset_takes_the_wish_back(server: HubServer, gate: threading.Event) -> None:
    app = press(pick_model(type_in(framed(), TEXT), PRESET), "reset")
    assert not pending(app)
    gate.set()
    finish_background_work()
    assert_goes_on(app.run(), text=DEFAULT.sentences[0].text)


@pytest.mark.slow
def test_who_went_elsewhere_keeps_the_model_found_there(
    server: HubServer, gate: threading.Event
) -> None:
    gate.set()
    runtime.service().load(SECOND)
    gate.clear()
    app = pick_model(type_in(framed(), TEXT), PRESET)
    app.query_params["s"] = encode(replace(shown_view(app), model=SECOND))
    app = app.run()
    assert not pending(app)
    gate.set()
    finish_background_work()
    assert_goes_on(app.run(), SECOND)


@pytest.mark.slow
def test_two_visitors_share_one_download_and_one_cannot_stop_it_for_the_other(
    server: HubServer, gate: threading.Event
) -> None:
    jobs().lease_seconds = SECONDS  # a headless visitor does not look while another one acts
    first = pick_model(type_in(framed(), TEXT), PRESET)
    second = pick_model(type_in(framed(), TEXT), PRESET)
    until(lambda: weights_asked(server) == 1)
    first = press(first, "wish_cancel")
    gate.set()
    finish_background_work()
    assert_goes_on(second.run(), PRESET)
    assert_goes_on(first.run())
    assert weights_asked(server) == 1


@pytest.mark.slow
def test_a_visitor_who_leaves_does_not_stop_what_was_chosen(
    server: HubServer, gate: threading.Event
) -> None:
    pick_model(framed(), PRESET)
    until(lambda: weights_asked(server) == 1)
    gate.set()
    finish_background_work()
    assert runtime.is_loaded(PRESET)


@pytest.mark.slow
def test_a_model_that_was_dropped_from_memory_before_the_change_is_loaded_again(
    served: Path, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        shutil.copytree(served, tmp_path / "models" / name)
    with (
        hub_server({}) as running,
        app_on(
            tmp_path_factory,
            running.endpoint,
            MODEL_MB="1",
            MODEL_FOLDERS=str(tmp_path / "models"),
        ),
    ):
        app = pick_model(type_in(framed(), TEXT), "folder:a")
        finish_background_work()
        runtime.service().load("folder:b")  # by another visitor; there is room for one
        assert not runtime.is_loaded("folder:a")
        app = app.run()
        assert_goes_on(app, "folder:a")
        assert sum(spec.loaded for spec in runtime.service().models()) == 1
