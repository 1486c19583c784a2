"""The sidebar: menu, model and its card, shared sentences, examples, Reset."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.wording import escape
from components.core import ModelCard
from components.core.errors import ServiceAwayError
from components.ui.access import sign_in
from components.ui.frame import navigation, picker
from components.ui.models import runtime, wishes
from components.ui.state import session
from components.ui.state.view import ViewState
from components.ui.widgets import examples, sentences

__all__ = ["draw", "finish"]


def draw(view: ViewState) -> DeltaGenerator:
    """The whole sidebar; gives the place of the model card, which needs the model loaded."""
    with st.sidebar:
        with st.container(key="brand"):
            st.markdown(":material/center_focus_strong: **Contextlens**")
        sign_in.account(view)
        navigation.menu(view)
        st.divider()
        try:
            picker.draw(view)
        except ServiceAwayError:  # and has told of no models before; the page says so
            st.caption("The models can be chosen once the service answers.")
        card_place = st.empty()
        finish(card_place, view)
        st.divider()
        sentences.sentence_editor(view, "sentences", where="side", least=1)
        with st.container(horizontal=True, gap="small"):
            examples.menu(view)
            st.button("Reset", icon=":material/restart_alt:", key="reset", on_click=_reset)
    return card_place


def finish(place: DeltaGenerator, view: ViewState) -> None:
    """Fill in the model card, now that the page has loaded the model; a skeleton before."""
    if runtime.is_loaded(view.model):
        with place.container():
            _card(runtime.service().load(view.model))
    else:
        place.caption("Not loaded yet")


def _card(card: ModelCard) -> None:
    origin = {"bundled": "bundled, checked", "hub": f"hub {card.revision[:7]}", "folder": "folder"}
    with st.container(gap=None):
        st.caption(f"{card.n_layers} layers · {card.n_dims} dims · {card.n_heads} heads")
        with st.popover(origin[card.source], type="tertiary", icon=":material/verified:"):
            _card_details(card)


def _card_details(card: ModelCard) -> None:
    facts = {
        "Family": card.family,
        "From": card.location,
        "Revision": card.revision or "none",
        "Weights, SHA-256": card.checksum,
        "Parameters": f"{card.n_parameters:,}",
        "Memory": f"{card.memory_bytes / 1e6:,.0f} MB",
        "Computes on": card.device,
        "Vocabulary": f"{card.vocabulary_size:,} pieces, "
        + ("capitals matter" if card.cased else "capitals make no difference"),
        "Longest input": f"{card.max_length} tokens",
    }
    st.markdown(f"**{escape(card.title)}**")
    st.markdown("  \n".join(f"{name}: {escape(text)}" for name, text in facts.items()))
    parts = {
        "Embedding layer": card.provenance.embedding_layer,
        "Encoder": card.provenance.encoder,
        "Pooler": card.provenance.pooler,
    }
    for name, part in parts.items():
        st.markdown(f"**{name}: {part.state}.** {escape(part.reason)}")


def _reset() -> None:
    wishes.drop()
    session.write(session.default())
