"""Probe as its readers use it: a file, a mistake, a sentence to try, and an export."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.screens import DESK, PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

SECONDS = 300
PICTURE = ".st-key-probe_chart .js-plotly-plot"
THINGS = ("soup", "film", "room", "bus", "play", "meal", "view", "song", "walk", "book")
MOODS = {"bad": ("awful", "dreadful", "dull"), "good": ("lovely", "splendid", "charming")}


def reviews() -> bytes:
    rows = [
        f"The {thing} was {word} <b>indeed</b>,{mood}"
        for thing in THINGS
        for mood, words in MOODS.items()
        for word in words
    ]
    return "\n".join(["text,mood", *rows]).encode()


def computed(here: Visit) -> None:
    here.page.wait_for_selector(PICTURE, timeout=SECONDS * 1000)
    here.settle()


def test_a_file_is_learned_tried_and_exported(visit: Callable[..., Visit]) -> None:
    here = visit("/probe", **DESK)
    computed(here)
    assert here.reading.startswith("Layer 3 sorts 71% of 194 unseen texts right")
    assert box(here.main.locator(PICTURE))["y"] <= 350
    expect(here.main.get_by_text("The most confident mistakes")).to_be_visible()
    here.choose("try")
    field = here.main.get_by_role("textbox", name="Try a sentence")
    with here.rerun():
        field.fill("I have had <i>worse</i> mornings.")
        field.press("Enter")
    here.settle()
    assert "The classifier calls it" in here.main.locator(".st-key-reading_try").inner_text()
    saved = json.loads(here.download("probe.json"))
    assert len(saved["labels"]) == len(saved["weights"]) == 2
    here.click("Add texts")
    upload = here.main.locator(".st-key-probe_own_file input[type=file]")
    with here.rerun():
        upload.set_input_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": reviews()})
    here.click("Use these texts")
    computed(here)
    expect(here.main.locator(".st-key-reading").first).to_contain_text("“bad” and “good”")


def test_it_fits_a_phone(visit: Callable[..., Visit]) -> None:
    here = visit("/probe", **PHONE)
    computed(here)
    assert not here.page.evaluate(WIDER_THAN_ITSELF)
