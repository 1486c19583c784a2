"""The components as a reader meets them: a dark phone, saved pictures, tokens, attention."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Download, Page, expect

from contextlens.ui.widgets.component import bundle
from tests.browser.components_page import (
    COMPONENTS_APP,
    Opened,
    chips,
    focused_name,
    open_components,
    picked,
    toolbar,
)
from tests.browser.screens import PHONE, box, contrast, rgb
from tests.browser.tabs import Tab

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def open_page(run_app: Callable[..., str], take: Callable[..., Tab]) -> Callable[..., Opened]:
    return partial(open_components, take, run_app(COMPONENTS_APP))


# Looks


def assert_readable(page: Page, scheme: str) -> None:
    ground = background(page)
    assert (max(rgb(ground)) < 50) == (scheme == "dark")
    assert contrast(chips(page, "A").first.evaluate(COLOR), ground) > 7


COLOR = "node => getComputedStyle(node).color"


def background(page: Page) -> str:
    app = page.get_by_test_id("stApp")
    return app.evaluate("app => getComputedStyle(app).backgroundColor")


def test_it_fits_a_dark_phone(open_page: Callable[..., Opened]) -> None:
    page = open_page(color_scheme="dark", **PHONE).page
    assert_readable(page, "dark")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    for label in "ABHLMNR":
        area = box(toolbar(page, label))
        assert area["x"] >= 0
        assert area["right"] <= 390
    assert min(box(each)["height"] for each in chips(page, "H").all()) >= 28
    assert_svg_is_whole_and_opaque(page)


# Pictures


def save(page: Page, kind: str) -> Download:
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Download the chart as {kind}").first.click()
    assert download.value.suggested_filename == f"senses.{kind.lower()}"
    expect(
        page.get_by_role("status").filter(has_text=f"Saved senses.{kind.lower()}")
    ).to_be_visible()
    return download.value


def test_pictures_are_saved_and_leave_the_chart_as_it_was(opened: Opened) -> None:
    page = opened.page
    assert_readable(page, "light")
    layout = "() => JSON.stringify(document.querySelector('.js-plotly-plot').layout)"
    before = page.evaluate(layout)
    data = save(page, "PNG").path().read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(data[at : at + 4], "big") for at in (16, 20)] == [2400, 1350]
    assert len(data) > 20_000
    assert page.evaluate(layout) == before
    expect(page.locator(".js-plotly-plot")).to_have_count(1)
    assert_svg_is_whole_and_opaque(page)
    page.get_by_role("button", name="Download the chart as PNG").last.click()
    said = page.get_by_role("status").filter(has_text="no chart")
    expect(said).to_be_visible()


def assert_svg_is_whole_and_opaque(page: Page) -> None:
    root = ET.fromstring(save(page, "SVG").path().read_text(encoding="utf-8"))
    assert (root.tag, root.get("width"), root.get("height")) == (f"{SVG}svg", "1200", "675")
    words = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert "The senses part at layer 2" in words
    assert "pet ~ snake" in words
    assert "nul\ufffd" in words  # a control character would have made it no XML at all
    assert any("sha256 53aa51172d14" in text for text in words)
    ground = next(root.iter(f"{SVG}rect"))
    assert (ground.get("width"), ground.get("height")) == ("960", "540")
    assert hex_of(background(page)) == str(ground.get("fill")).lower()


def hex_of(color: str) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in rgb(color))


# Tokens and attention


def test_tokens_light_up_are_walked_and_picked(opened: Opened) -> None:
    page = opened.page
    page.locator(".strip .piece", has_text="pet").hover()
    expect(page.locator(".strip .token.lit")).to_have_text("pet 1")
    expect(page.locator(".strip .says")).to_have_text("Token 1: pet, ID 1, characters 1 to 3")
    page.locator(".strip .token", has_text="##s").hover()
    expect(page.locator(".strip .piece.lit")).to_have_text("s")
    tokens = page.get_by_role("toolbar", name="Tokens of sentence T").get_by_role("button")
    expect(tokens).to_have_count(5)
    tokens.first.focus()
    page.keyboard.press("ArrowLeft")
    assert focused_name(page) == "[CLS] 0, token 0, added by the tokenizer"
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    opened.press("Enter")
    assert picked(page) == [["token", 3]]
    page.keyboard.press("Control+ArrowLeft")
    assert str(focused_name(page)).startswith("nap 3, token 3")


def test_heads_are_shaded_and_lines_weighed_and_both_walked_and_picked(opened: Opened) -> None:
    page = opened.page
    tiles = page.get_by_role("group", name="Heads").get_by_role("button")
    expect(tiles).to_have_count(6)
    expect(tiles.nth(1)).to_have_attribute("aria-pressed", "true")
    tiles.nth(1).focus()
    page.keyboard.press("ArrowUp")
    assert focused_name(page) == "Layer 1, head 2: even 0.20"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert focused_name(page) == "Layer 2, head 3: even 0.30"
    opened.press("Enter")
    assert picked(page) == [["head", 2, 2]]
    lines = page.locator(".lines")
    expect(lines.locator(".to .value")).to_have_text(["13%", "75%", "13%"])
    expect(lines.locator(".says")).to_have_text("Click a word on each side")
    lines.locator(".from .token").first.hover()
    expect(lines.locator(".says")).to_have_text("pets (0) → pets 50%, nap 25%, here 25%")
    page.mouse.move(0, 0)
    lines.locator(".from .token.active").focus()
    page.keyboard.press("ArrowRight")
    assert focused_name(page) == "nap, token 1, is looked at"
    page.keyboard.press("End")
    expect(lines.locator(".from .value")).to_have_text(["25%", "13%", "100%"])
    opened.press("Enter")
    assert picked(page) == [["head", 2, 2], ["line", "to", 2]]


# Modules


def test_a_bundle_runs_as_its_modules_would(chromium: Browser, tmp_path: Path) -> None:
    sources = {
        "ticket": "let last = 0;\nexport function ticket() {\n  return (last += 1);\n}\n",
        "left": 'import { ticket } from "./ticket.js";\nconst own = "left";\n'
        "export const left = () => `${own} ${ticket()}`;\n",
        "right": 'const own = "right";\nexport async function right() {\n'
        '  return `${own} ${ticket()}`;\n}\nimport { ticket } from "./ticket.js";\n',
        "entry": 'import { left } from "./left.js";\nimport { right } from "./right.js";\n'
        'const own = "entry";\nexport default async () => [own, left(), await right(), left()];\n',
    }
    for name, source in sources.items():
        (tmp_path / f"{name}.js").write_text(source, encoding="utf-8")
    run = (
        "async text => (await import(`data:text/javascript,${encodeURIComponent(text)}`)).default()"
    )
    with chromium.new_page() as page:
        said = page.evaluate(run, bundle(tmp_path / "entry.js"))
    assert said == ["entry", "left 1", "right 2", "left 3"]


# Layers


def test_the_layer_bar_has_the_layers_that_there_are_and_no_others(opened: Opened) -> None:
    page = opened.page
    slider = page.get_by_role("slider", name="Layer")
    expect(slider).to_have_attribute("aria-valuetext", "6")
    opened.click(page.locator(".layer-bar .tick", has_text="3"))
    assert picked(page) == [["layer", 3]]
    expect(page.locator(".layer-bar .now")).to_have_text("3")
    slider.focus()
    opened.press("ArrowLeft")
    assert picked(page) == [["layer", 3], ["layer", 0]]
