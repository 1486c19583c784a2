"""The parts of Start here beside its miniature: the introduction and the examples."""

from __future__ import annotations

import streamlit as st

from components.content.examples import EXAMPLES
from components.features.home.explain import HOME_INTRO
from components.ui.state.view import ViewState
from components.ui.widgets import examples

__all__ = ["gallery", "introduction"]


def introduction() -> None:
    """What this app is, in three sentences."""
    st.markdown(HOME_INTRO)


def gallery(view: ViewState) -> None:
    """Each example as a link, with the question that it asks."""
    st.subheader("Try an example", anchor=False)
    for example in EXAMPLES:
        with st.container(gap=None, key=f"home_{example.key}"):
            examples.link(example, view, where="home")
            model = examples.needs(example)
            st.caption(example.question + (f" Needs {model}." if model else ""))
