"""A corpus as its reader meets it: upload, indexing, the senses of its word, export, its end."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from tests.browser.screens import DESK, OVER_THE_TITLE, PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

SECONDS = 300
N = 40


def table() -> bytes:
    out = io.StringIO()
    rows = [
        (f"My pet python number {i} sleeps", "python", "animal", "train" if i % 4 else "test")
        if i % 2
        else (f"I write python program number {i}", "python", "language", "train")
        for i in range(N)
    ]
    csv.writer(out).writerows([("text", "word", "sense", "split"), *rows])
    return out.getvalue().encode()


def senses_of_the_word(here: Visit) -> None:
    """A selection and a sentence of one's own, on Senses, in the corpus that was indexed."""
    lines = here.main.locator(".st-key-senses_concordance .line")
    expect(lines).to_have_count(25)
    assert f"sorts {N} of {N} right" in here.reading, "each sense has one pattern of its own"
    with here.rerun():
        lines.nth(3).click()
    expect(here.main.locator(".st-key-senses_concordance .line[aria-selected=true]")).to_have_count(
        1
    )
    here.type("Your own sentence", "My pet python number 99 sleeps.")
    expect(here.main.locator(".st-key-reading_own")).to_contain_text("animal")
    rows = here.download("CSV").decode("utf-8-sig").splitlines()
    assert sum(not row.startswith("# ") for row in rows) == N + 1


def test_from_upload_over_indexing_and_senses_to_export_and_deletion(
    visit: Callable[..., Visit],
) -> None:
    here = visit("/corpora", **DESK)
    here.click("Add your own texts")
    file = {"name": "browser test.csv", "mimeType": "text/csv", "buffer": table()}
    with here.rerun():
        here.main.locator("input[type=file]").set_input_files(file)
    expect(here.main.get_by_text("takes about", exact=False).first).to_be_visible()
    here.click("Read and store")
    card = here.main.locator("[class*='st-key-corpora_card_']").filter(has_text="browser test.csv")
    expect(card).to_contain_text("ready to be searched", timeout=SECONDS * 1000)
    expect(card).to_contain_text(f"{N} texts · 240 words")
    here.settle()
    assert here.title == (
        f"Small words aside, no word occurs more often than “python”: {N} times, in 2 senses"
    )
    assert box(here.main.locator(".st-key-reading"))["bottom"] < DESK["viewport"]["height"]

    with here.rerun():
        here.main.get_by_role("link", name="Senses of “python”").click()
    senses_of_the_word(here)
    with here.rerun():
        here.side.get_by_role("link", name="Texts").click()

    bar = box(here.figure.locator(".bars .point path").nth(3))
    with here.rerun():  # plotly's own layer lies above the bars
        here.page.mouse.click(bar["x"] + 5, (bar["y"] + bar["bottom"]) / 2)
    expect(here.main.locator(".st-key-reading")).not_to_contain_text("“python” occurs")
    here.reload()  # it is still there, and still the one that is looked at
    assert here.title.startswith("Small words aside, no word occurs more often than “python”")
    menu = here.menu("Export or delete")
    link = menu.get_by_role("link", name="Export as a Parquet file")
    address = link.evaluate("link => link.href")
    answer = here.page.request.get(address)
    assert answer.status == 200
    rows = pq.read_table(io.BytesIO(answer.body()))
    assert rows.num_rows == 240
    assert set(rows.filter(rows["is_target"])["word"].to_pylist()) == {"python"}

    with here.rerun():
        menu.get_by_role("button", name="Delete", exact=True).click()
    with here.rerun():
        menu.get_by_role("button", name="Delete for good").click()
    expect(card).to_have_count(0)
    assert here.page.request.get(address).status == 404
    assert here.reading.startswith("Ambiguous words has")


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", DESK), ("dark", PHONE)], ids=["desk", "phone"]
)
def test_it_fits_with_a_file_to_be_added(
    visit: Callable[..., Visit], scheme: str, size: dict
) -> None:
    here = visit("/corpora", color_scheme=scheme, **size)
    assert box(here.figure)["bottom"] < size["viewport"]["height"] + 20
    here.click("Add your own texts")
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    assert here.page.evaluate(OVER_THE_TITLE) == []
    assert box(here.figure)["right"] <= size["viewport"]["width"]
