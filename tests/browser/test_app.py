"""The real app as its readers use it: first visits, choosing, any text, downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from contextlens.content.examples import EXAMPLES
from contextlens.ui.state.view import DEFAULT
from tests.browser.screens import HOSTILE

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

A, B = (sentence.text for sentence in DEFAULT.sentences)
OPENING = ["python, word 5 of sentence A", "python, word 5 of sentence B"]


# First visits


def test_start_here_is_live_and_its_examples_run_in_place(visit: Callable) -> None:
    here = visit("/")
    expect(here.main.get_by_role("heading", level=1)).to_have_text("Start here")
    assert here.chosen[:2] == OPENING
    expect(here.figure).to_be_visible()
    headline = here.main.locator(".st-key-headline p.said")
    expect(headline).to_have_text("A: the animal. B: the language.")
    said = here.main.locator(".story .row .says")
    expect(said).to_have_text(["“pet” moves “python” most", "“coding” moves “python” most"])
    assert here.main.locator(".story path").count() > 8
    current = here.main.locator(".card.current .text")
    expect(current).to_have_text("Python, pet or language")
    here.pick("sentence A", "pet")
    expect(said.first).to_have_text("“python” moves “pet” most")
    expect(current).to_have_count(0)
    title = here.main.locator(".guesses").get_by_role("button", name="Bank, river or money")
    with here.rerun():
        here.main.get_by_role("button", name="the cheque").click()
    bank = next(example for example in EXAMPLES if example.key == "bank")
    assert here.rows == [s.text for s in (*bank.sentences, *bank.references)]
    assert [c.split(",")[0] for c in here.chosen] == ["bank", "bank", "bank", "river", "money"]
    expect(headline).to_have_text("A: the river bank. B and C: the money bank.")
    expect(current).to_have_text(bank.title)
    expect(here.main.locator(".card.current .says")).to_contain_text("You saw it coming.")
    expect(here.main.locator(".heading")).to_have_text("Guess first · you 1, the model 1, out of 1")
    expect(title).to_be_focused()
    address = here.page.url
    here.page.go_back()
    expect(current).to_have_count(0)
    here.page.go_forward()
    expect(current).to_have_text(bank.title)
    assert here.page.url == address
    here.page.reload()
    expect(current).to_have_text(bank.title)
    here.main.get_by_role("link", name="See all numbers for these sentences").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Meaning in context")
    here.wait()
    assert here.rows == [s.text for s in (*bank.sentences, *bank.references)]


# Choosing words


def test_the_keyboard_alone_changes_the_word_the_address_and_the_reading(
    similarity: Visit,
) -> None:
    here, keyboard = similarity, similarity.page.keyboard
    before = here.page.url
    for _ in range(60):
        keyboard.press("Tab")
        if here.words("sentence A").last.evaluate("word => word.matches(':focus-visible')"):
            break
    else:
        pytest.fail("Tab never came to the words of sentence A")
    keyboard.press("ArrowLeft")
    with here.rerun():
        keyboard.press("Enter")
    keyboard.press("Tab")
    keyboard.press("Home")
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    with here.rerun():
        keyboard.press("Space")
    assert here.chosen[:2] == ["pet, word 4 of sentence A", "coding, word 3 of sentence B"]
    assert here.page.url != before
    assert "“coding” (B, 0.73) than to “pet” (A, 0.08)" in here.reading


# Any text


def test_html_is_text_everywhere(similarity: Visit) -> None:
    here = similarity
    here.retype("sentence A", HOSTILE)
    here.pick("sentence A", "script")
    here.retype("reference 1", HOSTILE)
    here.leave_menu()
    assert here.rows[0] == here.rows[2] == HOSTILE
    assert "“script” (A, 0.66)" in here.reading
    here.main.get_by_text("How sure is this?").click()
    expect(here.main.locator(".st-key-reading")).to_contain_text("“<img src=x onerror=aler…”")
    labels = here.main.locator(".annotation-text").all_text_contents()
    assert any("A ~ <img src=x" in label for label in labels)
    for figure in here.main.get_by_role("figure").all()[:2]:
        area = figure.locator(".nsewdrag").first.bounding_box()
        assert area is not None
        for x in range(10, int(area["width"]), 60):
            for y in range(10, int(area["height"]), 60):
                here.page.mouse.move(area["x"] + x, area["y"] + y)
    here.page.mouse.move(area["x"] + area["width"] * 0.1, area["y"] + area["height"] * 0.6)
    expect(here.main.locator(".hovertext")).to_contain_text("<img src=x")
    for tab in ("Under the hood", "Without context", "Numbers"):
        with here.rerun():
            here.main.get_by_role("tab", name=tab).click()
    here.menu("Share")
    assert here.page.locator("img[src=x], body script:text('alert')").count() == 0
    assert here.main.locator("b", has_text="python").count() == 0


# A whole visit


def test_a_whole_visit_is_quiet_and_stays_on_this_machine(visit: Callable) -> None:
    here = visit("/meaning?s=garbage")  # what went wrong on the way fails in the fixture
    notice = here.main.get_by_test_id("stAlert")
    expect(notice).to_contain_text("You see the opening example instead")
    here.pick("sentence A", "pet")
    assert "garbage" not in here.page.url
    expect(notice).to_have_count(0)
    here.side.get_by_role("link", name="Start here").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Start here")
    here.wait()
    here.main.get_by_role("button", name="Who bit whom").click()
    with here.rerun():
        here.main.get_by_role("button", name="the biter").click()
    here.main.get_by_role("link", name="See all numbers for these sentences").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Meaning in context")
    here.wait()
    for label in ("first", "References"):
        here.option(label)
    here.option("Centred cosine")
    here.to_layer(1)
    for tab in here.main.get_by_role("tab").all():
        tab.click()
    here.side.get_by_role("button", name="included, files verified").click()
    expect(here.page.get_by_role("dialog")).to_contain_text("22,713,216")
    here.leave_menu()
    here.main.get_by_role("button", name="Examples").click()
    here.page.get_by_role("dialog").get_by_role("link", name="Good and not good").click()
    here.wait()
    assert here.rows[1] == "The food was not good"
    here.page.keyboard.press("Escape")
    here.click("Reset", within=here.side)
    here.side.get_by_role("link", name="Start here").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Start here")
    here.wait()
    assert here.page.get_by_test_id("stAlert").count() == 0
