"""The head of every page: its title and question, a link to this view, a place for downloads."""

from __future__ import annotations

from importlib.resources import files
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.wording import escape
from components.core.errors import StateError
from components.ui.frame import navigation
from components.ui.state import session
from components.ui.state.address import from_json, to_json
from components.ui.state.view import ViewState

__all__ = [
    "configure",
    "header",
]


def configure() -> None:
    """Page title, icon and width; and the few rules that the theme has no setting for.

    The icon is ours: Streamlit's own would be fetched from the network.
    """
    assets = files("components.ui.frame") / "assets"
    st.set_page_config(page_title="Contextlens", page_icon=str(assets / "icon.svg"), layout="wide")
    style = (assets / "frame.css").read_text(encoding="utf-8")
    st.html(f"<style>{style}</style>")


def header(name: str, view: ViewState) -> DeltaGenerator:
    """The page's title and question; gives the place for its downloads."""
    navigation.ensure_frame()
    page = navigation.row(name)
    top = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with top:
        with st.container(gap=None, width="stretch", key="page_title"):
            st.title(page.title, anchor=False)
            st.caption(page.question)
        _link_popover(view)
        downloads = st.container(width="content", key="downloads")
    notice = session.take_notice()
    if notice:
        st.warning(escape(notice), icon=":material/info:")
    return downloads


def _link_popover(view: ViewState) -> None:
    with st.popover("Copy link", icon=":material/link:", key="copy_link"):
        if session.is_too_long(view):
            st.markdown("These texts are too long for an address. Send a state file instead.")
        else:
            st.markdown("Who opens this address sees this view.")
            st.code(_address(view), language=None, wrap_lines=True)
            st.caption("Your sentences are part of the address: share it as you would share them.")
        st.download_button(
            "Save the view as a file",
            lambda: to_json(view).encode("utf-8", "replace"),
            file_name="contextlens-view.json",
            mime="application/json",
            on_click="ignore",
            key="save_view",
        )
        st.file_uploader(
            "Open a view", type="json", key="open_view", on_change=_open_view, max_upload_size=2
        )


def _address(view: ViewState) -> str:
    """The address of this page on this view."""
    base = (st.context.url or "").split("?")[0]
    query = urlencode(session.parameters(view))
    return f"{base}?{query}" if query else base


def _open_view() -> None:
    file = session.value("open_view")
    if file is None:
        return
    try:
        session.write(from_json(file.getvalue().decode()))
    except UnicodeDecodeError:
        session.remember("This file is not text, so it is not a view. Choose another file.")
    except StateError as exc:
        session.remember(str(exc))
