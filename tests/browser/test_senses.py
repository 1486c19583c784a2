"""Senses as its readers use it: a word, a click on the map and in the concordance, one's own."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, expect

from contextlens.ui.state.address import encode
from tests.browser.screens import DESK, PHONE, WIDER_THAN_ITSELF, box
from tests.support.senses import senses_view

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

SECONDS = 300
CHART = ".st-key-senses_chart .js-plotly-plot"
LINE = ".st-key-senses_concordance .line"
CHOSEN = f"{LINE}[aria-selected=true]"
RUDE = "<img src=x onerror=alert(1)>"


def computed(here: Visit) -> None:
    here.page.wait_for_selector(f"{CHART} .point", timeout=SECONDS * 1000)
    here.settle()


def picture(here: Visit) -> Locator:
    return here.main.locator(CHART)


def click_point(here: Visit, trace: int, index: int) -> None:
    points = here.main.locator(f"{CHART} .scatterlayer .trace").nth(trace).locator(".point")
    around = box(points.nth(index))
    with here.rerun():
        here.page.mouse.click(around["x"] + around["width"] / 2, around["y"] + around["height"] / 2)


def test_a_word_is_looked_at_selected_compared_and_downloaded(
    visit: Callable[..., Visit],
) -> None:
    here = visit("/senses", **DESK)
    computed(here)
    assert box(picture(here))["bottom"] < DESK["viewport"]["height"]
    assert box(here.main.locator(".st-key-reading"))["bottom"] < DESK["viewport"]["height"]
    lines = here.main.locator(LINE)
    expect(lines).to_have_count(25)

    click_point(here, 0, 3)
    expect(here.main.locator(CHOSEN)).to_have_count(1)
    first = here.main.locator(CHOSEN).inner_text()
    with here.rerun():  # by keyboard: the stop is at the chosen line
        here.main.locator(CHOSEN).focus()
        here.page.keyboard.press("ArrowDown")
        here.page.keyboard.press("Enter")
    assert here.main.locator(CHOSEN).inner_text() != first
    here.back()
    assert here.main.locator(CHOSEN).inner_text() == first

    with here.rerun():
        here.main.locator(".groups .head").last.click()
    assert lines.count() < 25
    with here.rerun():
        here.main.locator(".groups .head").last.click()
    here.type("Your own sentence", f"My python ate {RUDE} a rat.")
    expect(here.main.locator(".st-key-reading_own")).to_contain_text("animal")
    expect(here.main.locator(".st-key-senses_near .line")).to_have_count(10)
    here.to_layer(5)
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    here.main.evaluate("main => main.scrollTo(0, 0)")  # else the app's own bar covers the button
    text = here.download("CSV").decode("utf-8-sig")
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("# ")))
    assert len(rows) == 32

    word = here.main.locator(".st-key-controls_senses").get_by_role("combobox", name="Word")
    with here.rerun():
        word.fill("zzyth")
        word.press("Enter")
    expect(here.main.get_by_text("does not occur in Ambiguous words")).to_be_visible()


def test_it_fits_a_phone(visit: Callable[..., Visit]) -> None:
    view = senses_view(word="bank", own=f"The bank {RUDE} of the river", sort="right")
    here = visit("/senses?" + urlencode({"s": encode(view)}), color_scheme="dark", **PHONE)
    computed(here)
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    line = here.main.locator(LINE).nth(1)
    line.scroll_into_view_if_needed()
    with here.rerun():
        line.tap()
    expect(here.main.locator(CHOSEN)).to_have_count(1)
