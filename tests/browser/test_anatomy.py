"""Anatomy in a real browser: clicks in the map choose parts, and an address brings them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from components.ui.state.address import encode
from components.ui.state.view import DEFAULT
from tests.support.browser import DESK, PHONE, SEEN, WATCH, WIDER_THAN_ITSELF, box

pytestmark = pytest.mark.browser

WHOLE = "The word table is 52 % of the model"


def path(**controls: Any) -> str:
    view = DEFAULT
    for name, value in controls.items():
        view = view.with_control("anatomy", name, value, "no default is this")
    parameter = encode(view)
    return f"/anatomy?s={parameter}" if controls else "/anatomy"


def title(here: Any) -> str:
    return here.title.replace("\u00a0", " ")


def hit(here: Any, name: str) -> None:
    """Clicks the part with this name in the map."""
    label = here.figure.locator("text.slicetext", has_text=name).first
    place = box(label)
    with here.rerun():
        here.page.mouse.click(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    here.page.wait_for_timeout(900)  # the map glides to the part


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", DESK), ("dark", PHONE)], ids=["desk", "phone"]
)
def test_it_opens_and_fits(visit: Callable, size: dict, scheme: str) -> None:
    here = visit("/anatomy", color_scheme=scheme, **size)
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Anatomy")
    assert title(here) == WHOLE
    assert "22,713,216 parameters" in here.reading
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    names = here.figure.locator("text.slicetext").all_text_contents()
    assert any("Word table" in name for name in names)


def test_picture_and_reading_are_in_the_first_screen(visit: Callable) -> None:
    here = visit("/anatomy", **DESK)
    assert box(here.main.locator(".st-key-reading"))["bottom"] <= 900


def test_clicks_in_the_map_choose_parts_and_back_undoes_them(visit: Callable) -> None:
    here = visit("/anatomy", **DESK)
    here.page.evaluate(WATCH, ".st-key-reading")
    hit(here, "Layer 3")
    assert title(here) == "Layer 3: 7.8 % of the model"
    assert len(here.page.evaluate(SEEN)) == 1  # nothing jumped
    hit(here, "Query")
    assert title(here) == "Layer 3 › Query: 0.65 % of the model"
    expect(here.main.get_by_text("Makes of each vector what its token looks for")).to_be_visible()
    link = here.link()
    hit(here, "all-MiniLM-L6-v2")
    assert title(here) == WHOLE
    here.back()
    assert title(here).startswith("Layer 3 › Query")
    again = visit(link)
    assert title(again).startswith("Layer 3 › Query")


def test_the_tree_can_be_clicked_too(visit: Callable) -> None:
    here = visit("/anatomy", **DESK)
    with here.rerun():
        here.main.get_by_role("radio", name="Tree").or_(
            here.main.get_by_role("button", name="Tree", exact=True)
        ).first.click()
    hit(here, "Layer 2")
    assert title(here) == "Layer 2: 7.8 % of the model"
    here.reload()
    assert title(here) == "Layer 2: 7.8 % of the model"
    assert here.figure.locator("g.iciclelayer").count()


def test_a_preset_is_taken_apart_and_the_search_lights_its_parts(visit: Callable) -> None:
    here = visit(path(subject="google-bert/bert-large-uncased"), **DESK)
    assert title(here) == "The layers hold 90 % of all parameters"
    assert "335,141,888" in here.reading
    here.type("Find", "query", within=here.main)
    found = here.main.locator(".st-key-reading_search")
    expect(found).to_contain_text("48 arrays have “query” in the name")
    here.reload()
    expect(found).to_contain_text("48 arrays")


def test_the_weights_of_the_chosen_part_are_drawn(visit: Callable) -> None:
    here = visit(path(part="layer-1/attention/query", section="Inside the weights"), **PHONE)
    expect(here.main.locator(".st-key-reading_weights")).to_contain_text("singular values")
    assert here.main.get_by_role("figure").count() == 3
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []


def test_picture_and_numbers_are_downloaded(visit: Callable) -> None:
    here = visit(path(part="layer-3"), **DESK)
    assert here.download("CSV").startswith(b"\xef\xbb\xbf# model")
    assert here.download("NPZ").startswith(b"PK")
    svg = here.download("SVG")
    assert b"Layer 3" in svg
    assert here.download("PNG").startswith(b"\x89PNG")
