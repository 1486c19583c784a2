"""Embedding layer in a real browser: it opens, its controls work, its address restores it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from components.features.embedding_layer.controls import PAGE, SECTION
from components.ui.state.address import encode
from components.ui.state.view import DEFAULT, Sentence, ViewState
from tests.browser.screens import DESK, OVER_THE_TITLE, PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

LONG = "The quick brown fox jumps over the lazy dog and runs far away. " * 60


def address(view: ViewState = DEFAULT, **controls: str | int) -> str:
    own = replace(view, controls={PAGE: controls}) if controls else view
    query = urlencode({"s": encode(own)}) if encode(own) else ""
    return f"/embedding_layer?{query}"


def test_the_first_screen_and_every_closer_look_fit_a_desk(visit: Callable) -> None:
    here = visit(address(replace(DEFAULT, sentences=(Sentence(LONG),))), **DESK)
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Embedding layer")
    picture_and_reading_are_in_the_first_screen(here, row=0.5)
    here.follow(address())
    picture_and_reading_are_in_the_first_screen(here, row=5.5 / 7, token="python")
    every_closer_look_fits(here)


def test_a_dark_phone_has_every_closer_look_a_second_text_and_the_other_sentence(
    visit: Callable,
) -> None:
    here = visit(address(), color_scheme="dark", **PHONE)
    every_closer_look_fits(here)
    here.type("Second text of A", "It is a snake", within=here.menu("Edit"))
    here.leave_menu()
    expect(here.figure.get_by_text("snake", exact=True)).to_be_visible()
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    here.choose("B")
    expect(here.figure.get_by_text("coding", exact=True)).to_be_visible()


def picture_and_reading_are_in_the_first_screen(
    here: Visit, *, row: float, token: str = ""
) -> None:
    """And a row of the picture, at this height of it, says its token."""
    expect(here.page.get_by_role("heading", level=1)).to_be_in_viewport()  # it is not scrolled
    reading = box(here.main.locator(".st-key-reading"))
    assert box(here.figure)["bottom"] <= reading["y"] + 1
    assert reading["bottom"] <= 900
    strip = box(here.figure.locator(".heatmaplayer image").first)
    here.page.mouse.move(strip["x"] + strip["width"] / 2, strip["y"] + strip["height"] * row)
    hover = here.figure.locator(".hoverlayer .hovertext")
    expect(hover).to_contain_text("word, dimension")
    expect(hover).to_contain_text(token)


def every_closer_look_fits(here: Visit) -> None:
    names = ("word", "position", "segment", "sum", "layer 0", "share")
    labels = here.figure.locator(".annotation-text")
    found = {text.text_content(): box(text) for text in labels.all()}
    places = [found[name] for name in names]
    for a, b in pairwise(places):  # beside each other, or in two lines
        assert a["right"] <= b["x"] + 1 or a["bottom"] <= b["y"] + 1 or b["bottom"] <= a["y"] + 1
    for section in SECTION.options:
        here.choose(section)
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
        assert here.page.evaluate(OVER_THE_TITLE) == []
        assert box(here.figure)["x"] >= 0
        assert box(here.figure)["right"] <= here.page.viewport_size["width"]
