"""Fill in the blank in a real browser, with a tiny model that has a head for hidden words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, expect

from contextlens.ui.state.address import encode
from contextlens.ui.state.controls import PRESENT
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.browser.screens import DESK, PHONE, WIDER_THAN_ITSELF, box
from tests.support.tiny_models import build

if TYPE_CHECKING:
    from tests.browser.tabs import Tabs
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

VIEW = replace(DEFAULT, model="folder:bert")
LONG = " ".join(f"The bank of the river was steep but python {i} swam on." for i in range(30))


@pytest.fixture(scope="module")
def address(
    run_app: Callable[..., str],
    app_settings: Mapping[str, str],
    tabs: Tabs,
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """The app with a tiny model in a folder, which is loaded."""
    root = tmp_path_factory.mktemp("masked")
    build("bert", root / "bert", head="MaskedLM")
    address = run_app("app.py", {**app_settings, "CONTEXTLENS_MODEL_FOLDERS": str(root)})
    tab = tabs.open(address)
    tab.page.goto(address + path(VIEW))
    tab.page.locator(".panel").first.wait_for()
    tabs.leave(tab, keep=True)
    return address


def path(view: ViewState) -> str:
    return f"/blank?s={encode(view)}"


def word(here: Visit, letter: str, text: str) -> Locator:
    line = here.main.get_by_role("group", name=f"Words of {letter}, to hide or show")
    return line.get_by_role("button", name=f"{text}, ")


def bars(here: Visit, n: int) -> list[str]:
    """The most probable token beside each of n blanks, with its share."""
    first = here.main.locator(".bars:not(.own) .bar:first-child")
    expect(first).to_have_count(n)
    return first.all_inner_texts()


def test_words_are_hidden_by_pointer_and_keyboard_and_the_address_keeps_them(
    visit: Callable[..., Visit], address: str
) -> None:
    here = visit(path(VIEW), address=address, **DESK)
    assert here.reading.startswith("Here the model expects “")
    bars(here, 2)
    with here.rerun():
        word(here, "A", "love").click()
    bars(here, 3)
    expect(word(here, "A", "love")).to_have_attribute("aria-pressed", "true")
    expect(word(here, "A", "love")).to_be_focused()
    here.page.keyboard.press("ArrowRight")
    expect(word(here, "A", "my")).to_be_focused()
    with here.rerun():
        here.page.keyboard.press("Enter")
    seen = bars(here, 4)
    link, said = here.link(), here.reading
    here.goto(link)
    assert (bars(here, 4), here.reading) == (seen, said)
    here.back()
    bars(here, 3)


def test_play_shows_all_layers_and_comes_back(visit: Callable[..., Visit], address: str) -> None:
    here = visit(path(VIEW), address=address, **DESK)
    before = here.reading
    with here.still(".st-key-layer"):
        here.main.get_by_role("button", name="Play all layers").click()
        expect(here.main.locator(".st-key-reading")).to_contain_text("Read from layer 1")
        expect(here.main.get_by_role("button", name="Play all layers")).to_be_visible()
    assert here.layer == 3
    assert here.reading == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read_by_everyone(
    visit: Callable[..., Visit], address: str, scheme: str
) -> None:
    own = (Sentence(LONG), Sentence("مرحبا بالعالم [MASK]"), Sentence(""), Sentence("one"))
    view = replace(VIEW, sentences=own, controls={"blank": {"candidates": "he, she"}})
    here = visit(path(view), address=address, color_scheme=scheme, **PHONE)
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    violations = Axe().run(here.page, options={"resultTypes": ["violations"], "preload": False})
    serious = [
        f"{violation['id']}: {violation['nodes'][0]['html'][:200]}"
        for violation in violations.response["violations"]
        if violation["impact"] in {"serious", "critical"}
    ]
    assert serious == []
    first, second = here.main.locator(".panel").all()[:2]
    assert box(second)["y"] >= box(first)["bottom"]


def test_a_room_sees_sentences_and_bars_at_once(visit: Callable[..., Visit], address: str) -> None:
    view = PRESENT.put(VIEW, True)
    here = visit(path(view), address=address, viewport={"width": 1280, "height": 720})
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    expect(here.main.get_by_role("tab")).to_have_count(0)
    assert box(here.main.locator(".panel").first)["y"] < 360
