"""The sidebar: menu, model and its card, shared sentences, examples, Reset."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.language import say
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
    with st.container(gap=None):
        sizes = {"layers": card.n_layers, "dims": card.n_dims, "heads": card.n_heads}
        st.caption(say("frame.card.sizes", **sizes))
        with st.popover(_origin(card), type="tertiary", icon=":material/verified:"):
            _card_details(card)


def _card_details(card: ModelCard) -> None:
    facts = [
        say("frame.card.family", family=escape(card.family)),
        say("frame.card.location", location=escape(card.location)),
        say("frame.card.revision", revision=escape(card.revision or "none")),
        say("frame.card.checksum", checksum=escape(card.checksum)),
        say("frame.card.parameters", n=card.n_parameters),
        say("frame.card.memory", megabytes=card.memory_bytes / 1e6),
        say("frame.card.device", device=escape(card.device)),
        say(f"frame.card.{'cased' if card.cased else 'uncased'}", n_pieces=card.vocabulary_size),
        say("frame.card.longest", n_tokens=card.max_length),
    ]
    st.markdown(f"**{escape(card.title)}**")
    st.markdown("  \n".join(facts))
    parts = card.provenance
    for name, part in (
        ("embedding_layer", parts.embedding_layer),
        ("encoder", parts.encoder),
        ("pooler", parts.pooler),
    ):
        title = say(f"frame.part.{name}")
        st.markdown(say(f"frame.part.{part.state}", part=title, reason=escape(part.reason)))


def _origin(card: ModelCard) -> str:
    return say(f"frame.origin.{card.source}", revision=(card.revision or "")[:7])


def _reset() -> None:
    wishes.drop()
    session.write(session.default())
