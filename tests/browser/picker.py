"""The picker of models in a real browser, and what is said beside it."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.rest import PATIENCE

__all__ = ["MOST_PICKERS", "area", "assert_picked", "is_on", "picker", "type_model"]

MOST_PICKERS = """
() => {
  window.__most = 0;
  const look = () => {
    const all = document.querySelectorAll('[data-testid="stSidebar"] [data-testid="stSelectbox"]');
    const seen = [...all].filter(picker => picker.checkVisibility());
    window.__most = Math.max(window.__most, seen.length);
    requestAnimationFrame(look);
  };
  look();
}
"""


def picker(reader: object) -> Locator:
    return reader.side.get_by_role("combobox", name=re.compile("Model"))


def type_model(reader: object, model: str) -> None:
    box = picker(reader)
    box.click()
    box.fill(model)
    offered = reader.page.get_by_role("option").filter(has_text=model)  # not the whole list still
    offered.first.wait_for(timeout=PATIENCE * 1000)
    box.press("Enter")


def assert_picked(reader: object, model: str) -> None:
    expect(picker(reader)).to_have_count(1)  # while a run is under way the old one may stand there
    expect(picker(reader)).to_have_value(model)


def area(reader: object) -> Locator:
    return reader.side.locator(".st-key-model_wish")


def is_on(reader: object, dims: int) -> None:
    """The page shows a model of this size, and no other's card stands there still."""
    card = reader.side.get_by_text("layers · ")
    expect(card).to_have_text([re.compile(f"{dims} dims")])
