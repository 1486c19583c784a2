"""A second model beside the page's own, loaded in the background when it is asked for."""

from __future__ import annotations

import time

import streamlit as st

from components.content.wording import escape
from components.core import ModelCard, ModelSpec
from components.core.errors import ModelError
from components.ui.frame import errors
from components.ui.models import runtime
from components.ui.models.loads import Load

__all__ = ["card_of"]

_POLL_SECONDS = 0.1


def card_of(spec: ModelSpec) -> ModelCard | None:
    """The model's card; where its files are not here yet, a button that gets them, and None."""
    if spec.loaded:
        return runtime.service().load(spec.id)
    here = spec.on_disk or spec.source != "hub"
    if not here and spec.id not in _asked():
        size = f" ({spec.download_bytes / 1e6:,.0f} MB)" if spec.download_bytes else ""
        _button(spec.id, f"Get {escape(spec.title)}{size}", ":material/download:")
        st.caption("It is fetched once and stays on the machine that runs this app.")
        return None
    if spec.id not in _asked():
        _start(spec.id)
    return _awaited(spec.id, _asked()[spec.id])


def _awaited(model: str, found: Load) -> ModelCard | None:
    """The card once it is there; the load goes on when the visitor does something else."""
    place, me = st.empty(), object()
    if not found.done() and not found.join(me):
        return None
    try:
        while not found.done():
            # Each turn must send something: then Streamlit lets a visitor's click through.
            runtime.show_progress(found.status(), place)
            time.sleep(_POLL_SECONDS)
    finally:
        found.leave(me)
    place.empty()
    return _ended(model, found)


def _ended(model: str, found: Load) -> ModelCard | None:
    if found.was_stopped:  # in the sidebar, where models are picked
        _button(model, "Get it after all", ":material/download:")
        return None
    try:
        card = found.result()
    except ModelError as exc:
        errors.show(exc)
        _button(model, "Try again", ":material/refresh:")
        return None
    if not runtime.is_loaded(model):  # it left memory since
        return runtime.service().load(model)
    return card


def _button(model: str, label: str, icon: str) -> None:
    st.button(label, icon=icon, key="get_second_model", on_click=_start, args=(model,))


def _start(model: str) -> None:
    _asked()[model] = runtime.start_loading(model)


@st.cache_resource(show_spinner=False)
def _asked() -> dict[str, Load]:
    return {}
