"""Hovers of charts: minus signs, and texts that are asked for one by one."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.screens import PHONE
from tests.browser.tabs import Tab

pytestmark = pytest.mark.browser

MINUS = files("contextlens.ui.frame") / "assets" / "minus.js"
DRAW = """text => {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "text");
  drawn.textContent = text;
  document.querySelector(".hoverlayer").append(drawn);
}"""


def test_a_hyphen_before_a_number_becomes_a_minus_sign_only_there(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content('<svg><g class="hoverlayer"></g></svg><p>typed -5</p>')
    page.add_script_tag(content=MINUS.read_text(encoding="utf-8"), type="module")
    page.evaluate(DRAW, "cosine -0.1234 self-5 (-2)")
    expected = "cosine \N{MINUS SIGN}0.1234 self-5 (\N{MINUS SIGN}2)"
    expect(page.locator(".hoverlayer")).to_have_text(expected)
    expect(page.locator("p")).to_have_text("typed -5")
    page.close()


PAINT = """texts => {
  const painted = [];
  CanvasRenderingContext2D.prototype.fillText = (text, ...place) => painted.push([text, ...place]);
  window.paint = (align) => {
    const canvas = document.querySelector("canvas").getContext("2d");
    canvas.textAlign = align;
    painted.length = 0;
    for (const text of texts) canvas.fillText(text, 1, 2);
    return painted;
  };
}"""


def test_a_number_in_a_table_has_a_real_minus_sign_and_zero_none_and_texts_stay(
    chromium: Browser,
) -> None:
    page = chromium.new_page()
    page.set_content("<canvas></canvas>")
    expected = {
        "-0.1235": "\N{MINUS SIGN}0.1235",
        "-1,234.5000": "\N{MINUS SIGN}1,234.5000",
        "-2e-7": "\N{MINUS SIGN}2e-7",
        "-0.0000": "0.0000",
        "-0.0e+0": "0.0e+0",
        "-5": "-5",
        "-.": "-.",
        "0.5": "0.5",
        "-5 in a text": "-5 in a text",
        "a-5": "a-5",
    }
    page.evaluate(PAINT, list(expected))
    page.add_script_tag(content=MINUS.read_text(encoding="utf-8"), type="module")
    painted = {align: page.evaluate("align => paint(align)", align) for align in ("right", "start")}
    assert painted["right"] == [[text, 1, 2] for text in expected.values()]
    assert painted["start"] == [[text, 1, 2] for text in expected]
    page.close()


AT = """i => {
  const plot = document.querySelector(".st-key-crowd .js-plotly-plot");
  const {xaxis, yaxis} = plot._fullLayout, {x, y} = plot.getBoundingClientRect();
  const {x: xs, y: ys} = plot._fullData[0];
  return [x + xaxis._offset + xaxis.l2p(xs[i]), y + yaxis._offset + yaxis.l2p(ys[i])];
}"""
"""The place of a point in the window."""

COUNT = """() => {
  const add = document.addEventListener.bind(document);
  window.scrolled = new Set();
  document.addEventListener = (kind, listener, options) => {
    if (kind === "scroll") window.scrolled.add(listener);
    add(kind, listener, options);
  };
}"""
"""Collects the document's different listeners for scrolling."""


def test_the_text_of_a_point_is_asked_for_once_when_the_pointer_rests_on_it(
    run_app: Callable[..., str], take: Callable[..., Tab]
) -> None:
    address = run_app("tests/browser/apps/point_text_app.py")
    tab = take(address)
    page, runs = tab.page, tab.runs
    page.goto(address)
    page.wait_for_function("() => document.querySelector('.st-key-crowd .js-plotly-plot')?._ev")
    page.evaluate(COUNT)
    text, places = page.locator(".point-text"), [page.evaluate(AT, i) for i in range(3)]
    since = runs.now
    for i, said in ((0, "A <b>crowd</b> of points"), (2, "Each has a text"), (0, "A <b>crowd</b>")):
        page.mouse.move(places[i][0] + 60, places[i][1])
        expect(text).to_be_hidden()
        page.mouse.move(*places[i])
        expect(text).to_be_visible()
        expect(text).to_contain_text(said)
        expect(text).to_contain_text("topic: none")
    assert runs.told(since, "part asked") == 2, "the first text was kept"
    assert runs.told(since, "page asked") == 0
    page.mouse.move(places[1][0] + 60, places[1][1])
    page.mouse.move(*places[1])
    page.wait_for_timeout(1500)
    expect(text).to_be_hidden()  # there is none
    assert runs.told(since, "part asked") == 3
    page.mouse.move(places[1][0] + 60, places[1][1])
    page.wait_for_timeout(200)
    page.mouse.move(*places[1])
    expect(text).to_contain_text("They are many")
    expect(text).to_be_visible()
    assert page.evaluate("window.scrolled.size") == 1
    page.evaluate("document.dispatchEvent(new Event('scroll'))")
    expect(text).to_be_hidden()


MARKS = """() => document.querySelector(".st-key-crowd .js-plotly-plot")?.data?.slice(1).map(
  ({ x: [x], marker: { size, color } }) => [x, size, color],
)"""
"""The place, size and colour of each mark over the points."""


QUICK_DRAG = """([x, y]) => {
  const layer = document.querySelector(".st-key-crowd .nsewdrag");
  const at = (clientX, clientY) => ({ clientX, clientY, bubbles: true });
  layer.dispatchEvent(new PointerEvent("pointerdown", at(x, y)));
  layer.dispatchEvent(new MouseEvent("click", at(x + 40, y)));
}"""
"""What a browser sends for a drag between two of its events, which plotly takes for a click."""


def test_a_click_marks_a_point_over_the_chart_and_a_drag_does_not(
    run_app: Callable[..., str], take: Callable[..., Tab]
) -> None:
    address = run_app("tests/browser/apps/marks_app.py")
    page = take(address).page
    page.goto(address)
    said = page.locator("p", has_text="clicked")

    def see(i: int) -> None:
        expect(said).to_have_text(f"clicked {i}")
        page.wait_for_function(f"() => ({MARKS})()?.[0]?.[0] === {i}")
        ((_, size, colour),) = page.evaluate(MARKS)
        assert (size, colour.startswith("#0000")) == (30, False)  # the theme's ink

    see(1)
    for i in (2, 0, 0):
        page.mouse.click(*page.evaluate(AT, i))
        page.mouse.move(*page.evaluate(AT, 1))  # at once, on to another point
        see(i)
    old = page.evaluate_handle("() => document.querySelector('.js-plotly-plot')")
    page.get_by_role("button", name="Select").click()  # a chart is drawn anew under equal marks
    page.wait_for_function("old => !old.isConnected", arg=old)
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')?._fullLayout")
    see(0)
    page.mouse.click(*page.evaluate(AT, 2))
    see(2)
    x, y = page.evaluate(AT, 1)
    page.evaluate(QUICK_DRAG, [x, y])
    page.wait_for_timeout(500)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y + 30, steps=4)
    page.mouse.up()
    page.wait_for_timeout(500)
    expect(said).to_have_text("clicked 2")


def test_a_tap_marks_a_point(run_app: Callable[..., str], take: Callable[..., Tab]) -> None:
    address = run_app("tests/browser/apps/marks_app.py")
    page = take(address, **PHONE).page
    page.goto(address)
    page.wait_for_function(f"() => ({MARKS})()?.length")
    for i in (2, 0):
        page.touchscreen.tap(*page.evaluate(AT, i))
        expect(page.locator("p", has_text="clicked")).to_have_text(f"clicked {i}")
