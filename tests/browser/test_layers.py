"""Layer by layer as its readers use it: choosing, playing, history, downloads, phone and dark."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from contextlens.content.language import say
from contextlens.core.registry import BUNDLED_ID
from contextlens.features.layers.controls import SECTION
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.browser.screens import DESK, HOSTILE, OVER_THE_TITLE, PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

# Every layer that the bar comes to, and every picture that is seen meanwhile.
PLAYED = """
now => {
  const cell = () =>
    document.querySelector('.st-key-layers_pairs .js-plotly-plot')?.calcdata?.[0][0].z[1][4];
  window.__layers = [];
  window.__cells = [cell()];
  new MutationObserver(() => window.__layers.push(Number(now.textContent)))
    .observe(now, { childList: true });
  setInterval(() => window.__cells.push(cell()), 50);
}
"""

# Stop is pressed when the bar comes to a layer that the page still has to be run for.
STOPPED = """
now => new MutationObserver((_, seen) => {
  if (now.textContent !== '2') return;
  seen.disconnect();
  now.getRootNode().querySelector('.play').click();
}).observe(now, { childList: true })
"""


def address_of(view: ViewState) -> str:
    parameter = encode(view)
    return "/layers?" + urlencode({"s": parameter}) if parameter else "/layers"


def looking(section: str, view: ViewState = DEFAULT) -> str:
    return address_of(SECTION.put(view, section))


def test_every_look_fits_a_desk_and_typed_markup_is_text_there(
    visit: Callable[..., Visit],
) -> None:
    here = visit("/layers", **DESK)
    finding_and_lines_are_in_the_first_screen(here)
    texts = Sentence(HOSTILE), *DEFAULT.sentences[1:]
    here.follow(looking("One token", ViewState(BUNDLED_ID, texts)))
    every_look_fits(here)


def test_every_look_fits_a_dark_phone_which_cuts_no_button(visit: Callable[..., Visit]) -> None:
    here = visit("/layers", color_scheme="dark", **PHONE)
    finding_and_lines_are_in_the_first_screen(here)
    for button in here.main.get_by_role("radio").all():
        assert box(button)["right"] <= 390, button.inner_text()
    every_look_fits(here)


def finding_and_lines_are_in_the_first_screen(here: Visit) -> None:
    finding = say("layers.one.title.far", layer=6, name="“python”", value=0.43).replace("**", "")
    assert here.title == finding.removesuffix(".")
    assert here.main.locator(".st-key-reading p.finding").inner_text() == finding
    assert box(here.main.locator(".st-key-reading"))["bottom"] <= box(here.figure)["y"]
    lines, bar = here.figure.locator(".nsewdrag").first, here.main.locator(".layer-bar")
    assert box(lines)["bottom"] <= box(bar)["y"]
    height = here.page.viewport_size["height"]
    assert box(bar)["bottom"] <= height
    if height == DESK["viewport"]["height"]:
        assert box(here.figure)["y"] <= 430
        assert box(here.main.locator(".st-key-reading_sure"))["bottom"] < height


def every_look_fits(here: Visit) -> None:
    for section in SECTION.options:
        here.choose(section)
        assert here.reading
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
        assert here.page.evaluate(OVER_THE_TITLE) == []
        assert here.page.locator("img[src=x], body script:text('alert')").count() == 0
        for figure in here.main.get_by_role("figure").all():
            assert box(figure)["x"] >= 0
            assert box(figure)["right"] <= here.page.viewport_size["width"]


def test_a_token_is_followed_and_play_is_stopped_at_a_layer(visit: Callable[..., Visit]) -> None:
    here = visit("/layers")
    tokens = here.main.get_by_role("toolbar", name="Tokens of sentence").first
    with here.rerun():
        tokens.get_by_role("button").nth(4).click()
    assert "“pet”" in here.main.locator(".st-key-reading_nearest").inner_text()
    here.main.locator(".layer-bar .now").evaluate(STOPPED)
    here.main.get_by_role("button", name="Play all layers").click()
    expect(here.main.locator(".st-key-reading")).to_contain_text("layer 2")
    here.settle()
    assert here.layer == 2
    assert "“pet”" in here.main.locator(".st-key-reading_nearest").inner_text()
    here.back()  # in one step to where it was before Play
    assert here.layer == 6
    assert "“pet”" in here.main.locator(".st-key-reading_nearest").inner_text()


def test_play_shows_every_layer_and_one_step_back_undoes_it(visit: Callable[..., Visit]) -> None:
    text = "Seventeen umbrellas and a very unhappy cat slept under the warm lamp while it rained"
    here = visit(looking("Token pairs", ViewState(BUNDLED_ID, (Sentence(text),))))
    address, entries, read = here.page.url, here.page.evaluate("history.length"), here.reading
    here.main.locator(".layer-bar .now").evaluate(PLAYED)
    play = here.main.get_by_role("button", name="Play all layers")
    play.click()
    here.main.get_by_role("button", name="Stop at this layer").wait_for()
    play.wait_for()  # it has come to its end
    here.settle()
    layers, cells = here.page.evaluate(
        "[window.__layers, window.__cells.filter(cell => cell != null)]"
    )
    assert [layer for layer, _ in groupby(layers)] == [*range(7)]
    assert cells[0] == cells[-1]
    assert len(set(cells)) > 3  # a busy machine may not draw them all
    assert (here.layer, here.reading, here.page.url) == (6, read, address)
    assert here.page.evaluate("history.length") <= entries + 1
    here.to_layer(5)
    expect(here.main.locator(".st-key-reading_pairs")).to_contain_text("At layer 5, ")
    here.back()
    assert (here.layer, here.page.url) == (6, address)
