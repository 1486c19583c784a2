"""On a network, visitors load only offered models; an admin may type any id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from contextlens.core import BUNDLED_ID, registry
from contextlens.ui.models import runtime
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from tests.support.fields import field
from tests.support.hub_server import HubServer, hub_server
from tests.support.openid import claims, knows, settings_of
from tests.support.pages import app_data, app_settings, arrived, framed, press, shown_view
from tests.ui.models.runtime.getting import OTHER, PRESET, ROOT, SECONDS

ADDRESS = "http://localhost:8501"
NOT_OFFERED = "is not offered here"


@contextmanager
def _app(data: Path, hub: HubServer, **variables: str) -> Iterator[None]:
    with app_settings(DATA_DIR=str(data), HUB_ENDPOINT=hub.endpoint, **variables):
        yield


@pytest.fixture
def hub(served: Path, hub_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A hub with one tiny model under two names, an empty cache, and no id let in before."""
    monkeypatch.setattr(registry, "_admitted", set())
    with hub_server({PRESET: served, OTHER: served}) as running:
        yield running


@pytest.fixture
def opened(hub: HubServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    """The app behind a name on the network, where nobody signs in."""
    with _app(app_data(tmp_path_factory), hub, HOSTS="lens.example"):
        yield hub


@pytest.fixture
def signed_in(hub: HubServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubServer]:
    """The app where everybody signs in: ada is an admin, uwe is not."""
    own = {k.removeprefix("CONTEXTLENS_"): v for k, v in settings_of("https://id.example").items()}
    own["OIDC_REDIRECT_URL"] = f"{ADDRESS}/oauth2callback"
    with _app(app_data(tmp_path_factory), hub, **own), knows(ADDRESS):
        yield hub


def seen_by(name: str, model: str, page: str = "meaning") -> AppTest:
    app = AppTest.from_file(str(ROOT / "main.py"), default_timeout=SECONDS)
    app.user = claims(name)
    app.query_params["s"] = encode(replace(DEFAULT, model=model))
    return arrived(app.switch_page(f"pages/{page}.py").run())


def typed(app: AppTest, model: str) -> AppTest:
    """Send an id from the picker, even where none can be typed."""
    box = field(app.selectbox, "model")
    box.options.append(model)
    return box.set_value(model).run()


def said(app: AppTest) -> str:
    return "".join(error.value.replace("\\", "") for error in app.error)


@pytest.mark.parametrize("page", ["meaning", "tokens", "map"])
def test_an_address_that_names_another_model_is_refused_in_a_sentence(
    opened: HubServer, page: str
) -> None:
    app = framed(replace(DEFAULT, model=OTHER), page)
    assert not app.exception
    assert NOT_OFFERED in said(app)
    assert not any(button.key == "get_model" for button in app.button)
    assert not opened.requests


def test_where_nobody_signs_in_no_id_can_be_typed_and_a_preset_is_fetched(
    opened: HubServer,
) -> None:
    app = framed()
    box = field(app.selectbox, "model")
    assert not box.proto.accept_new_options
    assert "organisation/name" not in box.proto.help
    app = typed(app, OTHER)  # a browser may send what its picker does not take
    assert NOT_OFFERED in said(app)
    assert shown_view(app).model == BUNDLED_ID
    assert not opened.requests
    app = press(framed(replace(DEFAULT, model=PRESET)), "get_model")
    assert not app.error
    assert runtime.is_loaded(PRESET)


def test_an_admin_types_any_id_and_others_do_not(signed_in: HubServer) -> None:
    app = seen_by("uwe", BUNDLED_ID)
    assert not field(app.selectbox, "model").proto.accept_new_options
    assert NOT_OFFERED in said(typed(app, OTHER))
    assert not signed_in.requests
    app = seen_by("ada", BUNDLED_ID)
    assert field(app.selectbox, "model").proto.accept_new_options
    app = arrived(typed(app, OTHER))
    runtime.jobs().get(("model", OTHER)).wait(SECONDS)  # type: ignore[union-attr]
    assert not said(app.run())
    assert runtime.is_loaded(OTHER)


def test_an_admin_gets_by_a_click_what_an_address_names(signed_in: HubServer) -> None:
    app = seen_by("ada", OTHER)
    assert not said(app)
    assert not signed_in.requests
    assert not said(press(app, "get_model"))
    assert runtime.is_loaded(OTHER)
