"""The real app as its readers use it: first visits, choosing, any text, downloads."""

from __future__ import annotations

import io
import json
import random
import string
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from playwright.sync_api import expect

from components.content.examples import EXAMPLES
from components.core import EncoderService
from components.core.registry import BUNDLED_ID
from components.ui.state.address import MAX_ADDRESS, to_json
from components.ui.state.view import DEFAULT, Sentence, ViewState
from tests.browser.screens import HOSTILE

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

A, B = (sentence.text for sentence in DEFAULT.sentences)
OPENING = ["python, word 5 of sentence A", "python, word 5 of sentence B"]


def with_texts(*texts: str, references: Sequence[str] = ()) -> ViewState:
    """A view on texts, the first word of each chosen."""
    sentences = tuple(Sentence(text, word=(0, len(text.split()[0]))) for text in texts)
    return replace(DEFAULT, sentences=sentences, references=tuple(map(Sentence, references)))


def passport_of(data: bytes) -> dict[str, object]:
    lines = data.decode("utf-8-sig").splitlines()
    pairs = (line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith("# "))
    return {key: json.loads(value) for key, value in pairs}


# First visits


def test_start_here_is_live_and_its_examples_open_meaning_in_context(visit: Callable) -> None:
    here = visit("/")
    expect(here.main.get_by_role("heading", level=1)).to_have_text("Start here")
    assert here.chosen[:2] == OPENING
    expect(here.figure).to_be_visible()
    headline = here.main.get_by_role("heading", level=2).first
    expect(headline).to_have_text("In A, “python” is closer to “snake”; in B, to “programming”")
    before = here.main.locator(".st-key-answers").inner_text()
    assert "Is 0.78 high?" in before
    for example in EXAMPLES:
        kind = "button" if example.model else "link"
        expect(here.main.get_by_role(kind, name=example.title, exact=True)).to_be_visible()
        expect(here.main.get_by_text(example.question)).to_be_visible()
    cased = next(example for example in EXAMPLES if example.model)
    button = here.main.get_by_role("button", name=cased.title)
    expect(button).to_be_disabled()
    button.locator("..").hover()
    expect(here.page.get_by_role("tooltip")).to_contain_text(cased.model)
    here.pick("sentence A", "pet")
    expect(headline).not_to_have_text("In A, “python” is closer to “snake”; in B, to “programming”")
    assert here.main.locator(".st-key-answers").inner_text() != before
    card = here.main.locator(".st-key-home_card_bank")
    assert card.get_by_role("img").evaluate("image => image.naturalWidth") > 0
    card.click(position={"x": 20, "y": 20})  # its picture: the whole card is the link
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Meaning in context")
    here.wait()
    bank = next(example for example in EXAMPLES if example.key == "bank")
    assert here.rows == [s.text for s in (*bank.sentences, *bank.references)]
    assert [c.split(",")[0] for c in here.chosen] == ["bank", "bank", "bank", "river", "money"]
    assert "/meaning?s=" in here.page.url


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
    assert "“pet” in A and “coding” in B" in here.reading


# Any text


def test_html_is_text_everywhere(similarity: Visit) -> None:
    here = similarity
    here.type("Sentence A", HOSTILE)
    here.pick("sentence A", "script")
    references = here.menu("References")
    here.type("Reference 1", HOSTILE, within=references)
    here.leave_menu()
    assert here.rows[0] == here.rows[2] == HOSTILE
    assert "“script” in A" in here.reading
    assert "“<img src=x onerror=aler…”" in here.reading
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


def test_a_view_too_long_for_an_address_travels_as_a_file(visit: Callable) -> None:
    source = random.Random(0)
    texts = [
        " ".join("".join(source.choices(string.ascii_letters, k=9)) for _ in range(500))
        for _ in range(3)
    ]
    here = visit("/meaning")
    here.open_file(to_json(with_texts(*texts[:2])).encode())
    here.add(texts[2])
    with here.rerun():
        here.words("sentence C").first.click()
    assert here.rows == texts
    assert len(here.page.url) < MAX_ADDRESS
    menu = here.menu("Share")
    expect(menu).to_contain_text("too long for a link")
    expect(menu.get_by_role("textbox", name="Address")).to_have_count(0)
    with here.page.expect_download() as download:
        menu.get_by_role("button", name="Save the view as a file").click()
    assert download.value.suggested_filename == "contextlens-view.json"
    other = visit("/meaning")
    other.open_file(download.value.path().read_bytes())
    assert other.rows == texts
    assert other.chosen == here.chosen
    other.back()
    assert other.rows == [A, B, "snake", "programming"]


# Downloads


def test_every_download_is_a_file_with_its_passport(
    similarity: Visit, service: EncoderService
) -> None:
    here = similarity
    encoding = service.encode(BUNDLED_ID, [A])[0]
    passport = passport_of(here.download("CSV"))
    assert passport["model"] == BUNDLED_ID
    assert passport["checksum"] == encoding.passport.checksum
    with np.load(io.BytesIO(here.download("NPZ")), allow_pickle=False) as arrays:
        assert json.loads(str(arrays["passport"])) == passport
        assert arrays["vectors"].shape == (4, 7, 384)
        np.testing.assert_allclose(arrays["vectors"][0], encoding.hidden[:, 5], atol=1e-5)
    root = ET.fromstring(here.download("SVG"))
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert here.title in texts
    assert any("random pairs" in text for text in texts)
    caption = " ".join(texts)
    assert f"weights {encoding.passport.checksum[:12]}" in caption
    for name, version in encoding.passport.versions.items():
        assert f"{name} {version}" in caption
    png = here.download("PNG")
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(png) > 30_000


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
    here.main.get_by_role("link", name="Who bit whom").click()
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
    here.side.get_by_role("button", name="Examples").click()
    here.page.get_by_role("dialog").get_by_role("link", name="Good and not good").click()
    here.wait()
    assert here.rows[1] == "The food was not good"
    here.page.keyboard.press("Escape")
    here.click("Reset", within=here.side)
    here.side.get_by_role("link", name="Start here").click()
    expect(here.page.get_by_role("heading", level=1)).to_have_text("Start here")
    here.wait()
    assert here.page.get_by_test_id("stAlert").count() == 0
