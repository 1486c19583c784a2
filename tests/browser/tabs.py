"""A browser's tabs, used again: a page loads in half the time where one of its kind was before.

What a reader left is not there for the next: not the page (its session is over), what it stored,
its cookies, its history, or where the pointer stood. A tab of a test that failed is closed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize

from tests.browser.rest import PATIENCE, Runs

__all__ = ["Tab", "Tabs"]

_DESK: ViewportSize = {"width": 1440, "height": 900}
_ELSEWHERE = "/_stcore/health"  # of the same server, so it stays the same process; a word of text
_FORGET = """
async () => {
  localStorage.clear();
  sessionStorage.clear();
  for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name);
}
"""


@dataclass(frozen=True)
class Tab:
    """A tab at one server, and what was heard in it."""

    kind: str
    address: str
    page: Page
    runs: Runs
    heard: list[str] = field(default_factory=list)


class Tabs:
    """Tabs of one browser; those that nobody uses just now are kept, by their kind.

    Args:
        browser: where they are opened.
        listen: called once for each tab, with its page, its server's address and what it hears.
    """

    def __init__(self, browser: Browser, listen: Callable[[Page, str, list[str]], None]) -> None:
        self._browser = browser
        self._listen = listen
        self._free: dict[str, list[Tab]] = {}

    def open(
        self,
        address: str,
        *,
        color_scheme: str = "light",
        viewport: ViewportSize = _DESK,
        **options: Any,
    ) -> Tab:
        """A tab for a visit to this server, of no earlier visit's mind."""
        kind = json.dumps([address, options], sort_keys=True)
        free = self._free.setdefault(kind, [])
        tab = free.pop() if free else self._new(kind, address, options)
        tab.heard.clear()
        tab.page.set_viewport_size(viewport)
        # Without the shimmer of what is still to come, drawn frame by frame, a tenth less to do.
        tab.page.emulate_media(color_scheme=color_scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        return tab

    def leave(self, tab: Tab, *, keep: bool) -> None:
        """The visit is over."""
        if not keep:
            tab.page.context.close()
            return
        tab.page.goto(tab.address + _ELSEWHERE)
        tab.page.mouse.move(0, 0)
        tab.page.evaluate(_FORGET)
        tab.page.context.clear_cookies()
        devtools = tab.page.context.new_cdp_session(tab.page)
        devtools.send("Page.resetNavigationHistory")
        devtools.detach()
        self._free[tab.kind].append(tab)

    def _new(self, kind: str, address: str, options: dict[str, Any]) -> Tab:
        context = self._browser.new_context(**options)
        context.set_default_timeout(PATIENCE * 1000)  # however slow its machine may be
        page = context.new_page()
        tab = Tab(kind, address, page, Runs(page))
        self._listen(page, address, tab.heard)
        return tab
