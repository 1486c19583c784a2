"""Closer looks on Layer by layer: one token through the layers, and tokens in pairs.

Each gives the arrays that it adds to the page's download.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from components.content.language import say
from components.content.wording import quoted
from components.core import EncoderService
from components.core.schema import FloatArray
from components.features.layers.compute.tokens import (
    Arrays,
    HiddenStates,
    NearestTokens,
    nearest_tokens,
    pairs_of,
    pairs_table,
)
from components.features.layers.controls import SECTION, TOKEN
from components.features.layers.figures.heatmaps import pairs_heatmap
from components.features.layers.reading import nearest_reading, pairs_reading, pairs_title
from components.figures.strips import vector_strips
from components.figures.theme import color_of
from components.ui.state import session
from components.ui.state.view import ViewState, letter
from components.ui.widgets import kit
from components.ui.widgets.token_strip import token_strip

__all__ = ["one_token", "token_pairs"]

_LONG = 40  # tokens from which the strip scrolls within itself


def one_token(view: ViewState, states: HiddenStates, service: EncoderService) -> Arrays:
    """The picked token's vector at every layer, and its nearest tokens there."""
    label, layers = states.labels[states.picked], states.encoding.layers
    near = nearest_tokens(view, states, service)
    _strip(states)
    said = nearest_reading(near.picked, near.names, near.found, layers, states.chance)
    kit.reading(said, key="reading_nearest")
    left, right = st.columns(2, gap="medium")
    with left:
        _vectors(states)
    with right:
        if not near.is_empty:
            st.caption(say("layers.nearest.table", token=quoted(label)))
            _nearest(near, states)
    return {"picked_vectors": states.encoding.hidden[:, states.picked]}


def token_pairs(states: HiddenStates) -> Arrays:
    """The cosine of every two tokens at the chosen layer."""
    pairs = pairs_of(states)
    average = None if states.chance is None else float(states.chance[states.layer])
    said = pairs_reading(pairs, states.labels, states.own, states.layer, average)
    kit.reading(said, key="reading_pairs")
    _pairs(pairs, states)
    table = pairs_table(pairs, states.labels)
    if table is not None:
        with st.expander(say("layers.as_table")):
            st.dataframe(table, key="layers_pairs_table")
    return {"token_pairs": pairs}


def _strip(states: HiddenStates) -> None:
    """The text and its tokens; a click looks at a token closer."""
    tall = states.encoding.n_tokens > _LONG
    with st.container(height=206 if tall else "content", border=False, key="layers_strip"):
        token_strip(
            states.encoding,
            states.vocabulary,
            key="layers_tokens",
            name=f"sentence {letter(states.index)}",
            color=color_of(states.index),
            word=states.sentence.word,
            picked=states.picked,
            on_pick=_pick,
        )


def _pick(position: int) -> None:
    view = TOKEN.put(session.current(), position)
    session.write(SECTION.put(view, SECTION.default))


def _vectors(states: HiddenStates) -> None:
    vectors, layers = states.encoding.hidden[:, states.picked], states.encoding.layers
    title = say("layers.nearest.vector", token=states.labels[states.picked])
    names = [f"layer {n}" for n in layers]
    chosen = layers.index(states.layer)
    kit.chart(
        vector_strips(vectors, names, title=title, chosen=chosen, height=340),
        key="layers_vector",
        alt=say("layers.nearest.vector_alt", title=title, n=vectors.shape[1]),
    )


def _nearest(near: NearestTokens, states: HiddenStates) -> None:
    number = st.column_config.NumberColumn
    table = near.table(states)
    columns: dict[str, Any] = {
        name: number("cosine", format="%.4f", width=70)
        for name in table.columns
        if name.startswith("cosine")
    }
    columns["layer"] = number(width=50)
    if "random pairs" in table.columns:
        columns["random pairs"] = number(
            format="%.4f",
            width=95,
            help=say("layers.nearest.random_help"),
        )
    kit.table(table, columns=columns, key="layers_nearest")


def _pairs(pairs: FloatArray, states: HiddenStates) -> None:
    title = str(pairs_title(pairs, states.labels, states.own))
    figure = pairs_heatmap(pairs, states.labels, scale=states.cosine_scale, title=title)
    alt = say("layers.pairs.alt", title=title, layer=states.layer)
    kit.chart(figure, key="layers_pairs", alt=alt)
