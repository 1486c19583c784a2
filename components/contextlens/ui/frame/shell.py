"""The header of every page: its title and question, ways to share it, a place for downloads."""

from __future__ import annotations

from importlib.resources import files

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.wording import escape
from contextlens.core.remote.service import RemoteService
from contextlens.core.settings import DEMO_CHARACTERS, DEMO_POINTS
from contextlens.ui.access import sign_in
from contextlens.ui.files import chooser
from contextlens.ui.files.uploads import take_refusal
from contextlens.ui.frame import present, share
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.services import settings, uncached
from contextlens.ui.state.view import ViewState

DEMO_LINE = (
    f"This is a demo: texts of up to {DEMO_CHARACTERS:,} characters, maps of up to "
    f"{DEMO_POINTS:,} points, no files of your own, and nothing is kept."
)


def configure() -> None:
    """Set the page's title, icon and width.

    The icon is ours, as Streamlit's own would be fetched from the network.
    """
    assets = files("contextlens.ui.frame") / "assets"
    st.set_page_config(page_title="Contextlens", page_icon=str(assets / "icon.svg"), layout="wide")


def service_notice() -> None:
    """Draw a notice while the service does not answer; pages keep what they have."""
    service = uncached()
    if isinstance(service, RemoteService) and service.away is not None:
        st.warning(
            "The service that runs the models does not answer. Pages show what was computed "
            "before; anything new has to wait until it is back.",
            icon=":material/cloud_off:",
        )


def header(name: str, view: ViewState) -> DeltaGenerator:
    """Draw the page's title and question; return the place for its downloads."""
    navigation.ensure_frame()
    page = navigation.row(name)
    if present.is_on():
        present.header(page, view)
        downloads = st.container(key="downloads")
    else:
        downloads = _header(page, view)
    if settings().demo:
        st.caption(f":material/info: {DEMO_LINE}")
    sign_in.notice()
    notice = session.take_notice() or take_refusal()
    if notice:
        st.warning(escape(notice), icon=":material/info:")
        chooser.offered_link(view)
    return downloads


def _header(page: navigation.PageRow, view: ViewState) -> DeltaGenerator:
    """Draw the title's line, which keeps its height as buttons come, and the question below it."""
    with st.container(gap=None, key="page_title"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.title(page.title, anchor=False, width="stretch")
            share.buttons(view, page.name)
            downloads = st.container(horizontal=True, gap="small", width="content", key="downloads")
            present.button()
        st.caption(page.question)
    return downloads
