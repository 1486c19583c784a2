"""Search as its readers use it: the nearest texts with lit words, for any query."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.screens import DESK, PHONE, WIDER_THAN_ITSELF

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

SECONDS = 300
HOSTILE = "<img src=x onerror=alert(1)> a river bank"


def test_a_search_lights_the_words(visit: Callable[..., Visit]) -> None:
    here = visit("/search", **DESK)
    cards = here.main.locator("[class*='st-key-search_model_']")
    expect(cards).to_have_count(5, timeout=SECONDS * 1000)
    here.settle()
    lit = cards.first.locator("p.use span")
    expect(lit.first).to_be_visible()
    tints = lit.evaluate_all("words => words.map(word => getComputedStyle(word).backgroundColor)")
    assert len(set(tints)) > 1
    assert "bat" in cards.first.inner_text()
    second = cards.nth(1)
    assert not second.locator("p.use span").count()
    with here.rerun():
        second.get_by_text("Closest words").click()
    expect(second.locator("p.use span").first).to_be_visible()
    expect(second.get_by_text("The bluer a word")).to_be_visible()
    field = here.main.get_by_role("textbox", name="Search for")
    with here.rerun():
        field.fill(HOSTILE)
        field.press("Enter")
    here.settle()
    assert "bank" in cards.first.inner_text()
    assert not here.main.locator("img[src='x']").count()


def test_it_fits_a_phone(visit: Callable[..., Visit]) -> None:
    here = visit("/search", **PHONE)
    expect(here.main.locator("[class*='st-key-search_model_']")).to_have_count(
        5, timeout=SECONDS * 1000
    )
    assert not here.page.evaluate(WIDER_THAN_ITSELF)
