"""Padding & masks as its readers use it, in a real browser."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import expect

from contextlens.core import EncoderService
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.browser.screens import (
    DESK,
    HOSTILE,
    OVER_THE_TITLE,
    PHONE,
    WIDER_THAN_ITSELF,
    box,
    contrast,
    style,
)
from tests.support.masks import lab_of

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

A, B = (sentence.text for sentence in DEFAULT.sentences)
EIGHT = (
    *(A, "Rain.", "The bank of the river was green", "Yes", "Where did the snake go?"),
    *("Programming is fun", "One word, many meanings; one meaning, many words.", "It is late"),
)
HOLD_LINKS = """
() => {
  const click = HTMLAnchorElement.prototype.click;
  HTMLAnchorElement.prototype.click = function () { window.held = () => click.call(this); };
}
"""
FIGURES = '[role="figure"], .js-plotly-plot'


def address_of(*texts: str, **controls: str | bool) -> str:
    view: ViewState = replace(
        DEFAULT,
        sentences=tuple(map(Sentence, texts)) or DEFAULT.sentences,
        controls={"masks": controls} if controls else {},
    )
    return "/masks?" + urlencode({"s": encode(view)}) if view != DEFAULT else "/masks"


def switch(here: Visit) -> None:
    """The mask, off."""
    here.choose("Forget the mask")


def test_the_menu_leads_to_the_story_and_the_mistakes(visit: Callable) -> None:
    here = visit("/", **DESK)
    here.side.get_by_role("link", name="Padding & masks").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Padding & masks")
    here.wait()
    the_first_screen_tells_the_story(here)
    told = here.title, here.reading
    with here.still(FIGURES):
        switch(here)
    assert here.title == "Mask off (all 1): tokens read the padding"
    assert here.reading.startswith("Forget the mask, and padding changes the words.")
    off = here.title, here.reading
    here.choose("All positions")
    assert here.reading.startswith("Read the padding and average it in")
    here.back()
    assert (here.title, here.reading) == off
    here.back()
    assert (here.title, here.reading) == told
    a_click_on_a_case_sets_both_switches(here)


def a_click_on_a_case_sets_both_switches(here: Visit) -> None:
    with here.rerun():
        here.main.get_by_role("tab", name="Both mistakes").click()
    cases = here.main.locator(".st-key-masks_cases")
    cases.scroll_into_view_if_needed()
    area = box(cases.locator(".nsewdrag"))
    for right, below, told in (
        (0.75, 0.75, "Read the padding and average it in"),
        (0.75, 0.25, "Average the padding in"),
        (0.25, 0.25, "The mask lets the model skip the padding: nothing changes"),
    ):
        place = (area["x"] + area["width"] * right, area["y"] + area["height"] * below)
        here.page.mouse.move(*place)
        expect(cases.locator(".hovertext")).to_be_visible()
        here.settle()  # a chart that is drawn anew loses a click
        with here.rerun():
            here.page.mouse.click(*place)
        assert here.reading.startswith(told)


def the_first_screen_tells_the_story(here: Visit) -> None:
    assert here.title == "Mask on (1, 0): no token reads the padding"
    assert "The mask lets the model skip the padding: nothing changes." in here.reading
    assert box(here.figure)["y"] < 430
    assert box(here.main.locator(".st-key-reading p.said").first)["bottom"] <= 900
    assert_fits(here)
    area = box(here.figure.locator(".nsewdrag").first)
    told = here.figure.locator(".hovertext").first
    here.page.mouse.move(area["x"] + area["width"] / 4, area["y"] + 8)
    expect(told).to_contain_text("A: [CLS]")
    expect(told).to_contain_text("ID 101 · mask 1 · segment 0")
    expect(told).to_contain_text("layer 6: similarity 1.0000")
    here.page.mouse.move(area["x"] + area["width"] / 4, area["bottom"] - 20)
    expect(told).to_contain_text("positions 7 to 21 · ID 0 · mask 0")


def test_the_downloads_are_files_with_their_passport(
    visit: Callable, service: EncoderService
) -> None:
    here = visit(address_of(mask=False, pad_to="32"), **DESK)
    lab = lab_of(service, A, B)
    lines = here.download("CSV").decode("utf-8-sig").splitlines(keepends=True)
    rows = list(csv.DictReader(line for line in lines if not line.startswith("# ")))
    assert len(rows) == 64
    found = [float(row["layer 6"]) for row in rows if row["sentence"] == "A" and row["layer 6"]]
    np.testing.assert_allclose(found, lab.rows[0].damage.tokens[6], atol=1e-5)
    with np.load(io.BytesIO(here.download("NPZ")), allow_pickle=False) as arrays:
        assert json.loads(str(arrays["passport"]))["settings"]["mask"] == "ones"
        assert arrays["token_cosines"].shape == (2, 7, 32)
    root = ET.fromstring(here.download("SVG"))
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "Forget the mask, and padding changes the words." in texts
    assert any("25 × [PAD]" in text for text in texts)
    assert "layer 6 · padded to 32 · mask off" in " ".join(texts)
    assert f"weights {lab.rows[0].padded.passport.checksum[:12]}" in " ".join(texts)
    assert here.download("PNG")[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_file_arrives_although_others_act_before_the_browser_requests_it(visit: Callable) -> None:
    other = visit(address_of(), **DESK)
    here = visit(address_of(), **DESK)
    here.page.evaluate(HOLD_LINKS)
    with here.page.expect_download() as download:
        here.menu("Download").get_by_role("button", name="CSV").click()
        here.page.wait_for_function("window.held !== undefined")
        for _ in range(3):
            other.reload()
        here.page.evaluate("window.held()")
    assert b"sentence" in download.value.path().read_bytes()


def test_markup_is_text_everywhere_and_eight_texts_fit_a_desk(visit: Callable) -> None:
    here = visit(address_of(HOSTILE, pad_to="512"), **DESK)
    html_is_text_everywhere(here)
    here.follow(address_of(*EIGHT))
    eight_texts_fit_and_their_tokens_can_be_read(here)


def html_is_text_everywhere(here: Visit) -> None:
    assert_fits(here)
    area = here.figure.locator(".nsewdrag").first.bounding_box()
    assert area is not None
    for y in range(8, int(area["height"]), 24):
        here.page.mouse.move(area["x"] + area["width"] / 4, area["y"] + y)
    for name in ("Every token", "Under the hood"):
        with here.rerun():
            here.main.get_by_role("tab", name=name).click()
    here.main.get_by_text("What happens to token 513?").click()
    expect(here.main.get_by_text("The model has vectors for 512 positions")).to_be_visible()
    assert here.page.locator("img[src=x], body script:text('alert')").count() == 0
    assert here.main.locator("b", has_text="python").count() == 0


def eight_texts_fit_and_their_tokens_can_be_read(here: Visit) -> None:
    assert_fits(here)
    ground = style(here.page.get_by_test_id("stApp"), "backgroundColor")
    heading = here.page.get_by_role("heading", level=1)
    for text in (heading, here.main.locator(".st-key-reading p.said").first):
        assert contrast(style(text, "color"), ground) > 7
    for label in here.figure.locator(".gtitle, .annotation-text, .xtick text").all():
        assert contrast(style(label, "fill"), ground) > 3, label.text_content()
    area = box(here.figure.locator(".nsewdrag").first)
    names = [box(text) for text in here.figure.locator(".heatmap-label text").all()]
    assert len(names) > 40
    assert max(name["width"] for name in names) <= area["width"] / 8 + 1


def assert_fits(here: Visit) -> None:
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    assert here.page.evaluate(OVER_THE_TITLE) == []
    assert box(here.figure)["x"] >= 0
    assert box(here.figure)["right"] <= here.page.viewport_size["width"]


def test_a_dark_phone_s_reader_edits_switches_and_has_eight_texts(visit: Callable) -> None:
    here = visit("/masks", color_scheme="dark", **PHONE)
    assert_fits(here)
    here.retype("sentence A", here.rows[0], "A snake, I think.")
    switch(here)
    assert here.title == "Mask off (all 1): tokens read the padding"
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    here.follow(address_of(*EIGHT))
    eight_texts_fit_and_their_tokens_can_be_read(here)
