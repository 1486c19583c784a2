"""What happens once in a process, behind the first page: the first model, then what maps need."""

from __future__ import annotations

import gc
import threading

import streamlit as st

from components.ui.models import runtime
from components.ui.models.background import maps

__all__ = ["begin"]


@st.cache_resource(show_spinner=False)
def begin(_model: str) -> None:
    """Begin, in the background; nothing happens when it is called again."""
    threading.Thread(
        target=_prepare, args=(_model,), daemon=True, name="contextlens-startup"
    ).start()


def _prepare(model: str) -> None:
    runtime.start_loading(model).wait()
    # Streamlit collects garbage after every run of a script. With half a million objects of the
    # libraries in sight that takes 0.4 s, in which nothing else runs; they never become garbage.
    gc.collect()
    gc.freeze()
    maps().warm_up()
