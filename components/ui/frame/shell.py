"""The head of every page: its title and question, ways to share it, a place for downloads."""

from __future__ import annotations

from importlib.resources import files

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.wording import escape
from components.ui.access import demo, sign_in
from components.ui.frame import navigation, share
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = [
    "configure",
    "header",
]


def configure() -> None:
    """Page title, icon and width.

    The icon is ours: Streamlit's own would be fetched from the network.
    """
    assets = files("components.ui.frame") / "assets"
    st.set_page_config(page_title="Contextlens", page_icon=str(assets / "icon.svg"), layout="wide")


def header(name: str, view: ViewState) -> DeltaGenerator:
    """The page's title and question; gives the place for its downloads."""
    navigation.ensure_frame()
    page = navigation.row(name)
    top = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with top:
        with st.container(gap=None, width="stretch", key="page_title"):
            st.title(page.title, anchor=False)
            st.caption(page.question)
        share.buttons(view)
        downloads = st.container(width="content", key="downloads")
    demo.line()
    sign_in.notice()
    notice = session.take_notice()
    if notice:
        st.warning(escape(notice), icon=":material/info:")
    return downloads
