"""How Tokens & IDs looks: every section on a desk and on a dark phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from components.features.tokens.controls import SECTIONS
from components.features.tokens.examples import TOKEN_EXAMPLES
from tests.browser.screens import (
    DESK,
    OVER_THE_TITLE,
    PHONE,
    WIDER_THAN_ITSELF,
    box,
    contrast,
    rgb,
    style,
)
from tests.browser.token_strip import address_of, token, tokens, written
from tests.support.tokens import text_view

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def test_a_desk_has_every_section_and_a_quiet_visit_of_every_example(visit: Callable) -> None:
    here = visit("/tokens", **DESK)  # what went wrong on the way fails in the fixture
    every_section_fits_and_can_be_read(here, "light")
    assert box(here.main.locator(".st-key-reading"))["bottom"] <= 900
    here.choose(SECTIONS[1])
    with here.still(".st-key-reading"):  # where a token is pointed at or picked
        token(here, "love").hover()
        with here.rerun():
            token(here, "pet").click()
    for example in TOKEN_EXAMPLES:
        here.main.get_by_role("button", name="Try", exact=True).click()
        with here.rerun():
            here.page.get_by_role("dialog").get_by_role("link", name=example.title).click()
        here.page.keyboard.press("Escape")
        expect(here.main.locator(".strip .line").first).to_have_text(example.text)
        if example is TOKEN_EXAMPLES[0]:
            assert_subtokens_touch(here)
    for tab in here.main.get_by_role("tab").all():
        tab.click()
    here.side.get_by_role("link", name="Meaning in context").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Meaning in context")


def assert_subtokens_touch(here: Visit) -> None:
    """Those of one word do, and words have a gap."""
    places = {label: box(token(here, label).locator(".box")) for label in ("un", "##mas", "##ked")}
    before = box(token(here, "##izer").locator(".box"))
    assert places["##mas"]["x"] - places["un"]["right"] == pytest.approx(2, abs=1)
    assert places["un"]["x"] - before["right"] > 6


def test_a_dark_phone_has_every_section_and_a_reader_who_types(visit: Callable) -> None:
    here = visit("/tokens", color_scheme="dark", **PHONE)
    every_section_fits_and_can_be_read(here, "dark")
    text = "unbelievabilities " * 200 + "x" * 300
    here.follow(address_of(text_view(text, "and a second one", pad=512)))
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    with here.rerun():
        tokens(here).nth(1).tap()
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    edit = here.menu("Edit")
    here.type("Sentence A", "Sinan naps", within=edit)
    here.type("Second text of A", "So do I", within=edit)
    here.leave_menu()
    assert written(here)[:4] == ["[CLS]", "sin", "##an", "nap"]
    expect(here.main.locator(".line.pair")).to_have_text("So do I")


def every_section_fits_and_can_be_read(here: Visit, scheme: str) -> None:
    width = here.page.viewport_size["width"]
    ground = style(here.page.get_by_test_id("stApp"), "backgroundColor")
    assert (max(rgb(ground)) < 50) == (scheme == "dark")
    for section in SECTIONS:
        here.choose(section)
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
        assert here.page.evaluate(OVER_THE_TITLE) == []
        for each in (*tokens(here).all(), here.main.locator(".strip .line").first):
            assert box(each)["x"] >= 0
            assert box(each)["right"] <= width
    for text in (
        here.main.locator(".strip .line").first,
        token(here, "love").locator(".box"),
        here.main.locator(".st-key-reading p"),
    ):
        assert contrast(style(text, "color"), ground) > 7
