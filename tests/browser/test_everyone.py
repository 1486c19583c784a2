"""Every page for everyone: read by machines, seen in light and dark, reached by keyboard, still."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from contextlens.figures.theme import SMALLEST
from contextlens.ui.page.navigation import PAGES
from tests.browser.screens import DESK, PHONE

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

SERIOUS = {"serious", "critical"}
NAMES = "label-content-name-mismatch"  # voice control works by the visible name
# There are no films or sounds to load first.
FOUND = {"resultTypes": ["violations"], "preload": False}
ASKED = {**FOUND, "rules": {NAMES: {"enabled": True}}}
COLOURS = {**FOUND, "runOnly": ["color-contrast", "link-in-text-block"]}  # what a scheme decides
TRIES = 5  # of a check, as a page reruns by itself when a job is over
N_TABS = 3  # that share the pages, so that a slow machine needs less than the limit for each
TABS = 8  # from the top of the page to the first word
STILL = 0.05  # of the screen, moved; Google calls 0.1 good
SMALL_TEXTS = """
smallest => [...document.querySelectorAll('.js-plotly-plot text')]
  .filter(text => text.textContent.trim() && text.checkVisibility({ opacityProperty: true }))
  .filter(text => parseFloat(getComputedStyle(text).fontSize) < smallest)
  .map(text => `${getComputedStyle(text).fontSize}: ${text.textContent}`)
"""
DRAWN_TWICE = """
() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(({ _fullLayout: layout }) => {
  if (layout.height <= 130) return [];  // too low for all that stands around it
  const { margin, _pushmargin: asked, title } = layout;
  return Object.entries(asked).filter(([who]) => /^[xy]\\d*\\.automargin$|^cb/.test(who)).flatMap(
    ([who, room]) => ['l', 'r', 't', 'b'].filter(side => room[side].size > margin[side] + 1.5)
      .map(side => `${who} of ${title.text}: ${side} ${room[side].size}, not ${margin[side]}`));
})
"""
CHART_COLOURS = """
() => [...document.querySelectorAll('.js-plotly-plot')].map(chart => [
  [...chart.querySelectorAll('text')].map(text => getComputedStyle(text).fill),
  chart._fullData.map(({ colorscale, line, marker }) =>
    JSON.stringify([colorscale, line?.color, marker?.color, marker?.line?.color])),
])
"""
WATCH_SHIFTS = """
() => new Promise(watched => {  // and what moved before, while the page came
  window.__shifts = [];
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) {
      const moved = entry.sources.map(({ node }) => {
        const near = node?.nodeType === 1 ? node : node?.parentElement;
        const keyed = near?.closest('[class*="st-key-"], [data-testid]');
        return keyed?.className?.match?.(/st-key-[\\w-]+/)?.[0] ?? keyed?.dataset.testid ?? 'gone';
      });
      window.__shifts.push([entry.value, moved.join(' ')]);
    }
  }).observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(watched));
})
"""


def address(name: str) -> str:
    return "/" if name == "home" else f"/{name}"


def shifts(here: Visit) -> list[str]:
    """The layout shifts since the last call, if too large."""
    seen = here.page.evaluate(
        "() => { const seen = window.__shifts; window.__shifts = []; return seen; }"
    )
    whole = sum(value for value, _ in seen)
    return [f"{whole:.3f} of the screen: {seen}"] if whole > STILL else []


def violations(here: Visit, asked: dict) -> list[str]:
    """The serious violations that axe-core finds."""
    axe = Axe("") if here.page.evaluate("() => 'axe' in window") else Axe()  # once in a document
    for _ in range(TRIES):
        since = here.runs.now
        violations = axe.run(here.page, options=asked).response["violations"]
        here.settle()
        if not here.runs.page_ran(since):  # else a job ended, and what it replaces had faded
            return [
                f"{violation['id']}: {node['target']} {node['html'][:160]}"
                f" {node['failureSummary'][-200:]}"
                for violation in violations
                if violation["impact"] in SERIOUS
                for node in violation["nodes"]
            ]
    pytest.fail(f"The page was run again {TRIES} times while it was looked at.")


@pytest.mark.parametrize("first", range(N_TABS))
def test_every_page_comes_without_moving_and_can_be_read_by_everyone(
    visit: Callable, first: int
) -> None:
    scheme, other, found = "light", "dark", []
    pages = PAGES[first::N_TABS]
    here = visit(address(pages[0].name), color_scheme=scheme, **DESK)
    for page in pages:
        if page is not pages[0]:
            here.goto(address(page.name))
        here.page.evaluate(WATCH_SHIFTS)
        seen = [f"while it came: {moved}" for moved in shifts(here)]
        seen += [f"too small: {text}" for text in here.page.evaluate(SMALL_TEXTS, SMALLEST)]
        seen += [f"drawn twice for {who}" for who in here.page.evaluate(DRAWN_TWICE)]
        seen += [f"come as {scheme}: {what}" for what in violations(here, ASKED)]
        here.page.emulate_media(color_scheme=other)  # for the next page, too
        here.settle()
        seen += [f"turned {other}: {what}" for what in violations(here, COLOURS)]
        slider = here.main.get_by_role("slider")
        if slider.count():
            shifts(here)  # axe has scrolled
            with here.rerun():
                slider.press("ArrowLeft" if here.layer > 1 else "ArrowRight")
            seen += [f"at another layer: {moved}" for moved in shifts(here)]
        scheme, other = other, scheme
        found += [f"{page.name}: {what}" for what in seen]
    assert not found, "\n" + "\n".join(found)


def test_charts_follow_a_switch_of_the_theme(visit: Callable) -> None:
    here = visit("/meaning", color_scheme="light", **DESK)
    for page, other in (("meaning", "dark"), ("layers", "light"), ("why", "dark")):
        here.goto(address(page))
        first = here.page.evaluate(CHART_COLOURS)
        here.page.emulate_media(color_scheme=other)
        here.settle()
        switched = here.page.evaluate(CHART_COLOURS)
        here.goto(address(page))
        assert switched == here.page.evaluate(CHART_COLOURS) != first, page


@pytest.mark.tour
def test_every_page_comes_without_moving_on_a_phone(visit: Callable) -> None:
    here, found = visit(address(PAGES[0].name), **PHONE), []
    for page in PAGES:
        if page is not PAGES[0]:
            here.goto(address(page.name))
        here.page.evaluate(WATCH_SHIFTS)
        found += [f"{page.name}: {moved}" for moved in shifts(here)]
    assert not found, "\n" + "\n".join(found)


def test_the_first_word_is_a_few_tabs_away(visit: Callable) -> None:
    here = visit("/meaning", **DESK)
    first = here.words("sentence A").and_(here.page.locator("[tabindex='0']"))
    skip = here.page.get_by_role("link", name="Skip to main content")  # Streamlit's own
    for _ in range(TABS):
        here.page.keyboard.press("Tab")
        if skip.evaluate("skip => skip.matches(':focus')"):
            here.page.keyboard.press("Enter")
        if first.evaluate("word => word.matches(':focus-visible')"):
            return
    pytest.fail(f"{TABS} presses of Tab did not come to the words of sentence A")
