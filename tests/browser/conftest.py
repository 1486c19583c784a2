"""A real browser and real servers for the tests in this folder; nothing here skips."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    sync_playwright,
)
from playwright.sync_api import TimeoutError as PlaywrightTimeout

ROOT = Path(__file__).parents[2]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
START_SECONDS = 60.0
AT_REST = """
() => {
  const app = document.querySelector('[data-testid="stApp"]');
  const rest = app?.dataset.testScriptState === 'notRunning'
    && app.dataset.testConnectionState === 'CONNECTED'
    && !document.querySelector('[data-testid="stSkeleton"], [data-stale="true"]');
  const since = window.__atRestSince ?? (rest ? performance.now() : null);
  window.__atRestSince = rest ? since : null;
  return rest && performance.now() - since > 250;
}
"""


# Says whether the script ran since; one that took no time may go unseen, hence a limit.
WATCH_RUNS = """
() => {
  const app = document.querySelector('[data-testid="stApp"]');
  window.__ran = false;
  new MutationObserver((_, observer) => { window.__ran = true; observer.disconnect(); })
    .observe(app, { attributes: true, attributeFilter: ['data-test-script-state'] });
}
"""
RAN_SECONDS = 3.0

# Streamlit's frontend looks for its server under the page's path first.
PROBES = ("/_stcore/health", "/_stcore/host-config")


@dataclass(frozen=True)
class _App:
    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(10)

    def report(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-8000:]


_RUNNING = pytest.StashKey[list[_App]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs the browser's tests last: the others are quicker to say what is wrong."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Adds the servers' logs to the report of a failed test."""
    report = yield
    if report.failed:
        for app in item.session.stash.get(_RUNNING, []):
            report.sections.append((f"streamlit's log: {app.name}", app.report()))
    return report


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests; each test opens contexts of its own."""
    executable = os.environ.get("CONTEXTLENS_CHROMIUM") or shutil.which("chromium")
    if not executable:
        pytest.fail("No Chromium: install it, or give its path in CONTEXTLENS_CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def run_app(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., str]]:
    """A factory: starts `streamlit run SCRIPT` on a free port and returns its address.

    The same script in the same environment is started once for all tests.
    """
    apps = request.session.stash.setdefault(_RUNNING, [])
    addresses: dict[tuple[str, frozenset[tuple[str, str]]], str] = {}

    def start(script: str | Path, env: Mapping[str, str] | None = None) -> str:
        path = Path(script) if Path(script).is_absolute() else ROOT / script
        which = (str(path), frozenset((env or {}).items()))
        if which not in addresses:
            port = _free_port()
            log = tmp_path_factory.mktemp("app") / "log.txt"
            app = _launch(path, port, log, {**os.environ, **(env or {})})
            apps.append(app)
            addresses[which] = f"http://localhost:{port}"
            _wait_until_healthy(app, addresses[which])
        return addresses[which]

    yield start
    for app in apps:
        app.stop()


@pytest.fixture(scope="session")
def settle() -> Callable[[Page], None]:
    """Waits until the script has run, nothing is stale or a skeleton, and it stays so."""

    def wait(page: Page, seconds: float = 30.0) -> None:
        page.evaluate("() => { window.__atRestSince = null; }")
        page.wait_for_function(AT_REST, timeout=seconds * 1000, polling=100)  # ms; else each frame

    return wait


@dataclass(frozen=True)
class Visit:
    """A reader's tab of the real app, and what a reader does there."""

    page: Page
    address: str
    settle: Callable[[Page], None]

    @property
    def side(self) -> Locator:
        return self.page.get_by_test_id("stSidebar")

    @property
    def main(self) -> Locator:
        return self.page.get_by_test_id("stMain")

    @property
    def rows(self) -> list[str]:
        """The sentences and references as they stand in the chips."""
        toolbars = self.main.get_by_role("toolbar")
        shown = toolbars.evaluate_all("rows => rows.map(row => row.innerText)")
        return [text.replace("\u200e", "").replace("\u200f", "") for text in shown]

    @property
    def chosen(self) -> list[str | None]:
        """Each row's chosen words and their place: "python, word 5 of sentence A"."""
        toolbars = self.main.get_by_role("toolbar")
        return toolbars.evaluate_all(
            "rows => rows.map(row => row.querySelector('[aria-pressed=true]')?.ariaLabel ?? null)"
        )

    @property
    def figure(self) -> Locator:
        """The main picture; its name begins with its title."""
        return self.main.get_by_role("figure").first

    @property
    def title(self) -> str:
        return (self.figure.get_attribute("aria-label") or "").split(". ")[0]

    @property
    def reading(self) -> str:
        return self.main.locator(".st-key-reading").inner_text()

    @property
    def layer(self) -> int:
        return int(self.main.get_by_role("slider").input_value())

    def goto(self, path: str) -> None:
        self.page.goto(path if path.startswith("http") else self.address + path)
        self.wait()

    def wait(self) -> None:
        """Until everything is on the page and rests."""
        self.page.get_by_role("heading", level=1).wait_for(timeout=60_000)
        self.settle(self.page)

    def words(self, row: str) -> Locator:
        """The words of "sentence A" or "reference 1"."""
        return self.page.get_by_role("toolbar", name=f"Words of {row}", exact=True).get_by_role(
            "button"
        )

    def word(self, row: str, text: str, occurrence: int = 0) -> Locator:
        return (
            self.words(row)
            .and_(self.page.get_by_role("button", name=f"{text}, word"))
            .nth(occurrence)
        )

    @contextmanager
    def rerun(self) -> Iterator[None]:
        """What is done inside makes the script run; afterwards that run is over."""
        self.page.evaluate(WATCH_RUNS)
        yield
        with suppress(PlaywrightTimeout):
            self.page.wait_for_function("() => window.__ran", timeout=RAN_SECONDS * 1000)
        self.settle(self.page)

    def pick(self, row: str, text: str, occurrence: int = 0) -> None:
        with self.rerun():
            self.word(row, text, occurrence).click()

    def type(self, label: str, text: str, *, within: Locator | None = None) -> None:
        """Into the field of this label, in the sidebar unless told."""
        box = (within or self.side).get_by_role("textbox", name=label, exact=True)
        with self.rerun():
            box.fill(text)
            box.press("Enter")

    def click(self, name: str, *, within: Locator | None = None) -> None:
        with self.rerun():
            (within or self.main).get_by_role("button", name=name, exact=True).click()

    def add(self, text: str) -> None:
        """One more sentence."""
        self.click("Add a sentence", within=self.side)
        box = self.side.get_by_role("textbox").last
        with self.rerun():
            box.fill(text)
            box.press("Enter")

    def back(self, steps: int = 1) -> None:
        for _ in range(steps):
            with self.rerun():
                self.page.go_back()

    def forward(self, steps: int = 1) -> None:
        for _ in range(steps):
            with self.rerun():
                self.page.go_forward()

    def reload(self) -> None:
        self.page.reload()
        self.wait()

    def menu(self, name: str) -> Locator:
        """Opens a popover of the page."""
        self.main.get_by_role("button", name=name, exact=True).click()
        menu = self.page.get_by_role("dialog")
        menu.wait_for()
        self.settle(self.page)
        return menu

    def leave_menu(self) -> None:
        self.page.keyboard.press("Escape")
        self.page.get_by_role("dialog").wait_for(state="detached")

    def take_away(self, index: int) -> None:
        """The sentence at this place, by its button in the sidebar."""
        row = self.side.locator(f".st-key-side_sentences_{index}_row")
        with self.rerun():
            row.get_by_role("button").click()

    def option(self, name: str) -> None:
        """One of the page's options, by its label."""
        choice = self.menu("Options").get_by_text(name, exact=True)
        with self.rerun():
            choice.click()
        self.leave_menu()

    def open_file(self, data: bytes) -> None:
        """A state file, under Copy link."""
        file = {"name": "view.json", "mimeType": "application/json", "buffer": data}
        menu = self.menu("Copy link")
        with self.rerun():
            menu.locator("input[type=file]").set_input_files(file)
            menu.get_by_text("view.json").wait_for()
        self.leave_menu()

    def to_layer(self, layer: int) -> None:
        slider = self.main.get_by_role("slider")
        while self.layer != layer:  # one step, one rerun: the browser sends quick ones later
            with self.rerun():
                slider.press("ArrowLeft" if self.layer > layer else "ArrowRight")

    def link(self) -> str:
        """The address under Copy link."""
        address = self.menu("Copy link").get_by_test_id("stCode").inner_text().strip()
        self.leave_menu()
        return address

    def download(self, name: str) -> bytes:
        """A file from the Download menu."""
        with self.page.expect_download() as download:
            self.menu("Download").get_by_role("button", name=name).click()
        data = download.value.path().read_bytes()
        self.leave_menu()
        return data


@pytest.fixture(scope="session")
def app_settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of the real app: offline, with a data folder of its own."""
    folder = tmp_path_factory.mktemp("app_data")
    return {"CONTEXTLENS_DATA_DIR": str(folder), "CONTEXTLENS_ALLOW_DOWNLOADS": "0"}


@pytest.fixture(scope="session")
def app(run_app: Callable[..., str], app_settings: Mapping[str, str], chromium: Browser) -> str:
    """The real app's address; its model is loaded and its baseline measured."""
    address = run_app("app.py", app_settings)
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto(address)
        page.get_by_text("random pairs", exact=False).first.wait_for(timeout=120_000)
    return address


@pytest.fixture(scope="session")
def readers() -> dict[str, list[BrowserContext]]:
    """Browsers that nobody uses just now, by their kind: their caches make the next visit quick."""
    return {}


@pytest.fixture
def visit(
    app: str,
    chromium: Browser,
    readers: dict[str, list[BrowserContext]],
    settle: Callable[[Page], None],
) -> Iterator[Callable[..., Visit]]:
    """A factory of readers, each with a browser of their own; at the end nothing was amiss.

    Amiss are: a dialog or error of the page, an error in its console, an exception shown, a
    request to anywhere but the app.
    """
    used: list[tuple[str, BrowserContext]] = []
    failures: list[str] = []

    def open_(path: str = "/", *, address: str = app, **options: object) -> Visit:
        settings = {"color_scheme": "light", "viewport": {"width": 1440, "height": 900}, **options}
        kind = json.dumps(settings, sort_keys=True)
        free = readers.setdefault(kind, [])
        context = free.pop() if free else chromium.new_context(**settings)
        used.append((kind, context))
        reader = Visit(context.new_page(), address, settle)
        _listen(reader.page, urlsplit(address).netloc, failures)
        reader.goto(path)
        return reader

    yield open_
    for kind, context in used:
        for page in context.pages:
            failures += page.get_by_test_id("stException").all_inner_texts()
            page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
            page.close()
        context.clear_cookies()
        readers[kind].append(context)
    assert failures == []


def _listen(page: Page, host: str, failures: list[str]) -> None:
    def hear(message: object) -> None:
        address = str(message.location.get("url", ""))
        probe = address.endswith(PROBES) and "404" in message.text
        if message.type == "error" and not probe:
            failures.append(f"console: {message.text} ({address})")

    def hosted(what: str, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("data", "blob", "about") and parts.netloc != host:
            failures.append(f"{what} to {address}")

    page.on("pageerror", lambda error: failures.append(f"page error: {error}"))
    page.on("console", hear)
    page.on("request", lambda request: hosted("request", request.url))
    page.on("websocket", lambda socket: hosted("socket", socket.url))
    page.on("dialog", lambda box: (failures.append(f"dialog: {box.message}"), box.dismiss()))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _launch(script: Path, port: int, log: Path, env: Mapping[str, str]) -> _App:
    options = {"port": port, "headless": "true", "address": "localhost", "fileWatcherType": "none"}
    flags = [part for name, value in options.items() for part in (f"--server.{name}", str(value))]
    command = [sys.executable, "-m", "streamlit", "run", str(script), *flags]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that stopping it stops its children too
        )
    return _App(script.name, process, log)


def _wait_until_healthy(app: _App, address: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if app.process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    app.stop()
    pytest.fail(f"{app.name} did not start:\n{app.report()}")
