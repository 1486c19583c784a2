"""A closer look on Layer by layer: the pooler by hand, beside the model's own output.

It gives the arrays that it adds to the page's download.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.core import EncoderService
from components.core.schema import FloatArray
from components.features.layers.compute.pooler import (
    ByHand,
    by_hand,
    linear_name,
    sentence_rows,
    steps,
)
from components.features.layers.compute.tokens import Arrays, HiddenStates, encode_all
from components.features.layers.explain import POOLER
from components.features.layers.reading import pooler_reading
from components.features.layers.snippet import pooler_snippet
from components.figures.strips import vector_strips
from components.ui.state.view import ViewState
from components.ui.widgets import kit

__all__ = ["pooler"]


def pooler(view: ViewState, states: HiddenStates, service: EncoderService) -> Arrays:
    """The pooler's output for this sentence, and how alike it makes all of them."""
    own = states.encoding.pooler_output
    if own is None:
        claims, _ = pooler_reading(states.card, None)
        kit.reading(claims, key="reading_pooler")
        return {}
    hand = by_hand(states, service)
    _output(states, hand, own)
    left, right = st.columns(2, gap="medium")
    with left:
        _sentences(view, service)
    with right, st.expander(say("layers.code")):
        st.markdown(POOLER)
        _code(states, service)
    return {"pooler_output": own} | ({} if hand.pooled is None else {"pooler_by_hand": hand.pooled})


def _output(states: HiddenStates, hand: ByHand, own: FloatArray) -> None:
    if hand.reason:
        st.caption(say("layers.pooler.not_computed", reason=escape(hand.reason)))
    claims, sure = pooler_reading(states.card, hand.difference(own))
    kit.reading(claims, sure=sure, key="reading_pooler")
    rows = steps(states, hand, own)
    title = say("layers.pooler.title")
    kit.chart(
        vector_strips(np.stack(list(rows.values())), list(rows), title=title, height=260),
        key="layers_pooler",
        alt=say("layers.pooler.alt", title=title, steps=", ".join(rows)),
    )


def _sentences(view: ViewState, service: EncoderService) -> None:
    rows = sentence_rows(encode_all(view, service))
    if not rows:
        st.caption(say("layers.pooler.one_sentence"))
        return
    st.caption(say("layers.pooler.sentences"))
    kit.table(rows, after=1, key="layers_sentences")


def _code(states: HiddenStates, service: EncoderService) -> None:
    encoding = states.encoding
    code = pooler_snippet(
        states.card, encoding.text, encoding.pair, linear=linear_name(states, service)
    )
    st.code(code, language="python", wrap_lines=True)
