"""Pairs as its readers use it: a file, its accuracy, the pairs that go wrong, and a download."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from tests.browser.screens import DESK, PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

SECONDS = 300
PICTURE = ".st-key-pairs_chart .js-plotly-plot"
SCATTER = ".st-key-pairs_scatter .js-plotly-plot"
HOSTILE = "<img src=x onerror=alert(1)>"
WORDS = ("python", "bank", "snake", "river", "bird", "stone", "lamp", "tree", "cup", "door")


def pairs_file() -> bytes:
    """The same word twice, or two words: a cosine tells them apart."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["text1", "text2", "index1", "index2", "label", "split"])
    for i, word in enumerate(WORDS):
        for part in ("train", "test"):
            other = WORDS[i - 1]
            rows.writerow([f"I saw the {word} {HOSTILE}", f"That {word}!", 3, 1, "T", part])
            rows.writerow([f"I saw the {word} today", f"A new {other}.", 3, 2, "F", part])
    return out.getvalue().encode()


def computed(here: Visit) -> None:
    here.page.wait_for_selector(PICTURE, timeout=SECONDS * 1000)
    here.settle()


def assert_headline_first(here: Visit, picture: str) -> None:
    """The finding begins near the top, and the picture below its three lines."""
    finding = box(here.main.locator("p.finding").first)
    assert finding["y"] <= 260
    assert finding["bottom"] <= box(here.main.locator(picture).first)["y"] <= 400


def test_a_file_is_uploaded_judged_read_and_downloaded(visit: Callable[..., Visit]) -> None:
    here = visit("/pairs", **DESK)
    computed(here)
    assert here.reading.startswith("Wrong: the model calls these two uses")
    assert_headline_first(here, ".use")
    assert box(here.main.locator(".st-key-reading"))["bottom"] < DESK["viewport"]["height"]
    first = here.main.locator(".use").first.inner_text()
    here.click("Next")
    assert here.main.locator(".use").first.inner_text() != first
    here.back()
    expect(here.main.locator(".use").first).to_have_text(first)
    here.click("Add texts")
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": pairs_file()}
    with here.rerun():
        here.main.locator("input[type=file]").set_input_files(file)
    expect(here.main.get_by_text("40 rows").first).to_be_visible()
    here.click("Compare these pairs")
    computed(here)
    whole = here.main.locator(".st-key-reading_whole")
    expect(whole).to_contain_text("tested pairs")
    title = re.compile("best in training: 100% right")
    expect(here.main.get_by_role("figure", name=title)).to_be_visible()
    assert here.reading.startswith("Right: the model calls these two uses")
    here.to_layer(0)
    expect(whole).to_contain_text("Similarity alone gets")
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    here.choose("Every pair")
    expect(here.main.get_by_test_id("stDataFrame").filter(visible=True).first).to_be_visible()
    text = here.download("CSV").decode("utf-8-sig")
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    assert len(rows) == 40
    assert {row["word 1"] for row in rows} == set(WORDS)


def scored_file() -> bytes:
    """Pairs with scores of three heights; a cosine follows them."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["sentence1", "sentence2", "score"])
    for i, word in enumerate(WORDS):
        rows.writerow([f"I saw the {word}.", f"I have seen the {word}.", 4.5])
        rows.writerow([f"I saw the {word}.", f"I saw the {WORDS[i - 1]}.", 2.2])
        rows.writerow([f"I saw the {word}.", f"It rains {HOSTILE}", 0.1])
    return out.getvalue().encode()


def test_a_click_on_a_point_shows_its_pair(visit: Callable[..., Visit]) -> None:
    here = visit("/pairs?" + urlencode({"s": encode(COLLECTION.put(DEFAULT, "file"))}), **DESK)
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": scored_file()}
    with here.rerun():
        here.main.locator("input[type=file]").set_input_files(file)
    here.click("Compare these pairs")
    here.page.wait_for_selector(SCATTER, timeout=SECONDS * 1000)
    here.settle()
    assert here.reading.startswith("The cosine at layer 6 follows your scores: Spearman 0.")
    assert_headline_first(here, SCATTER)
    texts = here.main.locator(".use")
    before = texts.all_inner_texts()
    point = here.main.locator(f"{SCATTER} .point").first.bounding_box()
    assert point
    with here.rerun():
        here.page.mouse.click(point["x"] + 4, point["y"] + 4)
    assert texts.all_inner_texts() != before
    here.back()
    expect(texts.first).to_have_text(before[0])
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []


@pytest.mark.parametrize("source", ["", "file"])
def test_it_fits_a_phone(visit: Callable[..., Visit], source: str) -> None:
    view = COLLECTION.put(DEFAULT, source)
    parameter = encode(view)
    here = visit("/pairs?" + urlencode({"s": parameter}), color_scheme="dark", **PHONE)
    if not source:
        computed(here)
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
