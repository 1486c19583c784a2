"""Tokens & IDs in a real browser: pointing, keys, any text, and every section on a phone."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, expect

from contextlens.core import EncoderService
from contextlens.core.registry import BUNDLED_ID
from contextlens.features.tokens.controls import ID_TO_ROW, SECTION, SECTIONS
from contextlens.features.tokens.examples import TOKEN_EXAMPLES
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.browser.screens import (
    DESK,
    HOSTILE,
    OVER_THE_TITLE,
    PHONE,
    WIDER_THAN_ITSELF,
    box,
    contrast,
    rgb,
    style,
)
from tests.support.tokens import text_view

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser


def address_of(view: ViewState) -> str:
    parameter = encode(view)
    return "/tokens?" + urlencode({"s": parameter}) if parameter else "/tokens"


def tokens(here: Visit) -> Locator:
    return here.main.get_by_role("toolbar", name="Tokens of sentence").first.get_by_role("button")


def token(here: Visit, label: str) -> Locator:
    names = tokens(here).evaluate_all("all => all.map(each => each.ariaLabel)")
    own = re.compile(rf"(##)?{re.escape(label)} \d+, token ")
    return tokens(here).nth(next(i for i, name in enumerate(names) if own.match(name)))


def written(here: Visit) -> list[str]:
    return here.main.locator(".strip").first.locator(".token .box").all_inner_texts()


def lit(here: Visit) -> tuple[list[str], list[str]]:
    """The pieces of text and the tokens that are lit."""
    strip = here.main.locator(".strip").first
    return (
        strip.locator(".piece.lit").all_inner_texts(),
        strip.locator(".token.lit .box").all_inner_texts(),
    )


def piece(here: Visit, text: str) -> Locator:
    return here.main.locator(".strip").first.locator(".piece", has_text=text).first


def picked(here: Visit) -> list[str]:
    strip = here.main.locator(".strip").first
    return strip.locator(".token[aria-pressed=true] .box").all_inner_texts()


def row_reading(here: Visit) -> str:
    return here.main.locator(".st-key-reading_row").inner_text()


ODD = "\x01 👩‍👩‍👧 𝒳 naïve أحب nul\x00 [MASK]"


# Pointing, keys and picks


def test_tokens_and_their_characters_light_each_other_up_and_keys_pick(visit: Callable) -> None:
    here = visit(
        address_of(text_view("Sinan loves nanorobots", "a second text", section=ID_TO_ROW))
    )
    assert written(here)[:4] == ["[CLS]", "sin", "##an", "loves"]
    ids = here.main.locator(".strip").first.locator(".token .id").all_inner_texts()
    assert ids[:4] == ["101", "8254", "2319", "7459"]
    first = token(here, "sin")
    assert box(first.locator(".id"))["y"] >= box(first.locator(".box"))["bottom"]
    token(here, "##an").hover()
    assert lit(here) == (["an"], ["##an"])
    says = here.main.locator(".says").first
    expect(says).to_have_text("Token 2: ##an, ID 2319, characters 4 to 5, continues the word")
    piece(here, "loves").hover()
    assert lit(here) == (["loves"], ["loves"])
    token(here, "[CLS]").hover()
    assert lit(here) == ([], ["[CLS]"])
    token(here, "second").hover()  # lights only its own text
    assert lit(here) == (["second"], ["second"])
    here.page.mouse.move(5, 5)
    assert lit(here) == ([], [])
    expect(tokens(here).and_(here.page.locator("[tabindex='0']"))).to_have_count(1)
    tokens(here).nth(1).focus()
    keys = here.page.keyboard
    keys.press("ArrowRight")
    assert lit(here) == (["an"], ["##an"])
    keys.press("End")
    assert lit(here)[1] == ["[SEP]"]
    keys.press("ArrowRight")
    assert lit(here)[1] == ["[SEP]"]
    keys.press("Home")
    assert lit(here)[1] == ["[CLS]"]
    keys.press("ArrowLeft")
    keys.press("ArrowRight")
    assert lit(here)[1] == ["sin"]
    with here.rerun():
        keys.press("Enter")
    assert picked(here) == ["sin"]
    assert "“sin” has the ID 8254. The ID picks row 8254" in row_reading(here)


def test_picks_go_back_and_forward(
    visit: Callable,
) -> None:
    here = visit(address_of(SECTION.put(DEFAULT, ID_TO_ROW)))
    assert picked(here) == ["python"]
    with here.rerun():
        token(here, "love").click()
    assert picked(here) == ["love"]
    assert "row 2293" in row_reading(here)
    expect(here.figure).to_be_visible()
    address = here.page.url
    assert "s=" in address
    with here.rerun():
        piece(here, "pet").click()
    assert picked(here) == ["pet"]
    here.back()
    assert (picked(here), here.page.url) == (["love"], address)
    here.back()
    assert picked(here) == ["python"]
    assert "row 18750" in row_reading(here)
    here.forward()
    assert "row 2293" in row_reading(here)


# Any text


def test_odd_long_and_found_texts(visit: Callable, service: EncoderService) -> None:
    here = visit(address_of(text_view(HOSTILE, ODD, search="<b>")))
    html_and_odd_texts_are_text_everywhere_and_in_the_drawing(here, service)
    here.follow(address_of(text_view(" ".join(["python"] * 600))))
    what_does_not_fit_is_struck_through_and_the_last_token_reached(here)
    here.follow(address_of(text_view("a", search=" ")))
    the_vocabulary_shows_its_rows_where_it_is_scrolled(here, service)


def html_and_odd_texts_are_text_everywhere_and_in_the_drawing(
    here: Visit, service: EncoderService
) -> None:
    expect(here.main.locator(".strip .line").first).to_have_text(HOSTILE)
    shown = ODD.replace("\x00", "␀").replace("\x01", "␁")
    expect(here.main.locator(".strip .line.pair").first).to_have_text(shown)
    piece(here, "naïve").hover()
    assert lit(here) == (["naïve"], ["naive"])
    expect(here.main.locator(".token.typed")).to_have_text(["[MASK] 103"])
    for section in SECTIONS:
        here.choose(section)
        token(here, "script").hover()
        assert lit(here)[0] == ["script"]
        for tab in ("Under the hood", "Numbers"):
            here.main.get_by_role("tab", name=tab).click()
        assert here.page.locator("img[src=x], body script:text('alert')").count() == 0
        assert here.main.locator("b", has_text="python").count() == 0
    root = ET.fromstring(here.download("SVG"))
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    card = service.load_tokenizer(BUNDLED_ID)
    for expected in ("script", "103", "[UNK]"):
        assert expected in texts
    drawn = next(text for text in texts if text.startswith(HOSTILE))
    assert "/ \ufffd " in drawn  # a control character would have made it no XML at all
    assert f"tokenizer {card.checksum[:12]}" in " ".join(texts)
    assert f"tokenizers {card.versions['tokenizers']}" in " ".join(texts)
    png = here.download("PNG")
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(png) > 20_000
    assert here.download("NPZ")


def what_does_not_fit_is_struck_through_and_the_last_token_reached(here: Visit) -> None:
    assert "90 tokens were left out" in here.reading
    lost = here.main.locator(".piece.lost")
    assert lost.first.inner_text() == " ".join(["python"] * 90)
    assert "line-through" in style(lost.first, "textDecorationLine")
    expect(tokens(here)).to_have_count(512)
    tokens(here).first.focus()
    here.page.keyboard.press("End")
    expect(here.main.locator(".says").first).to_contain_text("Token 511: [SEP]")
    expect(tokens(here).last).to_be_in_viewport()


def the_vocabulary_shows_its_rows_where_it_is_scrolled(
    here: Visit, service: EncoderService
) -> None:
    table = here.main.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    place = box(table)
    here.page.mouse.move(place["x"] + 100, place["y"] + 100)
    shown = table.locator("[role=gridcell]")
    pieces = service.vocabulary(BUNDLED_ID).pieces
    for wheel, row in ((350_000, 10_000), (10_000_000, 30_521)):
        here.page.mouse.wheel(0, wheel)
        for cell in (f"{row}", pieces[row]):
            expect(shown.get_by_text(cell, exact=True).first).to_be_attached()


def test_a_desk_has_every_section_and_a_quiet_visit_of_every_example(visit: Callable) -> None:
    here = visit("/tokens", **DESK)  # what went wrong on the way fails in the fixture
    every_section_fits_and_can_be_read(here, "light")
    assert box(here.main.locator(".st-key-reading"))["bottom"] <= 900
    here.choose(SECTIONS[1])
    with here.still(".st-key-reading"):  # where a token is pointed at or picked
        token(here, "love").hover()
        with here.rerun():
            token(here, "pet").click()
    for example in TOKEN_EXAMPLES:
        here.main.get_by_role("button", name="Examples", exact=True).click()
        with here.rerun():
            here.page.get_by_role("dialog").get_by_role("link", name=example.title).click()
        here.page.keyboard.press("Escape")
        expect(here.main.locator(".strip .line").first).to_have_text(example.text)
        if example is TOKEN_EXAMPLES[0]:
            assert_subtokens_touch(here)
    for tab in here.main.get_by_role("tab").all():
        tab.click()
    here.side.get_by_role("link", name="Meaning in context").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Meaning in context")


def assert_subtokens_touch(here: Visit) -> None:
    """Those of one word do, and words have a gap."""
    places = {label: box(token(here, label).locator(".box")) for label in ("un", "##mas", "##ked")}
    before = box(token(here, "##izer").locator(".box"))
    assert places["##mas"]["x"] - places["un"]["right"] == pytest.approx(2, abs=1)
    assert places["un"]["x"] - before["right"] > 6


def test_a_dark_phone_has_every_section_and_a_reader_who_types(visit: Callable) -> None:
    here = visit("/tokens", color_scheme="dark", **PHONE)
    every_section_fits_and_can_be_read(here, "dark")
    text = "unbelievabilities " * 200 + "x" * 300
    here.follow(address_of(text_view(text, "and a second one", pad=512)))
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    with here.rerun():
        tokens(here).nth(1).tap()
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    here.retype("sentence A", "Sinan naps", "So do I")
    assert written(here)[:4] == ["[CLS]", "sin", "##an", "nap"]
    expect(here.main.locator(".line.pair")).to_have_text("So do I")


def every_section_fits_and_can_be_read(here: Visit, scheme: str) -> None:
    width = here.page.viewport_size["width"]
    ground = style(here.page.get_by_test_id("stApp"), "backgroundColor")
    assert (max(rgb(ground)) < 50) == (scheme == "dark")
    for section in SECTIONS:
        here.choose(section)
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
        here.main.evaluate("main => main.scrollTo(0, 0)")
        assert here.page.evaluate(OVER_THE_TITLE) == []
        for each in (*tokens(here).all(), here.main.locator(".strip .line").first):
            assert box(each)["x"] >= 0
            assert box(each)["right"] <= width
    for text in (
        here.main.locator(".strip .line").first,
        token(here, "love").locator(".box"),
        here.main.locator(".st-key-reading p.finding"),
        here.main.locator(".st-key-reading p.more"),
    ):
        assert contrast(style(text, "color"), ground) > 7
