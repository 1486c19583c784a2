"""Real servers and a real Chromium for the benchmarks that need them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.ports import free_port

__all__ = ["ROOT", "Server", "chromium", "served", "visit"]

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
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
START_SECONDS = 90.0


@dataclass(frozen=True)
class Server:
    """A server under way: its address, and when its process was started (`perf_counter`)."""

    address: str
    started: float
    process: subprocess.Popen[bytes]
    log: Path


@contextmanager
def chromium() -> Iterator[Browser]:
    """One running browser."""
    known = os.environ.get("CONTEXTLENS_CHROMIUM")
    executable = known or next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        raise RuntimeError("No Chromium: install it, or give its path in CONTEXTLENS_CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visit(browser: Browser, address: str) -> Iterator[Page]:
    """A page with nothing remembered from an earlier one."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.goto(address, wait_until="commit")
        yield page
    finally:
        context.close()


@contextmanager
def served(
    command: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> Iterator[Server]:
    """`python -m COMMAND` as a Streamlit server on a free port, once it answers."""
    port = free_port()
    options = {
        "port": port,
        "headless": "true",
        "address": "localhost",
        "fileWatcherType": "none",
    }
    flags = [f"--server.{name}={value}" for name, value in options.items()]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        with log.open("wb") as out:
            started = time.perf_counter()
            process = subprocess.Popen(
                [sys.executable, "-m", *command, *flags, "--browser.gatherUsageStats=false"],
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        server = Server(f"http://localhost:{port}", started, process, log)
        try:
            _wait_until_healthy(server)
            yield server
        finally:
            _stop(process)


def _wait_until_healthy(server: Server) -> None:
    while time.perf_counter() - server.started < START_SECONDS and server.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.address}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.02)
    raise RuntimeError(f"The server did not start:\n{server.log.read_text(errors='replace')}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill the server and what it started: asked politely, it takes two seconds."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)
