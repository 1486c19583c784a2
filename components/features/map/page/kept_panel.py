"""What is said where a stored corpus is to be mapped and none is chosen."""

from __future__ import annotations

import streamlit as st

from components.ui.corpora.known import titles
from components.ui.frame import navigation
from components.ui.state.view import ViewState

__all__ = ["kept_panel"]


def kept_panel(view: ViewState) -> None:
    """Where to choose a corpus, or to add one."""
    with st.container(border=True, key="map_choose_kept"):
        if titles(view):
            st.markdown("Choose one of the corpora that are kept for you, above, or add another.")
        else:
            st.markdown("No corpus is kept for you here yet. Add one, and it can be mapped too.")
        navigation.link(navigation.row("corpora"), view, label="To the corpora")
