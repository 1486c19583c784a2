"""Present mode in the real app: keys, what a room sees, and what Back and a reload keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from contextlens.features.layers.controls import SHOW
from contextlens.ui.page.navigation import PAGES
from contextlens.ui.state.address import encode
from contextlens.ui.state.controls import PRESENT
from contextlens.ui.state.view import DEFAULT
from tests.browser.screens import PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

QUERY = f"?s={encode(PRESENT.put(DEFAULT, True))}"
PROJECTOR = {"viewport": {"width": 1280, "height": 720}}
SMALLEST = 18  # pixels of a text in a chart, as seen
ROOM = {"viewport": {"width": 1920, "height": 1080}}
BELOW = """
() => {
  const rect = part => part.getBoundingClientRect();
  const bar = document.querySelector('.st-key-layer');
  const parts = '.stMain :is(.js-plotly-plot, .st-key-attention_lines, .st-key-reading p)';
  return [...document.querySelectorAll(parts)].filter(part => {
    const over = bar && rect(part).left < rect(bar).right && rect(bar).left < rect(part).right;
    const end = over ? rect(bar).top : innerHeight;
    return rect(part).height && rect(part).top < innerHeight / 2 && rect(part).bottom > end + 1;
  }).map(part => part.closest('[class*=st-key-]').className);
}
"""
SMALL_TEXTS = """
smallest => [...document.querySelectorAll('.js-plotly-plot')].flatMap(chart => {
  const seen = chart.getBoundingClientRect().width / chart.offsetWidth;
  return [...chart.querySelectorAll('text')]
    .filter(text => text.textContent.trim() && text.checkVisibility({ opacityProperty: true }))
    .map(text => [seen * parseFloat(getComputedStyle(text).fontSize), text.textContent])
    .filter(([size]) => size < smallest);
})
"""


def heading(here: Visit, title: str) -> None:
    expect(here.page.get_by_role("heading", level=1)).to_have_text(title)
    here.wait()


def test_keys_go_through_the_pages_show_the_note_and_leave(visit: Callable) -> None:
    here = visit("/meaning", **PROJECTOR)
    keyboard = here.page.keyboard
    here.pick("sentence A", "pet")
    here.click("Present")
    expect(here.side).not_to_be_visible()
    expect(here.main.get_by_role("tab")).to_have_count(0)
    since = here.runs.now
    keyboard.press("ArrowRight")
    heading(here, "Why alike?")
    assert here.runs.told(since, "page over") == 1
    keyboard.press("ArrowLeft")
    heading(here, "Meaning in context")
    assert here.chosen[0] == "pet, word 4 of sentence A"
    here.to_layer(5)  # arrow keys of the slider, which has the focus
    heading(here, "Meaning in context")
    address = here.page.url
    here.reload()
    assert here.page.url == address
    expect(here.side).not_to_be_visible()
    keyboard.press("n")
    note = here.page.get_by_role("dialog")
    expect(note).to_contain_text("Ask the room")
    keyboard.press("Escape")
    expect(note).to_have_count(0)
    heading(here, "Meaning in context")
    with here.rerun():
        keyboard.press("Escape")
    expect(here.side).to_be_visible()
    expect(here.main.get_by_role("tab", name="Numbers")).to_be_visible()
    assert here.layer == 5
    here.back()
    expect(here.side).not_to_be_visible()
    here.forward()
    expect(here.side).to_be_visible()


def test_a_room_can_read_every_page(visit: Callable) -> None:
    here, found = visit("/" + QUERY, **PROJECTOR), []
    for page in (page for page in PAGES if not page.needs_own_model):
        if page is not PAGES[0]:
            here.page.keyboard.press("ArrowRight")
            heading(here, page.title)
        seen = [f"too small: {text}" for text in here.page.evaluate(SMALL_TEXTS, SMALLEST)]
        seen += [f"too wide: {what}" for what in here.page.evaluate(WIDER_THAN_ITSELF)]
        seen += [f"not in the screen: {what}" for what in here.page.evaluate(BELOW)]
        axe = Axe("") if here.page.evaluate("() => 'axe' in window") else Axe()
        violations = axe.run(here.page, options={"resultTypes": ["violations"], "preload": False})
        seen += [
            f"{violation['id']}: {node['html'][:160]}"
            for violation in violations.response["violations"]
            if violation["impact"] in {"serious", "critical"}
            for node in violation["nodes"]
        ]
        found += [f"{page.name}: {what}" for what in seen]
    assert not found, "\n" + "\n".join(found)
    here.page.keyboard.press("ArrowRight")  # after the last page: none
    heading(here, PAGES[-1].title)


def test_a_point_of_an_enlarged_chart_is_found_where_it_is_seen(visit: Callable) -> None:
    every_token = SHOW.put(PRESENT.put(DEFAULT, True), "All tokens")
    here = visit(f"/layers?s={encode(every_token)}", **ROOM)
    cell = here.figure.locator(".heatmaplayer text", has_text="0.61").last
    cell.scroll_into_view_if_needed()
    place = box(cell)
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    here.page.mouse.move(x, y)
    label = here.figure.locator(".hoverlayer .hovertext")
    expect(label).to_contain_text("python")
    expect(label).to_contain_text("0.61")


def test_a_phone_presents_too(visit: Callable) -> None:
    here = visit("/layers" + QUERY, **PHONE)
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    leave = here.main.get_by_role("button", name="Leave")
    assert box(leave)["right"] <= here.page.viewport_size["width"]
    with here.rerun():
        leave.tap()
    expect(leave).to_have_count(0)
    expect(here.main.get_by_role("tab", name="Numbers")).to_be_visible()
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
