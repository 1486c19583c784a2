"""The closer looks of the Layer by layer page."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from contextlens.content.language import say
from contextlens.content.wording import escape, quoted
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import FloatArray
from contextlens.features.layers.compute import (
    COMPONENTS,
    Arrays,
    ByHand,
    ComparedLayers,
    HiddenStates,
    NearestTokens,
    SampleSpread,
    alike_table,
    by_hand,
    compared_layers,
    encode_all,
    linear_name,
    nearest_tokens,
    pairs_of,
    pairs_table,
    sentence_rows,
    snippet_texts,
    spread_of,
    spread_table,
    steps,
)
from contextlens.features.layers.controls import SECTION, TOKEN, WORDS, other_in
from contextlens.features.layers.explain import ALIKE, POOLER, SPREAD
from contextlens.features.layers.figures import (
    pairs_heatmap,
    random_pairs_lines,
    spaces_heatmap,
    variance_lines,
)
from contextlens.features.layers.measures import LEAST_WORDS
from contextlens.features.layers.reading import (
    alike_reading,
    alike_title,
    nearest_reading,
    pairs_reading,
    pairs_title,
    pooler_reading,
    spread_reading,
    spread_titles,
)
from contextlens.features.layers.snippet import cka_snippet, pooler_snippet, variance_snippet
from contextlens.figures.frames import vector_strips
from contextlens.figures.theme import color_of
from contextlens.ui.models import runtime, second_model
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState, letter
from contextlens.ui.widgets import inputs, kit
from contextlens.ui.widgets.token_strip import token_strip

# --- The pooler


def pooler(view: ViewState, states: HiddenStates, service: EncoderService) -> Arrays:
    """The pooler's output, and the similarity of sentences by it, by first token and by mean."""
    output = states.encoding.pooler_output
    if output is None:
        claims, _ = pooler_reading(states.card, None)
        kit.claims(claims, key="reading_pooler")
        return {}
    hand = by_hand(states, service)
    _output(states, hand, output)
    left, right = st.columns(2, gap="medium")
    with left:
        _sentences(view, service)
    with right, st.expander(say("layers.code")):
        st.markdown(POOLER)
        _code(states, service)
    return {"pooler_output": output} | (
        {} if hand.pooled is None else {"pooler_by_hand": hand.pooled}
    )


def _output(states: HiddenStates, hand: ByHand, output: FloatArray) -> None:
    if hand.reason:
        st.caption(say("layers.pooler.not_computed", reason=escape(hand.reason)))
    claims, sure = pooler_reading(states.card, hand.difference(output))
    kit.claims(claims, sure=sure, key="reading_pooler")
    rows = steps(states, hand, output)
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


# --- Whole layers

_MOST_WORDS = 200  # the most words in a snippet that people can still read


def layers_compared(view: ViewState, states: HiddenStates, service: EncoderService) -> Arrays:
    """Linear CKA between layers of this model, or of this one and another."""
    specs = {spec.id: spec for spec in (*service.models(), *runtime.own_models())}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        inputs.choice(view, WORDS)
        chosen = inputs.select(view, other_in(specs.values(), view.model))
    other_card = second_model.model_card(specs[chosen]) if chosen else states.card
    if other_card is None:
        return {}
    with st.spinner("Comparing the layers…"):
        compared = compared_layers(view, states.card, other_card, service)
    _alike(compared)
    with st.expander(say("layers.details")):
        _alike_tables(compared)
        st.markdown(ALIKE)
        _alike_code(view, compared, states.card, None if compared.is_one else other_card)
    similarity = compared.alike
    return {
        "linear_cka": similarity.cka,
        "linear_cka_debiased": similarity.debiased,
        "linear_cka_shuffled": similarity.shuffled,
    }


def spread(states: HiddenStates, service: EncoderService) -> Arrays:
    """Anisotropy at every layer, and the variance in the first components."""
    with st.spinner("Encoding the sample sentences…"):
        sample = spread_of(states, service)
    n_words = len(sample.sample.keys)
    layers = states.encoding.layers
    claims = spread_reading(layers, states.layer, states.band, sample.shares, n_words)
    kit.claims(claims, key="reading_spread")
    _lines(sample, states)
    with st.expander(say("layers.details")):
        kit.table(spread_table(states, sample.shares), after=1, key="layers_spread_table")
        st.markdown(SPREAD)
        st.code(variance_snippet(max(COMPONENTS)), language="python", wrap_lines=True)
    return {"sample_vectors": sample.sample.vectors, "variance_shares": sample.shares}


def _alike(compared: ComparedLayers) -> None:
    similarity, names, same = compared.alike, compared.names, compared.is_one
    claims, sure = alike_reading(similarity, names, same=same)
    kit.claims(claims, sure=sure, key="reading_alike")
    if np.isfinite(similarity.cka).any():
        title = str(alike_title(similarity, same=same))
        kit.chart(
            spaces_heatmap(similarity, names=names, title=title),
            key="layers_alike",
            alt=say("layers.alike.alt", title=title),
        )


def _alike_tables(compared: ComparedLayers) -> None:
    """Linear CKA, and debiased CKA if there are enough words."""
    similarity = compared.alike
    plain, debiased = st.columns(2, gap="medium")
    with plain:
        st.caption(say("layers.alike.linear"))
        kit.table(alike_table(compared, similarity.cka), after=1, key="layers_alike_table")
    with debiased:
        if not np.isfinite(similarity.debiased).any():
            st.caption(say("layers.alike.no_debiased", n=LEAST_WORDS))
            return
        st.caption(say("layers.alike.debiased"))
        kit.table(alike_table(compared, similarity.debiased), after=1, key="layers_debiased_table")


def _alike_code(
    view: ViewState, compared: ComparedLayers, card: ModelCard, other_card: ModelCard | None
) -> None:
    if WORDS.of(view) != WORDS.default:
        st.caption(say("layers.alike.other_words", option=WORDS.options[WORDS.default]))
    elif not 2 <= compared.alike.n_words <= _MOST_WORDS:
        st.caption(say("layers.alike.other_number", n=_MOST_WORDS))
    else:
        code = cka_snippet(card, snippet_texts(view, compared), other_card)
        st.code(code, language="python", wrap_lines=True)


def _lines(sample: SampleSpread, states: HiddenStates) -> None:
    layers, layer = states.encoding.layers, states.layer
    pairs, variance = map(str, spread_titles(layers, states.band, sample.shares))
    left, right = st.columns(2, gap="medium")
    with left:
        kit.chart(
            random_pairs_lines(layers, states.band, layer=layer, title=pairs),
            key="layers_random_pairs",
            alt=say("layers.spread.pairs_alt", title=pairs),
        )
    with right:
        kit.chart(
            variance_lines(layers, sample.shares, COMPONENTS, layer=layer, title=variance),
            key="layers_variance",
            alt=say("layers.spread.variance_alt", title=variance),
        )


# --- Single tokens and pairs of tokens

_LONG = 40  # tokens from which the strip scrolls


def one_token(view: ViewState, states: HiddenStates, service: EncoderService) -> Arrays:
    """The picked token's vector at every layer, and its nearest tokens there."""
    label, layers = states.labels[states.picked], states.encoding.layers
    near = nearest_tokens(view, states, service)
    _strip(states)
    claims = nearest_reading(near.picked, near.names, near.neighbours, layers, states.chance)
    kit.claims(claims, key="reading_nearest")
    left, right = st.columns(2, gap="medium")
    with left:
        _vectors(states)
    with right:
        if not near.is_empty:
            st.caption(say("layers.nearest.table", token=quoted(label)))
            _nearest(near, states)
    return {"picked_vectors": states.encoding.hidden[:, states.picked]}


def token_pairs(states: HiddenStates) -> Arrays:
    """The cosine of every pair of tokens at the chosen layer."""
    pairs = pairs_of(states)
    average = None if states.chance is None else float(states.chance[states.layer])
    claims = pairs_reading(pairs, states.labels, states.own_mask, states.layer, average)
    kit.claims(claims, key="reading_pairs")
    _pairs(pairs, states)
    table = pairs_table(pairs, states.labels)
    if table is not None:
        with st.expander(say("layers.as_table")):
            st.dataframe(table, key="layers_pairs_table")
    return {"token_pairs": pairs}


def _strip(states: HiddenStates) -> None:
    """The text and its tokens; a click picks a token."""
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
    title = str(pairs_title(pairs, states.labels, states.own_mask))
    figure = pairs_heatmap(pairs, states.labels, scale=states.cosine_scale, title=title)
    alt = say("layers.pairs.alt", title=title, layer=states.layer)
    kit.chart(figure, key="layers_pairs", alt=alt)
