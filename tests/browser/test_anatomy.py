"""Anatomy in a real browser: clicks in the map choose parts, and an address brings them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from contextlens.content.language import say
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from tests.browser.screens import DESK, PHONE, WIDER_THAN_ITSELF, box

pytestmark = pytest.mark.browser

WHOLE = "52% of this model is its word table: 384 numbers for each of 30,522 word pieces"


def path(**controls: Any) -> str:
    view = DEFAULT
    for name, value in controls.items():
        view = view.with_control("anatomy", name, value, "no default is this")
    parameter = encode(view)
    return f"/anatomy?s={parameter}" if controls else "/anatomy"


def hit(here: Any, name: str) -> None:
    """Clicks the part with this name in the map."""
    label = here.figure.locator("text.slicetext", has_text=name).first
    place = box(label)
    with here.rerun():
        here.page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)


def test_parts_are_chosen_in_the_map_and_the_tree(visit: Callable) -> None:
    here = visit("/anatomy", **DESK)
    it_opens_fits_and_picture_and_reading_are_in_the_first_screen(here)
    clicks_in_the_map_choose_parts_and_back_undoes_them(here)
    the_tree_is_clicked_too(here)


def it_opens_fits_and_picture_and_reading_are_in_the_first_screen(here: Any) -> None:
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Anatomy")
    assert here.title == WHOLE
    assert "is its word table" in here.reading
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    names = here.figure.locator("text.slicetext").all_text_contents()
    assert any("Word table" in name for name in names)
    assert box(here.main.locator(".st-key-reading"))["bottom"] <= 900


def clicks_in_the_map_choose_parts_and_back_undoes_them(here: Any) -> None:
    with here.still(".st-key-reading"):
        hit(here, "Layer 3")
    assert here.title == "Layer 3: 7.8% of the model"
    hit(here, "Query")
    assert here.title == "Layer 3 › Query: 0.65% of the model"
    expect(here.main.get_by_text(say("anatomy.part.query"))).to_be_visible()
    hit(here, "all-MiniLM-L6-v2")
    assert here.title == WHOLE
    here.back()
    assert here.title.startswith("Layer 3 › Query")
    here.back(2)
    assert here.title == WHOLE


def the_tree_is_clicked_too(here: Any) -> None:
    here.choose("Tree")
    assert here.figure.locator("g.iciclelayer g.slice").count()
    hit(here, "Layer 2")
    assert here.title == "Layer 2: 7.8% of the model"


def test_a_dark_phone_shows_the_weights(visit: Callable) -> None:
    weights = path(part="layer-1/attention/query", section="Inside the weights")
    here = visit(weights, color_scheme="dark", **PHONE)
    assert here.title.startswith("Layer 1 › Query")
    expect(here.main.locator(".st-key-reading_weights")).to_contain_text(
        "of the matrix's total strength"
    )
    assert here.main.get_by_role("figure").count() == 3
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    here.follow("/anatomy")
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    bars = here.main.locator(".st-key-anatomy_models")
    assert box(bars.locator(".gtitle"))["bottom"] <= box(bars.locator(".legend"))["y"]
