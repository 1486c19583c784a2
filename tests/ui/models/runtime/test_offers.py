"""What an address may do by itself: what is on this machine needs no click, all else does."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from components.core import BUNDLED_ID
from components.ui.frame.navigation import PAGES
from components.ui.models import runtime, tasks
from components.ui.models.background import jobs
from components.ui.state.address import encode, to_json
from components.ui.state.view import DEFAULT
from tests.support.fields import field
from tests.support.hub_server import HubServer, Reply, Request, hub_server
from tests.support.pages import (
    app_settings,
    arrived,
    choose,
    finish_background_work,
    framed,
    lines,
    press,
    shown_view,
    type_in,
)
from tests.ui.models.runtime.getting import OTHER, PRESET, SECONDS, TINY, asked_for, opened_on


def buttons(app: AppTest) -> dict[str, str]:
    """What the offer's buttons say, by their keys; empty where nothing is offered."""
    own = {"get_model", "go_on_without"}
    return {b.key: b.label.replace("\\", "") for b in app.main.button if b.key in own}


def assert_offered(app: AppTest, model: str, label: str) -> None:
    """The model is offered, its files were not asked for, and the rest of the page is there."""
    assert not app.exception
    assert not app.error
    assert buttons(app) == {"get_model": label, "go_on_without": "Go on with all-MiniLM-L6-v2"}
    said = "".join(each.value.replace("\\", "") for each in app.main.markdown)
    assert f"asks for **{model}**, which is not on the machine" in said
    assert field(app.text_input, "page_sentences_0").value == shown_view(app).sentences[0].text
    assert jobs().get(tasks.load_key(model)) is None


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_an_address_alone_fetches_nothing(server: HubServer, page: str) -> None:
    app = framed(replace(DEFAULT, model=PRESET), page)
    for _ in range(2):
        assert not app.exception
        if page != "corpora":  # what is kept is looked at without a model
            assert buttons(app)["get_model"] == "Get distilbert-base-uncased (268 MB)"
        app = app.run()
    assert not server.requests


@pytest.mark.parametrize(
    ("model", "label"),
    [
        (PRESET, "Get distilbert-base-uncased (268 MB)"),
        (OTHER, f"Get {OTHER}"),
        ("org/" + "n" * 90, f"Get org/{'n' * 55}…"),
    ],
    ids=["preset", "typed", "long"],
)
def test_only_the_click_fetches_and_what_was_typed_meanwhile_is_kept(
    server: HubServer, model: str, label: str
) -> None:
    app = framed(replace(DEFAULT, model=model))
    assert_offered(app, model, label)
    app = type_in(app, "My python is a good pet")
    assert_offered(app, model, label)
    assert not server.requests
    app = press(app, "get_model")
    assert server.requests
    assert shown_view(app).sentences[0].text == "My python is a good pet"
    if model in server.repositories:
        assert not app.error
        assert len(lines(app)) == 5
        assert not buttons(app)


def test_there_is_a_way_back_to_the_first_model(server: HubServer) -> None:
    app = type_in(framed(replace(DEFAULT, model=PRESET)), "My python is a good pet")
    app = press(app, "go_on_without")
    assert not app.exception
    assert (shown_view(app).model, len(lines(app))) == (BUNDLED_ID, 5)
    assert shown_view(app).sentences[0].text == "My python is a good pet"
    assert not server.requests


@pytest.mark.slow
def test_back_forward_and_a_state_file_fetch_nothing(server: HubServer) -> None:
    view = replace(DEFAULT, model=PRESET)
    app = framed()
    for model in (PRESET, BUNDLED_ID, PRESET):  # the browser changes the address by itself
        app.query_params["s"] = encode(replace(DEFAULT, layer=1, model=model))
        app = arrived(app.run())
    assert_offered(app, PRESET, "Get distilbert-base-uncased (268 MB)")
    file = ("view.json", to_json(view).encode(), "application/json")
    app = framed().file_uploader(key="open_view").set_value(file).run()
    assert shown_view(app) == view
    assert_offered(app, PRESET, "Get distilbert-base-uncased (268 MB)")
    assert not server.requests


@pytest.mark.slow
def test_who_cancelled_or_went_elsewhere_is_asked_again(server: HubServer) -> None:
    gate = threading.Event()

    def wait(_: Request, reply: Reply) -> Reply:
        gate.wait(SECONDS)
        return reply

    server.faults = wait
    try:
        app = opened_on(PRESET)
        app = app.button(key="page_load_cancel").click().run()
        assert shown_view(app).model == BUNDLED_ID
        app.query_params["s"] = encode(replace(DEFAULT, model=PRESET))
        assert buttons(app.run())
    finally:
        gate.set()
    finish_background_work()


@pytest.mark.slow
def test_a_fetch_that_failed_is_not_begun_again_by_coming_back(server: HubServer) -> None:
    server.faults = lambda _, reply: replace(reply, status=500, body=b"")
    app = asked_for(PRESET)
    assert len(app.error) == 1
    app.query_params["s"] = ""
    app = app.run()
    app.query_params["s"] = encode(replace(DEFAULT, model=PRESET))
    n_requests = len(server.requests)
    assert buttons(arrived(app.run()))
    assert len(server.requests) == n_requests


@pytest.mark.slow
def test_another_visitors_fetch_is_not_joined_without_a_click(server: HubServer) -> None:
    gate = threading.Event()

    def wait(_: Request, reply: Reply) -> Reply:
        gate.wait(SECONDS)
        return reply

    server.faults = wait
    try:
        opened_on(PRESET)
        assert buttons(framed(replace(DEFAULT, model=PRESET)))
    finally:
        gate.set()
    finish_background_work()
    assert not buttons(framed(replace(DEFAULT, model=PRESET)))


@pytest.mark.slow
def test_what_is_on_this_machine_needs_no_click(server: HubServer, models: Path) -> None:
    asked_for(OTHER)
    n_requests = len(server.requests)
    st.cache_resource.clear()  # as after a new start: on disk, not in memory
    app = framed(replace(DEFAULT, model=OTHER))
    assert not buttons(app)
    assert not app.error
    assert runtime.is_loaded(OTHER)
    assert len(server.requests) == n_requests
    with app_settings(MODEL_FOLDERS=str(models), HUB_ENDPOINT=server.endpoint):
        app = framed(replace(DEFAULT, model=TINY))
        assert not buttons(app)
        assert runtime.is_loaded(TINY)


@pytest.mark.slow
def test_the_operators_own_first_model_needs_no_click(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with (
        hub_server({OTHER: served, PRESET: served}) as running,
        app_settings(
            DATA_DIR=str(tmp_path), HUB_ENDPOINT=running.endpoint, MODELS=f"{OTHER},{PRESET}"
        ),
    ):
        app = framed()
        assert not buttons(app)
        assert runtime.is_loaded(OTHER)
        app = framed(replace(DEFAULT, model=PRESET))
        assert buttons(app)["go_on_without"] == "Go on with tiny-bert"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "section", "key", "label"),
    [
        ("layers", "Layers compared", "get_second_model", "Get distilbert-base-uncased (268 MB)"),
        ("tokens", "Two tokenizers", "get_tokenizer", "Get the tokenizer of distilbert-base-"),
    ],
)
def test_a_second_model_or_tokenizer_named_in_a_view_is_fetched_by_a_click_alone(
    server: HubServer, page: str, section: str, key: str, label: str
) -> None:
    own = {"section": section, "other": PRESET}
    app = framed(replace(DEFAULT, controls={page: own}), page)
    assert not app.exception
    assert app.button(key=key).label.replace("\\", "").startswith(label)
    assert not server.requests
    app = press(app, key)
    assert server.requests
    assert not app.error


@pytest.mark.slow
def test_another_visitors_second_model_is_not_joined_without_a_click(server: HubServer) -> None:
    gate = threading.Event()

    def wait(_: Request, reply: Reply) -> Reply:
        gate.wait(SECONDS)
        return reply

    view = replace(DEFAULT, controls={"layers": {"section": "Layers compared", "other": PRESET}})
    server.faults = wait
    try:
        app = framed(view, "layers").button(key="get_second_model").click().run()
        assert any(button.key == "get_second_model_cancel" for button in app.button)
        other = framed(view, "layers")
        assert other.button(key="get_second_model").label.startswith("Get distilbert")
    finally:
        gate.set()
    finish_background_work()


@pytest.mark.slow
def test_the_picker_is_a_click_too_where_a_view_asks_for_what_is_not_here(
    server: HubServer,
) -> None:
    app = framed(replace(DEFAULT, model=OTHER))
    assert buttons(app)
    assert not server.requests
    app = choose(app, PRESET)
    assert not app.error
    assert (shown_view(app).model, len(lines(app))) == (PRESET, 5)
    assert {request.repo for request in server.requests} == {PRESET}
