"""Layer by layer as its readers use it: choosing, playing, history, downloads, phone and dark."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from components.core.registry import BUNDLED_ID
from components.features.layers.controls import SECTION
from components.ui.state.address import encode
from components.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.browser import DESK, HOSTILE, OVER_THE_TITLE, PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.support.visit import Visit

pytestmark = pytest.mark.browser

PAIRS = ".st-key-layers_pairs .js-plotly-plot"
SEEN = f"""
() => {{
  const plot = document.querySelector('{PAIRS}');
  return {{
    layer: plot.layout.annotations[0].text,
    title: plot.querySelector('.gtitle').textContent,
    cell: plot.calcdata[0][0].z[1][4],
  }};
}}
"""
# Asked at every redraw, so that none goes unseen however few frames a slow machine shows.
PLAYED = f"""
() => {{
  const seen = {SEEN};
  window.__played = [seen()];
  document.querySelector('{PAIRS}').on('plotly_afterplot', () => window.__played.push(seen()));
}}
"""


def address_of(view: ViewState) -> str:
    parameter = encode(view)
    return "/layers?" + urlencode({"s": parameter}) if parameter else "/layers"


def looking(section: str, view: ViewState = DEFAULT) -> str:
    return address_of(SECTION.put(view, section))


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", DESK), ("dark", PHONE)], ids=["desk", "phone"]
)
def test_picture_and_reading_are_in_the_first_screen_and_every_look_fits(
    visit: Callable[..., Visit], scheme: str, size: dict
) -> None:
    here = visit("/layers", color_scheme=scheme, **size)
    assert here.title == "At layer 6, the cosine to layer 0 averages 0.31"
    assert box(here.figure)["bottom"] < size["viewport"]["height"]
    assert box(here.main.locator(".st-key-reading"))["bottom"] < size["viewport"]["height"]
    for section in SECTION.options:
        here.choose(section)
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
        assert here.page.evaluate(OVER_THE_TITLE) == []
        for figure in here.main.get_by_role("figure").all():
            assert box(figure)["x"] >= 0
            assert box(figure)["right"] <= size["viewport"]["width"]


def test_choices_go_back_and_forward_and_are_in_the_link(visit: Callable[..., Visit]) -> None:
    here = visit("/layers")
    first = here.title
    here.choose("To layer before")
    assert here.title == "Layer 6 turns the tokens' vectors most (cosine 0.58)"
    here.back()
    assert here.title == first
    here.forward()
    assert here.title == "Layer 6 turns the tokens' vectors most (cosine 0.58)"
    here.choose("Pooler")
    here.to_layer(5)
    expect(here.main.locator(".st-key-reading")).to_contain_text("At layer 5")
    there = visit(here.link())
    assert there.reading == here.reading
    assert (
        "nothing shows that it was trained"
        in there.main.locator(".st-key-reading_pooler").inner_text()
    )
    svg = there.download("SVG").decode()
    assert there.title in svg
    assert "weights 53aa51172d14" in svg
    assert there.download("PNG").startswith(b"\x89PNG")


def test_a_clicked_token_is_followed(visit: Callable[..., Visit]) -> None:
    here = visit("/layers")
    tokens = here.main.get_by_role("toolbar", name="Tokens of sentence").first
    with here.rerun():
        tokens.get_by_role("button").nth(4).click()
    assert "“pet”" in here.main.locator(".st-key-reading_nearest").inner_text()
    here.reload()
    assert "“pet”" in here.main.locator(".st-key-reading_nearest").inner_text()


def test_playing_shows_every_layer_and_leaves_address_and_history_alone(
    visit: Callable[..., Visit],
) -> None:
    text = "Seventeen umbrellas and a very unhappy cat slept under the warm lamp while it rained"
    here = visit(looking("Token pairs", ViewState(BUNDLED_ID, (Sentence(text),))))
    before = here.page.url, here.page.evaluate("history.length")
    own = here.page.evaluate(SEEN)
    assert own["layer"] == "layer 6"
    here.page.evaluate(PLAYED)
    here.main.locator(".st-key-layers_pairs .updatemenu-button").click()
    here.page.wait_for_function("() => window.__played.at(-1).layer === 'layer 0'")
    here.settle()  # and so it has played to its end
    played = here.page.evaluate("window.__played")
    layers = [seen["layer"] for seen in played]
    assert [name for name, _ in groupby(layers)] == [
        "layer 6", *(f"layer {n}" for n in range(7))
    ]  # fmt: skip
    third = next(seen for seen in played if seen["layer"] == "layer 3")
    assert -1 <= third["cell"] <= 1
    assert third["cell"] != own["cell"]
    assert third["title"] != own["title"]
    assert here.page.evaluate(SEEN) == own
    assert (here.page.url, here.page.evaluate("history.length")) == before
    here.to_layer(5)
    expect(here.main.locator(".st-key-reading_pairs")).to_contain_text("At layer 5, ")
    assert here.page.evaluate(SEEN)["layer"] == "layer 5"


def test_typed_markup_is_text_in_every_look(visit: Callable[..., Visit]) -> None:
    here = visit(looking("One token", ViewState(BUNDLED_ID, (Sentence(HOSTILE),))))
    for section in SECTION.options:
        here.choose(section)
        assert here.reading
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
        assert here.page.locator("img[src=x], body script:text('alert')").count() == 0
