"""Closer looks on Layer by layer: whole layers compared, also of two models, and their spread.

Each gives the arrays that it adds to the page's download.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from components.content.language import say
from components.core import EncoderService, ModelCard
from components.features.layers.compute.spaces import (
    COMPONENTS,
    Compared,
    Spread,
    alike_table,
    compared_layers,
    snippet_texts,
    spread_of,
    spread_table,
)
from components.features.layers.compute.tokens import Arrays, HiddenStates
from components.features.layers.controls import WORDS, other_in
from components.features.layers.explain import ALIKE, SPREAD
from components.features.layers.figures.heatmaps import spaces_heatmap
from components.features.layers.figures.spread import random_pairs_lines, variance_lines
from components.features.layers.measures.spaces import LEAST_WORDS
from components.features.layers.reading import (
    alike_reading,
    alike_title,
    spread_reading,
    spread_titles,
)
from components.features.layers.snippet import cka_snippet, variance_snippet
from components.ui.models import runtime, second
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit

__all__ = ["layers_compared", "spread"]

_MOST_WORDS = 200  # in a snippet that one can still read


def layers_compared(view: ViewState, states: HiddenStates, service: EncoderService) -> Arrays:
    """Linear CKA between layers of this model, or of this one and another."""
    specs = {spec.id: spec for spec in (*service.models(), *runtime.own_models())}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        inputs.choice(view, WORDS)
        chosen = inputs.select(view, other_in(specs.values(), view.model))
    other = second.model_card(specs[chosen]) if chosen else states.card
    if other is None:
        return {}
    with st.spinner("Comparing the layers…"):
        compared = compared_layers(view, states.card, other, service)
    _alike(compared)
    with st.expander(say("layers.details")):
        _alike_tables(compared)
        st.markdown(ALIKE)
        _alike_code(view, compared, states.card, None if compared.is_one else other)
    found = compared.alike
    return {
        "linear_cka": found.cka,
        "linear_cka_debiased": found.debiased,
        "linear_cka_shuffled": found.shuffled,
    }


def spread(states: HiddenStates, service: EncoderService) -> Arrays:
    """Anisotropy at every layer, and the variance that the first components hold."""
    with st.spinner("Encoding the sample sentences…"):
        found = spread_of(states, service)
    n_words = len(found.sample.keys)
    layers = states.encoding.layers
    said = spread_reading(layers, states.layer, states.band, found.shares, n_words)
    kit.reading(said, key="reading_spread")
    _lines(found, states)
    with st.expander(say("layers.details")):
        kit.table(spread_table(states, found.shares), after=1, key="layers_spread_table")
        st.markdown(SPREAD)
        st.code(variance_snippet(max(COMPONENTS)), language="python", wrap_lines=True)
    return {"sample_vectors": found.sample.vectors, "variance_shares": found.shares}


def _alike(compared: Compared) -> None:
    found, names, same = compared.alike, compared.names, compared.is_one
    claims, sure = alike_reading(found, names, same=same)
    kit.reading(claims, sure=sure, key="reading_alike")
    if np.isfinite(found.cka).any():
        title = str(alike_title(found, same=same))
        kit.chart(
            spaces_heatmap(found, names=names, title=title),
            key="layers_alike",
            alt=say("layers.alike.alt", title=title),
        )


def _alike_tables(compared: Compared) -> None:
    """Linear CKA, and debiased beside it where there are words enough."""
    found = compared.alike
    plain, debiased = st.columns(2, gap="medium")
    with plain:
        st.caption(say("layers.alike.linear"))
        kit.table(alike_table(compared, found.cka), after=1, key="layers_alike_table")
    with debiased:
        if not np.isfinite(found.debiased).any():
            st.caption(say("layers.alike.no_debiased", n=LEAST_WORDS))
            return
        st.caption(say("layers.alike.debiased"))
        kit.table(alike_table(compared, found.debiased), after=1, key="layers_debiased_table")


def _alike_code(
    view: ViewState, compared: Compared, card: ModelCard, other: ModelCard | None
) -> None:
    if WORDS.of(view) != WORDS.default:
        st.caption(say("layers.alike.other_words", option=WORDS.options[WORDS.default]))
    elif not 2 <= compared.alike.n_words <= _MOST_WORDS:
        st.caption(say("layers.alike.other_number", n=_MOST_WORDS))
    else:
        code = cka_snippet(card, snippet_texts(view, compared), other)
        st.code(code, language="python", wrap_lines=True)


def _lines(found: Spread, states: HiddenStates) -> None:
    layers, layer = states.encoding.layers, states.layer
    pairs, variance = map(str, spread_titles(layers, states.band, found.shares))
    left, right = st.columns(2, gap="medium")
    with left:
        kit.chart(
            random_pairs_lines(layers, states.band, layer=layer, title=pairs),
            key="layers_random_pairs",
            alt=say("layers.spread.pairs_alt", title=pairs),
        )
    with right:
        kit.chart(
            variance_lines(layers, found.shares, COMPONENTS, layer=layer, title=variance),
            key="layers_variance",
            alt=say("layers.spread.variance_alt", title=variance),
        )
