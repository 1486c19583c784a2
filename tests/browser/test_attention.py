"""Attention in a real browser: opens, is used by pointer and keyboard, fits, restores."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, expect

from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, Sentence
from tests.browser.screens import DESK, PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

LONG = " ".join(f"The bank of the river was steep but python {i} swam on." for i in range(60))
HOSTILE = "<img src=x onerror=alert(1)><b>python</b> [CLS]"


def address(*texts: str, pair: str | None = None, **own: Any) -> str:
    sentences = tuple(Sentence(text, pair) for text in texts) or DEFAULT.sentences
    view = replace(DEFAULT, sentences=sentences, controls={"attention": own} if own else {})
    return "/attention?" + urlencode({"s": encode(view)})


def head(here: Visit, layer: int, number: int) -> Locator:
    return here.main.get_by_role("button", name=f"Layer {layer}, head {number}:")


def token(here: Visit, side: str, text: str, position: int) -> Locator:
    name = re.compile(rf"^{re.escape(text)}( \d+%)?, token {position},")
    return here.main.locator(f".{side}").get_by_role("button", name=name)


def said(here: Visit) -> str:
    """The finding above the picture and its number."""
    return " ".join(here.main.locator(".st-key-reading p").all_inner_texts())


def values(here: Visit, side: str = "to") -> list[str]:
    """The numbers that stand beside the tokens of one side."""
    return [v for v in here.main.locator(f".{side} .value").all_inner_texts() if v]


def test_heads_and_tokens_are_pointed_at_clicked_and_walked(visit: Callable[..., Visit]) -> None:
    here = visit("/attention", **DESK)
    the_first_screen_has_lines_heads_and_reading(here)
    clicks_on_a_head_and_a_token_move_nothing(here)
    seen = said(here), values(here, "from")
    here.reload()
    assert (said(here), values(here, "from")) == seen
    here.back(2)
    assert said(here).startswith("For “my”, one part of the model looks closely at “python”.")
    the_keyboard_alone_walks_heads_and_tokens(here)


def the_first_screen_has_lines_heads_and_reading(here: Visit) -> None:
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Attention")
    assert said(here).startswith("For “my”, one part of the model looks closely at “python”.")
    assert values(here) == ["2%", "1%", "3%", "13%", "78%", "3%"]  # none of "i"
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    assert box(here.main.locator(".lines"))["y"] < 430
    for part in (here.main.locator(".lines"), here.main.locator(".heads")):
        assert box(part)["bottom"] <= 900
        assert box(part)["right"] <= 1440
    names = here.main.locator(".lines .name").all()
    assert all(name.evaluate("node => node.scrollWidth <= node.clientWidth") for name in names)
    token(here, "from", "pet", 4).hover()  # shows its weights
    assert here.main.locator(".says").inner_text().startswith("pet (4) →")
    here.page.get_by_role("heading", level=1).hover()  # and leaving takes them back
    assert "78%" in values(here)
    assert here.main.locator(".says").inner_text().startswith("Click a word on each side")
    here.main.get_by_role("tab", name="Under the hood").click()
    here.main.locator(".katex").first.wait_for()
    assert here.main.locator(".katex-error").count() == 0
    assert here.main.locator(".katex").count() > 10


def clicks_on_a_head_and_a_token_move_nothing(here: Visit) -> None:
    here.settle()
    head(here, 3, 7).scroll_into_view_if_needed()
    parts = here.figure, here.main.locator(".lines"), here.main.locator(".heads")
    before = [box(part) for part in parts]
    with here.rerun():
        head(here, 3, 7).click()
    assert "This head hardly links “my” to “python”." in said(here)
    assert [box(part) for part in parts] == before
    with here.rerun():
        token(here, "to", "pet", 4).click()
    assert "“my” to “pet”" in said(here)  # the choice on the left stays
    expect(token(here, "to", "pet", 4)).to_have_attribute("aria-pressed", "true")


def the_keyboard_alone_walks_heads_and_tokens(here: Visit) -> None:
    head(here, 1, 2).focus()
    here.page.keyboard.press("ArrowDown")
    here.page.keyboard.press("ArrowRight")
    expect(head(here, 2, 3)).to_be_focused()
    with here.rerun():
        here.page.keyboard.press("Enter")
    assert "Head 3 of layer 2, one of 72 such parts, takes" in said(here)
    item = here.main.locator(".heads .item").nth(1)
    item.focus()
    with here.rerun():
        here.page.keyboard.press("Enter")
    expect(item).to_have_attribute("aria-pressed", "true")
    expect(item).to_be_focused()
    token(here, "from", "python", 5).focus()
    here.page.keyboard.press("ArrowRight")
    expect(token(here, "to", "python", 5)).to_be_focused()
    here.page.keyboard.press("ArrowUp")
    with here.rerun():
        here.page.keyboard.press("Enter")
    assert "to “pet”" in said(here)


def test_nothing_scrolls_sideways_on_a_dark_phone(visit: Callable[..., Visit]) -> None:
    here = visit("/attention", color_scheme="dark", **PHONE)
    for path in ("", address(LONG, *["A python"] * 7, show="Rollout")):
        if path:
            here.follow(path)
        assert here.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
        assert box(here.main.locator(".lines"))["right"] <= 390
        assert box(here.main.locator(".heads"))["right"] <= 390


def test_512_tokens_follow_the_pointer_and_markup_stays_text(visit: Callable[..., Visit]) -> None:
    here = visit(address(LONG), **DESK)
    the_numbers_of_512_tokens_follow_the_pointer(here)
    here.follow(address(HOSTILE, pair=HOSTILE, unit="Words"))
    typed_markup_stays_text_and_the_picture_is_downloaded(here)


def the_numbers_of_512_tokens_follow_the_pointer(here: Visit) -> None:
    token(here, "from", "bank", 2).hover()
    assert here.main.locator(".says").inner_text().startswith("bank (2) →")
    assert here.main.locator(".lines path").count() <= 512


def typed_markup_stays_text_and_the_picture_is_downloaded(here: Visit) -> None:
    assert here.main.locator("img").count() == 0
    assert "img" in here.main.locator(".lines").inner_text()
    assert b"weights 53aa51172d14" in here.download("SVG")
    assert here.download("PNG").startswith(b"\x89PNG")
