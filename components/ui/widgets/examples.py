"""The ready examples, as links: the sidebar has them as a menu, Start here as a gallery."""

from __future__ import annotations

import streamlit as st

from components.content.examples import EXAMPLES, Example
from components.ui.frame import navigation
from components.ui.models import runtime
from components.ui.state.view import ViewState, from_example

__all__ = ["link", "menu", "needs"]


def menu(view: ViewState) -> None:
    """The examples as a short menu."""
    with (
        st.popover("Examples", icon=":material/lightbulb:"),
        st.container(key="examples", gap="small"),
    ):
        for example in EXAMPLES:
            link(example, view, where="side")


def needs(example: Example) -> str | None:
    """The model that an example waits for; None where it can be opened."""
    waits = example.model is not None and not runtime.is_loaded(example.model)
    return example.model if waits else None


def link(example: Example, view: ViewState, *, where: str) -> None:
    """A link to Meaning in context on an example, disabled until the model it needs is loaded."""
    model = needs(example)
    if model is not None:
        st.button(
            example.title,
            icon=example.icon,
            disabled=True,
            type="tertiary",
            key=f"{where}_example_{example.key}",
            help=f"Choose the model {model} first: this example needs it.",
        )
        return
    page = navigation.row("meaning")
    opened = from_example(example, view.model)
    navigation.link(page, opened, label=example.title, icon=example.icon)
