"""A real browser and real servers for the tests in this folder; nothing here skips."""

from __future__ import annotations

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
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

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
        page.wait_for_function(AT_REST, timeout=seconds * 1000)

    return wait


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
