"""Back, forward, reload, menus and copied addresses in the real app: what they keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from contextlens.content.examples import EXAMPLES
from contextlens.ui.state.view import DEFAULT

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

A, B = (sentence.text for sentence in DEFAULT.sentences)


def test_back_forward_and_reload_restore_the_view(similarity: Visit) -> None:
    here = similarity

    def seen() -> tuple[object, ...]:
        return here.rows, here.chosen, here.layer, here.title, here.reading

    steps = [seen()]
    actions: list[Callable[[], object]] = [
        lambda: here.pick("sentence A", "pet"),
        lambda: here.to_layer(5),
        lambda: here.option("Sentences"),
        lambda: here.retype("sentence B", "We like coding in a new python"),
        lambda: here.add("Two words"),
    ]
    begun = here.page.evaluate("history.length")
    for act in actions:
        act()
        steps.append(seen())
    assert here.page.evaluate("history.length") == begun + len(actions)  # one each
    for expected in steps[-2::-1]:
        here.back()
        assert seen() == expected
    for expected in steps[1:4]:
        here.forward()
        assert seen() == expected
    here.reload()
    assert seen() == steps[3]
    expect(here.menu("Options").get_by_role("radio", name="Sentences")).to_be_checked()
    here.leave_menu()
    here.forward()
    assert seen() == steps[4]


def test_a_link_is_followed_once_the_typed_text_is_stored(visit: Callable) -> None:
    here = visit("/")
    typed = "My python saw a zebra"
    here.edit("sentence A").fill(typed)
    here.side.get_by_role("link", name="Meaning in context").click()  # no Enter before it
    here.page.wait_for_url("**/meaning?*")
    here.wait()
    assert here.rows[:2] == [typed, B]


def test_an_example_is_opened_although_a_text_was_just_typed(similarity: Visit) -> None:
    here = similarity
    here.edit("sentence A").fill("My python saw a zebra")
    here.page.keyboard.press("Tab")
    here.main.get_by_role("button", name="Examples", exact=True).click()
    here.page.get_by_role("dialog").get_by_role("link", name=EXAMPLES[1].title).click()
    expect(here.words("sentence A").first).to_have_text(EXAMPLES[1].sentences[0].text.split()[0])
    here.wait()
    assert here.rows[:2] == [sentence.text for sentence in EXAMPLES[1].sentences[:2]]


def test_menus_opened_later_show_the_view_and_change_only_what_is_changed(
    similarity: Visit,
) -> None:
    here = similarity
    here.pick("sentence A", "pet")
    here.pick("sentence B", "coding")
    here.retype("sentence A", "Our pet python")
    here.add("One more")
    assert here.rows == ["Our pet python", B, "One more", "snake", "programming"]
    here.edit("sentence B").press("Escape")
    assert here.rows[1] == B
    here.edit("reference 2")
    here.click("Remove reference 2")
    assert here.rows == ["Our pet python", B, "One more", "snake"]
    options = here.menu("Options")
    for name in ("mean", "Three"):
        expect(options.get_by_role("radio", name=name)).to_be_checked()
    here.leave_menu()
    here.option("Sentences")
    address = here.page.url
    here.reload()
    assert here.rows == ["Our pet python", B, "One more", "snake"]
    assert here.page.url == address
    options = here.menu("Options")
    for name in ("mean", "Sentences"):
        expect(options.get_by_role("radio", name=name)).to_be_checked()


def test_back_pressed_quickly_goes_back_each_time(similarity: Visit) -> None:
    here = similarity
    for text in ("one python", "two python", "three python"):
        here.retype("sentence A", text)
    slow = here.page.context.new_cdp_session(here.page)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    since = here.runs.now  # as on a phone, busy drawing the first step when the last comes
    here.page.evaluate("for (const wait of [0, 120, 240]) setTimeout(() => history.back(), wait)")
    here.page.wait_for_function("() => !location.search")
    here.runs.wait(since)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    expect(here.words("sentence A").first).to_have_text("I")
    here.wait()
    assert here.page.url.endswith("/meaning")
    assert here.rows[0] == A


def test_a_copied_address_shows_another_reader_the_same_whose_changes_are_their_own(
    visit: Callable,
) -> None:
    here = visit("/meaning")
    here.retype("sentence A", "Naïve 🐍 & “python” + 100%")
    here.pick("sentence B", "love")
    here.to_layer(5)
    here.option("last")
    here.option("References")
    here.option("Centred cosine")
    address = here.link()
    assert address == here.page.url
    other = visit(address)
    assert other.rows == here.rows
    assert other.chosen == here.chosen
    assert other.layer == 5
    assert (other.title, other.reading) == (here.title, here.reading)
    assert other.download("CSV") == here.download("CSV")
    options = other.menu("Options")
    for name in ("last", "References"):
        expect(options.get_by_role("radio", name=name)).to_be_checked()
    expect(options.get_by_role("switch")).to_be_checked()
    other.leave_menu()
    other.retype("sentence A", "Only mine")
    here.pick("sentence B", "coding")
    assert here.rows[0] == "Naïve 🐍 & “python” + 100%"
    assert other.rows[0] == "Only mine"
    assert other.chosen[1] == "love, word 2 of sentence B"
