"""A reader's use of Why alike?: picked words, four looks, an edit, a link to a head."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from contextlens.features.why.controls import LEAVE_OUT, LOOK, SHARES
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from tests.browser.screens import DESK, PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

SECONDS = 120
PICTURE = ".st-key-why_chart .js-plotly-plot"


def drawn(here: Visit) -> None:
    here.page.wait_for_selector(PICTURE, timeout=SECONDS * 1000)
    here.settle()


def title(here: Visit) -> str:
    name = here.main.locator(PICTURE).locator("xpath=ancestor::*[@role='figure']").first
    return (name.get_attribute("aria-label") or "").split(". ")[0]


def assert_first_screen(here: Visit) -> None:
    """The picture from near the top, its reading and the ruler; none is cut off."""
    picture = box(here.main.locator(".st-key-why_words, .st-key-why_chart").first)
    assert picture["y"] <= 430
    for part in (".st-key-reading p", ".st-key-why_ruler"):
        assert box(here.main.locator(part).first)["bottom"] <= DESK["viewport"]["height"]
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []


def test_words_are_picked_looks_chosen_an_edit_compared_and_a_head_opened(
    visit: Callable[..., Visit],
) -> None:
    shares = LOOK.put(DEFAULT, SHARES)
    here = visit("/why?" + urlencode({"s": encode(shares)}), **DESK)
    drawn(here)
    assert_first_screen(here)
    row = here.main.get_by_role("group", name="Words of sentence A")
    first = row.get_by_role("button").first
    lines = here.main.locator(".alike path")
    assert lines.count() == 2, "of the two pairs that the headline names"
    first.focus()
    assert lines.count() > 2
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        here.page.keyboard.press(key)
    active = here.main.locator(".word.active")
    expect(active).to_have_attribute("aria-label", "love +0.11, sentence B")
    with here.rerun():
        here.page.keyboard.press("Enter")
    expect(here.main.locator(".word.picked")).to_have_count(1)
    expect(here.main.locator(".says").first).to_contain_text("love · B: share +0.11, with love")

    seen = {title(here)}
    for look in ("Leave out", "Switch off", "Swap in"):
        here.choose(look)
        drawn(here)
        assert_first_screen(here)
        seen.add(title(here))
    assert len(seen) == 4

    here.choose("Shares")
    drawn(here)
    here.choose("edits")
    use = here.main.locator(".st-key-why_edit_0").get_by_role("button")
    use.wait_for(timeout=SECONDS * 1000)
    second = here.main.get_by_role("group", name="Words of sentence B")
    before = second.inner_text()
    use.click()
    expect(use).to_be_disabled()
    here.settle()
    assert second.inner_text() != before
    here.back()
    expect(second).to_have_text(before, use_inner_text=True)

    here.choose("Switch off")
    drawn(here)
    here.main.locator(".st-key-why_heads").get_by_role("link").first.click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Attention")
    here.wait()
    assert "Head 4 of layer 6" in here.reading


def test_it_fits_a_dark_phone(visit: Callable[..., Visit]) -> None:
    view = LOOK.put(DEFAULT, LEAVE_OUT)
    here = visit("/why?" + urlencode({"s": encode(view)}), color_scheme="dark", **PHONE)
    drawn(here)
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
