"""A start without the network, and the first pages from disk before there is a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.tabs import Tab
from tests.browser.visit import Visit
from tests.support.app_server import ROOT, AppServer, launch

pytestmark = pytest.mark.browser

NO_NETWORK = """
import sys
from ipaddress import ip_address

def is_here(host):
    if host in (None, "", "localhost", b"localhost"):
        return True
    try:
        return ip_address(host).is_loopback or ip_address(host).is_unspecified
    except ValueError:
        return False

def stop(event, given):
    if event == "socket.getaddrinfo":
        host = given[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(given[1], tuple):
        host = given[1][0]
    else:
        return
    if not is_here(host):
        print(f"OUTSIDE {event} {host}", file=sys.stderr, flush=True)
        raise OSError(f"{host} cannot be reached")

sys.addaudithook(stop)
"""
NO_TORCH = """
import sys, time
from importlib.util import spec_from_loader

class Endless:
    def find_spec(self, name, *_):
        return spec_from_loader(name, self) if name == "torch" else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        time.sleep(3600)

sys.meta_path.insert(0, Endless())
"""
PICTURE = """
() => {
  const drawn = document.querySelector('[class*="st-key-drawn_"]')
  const inner = (at) => [...at.querySelectorAll('*')].map(one => one.shadowRoot?.innerHTML ?? '')
  return drawn ? inner(drawn).join('') : ''
}
"""
CHART = "() => JSON.stringify(document.querySelector('.stMain .js-plotly-plot').data)"


@contextmanager
def started(folder: Path, data: Mapping[str, str], python: str) -> Iterator[AppServer]:
    """A server without the network, whose Python runs some code first."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(python, encoding="utf-8")
    env = {**os.environ, **data, "PYTHONPATH": str(folder)}
    env.pop("CONTEXTLENS_ALLOW_DOWNLOADS", None)  # as it is by default
    server = launch(ROOT / "app.py", folder / "log.txt", env)
    try:
        server.wait()
        yield server
        assert "OUTSIDE" not in server.log.read_text(encoding="utf-8")
    finally:
        server.stop()


def shown(server: AppServer, take: Callable[..., Tab]) -> tuple[str, str, str]:
    """The words and the picture of Start here, and the chart of Meaning in context."""
    tab = take(server.address, viewport={"width": 1280, "height": 900})
    here = Visit(tab.page, server.address, tab.runs)
    here.goto("/")
    here.page.wait_for_function(f"() => ({PICTURE})().includes('<path')")
    expect(here.page.get_by_role("button", name="Download")).to_be_visible()
    words, picture = words_of(here.page), here.page.evaluate(PICTURE)
    here.goto("/meaning")
    here.page.wait_for_selector(".stMain .js-plotly-plot .scatterlayer .trace path")
    expect(here.page.get_by_role("button", name="Download")).to_be_visible()
    chart = here.page.evaluate(CHART)
    here.page.goto("about:blank")  # which does not miss the server when it ends
    return words, picture, chart


def words_of(page: Page) -> str:
    return page.locator(".stMain").inner_text()


def test_the_first_pages_from_disk_are_the_computed_ones(
    app_settings: Mapping[str, str], take: Callable[..., Tab], tmp_path: Path
) -> None:
    data = {**app_settings, "CONTEXTLENS_DATA_DIR": str(tmp_path / "data")}
    with started(tmp_path / "first", data, NO_NETWORK) as server:
        computed = shown(server, take)
    with started(tmp_path / "next", data, NO_NETWORK + NO_TORCH) as server:
        kept = shown(server, take)
    assert kept == computed
    assert "python" in computed[0]
