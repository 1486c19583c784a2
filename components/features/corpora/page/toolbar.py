"""Above the picture: texts of one's own, and where to go from here."""

from __future__ import annotations

import streamlit as st

from components.content.language import say
from components.content.wording import escape, quoted
from components.features.corpora.compute.shown import Shown
from components.features.corpora.page import managing
from components.ui.access import guard
from components.ui.access.roles import KEEP
from components.ui.corpora import links
from components.ui.frame import navigation
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = ["ADDING", "toolbar"]

ADDING = "corpora_adding"
"""Under which a visit keeps whether it is about to add a file."""


def toolbar(view: ViewState, shown: Shown) -> None:
    """The controls of the page."""
    why_not = guard.refusal(KEEP)
    with st.container(
        horizontal=True, gap="small", vertical_alignment="center", key="corpora_toolbar"
    ):
        st.button(
            say("corpora.add"),
            icon=":material/upload_file:",
            type="primary" if not session.kept(ADDING) else "secondary",
            key="corpora_add",
            disabled=bool(why_not),
            help=escape(why_not) if why_not else None,
            on_click=_toggle,
        )
        if shown.words.rows:
            _look(view, shown)
        if shown.kept is not None:
            managing.menu(view, shown.kept)


def _look(view: ViewState, shown: Shown) -> None:
    """Links to the pages that show a corpus."""
    if links.has_page("senses"):
        label = say("corpora.senses_of", word=quoted(shown.word))
        opened = links.on_senses(view, shown.key, shown.word)
        navigation.link(navigation.row("senses"), opened, label=label)
    if shown.key == "ambiguous":
        navigation.link(
            navigation.row("map"), links.on_ready_map(view), label=say("corpora.on_map")
        )
    elif shown.kept is not None:
        opened = links.on_map(view, shown.key)
        navigation.link(navigation.row("map"), opened, label=say("corpora.on_map"))


def _toggle() -> None:
    session.keep(ADDING, not session.kept(ADDING))
