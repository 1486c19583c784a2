"""Layer by layer as its readers use it: choosing, playing, history, downloads, phone and dark."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import expect

from components.core import EncoderService
from components.core.registry import BUNDLED_ID
from components.features.layers.controls import SECTION
from components.ui.state.address import encode
from components.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.browser import DESK, HOSTILE, OVER_THE_TITLE, PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.support.visit import Visit

pytestmark = pytest.mark.browser

PAIRS = ".st-key-layers_pairs .js-plotly-plot"
SHOWN_LAYER = f"() => document.querySelector('{PAIRS}').layout.annotations[0].text"
SEEN_TITLE = f"() => document.querySelector('{PAIRS} .gtitle').textContent"


def address_of(view: ViewState) -> str:
    parameter = encode(view)
    return "/layers?" + urlencode({"s": parameter}) if parameter else "/layers"


def looking(section: str, view: ViewState = DEFAULT) -> str:
    return address_of(SECTION.put(view, section))


def choose(here: Visit, name: str) -> None:
    with here.rerun():
        here.main.get_by_text(name, exact=True).first.click()


def test_the_first_screen_holds_the_picture_and_the_reading(visit: Callable[..., Visit]) -> None:
    for size in (DESK, PHONE):
        here = visit("/layers", **size)
        assert here.title == "At layer 6, the cosine to layer 0 averages 0.31"
        assert box(here.figure)["bottom"] < size["viewport"]["height"]
        reading = here.main.locator(".st-key-reading")
        assert box(reading)["bottom"] < size["viewport"]["height"]


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", DESK), ("dark", PHONE)], ids=["desk", "phone"]
)
def test_every_look_fits(visit: Callable[..., Visit], scheme: str, size: dict) -> None:
    here = visit("/layers", color_scheme=scheme, **size)
    for section in SECTION.options:
        choose(here, section)
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
        assert here.page.evaluate(OVER_THE_TITLE) == []
        for figure in here.main.get_by_role("figure").all():
            assert box(figure)["x"] >= 0
            assert box(figure)["right"] <= size["viewport"]["width"]


def test_choices_go_back_and_forward(visit: Callable[..., Visit]) -> None:
    here = visit("/layers")
    first = here.title
    choose(here, "To layer before")
    assert here.title == "Layer 6 changes tokens most (cosine 0.58)"
    here.back()
    assert here.title == first
    here.forward()
    assert here.title == "Layer 6 changes tokens most (cosine 0.58)"


def test_a_copied_link_shows_the_same(visit: Callable[..., Visit]) -> None:
    here = visit("/layers")
    choose(here, "To layer before")
    choose(here, "Pooler")
    here.to_layer(5)
    expect(here.main.locator(".st-key-reading")).to_contain_text("At layer 5")
    there = visit(here.link())
    assert there.reading == here.reading
    assert "nobody trained it" in there.main.locator(".st-key-reading_pooler").inner_text()
    there.reload()
    assert there.reading == here.reading


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
    here = visit(looking("Token pairs"))
    before = here.page.url, here.page.evaluate("history.length")
    assert here.page.evaluate(SHOWN_LAYER) == "layer 6"
    own = here.page.evaluate(SEEN_TITLE)
    here.page.evaluate(
        f"""() => {{
          window.__layers = [];
          const look = () => {{
            const text = document.querySelector('{PAIRS}').layout.annotations[0].text;
            if (window.__layers.at(-1) !== text) window.__layers.push(text);
            requestAnimationFrame(look);
          }};
          look();
        }}"""
    )
    here.main.locator(".st-key-layers_pairs .updatemenu-button").click()
    here.page.wait_for_timeout(1500)
    assert here.page.evaluate(SEEN_TITLE) != own
    here.page.wait_for_function("() => window.__layers.length >= 8", timeout=20_000)
    assert here.page.evaluate("window.__layers") == [
        "layer 6", *(f"layer {n}" for n in range(7))
    ]  # fmt: skip
    assert (here.page.url, here.page.evaluate("history.length")) == before
    assert here.page.evaluate(SEEN_TITLE) == own


def test_playing_a_longer_text_changes_its_cells(visit: Callable[..., Visit]) -> None:
    text = "Seventeen umbrellas and a very unhappy cat slept under the warm lamp while it rained"
    here = visit(looking("Token pairs", ViewState(BUNDLED_ID, (Sentence(text),))))
    cell = f"() => document.querySelector('{PAIRS}').calcdata[0][0].z[1][4]"
    last = here.page.evaluate(cell)
    here.main.locator(".st-key-layers_pairs .updatemenu-button").click()
    here.page.wait_for_function(f"({SHOWN_LAYER})() === 'layer 3'")
    third = here.page.evaluate(cell)
    assert -1 <= third <= 1
    assert third != last
    here.page.wait_for_function(f"({SHOWN_LAYER})() === 'layer 6'", timeout=20_000)
    here.page.wait_for_timeout(1200)
    assert here.page.evaluate(cell) == last


def test_another_layer_changes_the_pairs_that_are_shown(visit: Callable[..., Visit]) -> None:
    here = visit(looking("Token pairs"))
    here.to_layer(5)
    expect(here.main.locator(".st-key-reading_pairs")).to_contain_text("At layer 5, ")
    assert here.page.evaluate(SHOWN_LAYER) == "layer 5"


def test_the_files_hold_every_layer_and_the_look_s_own(
    visit: Callable[..., Visit], service: EncoderService
) -> None:
    here = visit(looking("Spread"))
    with np.load(io.BytesIO(here.download("NPZ"))) as arrays:
        for letter, sentence in zip("AB", DEFAULT.sentences, strict=True):
            own = service.encode(BUNDLED_ID, [sentence.text])[0].hidden
            np.testing.assert_allclose(arrays[f"hidden_{letter}"], own, atol=1e-4)
        assert arrays["sample_vectors"].shape[0] == 7
        assert json.loads(str(arrays["passport"]))["model"] == BUNDLED_ID
    rows = here.download("CSV").decode("utf-8-sig")
    assert rows.count("\n") > 7 * 14
    svg = here.download("SVG").decode()
    assert "cosine to layer 0 averages" in svg
    assert "weights 53aa51172d14" in svg


@pytest.mark.parametrize(
    "text", [HOSTILE, "🐍", "", "word " * 600], ids=["hostile", "emoji", "empty", "long"]
)
def test_any_text_is_shown_safely(visit: Callable[..., Visit], text: str) -> None:
    here = visit(looking("One token", ViewState(BUNDLED_ID, (Sentence(text),))))
    for section in SECTION.options:
        choose(here, section)
        assert here.reading
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
