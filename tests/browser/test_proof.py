"""Proof in a real browser: green at first sight, and a benchmark's file that gets its figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.screens import DESK, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

PICTURE = ".st-key-proof_chart .js-plotly-plot"
SECONDS = 120


def test_proof_is_green_and_a_file_gets_its_figure(visit: Callable[..., Visit]) -> None:
    here = visit("/proof", **DESK)
    here.page.wait_for_selector(PICTURE, timeout=SECONDS * 1000)
    here.settle()
    assert here.title == "9 of 9 checks agree"
    assert "9 of 9 checks agree" in here.reading
    verdicts = here.figure.locator(".annotation-text").all_text_contents()
    assert verdicts.count("agrees") == 9
    assert "differs" not in verdicts
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    assert box(here.main.locator(".st-key-reading"))["bottom"] <= 900
    assert here.download("JSON").count(b'"agrees"') == 9
    a_file_gets_its_figure(here)


def a_file_gets_its_figure(here: Visit) -> None:
    with here.rerun():
        here.main.get_by_role("combobox", name="Check").click()
        here.page.get_by_role("option", name="STS-B").click()
    rows = "".join(f"Text {i},Text {i // 2},{i % 5}.5\n" for i in range(20))
    content = f"sentence1,sentence2,score\n{rows}".encode()
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": content}
    with here.rerun():
        here.main.locator("input[type=file]").set_input_files(file)
    here.page.wait_for_selector(PICTURE, timeout=SECONDS * 1000)
    expect(here.main.locator(".st-key-reading")).to_contain_text("is for other rows")
