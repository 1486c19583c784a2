"""How the real app looks: light and dark, desk and phone, and that nothing jumps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from components.content.examples import EXAMPLES
from components.ui.state.view import DEFAULT
from tests.support.browser import (
    DESK,
    OVER_THE_TITLE,
    PHONE,
    SEEN,
    WATCH,
    WIDER_THAN_ITSELF,
    box,
    contrast,
    rgb,
    style,
)

pytestmark = pytest.mark.browser

A, B = (sentence.text for sentence in DEFAULT.sentences)


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", DESK), ("dark", PHONE)], ids=["desk", "phone"]
)
def test_both_pages_fit_and_can_be_read(visit: Callable, scheme: str, size: dict) -> None:
    here = visit("/", color_scheme=scheme, **size)
    for title in ("Start here", "Meaning in context"):
        if title != "Start here":
            here.main.get_by_role("link", name="Open in Meaning in context").click()
        heading = here.page.get_by_role("heading", level=1)
        expect(heading).to_have_text(title)
        here.wait()
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
        assert here.page.evaluate(OVER_THE_TITLE) == []
        width = size["viewport"]["width"]
        assert box(here.figure)["x"] >= 0
        assert box(here.figure)["right"] <= width
        ground = style(here.page.get_by_test_id("stApp"), "backgroundColor")
        assert (max(rgb(ground)) < 50) == (scheme == "dark")
        for text in (
            heading,
            here.words("sentence A").first,
            here.main.locator(".st-key-reading p"),
        ):
            assert contrast(style(text, "color"), ground) > 7
        for label in here.figure.locator(".gtitle, .annotation-text, .xtick text").all():
            if label.text_content().startswith("random pairs"):
                continue  # muted on purpose
            assert contrast(style(label, "fill"), ground) > 3, label.text_content()


def test_picture_and_reading_are_in_the_first_screen(visit: Callable) -> None:
    here = visit("/meaning", **DESK)
    reading = box(here.main.locator(".st-key-reading"))
    assert box(here.figure)["y"] > box(here.page.get_by_role("heading", level=1))["bottom"]
    assert box(here.figure)["bottom"] <= reading["y"] + 1
    assert reading["bottom"] <= 900


def test_start_here_fits_the_first_screen_its_examples_in_one_column(visit: Callable) -> None:
    here = visit("/", **DESK)
    assert box(here.main.locator(".st-key-reading"))["bottom"] <= 900
    places = [box(here.main.get_by_text(example.title, exact=True).first) for example in EXAMPLES]
    assert len({round(place["x"]) for place in places}) == 1
    assert all(a["bottom"] <= b["y"] for a, b in pairwise(places))


def test_the_matrix_has_room_for_its_numbers_on_a_small_screen(visit: Callable) -> None:
    here = visit("/meaning", viewport={"width": 1024, "height": 768})
    matrix = here.main.get_by_role("figure").nth(1)
    numbers = [box(text) for text in matrix.locator(".annotation-text").all()]
    rows = [[n for n in numbers if abs(n["y"] - first["y"]) < 4] for first in numbers]
    for row in rows:
        places = sorted(row, key=lambda number: number["x"])
        assert all(a["right"] <= b["x"] for a, b in pairwise(places))


def test_the_lines_names_do_not_overlap(visit: Callable) -> None:
    here = visit("/meaning", **DESK)
    names = [box(label) for label in here.figure.locator(".annotation-text").all()]
    assert len(names) >= 5
    edge = box(here.figure)["right"]
    for i, first in enumerate(names):
        assert first["right"] <= edge
        for second in names[i + 1 :]:
            across = min(first["right"], second["right"]) - max(first["x"], second["x"])
            down = min(first["bottom"], second["bottom"]) - max(first["y"], second["y"])
            assert across <= 0 or down <= 3


def test_nothing_jumps_when_a_word_or_layer_is_chosen(visit: Callable) -> None:
    here = visit("/meaning", **DESK)
    for act in (
        lambda: here.pick("sentence A", "pet"),
        lambda: here.to_layer(3),
        lambda: here.pick("reference 1", "snake"),
        lambda: here.pick("sentence B", "coding"),
    ):
        here.page.evaluate(WATCH, '[role="figure"], .js-plotly-plot')
        act()
        assert len(here.page.evaluate(SEEN)) == 1


def test_a_rerun_keeps_the_scroll_position(visit: Callable) -> None:
    here = visit("/meaning", viewport={"width": 1440, "height": 700})
    here.main.get_by_role("slider").focus()
    here.main.evaluate("main => main.scrollTo(0, 260)")
    before = here.main.evaluate("main => main.scrollTop")
    assert before > 100
    with here.rerun():
        here.page.keyboard.press("ArrowLeft")
    assert here.layer == 5
    assert here.main.evaluate("main => main.scrollTop") == before
    with here.rerun():
        here.word("sentence A", "pet").evaluate("word => word.click()")  # no scrolling to it first
    assert here.chosen[0] == "pet, word 4 of sentence A"
    assert here.main.evaluate("main => main.scrollTop") == before


def test_a_phone_reader_chooses_words_and_layers(visit: Callable) -> None:
    here = visit("/meaning", **PHONE)
    for row in ("sentence A", "sentence B", "reference 1", "reference 2"):
        for word in here.words(row).all():
            place = box(word)
            assert place["x"] >= 0
            assert place["right"] <= 390
            assert place["height"] >= 28
    assert box(here.words("reference 2").last)["bottom"] <= 844
    with here.rerun():
        here.word("sentence A", "pet").tap()
    assert here.chosen[0] == "pet, word 4 of sentence A"
    assert "“pet” in A" in here.reading
    here.to_layer(2)
    assert "at layer 2" in here.reading


def test_a_phone_reader_edits_the_sentences_on_the_page(visit: Callable) -> None:
    here = visit("/meaning", **PHONE)
    expect(here.side).not_to_be_in_viewport()
    with here.rerun():
        here.word("sentence A", "pet").tap()
    edit = here.menu("Edit")
    place = box(edit)
    assert place["x"] >= 0
    assert place["right"] <= 390
    fields = edit.get_by_role("textbox")
    assert [field.input_value() for field in fields.all()] == [A, B]
    here.type("Sentence B", "A python ate my lunch", within=edit)
    here.click("Add a sentence", within=edit)
    here.type("Sentence C", "Typed on a phone", within=edit)
    here.leave_menu()
    assert here.rows[:3] == [A, "A python ate my lunch", "Typed on a phone"]
    assert here.chosen[:2] == ["pet, word 4 of sentence A", "python, word 2 of sentence B"]
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []


def test_a_phone_reader_finds_the_menu(visit: Callable) -> None:
    here = visit("/meaning", **PHONE)
    here.page.get_by_test_id("stExpandSidebarButton").tap()
    expect(here.side).to_be_in_viewport()
    here.side.get_by_role("link", name="Start here").tap()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Start here")
