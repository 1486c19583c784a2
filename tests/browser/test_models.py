"""Models from the picker in a real browser, on a hub that is slow, silent or broken."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from tests.browser.rest import PATIENCE
from tests.browser.screens import fits, look
from tests.browser.tabs import Tabs
from tests.support.hub_server import HubServer, Reply, Repository, Request, error, hub_server
from tests.support.measured import measured_data
from tests.support.tiny_models import build

pytestmark = pytest.mark.browser

MAX_PICKERS = """
() => {
  window.__most = 0;
  const look = () => {
    const all = document.querySelectorAll('[data-testid="stSidebar"] [data-testid="stSelectbox"]');
    const seen = [...all].filter(picker => picker.checkVisibility());
    window.__most = Math.max(window.__most, seen.length);
    requestAnimationFrame(look);
  };
  look();
}
"""


def picker(reader: object) -> Locator:
    return reader.side.get_by_role("combobox", name=re.compile("Model"))


def type_model(reader: object, model: str) -> None:
    box = picker(reader)
    box.click()
    box.fill(model)
    offered = reader.page.get_by_role("option").filter(has_text=model)  # not the whole list still
    offered.first.wait_for(timeout=PATIENCE * 1000)
    box.press("Enter")


def assert_picked(reader: object, model: str) -> None:
    expect(picker(reader)).to_have_count(1)  # while a run is under way the old one may stand there
    expect(picker(reader)).to_have_value(model)


def area(reader: object) -> Locator:
    return reader.side.locator(".st-key-model_wish")


def is_on(reader: object, dims: int) -> None:
    """The page shows a model of this size, and no other's card stands there still."""
    card = reader.side.get_by_text("layers · ")
    expect(card).to_have_text([re.compile(f"{dims} numbers a word")])


WEIGHTS = "model.safetensors"


class Hub:
    """A hub of many tiny models under names of their own: each test takes fresh ones."""

    def __init__(self, server: HubServer, folder: Path) -> None:
        self.server = server
        self._folder = folder
        self._n = 0
        self.slow: dict[str, float] = {}
        self.hurry = threading.Event()  # what was slow comes at once
        self.broken: set[str] = set()
        self.closed: dict[str, threading.Event] = {}
        server.faults = self._answer

    def new(self) -> str:
        """The id of a model that nobody has asked for yet."""
        self.hurry = threading.Event()
        self._n += 1
        name = f"org/tiny-{self._n}"
        self.server.repositories[name] = Repository(self._folder)
        return name

    def _answer(self, request: Request, reply: Reply) -> Reply:
        repo = request.repo or ""
        if repo in self.broken:
            return error(500)
        if repo in self.closed:
            self.closed[repo].wait(PATIENCE)
        if request.method == "GET" and request.file == WEIGHTS and repo in self.slow:
            return replace(reply, bytes_per_second=self.slow[repo], hurry=self.hurry)
        return reply


PRESET = "distilbert/distilbert-base-uncased"
BUNDLED = "all-MiniLM-L6-v2"
LONG_PRESET = "google-bert/bert-large-uncased-whole-word-masking"
LONG_ID = f"{'organisation' * 7}/{'a-long-name-' * 7}x"
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
SCREENS = (("dark", NARROW), ("dark", WIDE), ("light", WIDE))


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    folder = build(
        "bert", tmp_path_factory.mktemp("served") / "m", hidden_size=160, intermediate_size=640
    )
    with hub_server({PRESET: folder}) as server:
        hub = Hub(server, folder)
        yield hub
        for event in hub.closed.values():
            event.set()


@pytest.fixture(scope="module")
def address(
    hub: Hub,
    run_app: Callable[..., str],
    app_settings: Mapping[str, str],
    tabs: Tabs,
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """The app on this hub, which nothing was fetched from; its own model is loaded meanwhile."""
    folder = tmp_path_factory.mktemp("nothing_fetched") / "data"
    env = {
        **app_settings,
        "CONTEXTLENS_DATA_DIR": str(measured_data(tmp_path_factory, folder)),
        "CONTEXTLENS_ALLOW_DOWNLOADS": "1",
        "CONTEXTLENS_HUB_ENDPOINT": hub.server.endpoint,
        "HF_HUB_CACHE": str(tmp_path_factory.mktemp("hub")),
        "HF_HUB_OFFLINE": "0",
    }
    address = run_app("app.py", env)
    tab = tabs.open(address)
    tab.page.goto(f"{address}/meaning")
    tab.page.get_by_text("unrelated words (dotted").first.wait_for()
    tabs.leave(tab, keep=True)
    return address


@pytest.fixture
def open_page(visit: Callable, address: str) -> Callable:
    def open_(path: str = "/meaning", **options: object) -> object:
        return visit(path, address=address, **options)

    return open_


def test_a_typed_model_is_fetched_while_the_page_is_used(open_page: Callable, hub: Hub) -> None:
    model = hub.new()
    hub.slow[model] = 40_000
    reader = open_page()
    type_model(reader, model)
    expect(area(reader)).to_contain_text(re.compile(rf"Fetching {model}: [0-9.]+ of 4\.1 MB"))
    expect(area(reader)).to_contain_text(re.compile("about .+ left"))
    look(reader, "fetching")
    is_on(reader, 384)
    box = reader.edit("sentence A")
    box.fill("My python eats")
    for _ in range(3):  # turns of the progress take nothing of what is half typed
        expect(area(reader)).not_to_have_text(area(reader).inner_text())
    expect(box).to_have_value("My python eats")
    expect(box).to_be_focused()
    with reader.rerun():
        box.fill("My python eats mice")
        box.press("Enter")
    assert "My python eats mice" in reader.rows[0]
    reader.pick("sentence A", "mice")
    expect(area(reader)).to_contain_text("MB")
    before = reader.page.url
    hub.hurry.set()
    is_on(reader, 160)
    reader.settle()
    assert "My python eats mice" in reader.rows[0]
    assert reader.chosen[0].startswith("mice")
    expect(area(reader)).to_have_count(0)
    assert_picked(reader, model)
    assert reader.page.url != before
    measured = reader.main.get_by_text("unrelated words (dotted")  # here, by the running app
    expect(measured.first).to_be_visible()
    reader.settle()
    reader.back()
    is_on(reader, 384)
    assert reader.page.url == before
    reader.forward()
    is_on(reader, 160)


def test_cancel_is_immediate_and_a_retry_works(open_page: Callable, hub: Hub) -> None:
    reader = open_page()
    model = hub.new()
    hub.closed[model] = threading.Event()
    type_model(reader, model)
    expect(area(reader)).to_contain_text("Looking for the model")
    area(reader).get_by_role("button", name="Cancel").click()
    expect(area(reader)).to_have_count(0)  # the hub has not answered yet
    assert_picked(reader, BUNDLED)
    is_on(reader, 384)
    type_model(reader, model)
    expect(area(reader)).to_contain_text("Looking for the model")
    hub.closed[model].set()
    is_on(reader, 160)


def own_address(address: str, model: str) -> str:
    """The address of a view of one sentence on a model."""
    sentences = (replace(DEFAULT.sentences[0], text="My python", word=(3, 9)),)
    return f"{address}/meaning?s={encode(replace(DEFAULT, model=model, sentences=sentences))}"


def test_the_offer_is_on_the_first_screen_and_nothing_is_cut_off(
    open_page: Callable, hub: Hub, address: str
) -> None:
    views = [
        own_address(address, model).replace("/meaning", f"/{page}")
        for page in ("meaning", "")
        for model in (LONG_PRESET, LONG_ID)
    ]
    reader = open_page(views[0], color_scheme="dark")
    place = reader.main.locator(".st-key-offered_model")
    for n, view in enumerate(views):
        if n:
            reader.follow(view)
        for scheme, size in SCREENS:
            reader.page.emulate_media(color_scheme=scheme)
            reader.page.set_viewport_size(size)
            reader.settle()
            look(reader, f"offer-{n}-{scheme}-{size['width']}")
            assert fits(place)
            box = place.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] < size["height"] or "/meaning" not in view
    reader.main.get_by_role("button", name="Go on with all-MiniLM-L6-v2").click()
    expect(place).to_have_count(0)
    reader.settle()
    assert "My python" in reader.rows[0]


def test_what_was_asked_for_shows_progress_and_cancel_keeps_the_sentences(
    open_page: Callable, hub: Hub, address: str
) -> None:
    model = hub.new()
    hub.slow[model] = 40_000
    reader = open_page(own_address(address, model))
    reader.main.get_by_role("button", name=f"Get {model}").click()
    cancel = reader.main.get_by_role("button", name=re.compile("Cancel, and go on with"))
    cancel.wait_for()
    expect(reader.main).to_contain_text(re.compile(r"of 4\.1 MB, about .+ left"))
    look(reader, "address")
    box = cancel.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900, "it is on the first screen"
    cancel.click()
    is_on(reader, 384)
    assert "My python" in reader.rows[0]
    expect(cancel).to_have_count(0)


def test_nothing_is_cut_off_or_overlaps_in_the_sidebar(open_page: Callable, hub: Hub) -> None:
    reader = open_page(viewport=WIDE, has_touch=True)
    nothing_is_cut_off_in_the_sidebar(reader, hub, "light-1440")
    reader.page.emulate_media(color_scheme="dark")
    reader.page.set_viewport_size(NARROW)
    reader.settle()
    expand = reader.page.get_by_test_id("stExpandSidebarButton")
    if expand.is_visible():
        expand.click()
    nothing_is_cut_off_in_the_sidebar(reader, hub, "dark-390")


def nothing_is_cut_off_in_the_sidebar(reader: object, hub: Hub, screen: str) -> None:
    """While a model is fetched and when another could not be."""
    model = hub.new()
    hub.slow[model] = 40_000
    broken = hub.new()
    hub.broken.add(broken)
    type_model(reader, model)
    expect(area(reader)).to_contain_text(re.compile("about .+ left"))
    look(reader, f"fetching-{screen}")
    assert fits(area(reader))
    area(reader).get_by_role("button", name="Cancel").click()
    expect(area(reader)).to_have_count(0)
    reader.page.evaluate(MAX_PICKERS)
    type_model(reader, broken)
    expect(area(reader)).to_contain_text("(500)")
    assert reader.page.evaluate("() => window.__most") == 1  # the picker never stands there twice
    look(reader, f"failed-{screen}")
    assert fits(area(reader))
