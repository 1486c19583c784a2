"""A second tokenizer beside the model's own, fetched in the background when it is asked for."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

import streamlit as st

from components.core.schema import ModelSpec, TokenizerCard
from components.ui.frame import errors
from components.ui.models import runtime

__all__ = ["card_of"]

_POLL_SECONDS = 0.1


def card_of(spec: ModelSpec) -> TokenizerCard | None:
    """A tokenizer's card; where it is not here yet, a button that gets it, and None."""
    model = spec.id
    future = _asked().get(model)
    if future is None and (spec.loaded or spec.on_disk):
        return runtime.service().load_tokenizer(model)
    if future is None:
        _button(model, f"Get the tokenizer of {spec.title}", ":material/download:")
        st.caption("Less than 1 MB for a BERT model: its weights are not needed.")
        return None
    place = st.empty()
    while not future.done():
        # Each turn must send something: it is then that Streamlit lets a visitor's click through.
        place.caption("Getting the tokenizer…")
        time.sleep(_POLL_SECONDS)
    place.empty()
    with errors.boundary():
        return future.result()
    _button(model, "Try again", ":material/refresh:")
    return None


def _button(model: str, label: str, icon: str) -> None:
    st.button(label, icon=icon, key="get_tokenizer", on_click=_start, args=(model,))


def _start(model: str) -> None:
    future = _asked().get(model)
    if future is None or (future.done() and future.exception() is not None):
        _asked()[model] = _pool().submit(runtime.service().load_tokenizer, model)


@st.cache_resource(show_spinner=False)
def _asked() -> dict[str, Future[TokenizerCard]]:
    return {}


@st.cache_resource(show_spinner=False)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(2, thread_name_prefix="contextlens-tokenizer")
