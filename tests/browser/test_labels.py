"""Labels in a real browser, with tiny models that have heads for texts and for words."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, expect

from contextlens.features.labels.controls import BASE, BEFORE, COMPARED, EDITS, SECTION
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.browser.screens import DESK, PHONE, WIDER_THAN_ITSELF
from tests.support.tiny_models import build

if TYPE_CHECKING:
    from tests.browser.tabs import Tabs
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

OWN = (Sentence("Ada Lovelace walked in London"), Sentence("مرحبا بالعالم"), Sentence("x"))
TEXTS = replace(DEFAULT, model="folder:texts", sentences=OWN)
WORDS = replace(DEFAULT, model="folder:words", sentences=OWN)


@pytest.fixture(scope="module")
def address(
    run_app: Callable[..., str],
    app_settings: Mapping[str, str],
    tabs: Tabs,
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """The app with tiny models in a folder; the first is loaded."""
    root = tmp_path_factory.mktemp("heads")
    names = {0: "bad", 1: "good", 2: "<i>so-so</i>"}
    build("bert", root / "texts", head="SequenceClassification", id2label=names)
    tags = {0: "O", 1: "B-PER", 2: "I-PER"}
    build("bert", root / "words", head="TokenClassification", id2label=tags)
    build("bert", root / "base", head="MaskedLM", seed=3)
    address = run_app("app.py", {**app_settings, "CONTEXTLENS_MODEL_FOLDERS": str(root)})
    tab = tabs.open(address)
    tab.page.goto(address + path(TEXTS))
    tab.page.locator(".js-plotly-plot").first.wait_for()
    tabs.leave(tab, keep=True)
    return address


def path(view: ViewState) -> str:
    return f"/labels?s={encode(view)}"


def chip(here: Visit, key: str, text: str) -> Locator:
    return here.main.locator(f".st-key-{key} .word").filter(has_text=text).first


def test_a_clicked_word_is_explained_and_the_address_keeps_it(
    visit: Callable[..., Visit], address: str
) -> None:
    here = visit(path(WORDS), address=address, **DESK)
    tagged = chip(here, "labels_tagged_words", "walked")
    with here.rerun():
        tagged.click()
    expect(tagged).to_have_attribute("aria-pressed", "true")
    expect(here.main.locator(".st-key-reading_words")).to_contain_text("“walked”")
    link = here.link()
    here.goto(link)
    expect(chip(here, "labels_tagged_words", "walked")).to_have_attribute("aria-pressed", "true")
    here.back()
    expect(chip(here, "labels_tagged_words", "walked")).to_have_attribute("aria-pressed", "false")


def test_bars_and_coloured_words_come_into_the_report(
    visit: Callable[..., Visit], address: str
) -> None:
    here = visit(path(TEXTS), address=address, **DESK)
    chip(here, "labels_word_lines", "walked").hover()
    expect(here.main.locator(".st-key-labels_word_lines .says")).to_contain_text("walked · A:")
    buttons = here.main.get_by_role("button", name="Add to report")
    for n in (0, 1):
        buttons.nth(n).click()
        expect(buttons.nth(n)).to_have_accessible_name(f"Add to report · {n + 1}")
    here.goto("/report")
    expect(here.main.locator(".report > .views > .view")).to_have_count(2)
    with here.page.expect_download() as download:
        here.main.get_by_role("button", name="Save as HTML").click()
    whole = download.value.path().read_text(encoding="utf-8")
    bars, words = (
        b64decode(picture).decode()
        for picture in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', whole)
    )
    assert ">walked</text>" in words
    assert ">walked</text>" not in bars


def test_all_looks_fit_a_phone_and_can_be_read_by_everyone(
    visit: Callable[..., Visit], address: str
) -> None:
    before = COMPARED.put(BASE.put(SECTION.put(TEXTS, BEFORE), "folder:base"), "sentences")
    for view, scheme in (
        (TEXTS, "light"),
        (SECTION.put(WORDS, EDITS), "dark"),
        (before, "light"),
    ):
        here = visit(path(view), address=address, color_scheme=scheme, **PHONE)
        assert here.page.evaluate(WIDER_THAN_ITSELF) == []
        violations = Axe().run(here.page, options={"resultTypes": ["violations"], "preload": False})
        serious = [
            f"{violation['id']}: {violation['nodes'][0]['html'][:200]}"
            for violation in violations.response["violations"]
            if violation["impact"] in {"serious", "critical"}
        ]
        assert serious == []
    expect(here.main.locator(".st-key-reading_before")).to_contain_text("base is probably not")
