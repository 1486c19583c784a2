"""What is said where a stored corpus is to be mapped and none is chosen."""

from __future__ import annotations

import streamlit as st

from components.content.language import say
from components.ui.corpora.known import titles
from components.ui.frame import navigation
from components.ui.state.view import ViewState

__all__ = ["kept_panel"]


def kept_panel(view: ViewState) -> None:
    """Where to choose a corpus, or to add one."""
    with st.container(border=True, key="map_choose_kept"):
        if titles(view):
            st.markdown(say("map.kept.choose"))
        else:
            st.markdown(say("map.kept.none"))
        navigation.link(navigation.row("corpora"), view, label=say("map.kept.link"))
