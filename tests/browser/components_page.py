"""The page of components in a real browser: its words, and the picked ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.browser.rest import Runs, settle
from tests.browser.tabs import Tab

__all__ = [
    "COMPONENTS_APP",
    "Opened",
    "chip",
    "chips",
    "focused_name",
    "open_components",
    "picked",
    "toolbar",
]

COMPONENTS_APP = "tests/browser/apps/components_app.py"


@dataclass(frozen=True)
class Opened:
    """A page of components, and the runs of its script."""

    page: Page
    runs: Runs

    @contextmanager
    def rerun(self) -> Iterator[None]:
        """Wait at the end for the run of the script that the block causes."""
        since = self.runs.now
        yield
        self.runs.wait(since)
        settle(self.page)

    def press(self, key: str) -> None:
        """Choose with a key."""
        with self.rerun():
            self.page.keyboard.press(key)

    def click(self, place: Locator) -> None:
        """Choose with a click."""
        with self.rerun():
            place.click()


def open_components(take: Callable[..., Tab], address: str, **options: object) -> Opened:
    """Open the page of components."""
    tab = take(address, **options)
    tab.page.goto(address)
    expect(chips(tab.page, "A").first).to_be_visible()
    settle(tab.page)
    return Opened(tab.page, tab.runs)


def toolbar(page: Page, label: str) -> Locator:
    return page.get_by_role("toolbar", name=f"Words of sentence {label}", exact=True)


def chips(page: Page, label: str) -> Locator:
    return toolbar(page, label).get_by_role("button")


def chip(page: Page, label: str, text: str) -> Locator:
    return toolbar(page, label).get_by_role("button", name=f"{text}, word")


def picked(page: Page) -> list[list[str | int]]:
    return json.loads(page.get_by_test_id("stText").inner_text())


def focused_name(page: Page) -> str | None:
    return page.evaluate(
        """() => {
          let at = document.activeElement;
          while (at?.shadowRoot) at = at.shadowRoot.activeElement;
          return at?.getAttribute('aria-label') ?? null;
        }"""
    )
