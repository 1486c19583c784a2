"""Present mode, headless: a choice of the view that every page follows, with a speaker's note."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from contextlens.content.language import table
from contextlens.ui.page.navigation import PAGES, PageRow, neighbours, pages_for
from contextlens.ui.state.address import decode, encode
from contextlens.ui.state.controls import PRESENT
from contextlens.ui.state.view import DEFAULT
from tests.support.pages import bundled_app, chart, framed, press, shown_view

PRESENTED = PRESENT.put(DEFAULT, True)
WORDS = 20  # of a part of a note


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory):
        yield


def test_a_click_begins_it_and_another_one_leaves_the_view_as_it_was() -> None:
    app = framed(page="layers")
    usual = chart(app, "layers_picture")["layout"]
    assert app.sidebar.selectbox
    assert app.tabs
    app = press(app, "present")
    assert shown_view(app) == decode(encode(PRESENTED)) == PRESENTED
    assert not app.sidebar.children
    assert not app.tabs
    assert not app.expander
    assert chart(app, "layers_picture")["layout"] == usual  # enlarged by the browser, as a whole
    app = press(app, "present_leave")
    assert shown_view(app) == DEFAULT
    assert app.sidebar.selectbox
    assert app.tabs


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_an_address_opens_every_page_in_it_with_its_note_and_its_neighbours(page: PageRow) -> None:
    app = framed(PRESENTED, page.name)
    assert not app.exception
    assert [title.value for title in app.title] == [page.title]
    assert not app.sidebar.children
    assert not app.tabs
    texts = [markdown.value for markdown in app.markdown]
    note = table(f"frame.note.{page.name}")
    assert set(note) == {"point", "ask", "surprise"}
    for part in note.values():
        assert sum(text.endswith(f"\n{part}") for text in texts) == 1
        assert len(part.split()) <= WORDS
    links = [link.proto for link in app.get("page_link")]
    ways = [link for link in links if link.label.startswith(("Previous page: ", "Next page: "))]
    menu = pages_for(PRESENTED.model, page.name)
    expected = [other for other in neighbours(page, menu) if other is not None]
    assert [way.label.split(": ")[1] for way in ways] == [other.title for other in expected]
    assert all(encode(PRESENTED) in way.query_string for way in ways)


def test_the_ways_lead_through_all_pages_in_the_menu_s_order() -> None:
    for before, page in zip((None, *PAGES), PAGES, strict=False):
        assert neighbours(page)[0] is before
        assert before is None or neighbours(before)[1] is page
    assert neighbours(PAGES[-1])[1] is None


def test_what_is_no_switch_in_an_address_is_off() -> None:
    for value in (1, "yes", 0.5):
        view = DEFAULT.with_control(PRESENT.page, PRESENT.name, value, default=False)
        assert framed(encode(view), "tokens").sidebar.selectbox
