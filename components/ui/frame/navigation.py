"""Every page in one table, and the menu made of it. A new page is one row here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.navigation.page import Page as StreamlitPage
from streamlit.runtime.pages_manager import PagesManager

from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = ["PAGES", "SECTIONS", "PageRow", "ensure_frame", "link", "menu", "row", "streamlit_pages"]

_PAGES = "pages"
"""Under which a visit keeps the pages of its last run, for the links to them."""
SECTIONS = ("", "Read", "Inside", "Meaning", "Library")


@dataclass(frozen=True)
class PageRow:
    """One page: its file in `pages/`, and what visitors see of it."""

    name: str
    title: str
    icon: str
    section: str
    question: str

    @property
    def file(self) -> str:
        """The script's path from the root."""
        return f"pages/{self.name}.py"


PAGES = (
    PageRow(
        "home", "Start here", ":material/home:", "", "What does a language model see in your text?"
    ),
    PageRow(
        "tokens",
        "Tokens & IDs",
        ":material/format_list_numbered:",
        "Read",
        "Which pieces is your text cut into, and which numbers does the model get?",
    ),
    PageRow(
        "masks",
        "Padding & masks",
        ":material/grid_on:",
        "Read",
        "What does padding do to a sentence, and what does the mask prevent?",
    ),
    PageRow(
        "embedding_layer",
        "Embedding layer",
        ":material/stacked_bar_chart:",
        "Inside",
        "What does the model know of each token before it reads the others?",
    ),
    PageRow(
        "layers",
        "Layer by layer",
        ":material/layers:",
        "Inside",
        "What does each layer make of every token?",
    ),
    PageRow(
        "attention",
        "Attention",
        ":material/hub:",
        "Inside",
        "Which other tokens does each token look at?",
    ),
    PageRow(
        "anatomy",
        "Anatomy",
        ":material/account_tree:",
        "Inside",
        "What is the model made of, and how much of it is where?",
    ),
    PageRow(
        "meaning",
        "Meaning in context",
        ":material/compare_arrows:",
        "Meaning",
        "Does a word mean the same thing in another sentence?",
    ),
    PageRow(
        "why",
        "Why alike?",
        ":material/help_center:",
        "Meaning",
        "Which words, layers and heads make these two alike?",
    ),
    PageRow(
        "senses",
        "Senses",
        ":material/forum:",
        "Meaning",
        "Which meanings does a word have here, and which layer separates them?",
    ),
    PageRow(
        "pairs",
        "Pairs",
        ":material/join_inner:",
        "Meaning",
        "Does a word mean the same in both texts?",
    ),
    PageRow(
        "map",
        "Map",
        ":material/scatter_plot:",
        "Meaning",
        "Which words or sentences does the model consider similar?",
    ),
    PageRow(
        "corpora",
        "Corpora",
        ":material/library_books:",
        "Library",
        "Which texts are kept here, ready to be searched word by word?",
    ),
)


def row(name: str) -> PageRow:
    """The row of a page."""
    return next(page for page in PAGES if page.name == name)


def ensure_frame() -> None:
    """Run `main.py` around the page where a page address was the first that a server ever saw.

    Until `st.navigation` has been called once in a process, Streamlit takes the `pages/` folder
    for its older kind of app and runs the page's file alone, without menu or error boundary.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


def streamlit_pages() -> Sequence[StreamlitPage]:
    """The pages for `st.navigation`, the first one at the root address."""
    pages = {
        page.name: st.Page(page.file, title=page.title, icon=page.icon, default=page is PAGES[0])
        for page in PAGES
    }
    session.keep(_PAGES, pages)
    return list(pages.values())


def menu(view: ViewState) -> None:
    """The menu, in sections; each link carries the view along."""
    parameters = session.parameters(view)
    with st.container(key="menu"):
        for section in SECTIONS:
            pages = [page for page in PAGES if page.section == section]
            if pages and section:
                st.caption(section)
            for page in pages:
                _link(page, parameters, page.title, page.icon)


def link(
    page: PageRow, view: ViewState, *, label: str | None = None, icon: str | None = None
) -> None:
    """A link to a page that opens it on a view."""
    _link(page, session.parameters(view), label or page.title, icon or page.icon)


def _link(page: PageRow, parameters: Mapping[str, str], text: str, sign: str) -> None:
    pages: Mapping[str, StreamlitPage] | None = session.kept(_PAGES)
    if pages is None:  # a page script that runs alone has no other pages
        st.button(text, icon=sign, disabled=True, type="tertiary", key=f"alone_{text}")
    else:
        # Not by its file, which Streamlit would look for on disk once for each link.
        st.page_link(pages[page.name], label=text, icon=sign, query_params=parameters)
