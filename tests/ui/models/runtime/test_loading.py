"""A page that gets a model says how far it is, can be left, and uses what was fetched again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.core import BUNDLED_ID, EncoderService
from components.ui.models import runtime, tasks
from components.ui.models.background import jobs
from components.ui.state.address import encode
from components.ui.state.view import DEFAULT
from tests.support.cosines import expected
from tests.support.hub_server import HubServer, Reply, Request
from tests.support.pages import (
    arrived,
    assert_shows,
    choose,
    framed,
    lines,
    press,
    shown_view,
    type_in,
)
from tests.ui.models.runtime.getting import (
    OTHER,
    PRESET,
    SECONDS,
    asked_for,
    opened_on,
    sidebar_text,
)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, str]]:
    """Every state of a progress bar that a page sends to the browser."""
    sent: list[tuple[float, str]] = []
    progress = DeltaGenerator.progress

    def note(place: DeltaGenerator, value: float, text: str) -> Any:
        sent.append((value, text))
        return progress(place, value, text=text)

    monkeypatch.setattr(DeltaGenerator, "progress", note)
    return sent


@pytest.mark.slow
@pytest.mark.parametrize("model", [PRESET, OTHER])
def test_a_model_from_the_hub_shows_its_size_and_revision(server: HubServer, model: str) -> None:
    app = asked_for(model)
    assert not app.exception
    assert not app.error
    card = runtime.service().load(model)
    assert card.revision == server.commit(model)
    assert card.revision in sidebar_text(app)
    assert "3 layers · 160 dims · 4 heads" in sidebar_text(app)


@pytest.mark.slow
def test_fetching_a_model_shows_how_far_it_is(
    server: HubServer, bars: list[tuple[float, str]]
) -> None:
    seen_enough = threading.Event()

    def slowly(request: Request, reply: Reply) -> Reply:
        slow = replace(reply, bytes_per_second=200_000, hurry=seen_enough)
        return slow if request.kind == "file" else reply

    server.faults = slowly
    app = opened_on(PRESET)
    while app.get("progress"):
        if len({value for value, _ in bars}) > 4 and bars[-1][1].endswith(" left"):
            seen_enough.set()
        app = app.run()
    app = arrived(app)
    assert not app.error
    assert_progress(bars, PRESET)
    assert not app.get("progress"), "the bar leaves with the wait"
    bars.clear()
    app.run()
    assert not bars


def assert_progress(bars: list[tuple[float, str]], model: str) -> None:
    bars = [bar for bar in bars if bar[1].startswith("Fetching")]
    values = [value for value, _ in bars]
    assert len(set(values)) > 2
    assert values == sorted(values)
    assert 0 <= values[0] <= values[-1] <= 1
    plain = [text.replace("\\", "") for _, text in bars]
    assert all(text.startswith(f"Fetching {model}: ") and " MB" in text for text in plain)
    assert any(text.endswith(" left") for text in plain)


@pytest.mark.slow
def test_a_model_chosen_in_the_picker_gives_the_page_its_numbers(
    server: HubServer, served: Path, open_with: Callable[..., EncoderService]
) -> None:
    app = type_in(framed(), "My python is a good pet")
    app = choose(app, PRESET)
    assert not app.error
    view = replace(
        DEFAULT,
        sentences=(
            replace(DEFAULT.sentences[0], text="My python is a good pet", word=(3, 9)),
            DEFAULT.sentences[1],
        ),
    )
    on_disk = open_with(model_folder=served.parent)
    assert_shows(app, expected(on_disk, replace(view, model="folder:model")))
    assert app.query_params["s"] == encode(replace(view, model=PRESET))


@pytest.mark.slow
@pytest.mark.parametrize("model", [PRESET, OTHER])
def test_a_fetched_model_is_used_again_without_a_request(server: HubServer, model: str) -> None:
    app = asked_for(model)
    n_requests = len(server.requests)
    assert n_requests > 0
    app = app.run()
    assert not app.error
    st.cache_resource.clear()
    again = framed(replace(DEFAULT, model=model))
    assert not again.error
    assert len(server.requests) == n_requests


@pytest.mark.slow
@pytest.mark.parametrize("model", [PRESET, OTHER])
def test_a_loaded_model_costs_a_rerun_nothing(server: HubServer, model: str) -> None:
    app = asked_for(model)
    assert runtime.is_loaded(model)
    before = jobs().get(tasks.load_key(model))
    assert before is not None
    app.run()
    assert jobs().get(tasks.load_key(model)) is before


@pytest.mark.slow
def test_a_page_can_be_left_at_once_while_the_hub_does_not_answer(server: HubServer) -> None:
    app = framed()
    go_on = threading.Event()

    def wait(_: Request, reply: Reply) -> Reply:
        go_on.wait(SECONDS)
        return reply

    server.faults = wait
    app.query_params["s"] = encode(replace(DEFAULT, model=PRESET))
    try:
        app.run().button(key="get_model").click().run()
        assert "Looking for the model…" in [caption.value for caption in app.main.caption]
        app = app.button(key="page_load_cancel").click().run()
        assert shown_view(app).model == BUNDLED_ID
        assert lines(app)
        assert not app.error
        assert not app.exception
    finally:
        go_on.set()


@pytest.mark.slow
def test_a_model_that_the_hub_does_not_have_is_one_sentence(server: HubServer) -> None:
    app = asked_for("org/no-such-model")
    assert not app.exception
    assert len(app.error) == 1
    app = choose(app, BUNDLED_ID)
    assert not app.error


@pytest.mark.slow
def test_a_fetch_that_failed_is_tried_again_when_asked(server: HubServer) -> None:
    server.faults = lambda _, reply: replace(reply, status=500, body=b"")
    app = asked_for(PRESET)
    assert len(app.error) == 1
    assert "could not be fetched" in app.error[0].value
    server.faults = None
    app = press(app, "try_again")
    assert not app.error
    assert not app.exception
    assert not any(button.key == "try_again" for button in app.button)
