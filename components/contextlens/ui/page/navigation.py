"""The table of all pages, and the menu made from it. A new page is one row here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.navigation.page import Page as StreamlitPage
from streamlit.runtime.pages_manager import PagesManager

from contextlens.content.language import say, table
from contextlens.core.registry import BUNDLED_ID, PRESETS
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState

_PAGES = "pages"
"""The key under which a visit keeps its pages, for the links to them."""
Section = Literal["", "sentences", "texts", "model", "report"]
SECTIONS: tuple[Section, ...] = ("", "sentences", "texts", "model", "report")
"""The menu's sections, in order; the first has no title."""


@dataclass(frozen=True)
class PageRow:
    """One page: its file in `pages/`, and its texts for visitors."""

    name: str
    icon: str
    section: Section
    needs_own_model: bool = False  # the menu has it only for a model of one's own

    @property
    def title(self) -> str:
        """The page's name in the menu and in its header."""
        return str(table("page.title")[self.name])

    @property
    def question(self) -> str:
        """The question that it answers, in a sentence."""
        return str(table("page.question")[self.name])

    @property
    def file(self) -> str:
        """The script's path from the root."""
        return f"pages/{self.name}.py"


PAGES = (
    PageRow("home", ":material/home:", ""),
    PageRow("tokens", ":material/format_list_numbered:", "sentences"),
    PageRow("masks", ":material/grid_on:", "sentences"),
    PageRow("embedding_layer", ":material/stacked_bar_chart:", "sentences"),
    PageRow("layers", ":material/layers:", "sentences"),
    PageRow("attention", ":material/hub:", "sentences"),
    PageRow("blank", ":material/edit_note:", "sentences"),
    PageRow("meaning", ":material/compare_arrows:", "sentences"),
    PageRow("why", ":material/help_center:", "sentences"),
    PageRow("labels", ":material/label:", "sentences", needs_own_model=True),
    PageRow("sentences", ":material/short_text:", "sentences"),
    PageRow("map", ":material/scatter_plot:", "texts"),
    PageRow("senses", ":material/forum:", "texts"),
    PageRow("search", ":material/search:", "texts"),
    PageRow("pairs", ":material/join_inner:", "texts"),
    PageRow("probe", ":material/labs:", "texts"),
    PageRow("corpora", ":material/library_books:", "texts"),
    PageRow("anatomy", ":material/account_tree:", "model"),
    PageRow("proof", ":material/verified:", "model"),
    PageRow("report", ":material/summarize:", "report"),
)


def row(name: str) -> PageRow:
    """Return the row of a page."""
    return next(page for page in PAGES if page.name == name)


def pages_for(model: str, current: str = "") -> Sequence[PageRow]:
    """Return the pages that the menu has for a model, and the current one, which an address opens.

    A model of one's own is neither the included one nor a preset.
    """
    is_own = model.partition("@")[0] not in {BUNDLED_ID, *(spec.id for spec in PRESETS)}
    return [page for page in PAGES if is_own or not page.needs_own_model or page.name == current]


def neighbours(
    page: PageRow, pages: Sequence[PageRow] = PAGES
) -> tuple[PageRow | None, PageRow | None]:
    """Return the pages before and after a page of a menu; None beyond its ends."""
    padded = (None, *pages, None)
    at = padded.index(page)
    return padded[at - 1], padded[at + 1]


def ensure_frame() -> None:
    """Run `main.py` around the page if a server's first request was for a page address.

    Until `st.navigation` has been called once in a process, Streamlit treats the `pages/` folder as
    its older kind of app and runs the page's file alone, without menu or error boundary.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


def streamlit_pages() -> Sequence[StreamlitPage]:
    """Return the pages for `st.navigation`, the first one at the root address.

    They are made once for each visit, not once for all: `st.navigation` marks the one that may run.
    """
    pages: Mapping[str, StreamlitPage] | None = session.kept(_PAGES)
    if pages is None:
        pages = {
            page.name: st.Page(
                page.file, title=page.title, icon=page.icon, default=page is PAGES[0]
            )
            for page in PAGES
        }
        session.keep(_PAGES, pages)
    return list(pages.values())


def menu(view: ViewState, current: str) -> None:
    """Draw the menu, in sections; each link carries the view along, and the current one is bold."""
    parameters, own_pages = session.parameters(view), pages_for(view.model)
    with st.container(key="menu"):
        for section in SECTIONS:
            pages = [page for page in own_pages if page.section == section]
            if pages and section:
                st.caption(say(f"frame.menu.{section}"))
            for page in pages:
                text = f"**{page.title}**" if page.name == current else page.title
                _link(page, parameters, text)


def link(
    page: PageRow, view: ViewState, *, label: str | None = None, icon: str | None = None
) -> None:
    """Draw a link that opens a page on a view."""
    _link(page, session.parameters(view), label or page.title, icon or page.icon)


def next_link(view: ViewState, page: PageRow) -> None:
    """Draw a link to the next page of the menu at the right end of a line."""
    following = neighbours(page, pages_for(view.model, page.name))[1]
    if following is not None:
        with st.container(key="next", horizontal_alignment="right"):
            text = say("frame.menu.next", title=following.title)
            _link(following, session.parameters(view), text, ":material/arrow_forward:")


def _link(page: PageRow, parameters: Mapping[str, str], text: str, sign: str | None = None) -> None:
    pages: Mapping[str, StreamlitPage] | None = session.kept(_PAGES)
    if pages is None:  # a page script that runs alone has no other pages
        st.button(text, icon=sign, disabled=True, type="tertiary", key=f"alone_{text}")
    else:
        # Not by file, as Streamlit would look for it on disk once for each link.
        st.page_link(pages[page.name], label=text, icon=sign, query_params=parameters)
