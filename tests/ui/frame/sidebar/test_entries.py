"""What the picker lists, and what can be typed into it."""

from __future__ import annotations

import threading

import pytest
from streamlit.testing.v1 import AppTest

from components.content.wording import escape
from components.core import BUNDLED_ID, Settings, registry
from components.core.errors import ContextlensError
from components.ui.models import runtime
from tests.support.fields import field
from tests.support.hub_server import HubServer, hub_server
from tests.support.pages import bundled_app, choose, finish_background_work, framed, press, type_in
from tests.ui.frame.sidebar.headless import (
    PRESET,
    TEXT,
    TYPED,
    assert_goes_on,
    pending,
    pick_model,
    picked,
    said,
)


def type_model(app: AppTest, text: str) -> AppTest:
    box = field(app.selectbox, "model")
    box.options.append(text)
    return box.set_value(text).run()


def labels(app: AppTest) -> list[str]:
    return list(field(app.selectbox, "model").proto.options)


# Typed ids


@pytest.mark.slow
def test_an_id_can_be_typed(server: HubServer) -> None:
    app = type_model(type_in(framed(), TEXT), f" {TYPED} ")
    assert (picked(app), pending(app)) == (TYPED, True)
    finish_background_work()
    assert_goes_on(app.run(), TYPED)


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed",
    [
        PRESET,
        "DistilBERT-base-uncased",
        "distilbert-base-uncased · 268 MB to fetch",  # the label of a page that has not heard yet
        "distilbert-base-uncased · not on this machine",
    ],
)
def test_the_title_or_an_old_label_of_a_preset_names_it(server: HubServer, typed: str) -> None:
    app = type_model(type_in(framed(), TEXT), typed)
    finish_background_work()
    assert_goes_on(app.run(), PRESET)


NO_MODELS = (
    "../..",
    "/etc/passwd",
    "https://hub.example/org/name",
    "folder:../..",
    "folder:none",
    "a" * 10_000,
    "org/na\x00me",
    "org/na\u202eme",
    "<b>bold</b>",
    "![x](http://example.org/x.png)",
)


@pytest.mark.parametrize("typed", NO_MODELS, ids=lambda typed: typed[:12])
def test_what_cannot_be_a_model_is_said_in_a_sentence_that_is_no_markdown(typed: str) -> None:
    with hub_server({}) as hub, pytest.raises(ContextlensError) as raised:
        registry.check_model(typed, Settings(hub_endpoint=hub.endpoint))
    assert not hub.requests
    assert len(str(raised.value)) < 500
    assert "![x](" not in escape(str(raised.value))
    assert "<b>" not in escape(str(raised.value))


@pytest.mark.slow
@pytest.mark.parametrize("typed", [NO_MODELS[i] for i in (0, 5, 9)], ids=lambda typed: typed[:12])
def test_what_cannot_be_a_model_stops_at_the_door(server: HubServer, typed: str) -> None:
    app = type_model(type_in(framed(), TEXT), typed)
    assert_goes_on(app)
    assert len(said(app)) < 500
    assert "![x](" not in app.sidebar.error[0].value
    assert "<b>" not in app.sidebar.error[0].value
    assert not server.requests
    assert [b.key for b in app.sidebar.button if "wish" in b.key] == ["wish_dismiss"]
    app = press(app, "wish_dismiss")
    assert_goes_on(app)
    assert not app.error


@pytest.mark.slow
def test_a_value_of_a_picker_that_was_replaced_is_not_a_choice(
    server: HubServer, gate: threading.Event
) -> None:
    app = pick_model(type_in(framed(), TEXT), PRESET)
    old = field(app.selectbox, "model").key
    app = press(app, "wish_cancel")
    assert field(app.selectbox, "model").key != old
    assert not pending(app)
    gate.set()


# What the picker says


@pytest.mark.slow
def test_sizes_are_said_only_of_what_must_be_fetched(server: HubServer) -> None:
    app = framed()
    assert labels(app)[0] == "all-MiniLM-L6-v2"
    assert "distilbert-base-uncased · 268 MB to fetch" in labels(app)
    app = choose(app, PRESET)
    assert "distilbert-base-uncased" in labels(app)
    runtime.st.cache_resource.clear()  # as after a new start: on this machine, not in memory
    runtime.service().load(BUNDLED_ID)
    assert "distilbert-base-uncased" in labels(framed())


def test_the_purpose_of_each_preset_can_be_read(server: HubServer) -> None:
    said_ = field(framed().selectbox, "model").proto.help.replace("\\", "")
    assert "The same, case-sensitive." in said_
    assert "distilbert-base-uncased" in said_
    assert "organisation/name" in said_


@pytest.mark.slow
def test_where_downloads_are_forbidden_the_picker_says_what_is_not_here(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with bundled_app(tmp_path_factory):
        app = type_in(framed(), TEXT)
        assert "distilbert-base-uncased · not on this machine" in labels(app)
        assert not any("to fetch" in label for label in labels(app))
        app = choose(app, PRESET)
        assert_goes_on(app)
        assert "CONTEXTLENS_ALLOW_DOWNLOADS=0" in said(app)


@pytest.mark.slow
def test_where_the_models_are_limited_none_can_be_typed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with bundled_app(tmp_path_factory, MODELS=f"{BUNDLED_ID},{PRESET}"):
        app = type_in(framed(), TEXT)
        box = field(app.selectbox, "model")
        assert not box.proto.accept_new_options
        assert len(labels(app)) == 2
        assert "organisation/name" not in box.proto.help
