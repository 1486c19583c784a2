"""An address alone fetches nothing; a page gets a model by a click, with progress and ways out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.ui.models import runtime, tasks
from contextlens.ui.models.background import jobs
from contextlens.ui.page.navigation import PAGES
from contextlens.ui.state.address import encode, to_json
from contextlens.ui.state.view import DEFAULT
from tests.support.cosines import expected
from tests.support.fields import field
from tests.support.hub_server import HubServer, Reply, Request, hub_server
from tests.support.pages import (
    app_settings,
    arrived,
    assert_shows,
    choose,
    finish_background_work,
    framed,
    lines,
    press,
    shown_view,
    type_in,
    typed,
)
from tests.ui.models.runtime.getting import (
    OTHER,
    PRESET,
    SECONDS,
    TINY,
    asked_for,
    opened_on,
    sidebar_text,
)


def buttons(app: AppTest) -> dict[str, str]:
    """The labels of the offer's buttons by key; empty where nothing is offered."""
    own = {"get_model", "go_on_without"}
    return {b.key: b.label.replace("\\", "") for b in app.main.button if b.key in own}


def assert_offered(app: AppTest, model: str, label: str) -> None:
    """The model is offered, its files were not asked for, and the rest of the page is there."""
    assert not app.exception
    assert not app.error
    assert buttons(app) == {"get_model": label, "go_on_without": "Go on with all-MiniLM-L6-v2"}
    said = "".join(each.value.replace("\\", "") for each in app.main.markdown)
    assert f"asks for **{model}**, which is not on the machine" in said
    assert typed(app) == shown_view(app).sentences[0].text
    assert jobs().get(tasks.load_key(model)) is None


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_an_address_alone_fetches_nothing(server: HubServer, page: str) -> None:
    app = framed(replace(DEFAULT, model=PRESET), page)
    for _ in range(2):
        assert not app.exception
        if page not in {"corpora", "report"}:  # what is kept is looked at without a model
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
        assert len(lines(app)) == 3
        assert not buttons(app)


def test_there_is_a_way_back_to_the_first_model(server: HubServer) -> None:
    app = type_in(framed(replace(DEFAULT, model=PRESET)), "My python is a good pet")
    app = press(app, "go_on_without")
    assert not app.exception
    assert (shown_view(app).model, len(lines(app))) == (BUNDLED_ID, 3)
    assert shown_view(app).sentences[0].text == "My python is a good pet"
    assert not server.requests


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


def test_a_page_can_be_left_while_the_hub_says_nothing_and_who_comes_back_is_asked_again(
    server: HubServer, silence: threading.Event
) -> None:
    runtime.service().load(BUNDLED_ID)
    app = opened_on(PRESET)
    assert "Looking for the model…" in [caption.value for caption in app.main.caption]
    app = app.button(key="page_load_cancel").click().run()
    assert shown_view(app).model == BUNDLED_ID
    assert lines(app)
    assert not app.error
    app.query_params["s"] = encode(replace(DEFAULT, model=PRESET))
    assert buttons(app.run())
    silence.set()
    finish_background_work()


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


def test_another_visitors_fetch_is_not_joined_without_a_click(
    server: HubServer, silence: threading.Event
) -> None:
    opened_on(PRESET)
    assert buttons(framed(replace(DEFAULT, model=PRESET)))
    silence.set()
    finish_background_work()
    assert not buttons(framed(replace(DEFAULT, model=PRESET)))


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


def test_the_operators_own_first_model_needs_no_click(
    served: Path, hub_cache: Path, tmp_path: Path
) -> None:
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


def test_another_visitors_second_model_is_not_joined_without_a_click(
    server: HubServer, silence: threading.Event
) -> None:
    view = replace(DEFAULT, controls={"layers": {"section": "Layers compared", "other": PRESET}})
    app = framed(view, "layers").button(key="get_second_model").click().run()
    assert any(button.key == "get_second_model_cancel" for button in app.button)
    other = framed(view, "layers")
    assert other.button(key="get_second_model").label.startswith("Get distilbert")
    silence.set()
    finish_background_work()


def test_the_picker_is_a_click_too_where_a_view_asks_for_what_is_not_here(
    server: HubServer,
) -> None:
    app = framed(replace(DEFAULT, model=OTHER))
    assert buttons(app)
    assert not server.requests
    app = choose(app, PRESET)
    assert not app.error
    assert (shown_view(app).model, len(lines(app))) == (PRESET, 3)
    assert {request.repo for request in server.requests} == {PRESET}


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


@pytest.mark.parametrize("model", [PRESET, OTHER])
def test_a_model_from_the_hub_shows_its_size_and_revision(server: HubServer, model: str) -> None:
    app = asked_for(model)
    assert not app.exception
    assert not app.error
    card = runtime.service().load(model)
    assert card.revision == server.commit(model)
    assert card.revision in sidebar_text(app)
    assert "3 layers · 4 heads · 160 numbers a word" in sidebar_text(app)


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


def test_a_loaded_model_costs_a_rerun_nothing(server: HubServer) -> None:
    app = asked_for(PRESET)
    assert runtime.is_loaded(PRESET)
    before = jobs().get(tasks.load_key(PRESET))
    assert before is not None
    app.run()
    assert jobs().get(tasks.load_key(PRESET)) is before


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


# Several visitors


def test_several_visitors_wait_for_one_fetch(server: HubServer, gate: threading.Event) -> None:
    jobs().lease_seconds = SECONDS  # a headless visitor does not look while another one acts
    visitors = [opened_on(PRESET) for _ in range(4)]
    assert not runtime.is_loaded(PRESET)
    gate.set()
    for app in visitors:
        assert server.commit(PRESET) in sidebar_text(arrived(app))
    asked = [r for r in server.requests if r.method == "GET" and r.file == "model.safetensors"]
    assert len(asked) == 1


def test_a_visitor_who_leaves_does_not_stop_the_fetch(
    server: HubServer, gate: threading.Event
) -> None:
    opened_on(PRESET)
    assert not runtime.is_loaded(PRESET)
    jobs().lease_seconds = 0  # nobody looks any more
    gate.set()
    finish_background_work()
    assert runtime.service().load(PRESET).revision == server.commit(PRESET)
    assert runtime.is_loaded(PRESET)


# Whose models are whose


def offered(app: AppTest) -> list[str]:
    """The picker's options."""
    return list(field(app.selectbox, "model").proto.options)


@pytest.mark.slow
def test_what_one_visitor_typed_is_not_listed_to_others(server: HubServer) -> None:
    mine = asked_for(OTHER)
    assert runtime.is_loaded(OTHER)
    assert "tiny-bert" in offered(mine.run())
    mine = choose(mine, BUNDLED_ID)
    assert "tiny-bert" in offered(mine), "it stays with who opened it"
    listed = [spec.id for spec in runtime.service().models()]
    assert OTHER not in listed
    other = framed()
    assert not [label for label in offered(other) if "tiny" in label]
    both = {"section": "Layers compared"}
    compared = framed(replace(DEFAULT, controls={"layers": both}), "layers")
    assert "tiny-bert" not in field(compared.selectbox, "layers_other").proto.options
    taken_apart = framed(DEFAULT, "anatomy")
    assert not [o for o in taken_apart.main.selectbox[0].proto.options if "tiny" in o]


def test_ones_own_model_can_stand_beside_another(server: HubServer) -> None:
    app = choose(asked_for(OTHER), BUNDLED_ID).switch_page("pages/layers.py")
    app.query_params["s"] = encode(
        replace(DEFAULT, controls={"layers": {"section": "Layers compared", "other": OTHER}})
    )
    app = arrived(app.run())
    assert not app.exception
    assert field(app.selectbox, "layers_other").value == OTHER
    app = arrived(app.switch_page("pages/anatomy.py").run())
    assert "tiny-bert (loaded)" in app.main.selectbox[0].proto.options
