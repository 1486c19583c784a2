"""Sharing a view: Copy link copies, says so, and works without a clipboard, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from contextlens.content.examples import EXAMPLES
from contextlens.content.language import say
from contextlens.ui.frame.share import qr_code
from contextlens.ui.state.address import decode, from_json
from tests.browser.screens import PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

HEAR = """
root => {
  window.__said = [];
  const [told, done] = [root.querySelector('.told'), root.querySelector('.done')];
  const hear = () => window.__said.push(`${told.textContent} ${getComputedStyle(done).visibility}`);
  new MutationObserver(hear).observe(root, { subtree: true, childList: true, attributes: true });
}
"""
TABLET = {"viewport": {"width": 768, "height": 1024}, "has_touch": True}
NO_CLIPBOARD = "() => Object.defineProperty(navigator, 'clipboard', { value: undefined })"


def selected(here: Visit) -> str:
    """The selected text."""
    return here.page.evaluate(
        """() => {
          let at = document.activeElement;
          while (at?.shadowRoot) at = at.shadowRoot.activeElement;
          return at.value.slice(at.selectionStart, at.selectionEnd);
        }"""
    )


def test_a_click_copies_the_address_and_says_so(visit: Callable) -> None:
    here = visit("/meaning", permissions=["clipboard-read", "clipboard-write"])
    here.pick("sentence A", "pet")
    copy = here.main.get_by_role("button", name="Copy link")
    place = box(copy)
    here.main.locator(".copy-link").evaluate(HEAR)
    copy.click()
    local = say("frame.share.copied_locally")
    here.page.wait_for_function("words => window.__said.includes(`${words} visible`)", arg=local)
    assert box(here.main.locator(".copy")) == place
    copied = here.page.evaluate("navigator.clipboard.readText()")
    assert copied == here.page.url
    assert "?s=" in copied
    expect(copy.get_by_text("Copied")).not_to_be_visible()
    with here.page.expect_download() as download:
        here.main.get_by_role("link", name=say("frame.share.save")).click()
    assert decode(copied.partition("?s=")[2]) == from_json(download.value.path().read_text("utf-8"))
    here.page.keyboard.press("Escape")
    expect(here.main.locator(".by-hand")).not_to_be_visible()
    assert copied == here.link()  # which test_history.py opens


def test_a_tablet_without_a_clipboard_selects_the_address_to_be_copied_by_hand(
    visit: Callable,
) -> None:
    here = visit("/meaning", **TABLET)
    here.page.evaluate(NO_CLIPBOARD)
    here.main.get_by_role("button", name="Copy link").click()
    field = here.main.get_by_role("textbox", name="Press Ctrl+C to copy this address.")
    expect(field).to_be_visible()
    expect(field).to_have_value(here.page.url)
    assert selected(here) == here.page.url
    place = box(field)
    assert place["x"] >= 0
    assert place["right"] <= here.page.viewport_size["width"]
    here.page.keyboard.press("Escape")
    expect(field).not_to_be_visible()
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []


def test_a_phone_selects_the_address_in_its_menu(visit: Callable) -> None:
    here = visit("/meaning", **PHONE)
    here.page.evaluate(NO_CLIPBOARD)
    field = here.menu("Share").get_by_role("textbox", name="Address")
    expect(field).to_have_value(here.page.url)
    field.tap()
    assert selected(here) == here.page.url
    place = box(field)
    assert place["x"] >= 0
    assert place["right"] <= here.page.viewport_size["width"]
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    here.leave_menu()


def test_a_desk_has_the_address_and_its_code_small_and_large(
    visit: Callable,
) -> None:
    here = visit("/meaning", color_scheme="dark")
    here.main.get_by_role("button", name="Examples").click()
    here.page.get_by_role("dialog").get_by_role("link", name=EXAMPLES[1].title).click()
    here.wait()
    menu = here.menu("Share")
    address = menu.get_by_role("textbox", name="Address")
    expect(address).to_have_value(here.page.url)
    code = menu.get_by_role("button").get_by_role("img", name="QR code of this address")
    expect(code).to_have_attribute("src", qr_code(here.page.url))
    assert box(code)["width"] > 200
    code.click()
    large = here.page.locator(".large img")
    expect(large).to_be_visible()
    assert box(large)["width"] > 800
    here.page.keyboard.press("Escape")
    expect(large).not_to_be_visible()
    here.leave_menu()
