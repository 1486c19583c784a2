"""A chart that is saved as HTML: it opens from disk without a network, with claim and passport."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.saved import assert_asks_nobody
from tests.browser.screens import DESK, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("page", ["meaning", "layers", "map"])
def test_a_chart_is_saved_and_opens_from_disk(
    visit: Callable[..., Visit], page: str, tmp_path: Path
) -> None:
    """The finding is above the chart, which has no title of its own."""
    here = visit(f"/{page}", **DESK)
    here.page.wait_for_selector(".stMain .js-plotly-plot .main-svg", timeout=120_000)
    here.settle()
    points = "e => e.data.map(t => (t.x ?? t.z ?? []).length)"
    (tmp_path / "chart.html").write_bytes(here.download("HTML"))
    chart = here.main.locator(".js-plotly-plot").first
    drawn = chart.evaluate(points)
    finding = ".st-key-headline, .st-key-reading:has(p.finding)"
    claim = here.main.locator(finding).locator("p.said").first.inner_text()
    context = here.page.context.browser.new_context()  # type: ignore[union-attr]
    asked: list[str] = []
    saved = context.new_page()
    saved.on("request", lambda request: asked.append(request.url))
    saved.on("pageerror", lambda error: asked.append(str(error)))
    saved.goto((tmp_path / "chart.html").as_uri())
    saved.wait_for_selector(".js-plotly-plot .main-svg")
    assert claim
    assert saved.title().split() == claim.split()
    heading = saved.get_by_role("heading", level=1)
    assert heading.inner_text().split() == claim.split()
    assert box(heading)["bottom"] <= box(saved.locator(".js-plotly-plot"))["y"]
    assert "".join(saved.locator(".gtitle").all_text_contents()).strip() == ""
    assert saved.locator(".js-plotly-plot").evaluate(points) == drawn
    assert "weights 53aa51172d14" in saved.locator(".passport").inner_text()
    assert saved.get_by_role("link", name="Contextlens").get_attribute("href") == here.page.url
    assert [url for url in asked if not url.startswith("file:")] == []
    assert_asks_nobody(saved, here.page.url)
    context.close()


def test_a_drawing_is_saved_too(visit: Callable[..., Visit], tmp_path: Path) -> None:
    here = visit("/tokens", **DESK)
    (tmp_path / "drawing.html").write_bytes(here.download("HTML"))
    claim = here.main.locator(".st-key-reading p.said").inner_text()
    context = here.page.context.browser.new_context()  # type: ignore[union-attr]
    saved = context.new_page()
    saved.goto((tmp_path / "drawing.html").as_uri())
    expect(saved.locator("svg text").filter(has_text="18750")).to_be_visible()
    assert saved.locator(".claim").inner_text().split() == claim.split()
    assert saved.locator("script").count() == 0
    assert_asks_nobody(saved, here.page.url)
    saved.evaluate("document.body.append(Object.assign(document.createElement('script'), "
                   "{ textContent: 'window.ran = true' }))")  # fmt: skip
    assert not saved.evaluate("window.ran")
    context.close()
