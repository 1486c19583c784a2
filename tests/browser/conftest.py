"""A real browser and real servers for the tests in this folder; nothing here skips."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from contextlens.ui.state.view import DEFAULT
from tests.browser.components_page import COMPONENTS_APP, Opened, open_components
from tests.browser.rest import PATIENCE
from tests.browser.shared import SharedServer, shared
from tests.browser.tabs import Tab, Tabs
from tests.browser.visit import Visit
from tests.support.app_server import ROOT, AppServer, launch
from tests.support.measured import folder_of_the_run, measured_data

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A tab lives for seconds: what the compiler and the garbage collector spend on later, it never
    # gets back (an eighth of the processor's time).
    "--js-flags=--no-turbofan --no-maglev --single-threaded-gc"
    " --min-semi-space-size=32 --max-semi-space-size=64 --initial-heap-size=512",
    # Nothing but this machine is found; to stop each request instead would switch the cache off.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)
LONGEST = {
    *("test_access", "test_app", "test_everyone", "test_history", "test_layers", "test_models"),
    "test_tokens",
}
_RUNNING = pytest.StashKey[dict[str, AppServer | SharedServer]]()
_FAILED = pytest.StashKey[bool]()


expect.set_options(timeout=PATIENCE * 1000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs the browser's tests last: the others are quicker to say what is wrong.

    Those that take longest are the first of them, so that no worker is left alone at the end.
    """

    def when(item: pytest.Item) -> tuple[bool, bool]:
        return item.get_closest_marker("browser") is not None, item.path.stem not in LONGEST

    items.sort(key=when)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Adds the servers' logs to the report of a failed test."""
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
        for app in item.session.stash.get(_RUNNING, {}).values():
            report.sections.append((f"streamlit's log: {app.name}", app.report()))
    return report


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests."""
    executable = os.environ.get("CONTEXTLENS_CHROMIUM") or shutil.which("chromium")
    if not executable:
        pytest.fail("No Chromium: install it, or give its path in CONTEXTLENS_CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tabs(chromium: Browser) -> Tabs:
    """The browser's tabs, for all tests."""
    return Tabs(chromium, _listen)


@pytest.fixture(scope="session")
def run_app(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., str]]:
    """A factory: starts `streamlit run SCRIPT` on a free port and returns its address.

    The same script in the same environment is started once for all tests of all workers. Who
    starts it calls `ready` with its address before anyone else gets it.
    """
    running = request.session.stash.setdefault(_RUNNING, {})
    found: dict[str, str] = {}
    with ExitStack() as inside:

        def start(
            script: str | Path,
            env: Mapping[str, str] | None = None,
            ready: Callable[[str], None] = lambda _: None,
        ) -> str:
            path = ROOT / script
            asked = json.dumps([str(path), dict(env or {})], sort_keys=True)
            which = hashlib.sha256(asked.encode()).hexdigest()[:16]
            folder = folder_of_the_run(tmp_path_factory) / f"{path.stem}-{which}"

            def begin() -> AppServer:
                server = launch(path, folder / "log.txt", {**os.environ, **(env or {})})
                running[server.address] = server
                with ExitStack() as unless_ready:
                    unless_ready.callback(server.stop)
                    server.wait()
                    ready(server.address)
                    unless_ready.pop_all()
                return server

            if which not in found:
                its = inside.enter_context(shared(folder, begin))
                running.setdefault(its.address, its)
                found[which] = its.address
            return found[which]

        yield start


@pytest.fixture(scope="session")
def app_settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of the real app: offline, its model's baseline in a folder of its own."""
    folder = measured_data(tmp_path_factory, folder_of_the_run(tmp_path_factory) / "browser-data")
    return {"CONTEXTLENS_DATA_DIR": str(folder), "CONTEXTLENS_ALLOW_DOWNLOADS": "0"}


@pytest.fixture(scope="session")
def app(run_app: Callable[..., str], app_settings: Mapping[str, str], tabs: Tabs) -> str:
    """The real app's address; its model is loaded and its baseline is there.

    A server's first request may be to any page, so this one is not to the first: it shows the frame
    around the page that was asked for.
    """

    def visit(address: str) -> None:
        tab = tabs.open(address)
        page = tab.page
        page.goto(f"{address}/meaning")
        expect(page.get_by_role("heading", level=1)).to_have_text("Meaning in context")
        side = page.get_by_test_id("stSidebar")
        for name in ("Start here", "Meaning in context"):
            expect(side.get_by_role("link", name=name)).to_be_visible()
        first = page.get_by_role("toolbar", name="Words of sentence A").get_by_role("button").first
        expect(first).to_have_text(DEFAULT.sentences[0].text.split()[0])
        page.get_by_text("unrelated words (dotted").first.wait_for()
        tabs.leave(tab, keep=True)

    return run_app("app.py", app_settings, ready=visit)


@pytest.fixture
def take(request: pytest.FixtureRequest, tabs: Tabs) -> Iterator[Callable[..., Tab]]:
    """A factory of tabs at a server; at the end nothing was amiss in them.

    Amiss are: a dialog or error of the page, an error in its console, an exception shown, a
    request to anywhere but the server.
    """
    used: list[Tab] = []

    def take_(address: str, **options: object) -> Tab:
        used.append(tabs.open(address, **options))
        return used[-1]

    yield take_
    failures: list[str] = []
    for tab in used:
        shown = tab.page.get_by_test_id("stException").all_inner_texts()
        failures += shown + tab.heard
        tabs.leave(tab, keep=not (shown or tab.heard or request.node.stash.get(_FAILED, False)))
    assert failures == []


@pytest.fixture
def visit(app: str, take: Callable[..., Tab]) -> Callable[..., Visit]:
    """A factory of readers, each with a tab of their own."""

    def open_(path: str = "/", *, address: str = app, **options: object) -> Visit:
        tab = take(address, **options)
        reader = Visit(tab.page, address, tab.runs)
        reader.goto(path)
        return reader

    return open_


@pytest.fixture
def similarity(visit: Callable[..., Visit]) -> Visit:
    """A reader of Meaning in context."""
    return visit("/meaning")


@pytest.fixture
def opened(run_app: Callable[..., str], take: Callable[..., Tab]) -> Opened:
    """The page of components, on a desk."""
    return open_components(take, run_app(COMPONENTS_APP), viewport={"width": 1200, "height": 900})


def _listen(page: Page, address: str, failures: list[str]) -> None:
    host = urlsplit(address).netloc

    def hear(message: object) -> None:
        # A request that was answered with 404 is one, too. Plotly scales a name without a width to
        # nothing while a treemap is still being laid out, and the browser complains of that number.
        if message.type == "error" and "scale(NaN,NaN)" not in message.text:
            failures.append(f"console: {message.text} ({message.location.get('url', '')})")

    def hosted(what: str, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("data", "blob", "about") and parts.netloc != host:
            failures.append(f"{what} to {address}")

    page.on("pageerror", lambda error: failures.append(f"page error: {error}"))
    page.on("console", hear)
    page.on("request", lambda request: hosted("request", request.url))
    page.on("websocket", lambda socket: hosted("socket", socket.url))
    page.on("dialog", lambda box: (failures.append(f"dialog: {box.message}"), box.dismiss()))
