"""A second model beside the page's own, loaded in the background when it is asked for."""

from __future__ import annotations

import time

import streamlit as st

from components.analysis.readings import escape
from components.core import ModelCard, ModelSpec
from components.core.errors import ModelError
from components.ui import errors, runtime

__all__ = ["card_of"]

_POLL_SECONDS = 0.1


def card_of(spec: ModelSpec) -> ModelCard | None:
    """The model's card; where its files are not here yet, a button that gets them, and None."""
    here = spec.loaded or spec.on_disk or spec.source != "hub"
    if not here and not _is_asked(spec):
        return None
    try:
        return runtime.service().load(spec.id) if spec.loaded else _awaited(spec.id)
    except ModelError as exc:
        errors.show(exc)
        return None


def _is_asked(spec: ModelSpec) -> bool:
    size = f" ({spec.download_bytes / 1e6:,.0f} MB)" if spec.download_bytes else ""
    label = f"Get {escape(spec.title)}{size}"
    asked = st.button(label, icon=":material/download:", key="get_second_model")
    st.caption("It is fetched once and stays on the machine that runs this app.")
    return asked


def _awaited(model: str) -> ModelCard:
    """The card once the model is loaded; a load goes on when the visitor does something else."""
    place, me = st.empty(), object()
    found = runtime.start_loading(model, me)
    try:
        while not found.done():
            # Each turn must send something: then Streamlit lets a visitor's click through.
            runtime.show_progress(found.status(), place)
            time.sleep(_POLL_SECONDS)
    finally:
        found.leave(me)
    place.empty()
    return found.result()
