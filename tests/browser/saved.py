"""Pages that the app saved, opened from disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["assert_asks_nobody"]


def assert_asks_nobody(saved: Page, url: str) -> None:
    """The browser refuses the requests that something in the file could make."""
    answers = saved.evaluate(
        """async (url) => {
          const fetched = fetch(url, { mode: "no-cors" }).then(() => "sent", () => "refused");
          const image = new Promise((tell) => {
            document.addEventListener("securitypolicyviolation", () => tell("refused"));
            Object.assign(new Image(), { onload: () => tell("sent"), src: `${url}/favicon.png` });
            setTimeout(() => tell("not refused"), 5000);
          });
          return [await fetched, await image];
        }""",
        url,
    )
    assert answers == ["refused", "refused"]
