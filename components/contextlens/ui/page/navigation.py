"""The table of all pages, and the menu made from it. A new page is one row here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.navigation.page import Page as StreamlitPage
from streamlit.runtime.pages_manager import PagesManager

from contextlens.content.language import say
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState

_PAGES = "pages"
"""The key under which a visit keeps the pages of its last run, for the links to them."""
SECTIONS = ("", "Read", "Inside", "Meaning", "Library")


@dataclass(frozen=True)
class PageRow:
    """One page: its file in `pages/`, and its texts for visitors."""

    name: str
    icon: str
    section: str

    @property
    def title(self) -> str:
        """The page's name in the menu and in its header."""
        return say(f"page.title.{self.name}")

    @property
    def question(self) -> str:
        """The question that it answers, in a sentence."""
        return say(f"page.question.{self.name}")

    @property
    def file(self) -> str:
        """The script's path from the root."""
        return f"pages/{self.name}.py"


PAGES = (
    PageRow("home", ":material/home:", ""),
    PageRow("tokens", ":material/format_list_numbered:", "Read"),
    PageRow("masks", ":material/grid_on:", "Read"),
    PageRow("embedding_layer", ":material/stacked_bar_chart:", "Inside"),
    PageRow("layers", ":material/layers:", "Inside"),
    PageRow("attention", ":material/hub:", "Inside"),
    PageRow("anatomy", ":material/account_tree:", "Inside"),
    PageRow("meaning", ":material/compare_arrows:", "Meaning"),
    PageRow("why", ":material/help_center:", "Meaning"),
    PageRow("senses", ":material/forum:", "Meaning"),
    PageRow("search", ":material/search:", "Meaning"),
    PageRow("pairs", ":material/join_inner:", "Meaning"),
    PageRow("sentences", ":material/short_text:", "Meaning"),
    PageRow("probe", ":material/labs:", "Meaning"),
    PageRow("map", ":material/scatter_plot:", "Meaning"),
    PageRow("corpora", ":material/library_books:", "Library"),
    PageRow("report", ":material/summarize:", "Library"),
    PageRow("proof", ":material/verified:", "Library"),
)


def row(name: str) -> PageRow:
    """Return the row of a page."""
    return next(page for page in PAGES if page.name == name)


def neighbours(page: PageRow) -> tuple[PageRow | None, PageRow | None]:
    """Return the pages before and after a page in the menu; None beyond its ends."""
    padded = (None, *PAGES, None)
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
    """Return the pages for `st.navigation`, the first one at the root address."""
    pages = {
        page.name: st.Page(page.file, title=page.title, icon=page.icon, default=page is PAGES[0])
        for page in PAGES
    }
    session.keep(_PAGES, pages)
    return list(pages.values())


def menu(view: ViewState, current: str) -> None:
    """Draw the menu, in sections; each link carries the view along, and the current one is bold."""
    parameters = session.parameters(view)
    with st.container(key="menu"):
        for section in SECTIONS:
            pages = [page for page in PAGES if page.section == section]
            if pages and section:
                st.caption(section)
            for page in pages:
                text = f"**{page.title}**" if page.name == current else page.title
                _link(page, parameters, text, page.icon)


def link(
    page: PageRow, view: ViewState, *, label: str | None = None, icon: str | None = None
) -> None:
    """Draw a link that opens a page on a view."""
    _link(page, session.parameters(view), label or page.title, icon or page.icon)


def _link(page: PageRow, parameters: Mapping[str, str], text: str, sign: str) -> None:
    pages: Mapping[str, StreamlitPage] | None = session.kept(_PAGES)
    if pages is None:  # a page script that runs alone has no other pages
        st.button(text, icon=sign, disabled=True, type="tertiary", key=f"alone_{text}")
    else:
        # Not by file, as Streamlit would look for it on disk once for each link.
        st.page_link(pages[page.name], label=text, icon=sign, query_params=parameters)
