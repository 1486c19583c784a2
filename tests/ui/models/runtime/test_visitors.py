"""Several visitors wait for one fetch, and what one of them typed is not listed to others."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from components.core import BUNDLED_ID
from components.ui.models import runtime
from components.ui.models.background import jobs
from components.ui.state.address import encode
from components.ui.state.view import DEFAULT
from tests.support.fields import field
from tests.support.hub_server import HubServer, Reply, Request
from tests.support.pages import arrived, choose, finish_background_work, framed
from tests.ui.models.runtime.getting import (
    OTHER,
    PRESET,
    SECONDS,
    asked_for,
    opened_on,
    sidebar_text,
)


@pytest.mark.slow
def test_several_visitors_wait_for_one_fetch(server: HubServer) -> None:
    jobs().lease_seconds = SECONDS  # a headless visitor does not look while another one acts
    go_on = threading.Event()

    def wait(request: Request, reply: Reply) -> Reply:
        if request.method == "GET" and request.file == "model.safetensors":
            go_on.wait(SECONDS)
        return reply

    server.faults = wait
    try:
        visitors = [opened_on(PRESET) for _ in range(4)]
        assert not runtime.is_loaded(PRESET)
    finally:
        go_on.set()
    for app in visitors:
        assert server.commit(PRESET) in sidebar_text(arrived(app))
    asked = [r for r in server.requests if r.method == "GET" and r.file == "model.safetensors"]
    assert len(asked) == 1


@pytest.mark.slow
def test_a_visitor_who_leaves_does_not_stop_the_fetch(server: HubServer) -> None:
    app = framed()
    app.query_params["s"] = encode(replace(DEFAULT, model=PRESET))
    go_on = threading.Event()

    def wait(request: Request, reply: Reply) -> Reply:
        if request.method == "GET" and request.file == "model.safetensors":
            go_on.wait(SECONDS)
        return reply

    server.faults = wait
    app.run().button(key="get_model").click().run()
    assert not runtime.is_loaded(PRESET)
    jobs().lease_seconds = 0  # nobody looks any more
    go_on.set()
    finish_background_work()
    assert runtime.service().load(PRESET).revision == server.commit(PRESET)
    assert runtime.is_loaded(PRESET)


# Whose models are whose


def offered(app: AppTest) -> list[str]:
    """What the picker offers."""
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


@pytest.mark.slow
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
