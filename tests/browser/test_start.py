"""A start without the network, and the first pages from disk before there is a model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.tabs import Tabs
from tests.browser.visit import Visit
from tests.support.app_server import ROOT, AppServer, launch
from tests.support.measured import measured_data

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
PAGES = ("tokens", "masks", "embedding_layer", "layers", "attention", "why", "sentences")
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


def shown(server: AppServer, tabs: Tabs) -> tuple[str, str, str, list[str]]:
    """The words and the picture's name on Start here, Meaning's numbers, the others' findings."""
    tab = tabs.open(server.address, viewport={"width": 1280, "height": 900})
    here = Visit(tab.page, server.address, tab.runs)
    here.goto("/")
    story = here.page.locator("figure.story")
    story.locator("path").first.wait_for(state="attached")
    expect(here.page.get_by_role("button", name="Download")).to_be_visible()
    expect(here.page.locator('[class*="st-key-waiting_"]')).to_have_count(0)
    words, picture = here.main.inner_text(), story.get_attribute("aria-label") or ""
    here.goto("/meaning")
    here.page.wait_for_selector(".stMain .js-plotly-plot .scatterlayer .trace path")
    expect(here.page.get_by_role("button", name="Download")).to_be_visible()
    expect(here.page.locator('[class*="st-key-waiting_"]')).to_have_count(0)
    chart = here.page.evaluate(CHART)
    findings = []
    for page in PAGES:
        here.goto(f"/{page}")
        here.main.locator("p.finding").first.wait_for()
        findings.append(here.main.locator("p.finding").first.inner_text())
    assert tab.heard == []  # of requests elsewhere, above all
    tabs.leave(tab, keep=False)
    return words, picture, chart, findings


def test_the_first_pages_from_disk_are_the_computed_ones(
    app_settings: Mapping[str, str],
    tabs: Tabs,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = measured_data(tmp_path_factory, tmp_path / "data")
    data = {**app_settings, "CONTEXTLENS_DATA_DIR": str(folder)}
    with started(tmp_path / "first", data, NO_NETWORK) as server:
        computed = shown(server, tabs)
    with started(tmp_path / "next", data, NO_NETWORK + NO_TORCH) as server:
        kept = shown(server, tabs)
    assert kept == computed
    assert "(−0.088)" in computed[1]
