"""The look of the real app: light and dark, desk and phone, and nothing jumps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from contextlens.content.examples import EXAMPLES
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from contextlens.ui.widgets.comparison.controls import LINES
from tests.browser.screens import (
    DESK,
    OVER_EACH_OTHER,
    OVER_THE_TITLE,
    PHONE,
    WIDER_THAN_ITSELF,
    box,
    contrast,
    rgb,
    style,
)

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

A, B = (sentence.text for sentence in DEFAULT.sentences)


def test_both_pages_can_be_read_on_a_desk_and_nothing_jumps(visit: Callable) -> None:
    here = visit("/", color_scheme="light", **DESK)
    assert_fits_and_is_readable(here, "Start here", "light")
    assert_first_screen(here, ".st-key-layer")
    cards = here.main.locator(".guesses")
    places = [box(cards.get_by_text(each.title, exact=True)) for each in EXAMPLES]
    assert len({round(place["x"]) for place in places}) == 1  # one column
    assert all(a["bottom"] <= b["y"] for a, b in pairwise(places))
    here.main.get_by_role("link", name="See all numbers for these sentences").click()
    assert_fits_and_is_readable(here, "Meaning in context", "light")
    assert_first_screen(here, ".st-key-reading")
    assert_names_of_lines_do_not_overlap(here, 4)
    nothing_jumps_when_a_word_or_layer_is_chosen(here)
    here.follow(f"/meaning?s={encode(LINES.put(DEFAULT, 'All'))}")
    assert_names_of_lines_do_not_overlap(here, 6)


def test_both_pages_can_be_read_on_a_dark_phone_and_used_there(visit: Callable) -> None:
    here = visit("/", color_scheme="dark", **PHONE)
    assert_fits_and_is_readable(here, "Start here", "dark")
    here.main.get_by_role("link", name="See all numbers for these sentences").click()
    assert_fits_and_is_readable(here, "Meaning in context", "dark")
    a_phone_reader_chooses_words_and_layers_edits_and_finds_the_menu(here)


def test_a_link_shows_the_new_page_from_its_top_even_if_nothing_shortens_meanwhile(
    visit: Callable,
) -> None:
    here = visit("/", **PHONE)
    here.page.add_style_tag(content="[data-testid=stMainBlockContainer] { min-height: 3000px; }")
    here.main.get_by_role("link", name="See all numbers for these sentences").click()
    here.page.wait_for_function("() => location.pathname === '/meaning'")
    here.wait()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Meaning in context")
    expect(here.page.get_by_role("heading", level=1)).to_be_in_viewport()


def test_the_header_s_parts_are_beside_each_other_in_every_window(visit: Callable) -> None:
    here, found = visit("/embedding_layer", **DESK), []
    for is_open in (True, False):
        if not is_open:
            here.side.hover()
            here.page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
            here.settle()
        for width in (1920, 1241, 1240, 1024, 800, 720, 641, 640, 320):
            here.page.set_viewport_size({"width": width, "height": 450})  # 720: at 200% of 1440
            for _ in range(50):  # charts follow the window in a moment
                here.page.evaluate("() => new Promise(drawn => requestAnimationFrame(drawn))")
                wider = here.page.evaluate(WIDER_THAN_ITSELF)
                parts = [*here.page.evaluate(OVER_EACH_OTHER), *wider]
                if not parts:
                    break
            found += [f"{width}, sidebar {is_open}: {what}" for what in parts]
        here.page.set_viewport_size(DESK["viewport"])
    assert not found, "\n" + "\n".join(found)


def test_a_wide_window_is_used_up_to_1500_pixels(visit: Callable) -> None:
    here = visit("/layers", viewport={"width": 1920, "height": 1080})
    block = here.main.get_by_test_id("stMainBlockContainer").locator("> div").first
    assert 1480 <= box(block)["width"] <= 1500
    here.side.hover()
    here.page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    here.settle()
    assert 1480 <= box(block)["width"] <= 1500
    reading = box(here.main.locator(".st-key-reading p:not(.finding)").first)
    assert reading["width"] <= 46 * 16


def assert_fits_and_is_readable(here: Visit, title: str, scheme: str) -> None:
    heading = here.page.get_by_role("heading", level=1)
    expect(heading).to_have_text(title)
    here.wait()
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    assert here.page.evaluate(OVER_THE_TITLE) == []
    assert box(here.figure)["x"] >= 0
    assert box(here.figure)["right"] <= here.page.viewport_size["width"]
    ground = style(here.page.get_by_test_id("stApp"), "backgroundColor")
    assert (max(rgb(ground)) < 50) == (scheme == "dark")
    for text in (
        heading,
        here.words("sentence A").first,
        here.main.locator(".st-key-reading p, .st-key-headline p").first,
    ):
        assert contrast(style(text, "color"), ground) > 7
    for label in here.figure.locator(".gtitle, .annotation-text, .xtick text").all():
        assert contrast(style(label, "fill"), ground) > 3, label.text_content()


def assert_first_screen(here: Visit, words: str) -> None:
    """It shows the picture, with the words below."""
    reading = box(here.main.locator(words))
    assert box(here.figure)["y"] > box(here.page.get_by_role("heading", level=1))["bottom"]
    assert box(here.figure)["bottom"] <= reading["y"] + 1
    assert reading["bottom"] <= 900


def assert_names_of_lines_do_not_overlap(here: Visit, at_least: int) -> None:
    names = [box(label) for label in here.figure.locator(".annotation-text").all()]
    assert len(names) >= at_least
    edge = box(here.figure)["right"]
    for i, first in enumerate(names):
        assert first["right"] <= edge
        for second in names[i + 1 :]:
            across = min(first["right"], second["right"]) - max(first["x"], second["x"])
            down = min(first["bottom"], second["bottom"]) - max(first["y"], second["y"])
            assert across <= 0 or down <= 3


def nothing_jumps_when_a_word_or_layer_is_chosen(here: Visit) -> None:
    for act in (
        lambda: here.pick("sentence A", "pet"),
        lambda: here.to_layer(5),
        lambda: here.pick("sentence B", "coding"),
    ):
        with here.still('[role="figure"], .js-plotly-plot'):
            act()


def test_a_small_screen_has_room_for_the_numbers_and_a_rerun_keeps_its_scroll_position(
    visit: Callable,
) -> None:
    here = visit("/meaning", viewport={"width": 1024, "height": 700})
    matrix = here.main.get_by_role("figure").nth(1)
    numbers = [box(text) for text in matrix.locator(".annotation-text").all()]
    rows = [[n for n in numbers if abs(n["y"] - first["y"]) < 4] for first in numbers]
    for row in rows:
        places = sorted(row, key=lambda number: number["x"])
        assert all(a["right"] <= b["x"] for a, b in pairwise(places))
    here.main.get_by_role("slider").focus()
    here.main.evaluate("main => main.scrollTo(0, 260)")
    before = here.main.evaluate("main => main.scrollTop")
    assert before > 100
    with here.rerun():
        here.page.keyboard.press("ArrowLeft")
    assert here.layer == 5
    assert here.main.evaluate("main => main.scrollTop") == before
    with here.rerun():
        here.word("sentence A", "pet").evaluate("word => word.click()")  # without scrolling to it
    assert here.chosen[0] == "pet, word 4 of sentence A"
    assert here.main.evaluate("main => main.scrollTop") == before


def a_phone_reader_chooses_words_and_layers_edits_and_finds_the_menu(here: Visit) -> None:
    expect(here.page.get_by_role("heading", level=1)).to_be_in_viewport()  # not scrolled
    for row in ("sentence A", "sentence B", "reference 1", "reference 2"):
        for word in here.words(row).all():
            place = box(word)
            assert place["x"] >= 0
            assert place["right"] <= 390
            assert place["height"] >= 28
    assert box(here.words("reference 2").last)["bottom"] <= 844
    expect(here.side).not_to_be_in_viewport()
    with here.rerun():
        here.word("sentence A", "pet").tap()
    assert here.chosen[0] == "pet, word 4 of sentence A"
    assert "“pet” (A, 0.08)" in here.reading
    here.to_layer(5)
    assert here.layer == 5
    field = here.edit("sentence B")
    place = box(field)
    assert place["x"] >= 0
    assert place["right"] <= 390
    field.press("Escape")
    here.retype("sentence B", "A python ate my lunch")
    here.add("Typed on a phone")
    assert here.rows[:3] == [A, "A python ate my lunch", "Typed on a phone"]
    assert here.chosen[:2] == ["pet, word 4 of sentence A", "python, word 2 of sentence B"]
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    here.page.get_by_test_id("stExpandSidebarButton").tap()
    expect(here.side).to_be_in_viewport()
    here.side.get_by_role("link", name="Start here").tap()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Start here")
