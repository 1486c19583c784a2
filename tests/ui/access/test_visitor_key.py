"""On a shared server without sign-in, a corpus is its browser's: its address shows it to others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from contextlens.core.errors import AccessError, CorpusError
from contextlens.ui.access import guard
from contextlens.ui.access.visitor_key import COOKIE, owner_of
from contextlens.ui.corpora import catalogue, changing, exports
from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.models.background import store
from contextlens.ui.server import document
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.support.app_server import ROOT, launch
from tests.support.browsers import browser, cookies_of, owner_in
from tests.support.corpus_store import indexed, indexing, made_up_corpus
from tests.support.measured import measured_data
from tests.support.pages import app_settings, bundled_app, framed, plainly_said, press
from tests.ui.access.forged import Forger

CHANGING = {"corpora_delete", "corpora_cancel", "corpora_go_on", "corpora_pause"}


@pytest.fixture(scope="module")
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, HOSTS="texts.example"):
        yield


@pytest.fixture
def shared(_app: None) -> Iterator[None]:
    """A server for many; its corpora are deleted afterwards."""
    yield
    for name in store().names():
        store().delete(name)


def unfinished(owner: str) -> str:
    """A corpus whose indexing was cut off."""
    return store().create(made_up_corpus(4), indexing(), owner=owner).name


def opened(who: str, view: ViewState = DEFAULT) -> AppTest:
    with browser(who):
        return framed(view, "corpora")


def keys(app: AppTest) -> set[str]:
    return {str(button.key) for button in app.button}


def on(name: str, **controls: str) -> ViewState:
    view = COLLECTION.put(DEFAULT, name)
    own = {**view.controls, "corpora": controls}
    return ViewState(view.model, view.sentences, view.references, None, own)


def test_an_address_shows_a_corpus_and_its_browser_manages_it(shared: None) -> None:
    name, other = unfinished(owner_in("ann")), indexed(store(), made_up_corpus(2))
    for who in ("bob", ""):
        for view in (on(name), on(name, mine=name), on(name, owner=owner_in("ann"))):
            app = opened(who, view)
            assert not app.exception
            assert not CHANGING & keys(app)
            assert "Only whoever added these texts can go on" in plainly_said(app)
        assert f"corpora_show_{name}" not in keys(opened(who))
    app = opened("ann")  # as after a reload, at another address
    assert f"corpora_show_{name}" in keys(app)
    assert f"corpora_show_{other}" not in keys(app)
    assert {"corpora_cancel", "corpora_go_on"} <= keys(opened("ann", on(name)))


@pytest.mark.parametrize("who", ["bob", ""])
def test_nobody_else_changes_it_by_the_owner_s_buttons(shared: None, who: str) -> None:
    name = unfinished(owner_in("ann"))
    app = opened("ann", on(name))
    with browser("ann"):
        asked = press(app, "corpora_cancel")
    with browser(who):
        app = asked.button(key="corpora_cancel_yes").click().run()
    assert "This corpus is somebody else's" in plainly_said(app)
    app = opened("ann", on(name))
    with browser(who):
        app = app.button(key="corpora_go_on").click().run()
        with pytest.raises(AccessError):
            changing.pause(name)
        with pytest.raises(AccessError):
            changing.delete(name)
    assert "This corpus is somebody else's" in plainly_said(app)
    assert store().about(name).state == "waiting"
    with browser("ann"):
        press(press(opened("ann", on(name)), "corpora_cancel"), "corpora_cancel_yes")
    assert store().names() == ()


def test_a_corpus_without_an_owner_is_nobody_s_on_a_shared_server(shared: None) -> None:
    name = indexed(store(), made_up_corpus(2))
    for who in ("ann", ""):
        assert not CHANGING & keys(opened(who, on(name)))
    with app_settings(DATA_DIR=str(Path(store().root).parent)):  # the same, on one's own machine
        assert catalogue.may_change(catalogue.kept_of(name))
        changing.delete(name)


def test_a_browser_that_keeps_no_cookie_stores_nothing(shared: None) -> None:
    with browser(""), pytest.raises(CorpusError, match="Allow it, and reload the page"):
        changing.create(made_up_corpus(2), indexing())
    assert store().names() == ()


def test_an_export_is_for_the_owner_s_browser(shared: None) -> None:
    path = f"/{exports.address(indexed(store(), made_up_corpus(12), owner=owner_in('ann')))}"
    client = TestClient(Starlette(routes=exports.routes()))
    status = {}
    for who in ("ann", "bob", ""):
        client.cookies.clear()
        client.cookies.update(cookies_of(who))
        status[who] = client.get(path).status_code
    assert status == {"ann": 200, "bob": 403, "": 403}


def test_files_are_counted_by_address_as_a_browser_can_send_any_key(shared: None) -> None:
    person = guard.person_of_request(cookies_of("ann"))
    assert person.owner == owner_in("ann")
    assert not person.is_signed_in
    assert guard.counted_as(person, "192.0.2.1") == "192.0.2.1"


# The cookie


@pytest.mark.parametrize("key", ["", "x", "a" * 42, "a" * 44, "ä" * 43, owner_in("ann"), 3])
def test_what_is_no_key_owns_nothing(key: Any) -> None:
    assert owner_of({COOKIE: key}) == owner_of({}) == ""


def test_each_browser_gets_a_key_with_its_first_page_and_keeps_it(shared: None) -> None:
    app = Starlette(routes=document.routes())
    keys = set()
    for base in ("http://localhost", "https://texts.example"):
        browsers = TestClient(app, base)
        sent = browsers.get("/corpora").headers["set-cookie"]
        assert "; httponly" in sent.lower()
        assert "samesite=lax" in sent.lower()
        assert ("; secure" in sent.lower()) == base.startswith("https")
        key = browsers.cookies[COOKIE]
        assert owner_of({COOKIE: key})
        browsers.get("/map")
        assert browsers.cookies[COOKIE] == key
        keys.add(key)
    assert len(keys) == 2
    forged = TestClient(app, cookies={COOKIE: "mine"})
    assert f"{COOKIE}=mine" not in forged.get("/").headers["set-cookie"]


@pytest.mark.parametrize("variables", [{}, {"DEMO": "1"}])
def test_where_nothing_is_kept_by_key_no_cookie_is_sent(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    with app_settings(DATA_DIR=str(tmp_path), **variables):
        answer = TestClient(Starlette(routes=document.routes())).get("/")
        assert "set-cookie" not in answer.headers


# On a server, with a browser that keeps to no rule


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    folder = tmp_path_factory.mktemp("shared")
    data = measured_data(tmp_path_factory, folder / "data")
    with app_settings(DATA_DIR=str(data)):
        name = indexed(store(), made_up_corpus(12), owner=owner_in("ann"))
    env = {
        "CONTEXTLENS_HOSTS": "texts.example",
        "CONTEXTLENS_DATA_DIR": str(data),
        "CONTEXTLENS_ALLOW_DOWNLOADS": "0",
    }
    running = launch(ROOT / "app.py", folder / "log.txt", {**os.environ, **env})
    try:
        running.wait()
        yield SimpleNamespace(address=running.address, corpus=name)
    finally:
        running.stop()


def test_forged_buttons_of_the_owner_do_nothing_in_another_browser(server: SimpleNamespace) -> None:
    query = f"s={encode(on(server.corpus))}"
    export = f"{server.address}/{exports.address(server.corpus)}"
    mine = cookies_of("ann")
    with Forger(server.address, mine) as owner:
        delete = owner.run("corpora", query).id_of("corpora_delete")
        seen = owner.press("corpora", query, delete)
    for secret in (mine[COOKIE], owner_in("ann")):
        assert secret.encode() not in seen.text
    for own in (cookies_of("bob"), {}, {COOKIE: owner_in("ann")}):
        with Forger(server.address, own) as other:
            assert not other.run("corpora", query).has("corpora_delete")
            other.press("corpora", query, delete)
            other.press("corpora", query, delete, seen.id_of("corpora_delete_yes"))
    assert httpx2.get(export, timeout=60).status_code == 403
    assert httpx2.get(export, cookies=mine, timeout=60).status_code == 200
    with Forger(server.address, mine) as owner:
        owner.run("corpora", query)
        owner.press("corpora", query, delete)
        owner.press("corpora", query, seen.id_of("corpora_delete_yes"))
    assert httpx2.get(export, cookies=mine, timeout=60).status_code == 404
