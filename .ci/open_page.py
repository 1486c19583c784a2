"""Starts the app and opens two pages of it in Playwright's browser: what must work on any system.

python .ci/open_page.py
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 180


def main() -> None:
    """Start the app, open its pages, and end the app.

    Raises:
        TimeoutError: the app does not answer.
        AssertionError: a page is not the expected one, or shows an error.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    options = ["--server.port", str(port), "--server.headless", "true"]
    app = subprocess.Popen([sys.executable, "-m", "streamlit", "run", "app.py", *options], cwd=ROOT)
    try:
        wait_for(f"http://localhost:{port}/_stcore/health")
        open_pages(f"http://localhost:{port}")
    finally:
        app.terminate()
        app.wait(30)


def wait_for(address: str) -> None:
    """Return when the address answers."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise TimeoutError(f"{address} did not answer in {SECONDS} s.")


def open_pages(address: str) -> None:
    """Open Tokens & IDs, and the Map, which a worker process draws."""
    with sync_playwright() as playwright:
        executable = os.environ.get("CONTEXTLENS_CHROMIUM")
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page()
        for path, content in (("tokens", "text=[CLS]"), ("map", ".js-plotly-plot .main-svg")):
            page.goto(f"{address}/{path}")
            expect(page.locator(content).first).to_be_visible(timeout=SECONDS * 1000)
            assert page.get_by_test_id("stException").count() == 0
        browser.close()


if __name__ == "__main__":
    main()
