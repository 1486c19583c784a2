"""A reader's tab of the real app, and what a reader does there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page

from contextlens.content.language import table
from tests.browser.rest import Runs, settle
from tests.browser.screens import FOLLOW, SEEN, WATCH

__all__ = ["Visit"]


@dataclass(frozen=True)
class Visit:
    """A reader's tab of the real app, and what a reader does there."""

    page: Page
    address: str
    runs: Runs

    @property
    def side(self) -> Locator:
        return self.page.get_by_test_id("stSidebar")

    @property
    def main(self) -> Locator:
        return self.page.get_by_test_id("stMain")

    @property
    def rows(self) -> list[str]:
        """The sentences and references, as the chips show them."""
        toolbars = self.main.get_by_role("toolbar")
        shown = toolbars.evaluate_all("rows => rows.map(row => row.innerText)")
        return [text.replace("\u200e", "").replace("\u200f", "") for text in shown]

    @property
    def chosen(self) -> list[str | None]:
        """Each row's chosen words and their place: "python, word 5 of sentence A"."""
        toolbars = self.main.get_by_role("toolbar")
        return toolbars.evaluate_all(
            "rows => rows.map(row => row.querySelector('[aria-pressed=true]')?.ariaLabel ?? null)"
        )

    @property
    def figure(self) -> Locator:
        """The main picture; its name begins with its title."""
        return self.main.get_by_role("figure").first

    @property
    def title(self) -> str:
        return (self.figure.get_attribute("aria-label") or "").split(". ")[0]

    @property
    def reading(self) -> str:
        return self.main.locator(".st-key-reading").inner_text()

    @property
    def layer(self) -> int:
        return int(self.main.locator(".layer-bar .now").inner_text())

    def goto(self, path: str) -> None:
        self.page.goto(path if path.startswith("http") else self.address + path)
        self.wait()

    def follow(self, path: str) -> None:
        """Go to another address of the app as Back does: without loading the document anew."""
        since = self.runs.now
        self.page.evaluate(FOLLOW, path)
        self.runs.wait(since)
        self.wait()

    def wait(self) -> None:
        """Wait until the page is complete and at rest."""
        self.page.get_by_role("heading", level=1).wait_for()
        self.settle()

    def settle(self) -> None:
        """Wait until nothing runs or moves."""
        settle(self.page)

    def words(self, row: str) -> Locator:
        """The words of "sentence A" or "reference 1"."""
        return self.page.get_by_role("toolbar", name=f"Words of {row}", exact=True).get_by_role(
            "button"
        )

    def word(self, row: str, text: str, occurrence: int = 0) -> Locator:
        return (
            self.words(row)
            .and_(self.page.get_by_role("button", name=f"{text}, word"))
            .nth(occurrence)
        )

    @contextmanager
    def rerun(self) -> Iterator[None]:
        """Wait at the end for the run of the script that the block causes."""
        since = self.runs.now
        yield
        self.runs.wait(since)
        settle(self.page)

    @contextmanager
    def still(self, selector: str) -> Iterator[None]:
        """Check that the block does not move the first element of this kind."""
        self.settle()
        self.page.evaluate(WATCH, selector)
        yield
        self.settle()
        seen = self.page.evaluate(SEEN)
        assert len(seen) == 1, f"{selector} was seen at (top, height) {seen}"

    def choose(self, option: str) -> None:
        """Click one of a row of buttons, by its value or title, unless it is chosen."""
        page = urlsplit(self.page.url).path.strip("/") or "home"
        controls = table(page).get("controls", {}).values()
        titles = {
            value: title for own in controls for value, title in own.get("options", {}).items()
        }
        button = self.main.get_by_role("radio", name=titles.get(option, option), exact=True)
        if not button.is_checked():
            with self.rerun():
                button.click()

    def pick(self, row: str, text: str, occurrence: int = 0) -> None:
        with self.rerun():
            self.word(row, text, occurrence).click()

    def type(self, label: str, text: str) -> None:
        """Fill the field of this label."""
        box = self.main.get_by_role("textbox", name=label, exact=True)
        with self.rerun():
            box.fill(text)
            box.press("Enter")

    def edit(self, row: str) -> Locator:
        """Open the field of "sentence A" or "reference 1"."""
        self.main.get_by_role("button", name=f"Edit {row}", exact=True).click()
        return self.main.get_by_role("textbox", name=f"Text of {row}", exact=True)

    def retype(self, row: str, text: str, pair: str | None = None) -> None:
        """Type a sentence or a reference anew, and with `pair` its second text."""
        box = self.edit(row)
        with self.rerun():
            box.fill(text)
            if pair is not None:
                box = self.main.get_by_role("textbox", name=f"Second text of {row}", exact=True)
                box.fill(pair)
            box.press("Enter")

    def letter(self, name: str) -> None:
        """Show another sentence."""
        with self.rerun():
            self.main.get_by_role("button", name=f"Show sentence {name}", exact=True).click()

    def click(self, name: str, *, within: Locator | None = None) -> None:
        with self.rerun():
            (within or self.main).get_by_role("button", name=name, exact=True).click()

    def add(self, text: str) -> None:
        """Add a sentence."""
        self.main.get_by_role("button", name="+ Sentence", exact=True).click()
        box = self.main.get_by_role("textbox", name="New sentence", exact=True)
        with self.rerun():
            box.fill(text)
            box.press("Enter")

    def back(self, steps: int = 1) -> None:
        for _ in range(steps):
            with self.rerun():
                self.page.go_back()

    def forward(self, steps: int = 1) -> None:
        for _ in range(steps):
            with self.rerun():
                self.page.go_forward()

    def reload(self) -> None:
        self.page.reload()
        self.wait()

    def menu(self, name: str) -> Locator:
        """Open a popover of the page."""
        self.main.get_by_role("button", name=name, exact=True).click()
        menu = self.page.get_by_role("dialog")
        menu.wait_for()
        settle(self.page)
        return menu

    def leave_menu(self) -> None:
        self.page.keyboard.press("Escape")
        self.page.get_by_role("dialog").wait_for(state="detached")
        settle(self.page)  # the run for the closed menu would close it again

    def option(self, name: str) -> None:
        """Click one of the options, by its label."""
        choice = self.menu("Options").get_by_text(name, exact=True)
        with self.rerun():
            choice.click()
        self.leave_menu()

    def to_layer(self, layer: int) -> None:
        slider = self.main.get_by_role("slider")
        if 2 * layer < self.layer:  # the first layer is nearer
            with self.rerun():
                slider.press("Home")
        while self.layer != layer:  # one by one: the browser would send quick steps later
            with self.rerun():
                slider.press("ArrowLeft" if self.layer > layer else "ArrowRight")

    def link(self) -> str:
        """The address under Share."""
        address = self.menu("Share").get_by_role("textbox", name="Address").input_value()
        self.leave_menu()
        return address

    def download(self, name: str) -> bytes:
        """Get a file of the Download menu."""
        with self.page.expect_download() as download:
            self.menu("Download").get_by_role("button", name=name).click()
        data = download.value.path().read_bytes()
        self.leave_menu()
        return data
