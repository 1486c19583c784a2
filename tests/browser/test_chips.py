"""Words to choose and sentences to type anew, as a reader meets them: mouse, keyboard, any text."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.components_page import Opened, chip, chips, focused_name, picked, toolbar
from tests.browser.screens import box

pytestmark = pytest.mark.browser


# Choosing


def test_a_click_chooses_at_once_and_tells_python(opened: Opened) -> None:
    page = opened.page
    expect(chips(page, "A").last).to_have_attribute("aria-label", "python, word 5 of sentence A")
    chip(page, "A", "python").click()  # it is chosen already, so nothing runs
    word = chip(page, "B", "python")
    expect(word).to_have_attribute("aria-pressed", "false")
    height = box(page.locator(".chips"))["height"]
    pressed = "word => { word.click(); return word.getAttribute('aria-pressed'); }"
    with opened.rerun():
        assert word.evaluate(pressed) == "true"
    assert box(page.locator(".chips"))["height"] == height
    assert picked(page) == [[1, 17, 23]]
    expect(word).to_have_attribute("aria-pressed", "true")
    expect(toolbar(page, "B").locator("[aria-pressed=true]")).to_have_count(1)
    expect(chip(page, "A", "python")).to_have_attribute("aria-pressed", "true")


def test_the_keyboard_reaches_and_chooses_every_word(opened: Opened) -> None:
    page = opened.page
    expect(toolbar(page, "A").locator("[tabindex='0']")).to_have_count(1)
    chips(page, "A").last.focus()
    page.keyboard.press("ArrowRight")
    assert focused_name(page) == "Edit sentence A"
    page.keyboard.press("ArrowLeft")
    assert focused_name(page) == "python, word 5 of sentence A"
    page.keyboard.press("Home")
    assert focused_name(page) == "I, word 1 of sentence A"
    outline = chips(page, "A").first.evaluate("word => getComputedStyle(word).outlineStyle")
    assert outline == "solid"  # the focus can be seen
    page.keyboard.press("ArrowRight")
    opened.press("Enter")
    assert picked(page) == [[0, 2, 6]]
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    opened.press("Space")
    assert picked(page) == [[0, 2, 6], [0, 10, 13]]
    page.keyboard.press("Tab")
    assert focused_name(page) == "I, word 1 of sentence B"
    page.keyboard.press("Shift+Tab")
    assert focused_name(page) == "pet, word 4 of sentence A"


def test_a_sentence_is_typed_anew_where_it_stands(opened: Opened) -> None:
    page, keys = opened.page, opened.page.keyboard
    field = page.get_by_role("textbox", name="Text of sentence A")
    height = box(page.locator(".chips"))["height"]
    page.get_by_role("button", name="Edit sentence A").click()
    expect(field).to_be_focused()
    assert box(page.locator(".chips"))["height"] == height
    keys.press("End")
    keys.type(" 🐍")
    opened.press("Enter")
    assert picked(page) == [[0, "I love my pet python 🐍"]]
    expect(field).to_have_count(0)
    chips(page, "A").first.focus()
    keys.press("F2")
    keys.type("dropped")
    keys.press("Escape")
    assert focused_name(page) == "I, word 1 of sentence A"
    keys.press("F2")
    keys.press("Enter")  # nothing was changed
    assert picked(page) == [[0, "I love my pet python 🐍"]]
    page.get_by_role("button", name="Edit sentence N").click()  # a field has no line ends
    keys.press("Enter")
    assert picked(page) == [[0, "I love my pet python 🐍"]]
    page.get_by_role("button", name="Edit sentence R").click()
    keys.press("Control+A")
    keys.type("left")
    keys.press("Tab")
    assert focused_name(page) == "Remove sentence R"
    assert picked(page) == [[0, "I love my pet python 🐍"]]
    opened.press("Tab")  # leaving field and button is enough
    assert picked(page)[1:] == [[4, "left"]]


def test_many_pasted_lines_reach_python_as_they_are(opened: Opened) -> None:
    """A field would join them; it still joins a few."""
    page = opened.page
    page.get_by_role("button", name="Edit sentence A").click()
    paste = """(field, text) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", text);
        const options = { clipboardData, bubbles: true, cancelable: true, composed: true };
        field.dispatchEvent(new ClipboardEvent("paste", options));
    }"""
    field = page.get_by_role("textbox", name="Text of sentence A")
    field.evaluate(paste, "One\nTwo\n")
    expect(field).to_be_focused()
    lines = "\n".join(f"Line {i}" for i in range(9))
    with opened.rerun():
        field.evaluate(paste, lines)
    assert picked(page) == [[0, lines]]
    expect(field).to_have_count(0)


def test_focus_stays_through_a_rerun_and_where_the_text_around_it_changes(opened: Opened) -> None:
    page = opened.page
    chips(page, "B").nth(1).focus()
    opened.press("Enter")
    assert picked(page) == [[1, 2, 6]]
    assert focused_name(page) == "love, word 2 of sentence B"
    with opened.rerun():  # by a click that does not take the focus
        page.get_by_role("button", name="Shorten B").evaluate("button => button.click()")
    expect(chip(page, "B", "coding")).to_have_count(0)
    assert focused_name(page) == "love, word 2 of sentence B"
    page.keyboard.press("ArrowRight")
    assert focused_name(page) == "python, word 3 of sentence B"


# Any text


def test_any_text_stands_as_typed_and_its_words_are_reported_in_code_points(
    opened: Opened,
) -> None:
    page = opened.page
    markup = toolbar(page, "H")
    expect(markup).to_have_text("<b onmouseover=alert(1)>bold</b> & <img src=x onerror=alert(2)>")
    expect(markup.locator("b, img")).to_have_count(0)
    markup.hover()
    assert toolbar(page, "N").inner_text() == "nul␀byte python and more"
    text = "👩‍👩‍👧 𝒳 loves naïve 🐍 python"
    opened.click(chip(page, "E", "python"))
    opened.click(chip(page, "E", "🐍"))
    expected = [text.index("python"), len(text)], [text.index("🐍"), text.index("🐍") + 1]
    assert picked(page) == [[3, *span] for span in expected]


def test_words_stand_in_the_order_of_their_direction(opened: Opened) -> None:
    page = opened.page
    first, second = (box(chips(page, "R").nth(i)) for i in (0, 1))
    assert first["x"] > second["x"]
    he, said, hello, world, to, python = [box(each)["x"] for each in chips(page, "M").all()]
    assert he < said < world < hello < to < python
    chips(page, "R").nth(0).focus()
    page.keyboard.press("ArrowLeft")
    opened.press("Enter")
    assert picked(page) == [[4, 4, 9]]


def test_a_phrase_is_marked_as_one_and_600_words_scroll_in_their_own_area(opened: Opened) -> None:
    page = opened.page
    area = box(toolbar(page, "L"))
    word = box(chip(page, "L", "word555"))
    assert area["height"] <= 4.6 * 32
    assert area["y"] <= word["y"]
    assert word["bottom"] <= area["bottom"]
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0
    row = page.get_by_role("toolbar", name="Words of reference 2")
    expect(row.locator(".word.chosen")).to_have_count(2)
    expect(row.locator(".gap.chosen")).to_have_count(1)
    heights = {round(box(piece)["height"], 1) for piece in row.locator(".chosen").all()}
    tops = {round(box(piece)["y"], 1) for piece in row.locator(".chosen").all()}
    assert len(heights) == len(tops) == 1
