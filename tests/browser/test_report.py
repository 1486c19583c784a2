"""The report: views from several pages, kept by the browser, saved as HTML and as a notebook."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.saved import assert_asks_nobody
from tests.browser.screens import DESK, HOSTILE
from tests.support.snippets import run

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def drawn(here: Visit) -> None:
    here.page.wait_for_selector(".stMain .js-plotly-plot .main-svg", timeout=120_000)
    here.settle()


def add(here: Visit, n: int) -> None:
    """Put the page's view into the report, its nth."""
    button = here.main.get_by_role("button", name="Add to report").first
    button.click()
    expect(here.main.get_by_role("status").filter(has_text="Added.").first).to_be_visible()
    expect(button).to_have_accessible_name(f"Add to report · {n}")


def views(here: Visit) -> Locator:
    return here.main.locator(".report > .views > .view")


def titles(here: Visit) -> list[str]:
    expect(views(here).first).to_be_visible()
    return views(here).locator(".title").evaluate_all("all => all.map(field => field.value)")


def saved(here: Visit, name: str) -> str:
    with here.page.expect_download() as download:
        here.main.get_by_role("button", name=name).click()
    return download.value.path().read_text(encoding="utf-8")


def test_views_are_collected_edited_kept_and_saved(
    visit: Callable[..., Visit], tmp_path: Path
) -> None:
    here = visit("/meaning", **DESK)
    drawn(here)
    finding = here.main.locator(".st-key-headline p.finding")
    expect(finding).to_contain_text("A: ")  # the meanings have been looked up
    here.settle()
    claim = finding.inner_text()
    matrix = here.main.get_by_role("figure").nth(1)
    numbers = matrix.locator(".annotation-text").all_text_contents()
    add(here, 1)
    here.goto("/layers")
    drawn(here)
    second = here.main.locator(".st-key-reading p.finding").inner_text()
    add(here, 2)
    whole = saved(here, "Save as HTML")  # from where it is added
    assert whole.count("<section>") == 2
    for picture in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', whole):
        drawing = b64decode(picture).decode()
        assert drawing.count("@font-face") == 1
        assert '"Source Sans"; font-weight: 100 900; src: url(data:font/woff2;' in drawing

    here.goto("/report")
    assert titles(here) == [claim, second]
    expect(views(here).locator(".claim:visible")).to_have_count(0)  # the titles say it
    here.main.get_by_role("button", name="Move view 2 up").click()
    expect(views(here).first.locator(".title")).to_have_value(second)
    here.main.get_by_role("textbox", name="Title of view 2").fill(f"Mine {HOSTILE}")
    expect(views(here).locator(".claim:visible")).to_have_text([claim])
    here.main.get_by_role("textbox", name="Note on view 2").fill("# one\n$x$ **two**")
    here.main.get_by_role("textbox", name="Report title").fill("Two pythons")
    here.reload()
    assert titles(here) == [second, f"Mine {HOSTILE}"]

    here.main.get_by_role("button", name="Remove view 1").click()
    expect(views(here)).to_have_count(1)
    here.main.get_by_role("button", name="Remove view 1").click()
    expect(here.main.get_by_text("Removed 2 views.")).to_be_visible()
    here.main.get_by_role("button", name="Undo").click()
    expect(views(here)).to_have_count(2)
    check_html(here, saved(here, "Save as HTML"), tmp_path, claim)
    check_notebook(saved(here, "Save as notebook"), claim, numbers)
    here.main.get_by_role("button", name="Empty the report").click()
    expect(here.main.get_by_text("Your report is empty.")).to_be_visible()
    here.main.get_by_role("button", name="Undo").click()
    expect(here.main.get_by_role("textbox", name="Report title")).to_have_value("Two pythons")
    here.main.get_by_role("button", name="Empty the report").click()
    expect(views(here)).to_have_count(0)
    here.reload()
    expect(here.main.get_by_text("Your report is empty.")).to_be_visible()


FILL = """
([n, size]) => new Promise((done) => {
  const request = indexedDB.open("contextlens", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("report", { keyPath: "id" });
  request.onsuccess = () => {
    const written = request.result.transaction("report", "readwrite");
    const view = { settings: [], cells: [], caption: "", claim: "", page: "p", title: "old" };
    for (let i = 0; i < n; i++) {
      const picture = "data:image/svg+xml,".padEnd(size, " ");
      written.objectStore("report").put({ ...view, id: `${i}`, order: i, picture });
    }
    written.oncomplete = () => done(request.result.close());
  };
})
"""


@pytest.mark.parametrize(
    ("n", "size", "said"),
    [(60, 100, "Your report has 60 views, the most it takes."), (1, 60_000_000, "it takes 60 MB")],
    ids=["views", "bytes"],
)
def test_a_full_report_says_so_and_takes_no_more(
    visit: Callable[..., Visit], n: int, size: int, said: str
) -> None:
    here = visit("/anatomy", **DESK)
    drawn(here)
    here.page.evaluate(FILL, [n, size])
    here.main.get_by_role("button", name="Add to report").first.click()
    expect(here.page.get_by_role("status").filter(has_text=said)).to_be_visible()


def test_two_tabs_do_not_undo_each_others_changes(visit: Callable[..., Visit]) -> None:
    here = visit("/anatomy", **DESK)
    drawn(here)
    add(here, 1)
    add(here, 2)
    here.goto("/report")
    other = here.page.context.new_page()
    other.goto(here.page.url)
    notes = other.locator(".report .note")
    expect(notes).to_have_count(2)
    notes.nth(1).fill("typed in the other tab")
    here.main.get_by_role("button", name="Remove view 1").click()
    expect(views(here)).to_have_count(1)
    notes.nth(1).blur()
    expect(notes).to_have_count(1)
    expect(notes.first).to_have_value("typed in the other tab")
    other.close()
    here.reload()
    expect(views(here)).to_have_count(1)
    expect(views(here).locator(".note")).to_have_value("typed in the other tab")


def check_html(here: Visit, text: str, folder: Path, claim: str) -> None:
    """The file opens without a network, on paper too, and has all that was collected."""
    (folder / "report.html").write_text(text, encoding="utf-8")
    context = here.page.context.browser.new_context()  # type: ignore[union-attr]
    asked: list[str] = []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.goto((folder / "report.html").as_uri())
    assert page.get_by_role("heading", level=1).inner_text() == "Two pythons"
    section = page.locator("section").nth(1)
    assert section.get_by_role("heading").inner_text() == f"Mine {HOSTILE}"
    assert section.locator(".claim").inner_text().split() == claim.split()
    assert section.locator(".note").inner_text() == "# one\n$x$ **two**"
    assert "I love my pet [python]" in section.locator("table").inner_text()
    assert "weights 53aa51172d14" in section.locator(".passport").inner_text()
    assert section.get_by_role("link").get_attribute("href") == f"{here.address}/meaning"
    widths = page.locator("img").evaluate_all("all => all.map(image => image.naturalWidth)")
    assert widths == [1200, 1200]
    assert page.pdf().startswith(b"%PDF")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert_asks_nobody(page, here.address)
    context.close()


def check_notebook(text: str, claim: str, numbers: list[str]) -> None:
    """It is valid, has the claim, and computes the page's numbers to the printed digit."""
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    headings = [i for i, cell in enumerate(notebook.cells) if cell.source.startswith("## ")]
    of_second = notebook.cells[
        [i for i in headings if notebook.cells[i].cell_type == "markdown"][1] :
    ]
    assert json.loads(text)["nbformat_minor"] == 5
    names: dict[str, object] = {}
    for cell in of_second:
        if cell.cell_type == "code":
            names = run(cell.source, names)
    cosines = names["cosines"]
    assert isinstance(cosines, dict)
    with_references = [
        values[-1] for pair, values in cosines.items() if pair != ("A python", "B python")
    ]
    assert len(with_references) == 4
    assert all(f"{value:.2f}" in numbers for value in with_references)
    assert any(claim in cell.source for cell in of_second)
