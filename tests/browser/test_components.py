"""The components as a reader meets them: mouse, keyboard, phone, dark."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Download, Locator, Page, expect

from components.ui.widgets.javascript import bundle
from tests.support.browser import PHONE, box, contrast, rgb
from tests.support.rest import Runs, settle
from tests.support.tabs import Tab

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"
APP = "tests/browser/apps/components_app.py"


@pytest.fixture(scope="module")
def address(run_app: Callable[..., str]) -> str:
    return run_app(APP)


@dataclass(frozen=True)
class Opened:
    """A page of components, and the runs of its script."""

    page: Page
    runs: Runs

    @contextmanager
    def rerun(self) -> Iterator[None]:
        """What is done inside makes the script run; afterwards that run is over."""
        since = self.runs.now
        yield
        self.runs.wait(since)
        settle(self.page)

    def press(self, key: str) -> None:
        """A key that chooses."""
        with self.rerun():
            self.page.keyboard.press(key)

    def click(self, place: Locator) -> None:
        """On what is chosen by it."""
        with self.rerun():
            place.click()


@pytest.fixture
def open_page(address: str, take: Callable[..., Tab]) -> Callable[..., Opened]:
    def open_(**options: object) -> Opened:
        tab = take(address, **options)
        tab.page.goto(address)
        expect(chips(tab.page, "A").first).to_be_visible()
        settle(tab.page)
        return Opened(tab.page, tab.runs)

    return open_


@pytest.fixture
def opened(open_page: Callable[..., Opened]) -> Opened:
    return open_page(viewport={"width": 1200, "height": 900})


def toolbar(page: Page, label: str) -> Locator:
    return page.get_by_role("toolbar", name=f"Words of sentence {label}", exact=True)


def chips(page: Page, label: str) -> Locator:
    return toolbar(page, label).get_by_role("button")


def chip(page: Page, label: str, text: str) -> Locator:
    return toolbar(page, label).get_by_role("button", name=f"{text}, word")


def picked(page: Page) -> list[list[str | int]]:
    return json.loads(page.get_by_test_id("stText").inner_text())


def focused_name(page: Page) -> str | None:
    return page.evaluate(
        """() => {
          let at = document.activeElement;
          while (at?.shadowRoot) at = at.shadowRoot.activeElement;
          return at?.getAttribute('aria-label') ?? null;
        }"""
    )


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
    with opened.rerun():
        keys.type("left")
        keys.press("Tab")  # leaving it is enough
    assert picked(page)[1:] == [[4, "left"]]


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


# Looks


def assert_readable(page: Page, scheme: str) -> None:
    ground = background(page)
    assert (max(rgb(ground)) < 50) == (scheme == "dark")
    assert contrast(chips(page, "A").first.evaluate(COLOR), ground) > 7


COLOR = "node => getComputedStyle(node).color"


def background(page: Page) -> str:
    app = page.get_by_test_id("stApp")
    return app.evaluate("app => getComputedStyle(app).backgroundColor")


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


def test_heads_are_painted_and_lines_weighed_and_both_walked_and_picked(opened: Opened) -> None:
    page = opened.page
    tiles = page.get_by_role("group", name="Heads").get_by_role("button")
    expect(tiles).to_have_count(6)
    expect(tiles.nth(1)).to_have_attribute("aria-pressed", "true")
    corner = "(tile, at) => [...tile.firstChild.getContext('2d').getImageData(at, at, 1, 1).data]"
    assert tiles.first.evaluate(corner, 0) == [68, 1, 84, 255]  # viridis from its first colour
    assert tiles.first.evaluate(corner, 3) == [253, 231, 37, 255]  # to its last
    tiles.nth(1).focus()
    page.keyboard.press("ArrowUp")
    assert focused_name(page) == "Layer 1, head 1: even 0.20"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert focused_name(page) == "Layer 2, head 2: even 0.30"
    opened.press("Enter")
    assert picked(page) == [["head", 2, 2]]
    lines = page.locator(".lines")
    expect(lines.locator(".to .value")).to_have_text(["0.13", "0.75", "0.13"])
    expect(lines.locator(".says")).to_have_text("nap (1) → nap 0.75, pets 0.13, here 0.13")
    lines.locator(".from .token.active").focus()
    page.keyboard.press("ArrowRight")
    assert focused_name(page) == "nap, token 1, is looked at"
    page.keyboard.press("End")
    expect(lines.locator(".from .value")).to_have_text(["0.25", "0.13", "1.00"])
    expect(lines.locator("path[stroke-opacity='1']")).to_have_count(1)
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
