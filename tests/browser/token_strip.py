"""The strip of tokens in a real browser: its tokens, and what of them is lit and picked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from playwright.sync_api import Locator

from components.ui.state.address import encode
from components.ui.state.view import ViewState

if TYPE_CHECKING:
    from tests.browser.visit import Visit

__all__ = ["address_of", "lit", "picked", "piece", "row_reading", "token", "tokens", "written"]


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
