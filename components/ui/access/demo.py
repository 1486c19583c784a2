"""The line that says on every page of a demo what is small in it, and how to have it whole."""

from __future__ import annotations

import streamlit as st

from components.core.settings import DEMO_CHARACTERS, DEMO_POINTS
from components.ui.access import guard

__all__ = ["LINE", "line"]

LINE = (
    f"This is a demo: texts of up to {DEMO_CHARACTERS:,} characters, maps of up to "
    f"{DEMO_POINTS:,} points, no files of your own, and nothing is kept."
)


def line() -> None:
    """The line, where this is a demo."""
    if guard.is_demo():
        st.caption(f":material/info: {LINE}")
