"""Present mode: a page for a whole room, in large type and without what one person needs.

It is a choice of the view, so that a link opens in it. Pages do not ask for it: the header here
replaces the usual one, `widgets/kit.py` leaves out tabs, closer looks and details, and
`present.css` hides the rest.
"""

from __future__ import annotations

from typing import Literal

import streamlit as st

from contextlens.content.language import say, table
from contextlens.ui.page import navigation
from contextlens.ui.page.navigation import PageRow
from contextlens.ui.state import session
from contextlens.ui.state.controls import PRESENT
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.component import component

_NOTE: tuple[Literal["point", "ask", "surprise"], ...] = ("point", "ask", "surprise")


def is_on() -> bool:
    """Return True if the page is presented."""
    return session.is_presented()


def keys() -> None:
    """Let arrow keys go through the pages, N open the speaker's note, and Escape leave."""
    component("contextlens.ui.frame", "present_keys", {}, key="presenting")


def button() -> None:
    """Draw the button that begins present mode."""
    st.button(
        say("frame.present.begin"),
        icon=":material/slideshow:",
        key="present",
        help=say("frame.present.help"),
        on_click=_switch,
        args=(True,),
    )


def header(page: PageRow, view: ViewState) -> None:
    """Draw the title, the ways to the pages before and after it, the speaker's note, and Leave."""
    before, after = navigation.neighbours(page, navigation.pages_for(view.model, page.name))
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="present_header"
    ):
        st.title(page.title, anchor=False, width="stretch")
        for side, other in (("before", before), ("after", after)):
            if other is not None:
                with st.container(width="content", key=f"present_{side}"):
                    label = say(f"frame.present.{side}", title=other.title)
                    sign = f":material/arrow_{'back' if side == 'before' else 'forward'}:"
                    navigation.link(other, view, label=label, icon=sign)
        with st.popover(
            say("frame.present.note"), icon=":material/speaker_notes:", key="present_note"
        ):
            _note(page)
        st.button(
            say("frame.present.leave"),
            icon=":material/close:",
            key="present_leave",
            on_click=_switch,
            args=(False,),
        )


def _note(page: PageRow) -> None:
    for part in _NOTE:
        title, text = say(f"frame.present.{part}"), table("frame.note")[page.name][part]
        st.markdown(f"**{title}**  \n{text}")
    st.caption(say("frame.present.keys"))


def _switch(on: bool) -> None:
    session.write(PRESENT.put(session.current(), on))
