"""Embedding layer in a real browser: it opens, its controls work, its address restores it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from contextlens.features.embedding_layer.controls import PAGE, SECTION
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
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
    here = visit(address(replace(DEFAULT, sentences=(Sentence(LONG),)), show="all"), **DESK)
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Embedding layer")
    finding_and_rows_are_in_the_first_screen(here, top=510)  # five lines of text are above
    here.follow(address(show="all"))
    finding_and_rows_are_in_the_first_screen(here, top=430)
    assert box(here.main.locator(".st-key-reading_sure"))["bottom"] <= 900
    a_click_on_a_row_follows_its_token(here, "love", row=2)
    a_click_on_a_row_follows_its_token(here, "pet", row=4)
    every_closer_look_fits(here)


def test_a_dark_phone_has_every_closer_look_a_second_text_and_the_other_sentence(
    visit: Callable,
) -> None:
    here = visit(address(show="all"), color_scheme="dark", **PHONE)
    every_closer_look_fits(here)
    here.retype("sentence A", here.rows[0], "It is a snake")
    expect(here.figure.get_by_text("snake", exact=True)).to_be_visible()
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    here.letter("B")
    expect(here.figure.get_by_text("coding", exact=True)).to_be_visible()


def finding_and_rows_are_in_the_first_screen(here: Visit, *, top: int) -> None:
    expect(here.page.get_by_role("heading", level=1)).to_be_in_viewport()  # it is not scrolled
    assert box(here.main.locator(".st-key-reading"))["bottom"] <= box(here.figure)["y"]
    assert box(here.figure)["y"] <= top
    rows = here.figure.locator(".nsewdrag")
    assert max(box(part)["bottom"] for part in rows.all()) <= 900


def a_click_on_a_row_follows_its_token(here: Visit, token: str, *, row: int) -> None:
    name = box(here.figure.locator(".ytick text").nth(row))
    column = box(here.figure.locator(".nsewdrag").first)
    place = (column["x"] + column["width"] * 0.9, name["y"] + name["height"] / 2)
    here.page.mouse.move(*place)
    hover = here.figure.locator(".hoverlayer .hovertext")
    expect(hover).to_contain_text(f"{token}, position {row}")
    with here.rerun():
        here.page.mouse.click(*place)
    assert here.title == f"“{token}” = word + position {row} + segment 0"


def every_closer_look_fits(here: Visit) -> None:
    names = ("the", "its place", "text", "sum", "rescaled:")
    labels = here.figure.locator(".annotation-text")
    heads = [box(text) for text in labels.all() if text.text_content().startswith(names)]
    assert len(heads) == 5
    assert max(head["bottom"] for head in heads) - min(head["bottom"] for head in heads) <= 2
    for a, b in pairwise(heads):
        assert a["right"] <= b["x"] + 4 or a["bottom"] <= b["y"] + 20
    for section in SECTION.options:
        here.choose(section)
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
        assert here.page.evaluate(OVER_THE_TITLE) == []
        assert box(here.figure)["x"] >= 0
        assert box(here.figure)["right"] <= here.page.viewport_size["width"]
