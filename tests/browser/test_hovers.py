"""Negative numbers in the hovers of charts have a real minus sign."""

from __future__ import annotations

from importlib.resources import files

import pytest
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser

DRAW = """text => {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "text");
  drawn.textContent = text;
  document.querySelector(".hoverlayer").append(drawn);
}"""


def test_a_hyphen_before_a_number_becomes_a_minus_sign_only_there(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content('<svg><g class="hoverlayer"></g></svg><p>typed -5</p>')
    script = (files("contextlens.ui.frame") / "assets" / "minus.js").read_text(encoding="utf-8")
    page.add_script_tag(content=script, type="module")
    page.evaluate(DRAW, "cosine -0.1234 self-5 (-2)")
    expected = "cosine \N{MINUS SIGN}0.1234 self-5 (\N{MINUS SIGN}2)"
    expect(page.locator(".hoverlayer")).to_have_text(expected)
    expect(page.locator("p")).to_have_text("typed -5")
    page.close()
