"""Closer looks on the Embedding layer: one word in two texts, and a row's nearest neighbours."""

from __future__ import annotations

import numpy as np
import streamlit as st

from components.content.language import say
from components.content.wording import quoted, shortened
from components.core import EncoderService
from components.features.embedding_layer.compute.parts import EmbeddingView
from components.features.embedding_layer.compute.words import (
    MAX_TOKENS,
    NearRows,
    TwoTexts,
    near_rows,
    other_texts,
    two_texts,
)
from components.features.embedding_layer.controls import OTHER, near_in
from components.features.embedding_layer.figures.words import neighbour_bars, word_row_heatmap
from components.features.embedding_layer.reading import (
    neighbours_reading,
    neighbours_title,
    same_rows_reading,
    same_rows_title,
)
from components.ui.state.view import ViewState, letter
from components.ui.widgets import inputs, kit

__all__ = ["neighbours", "same_word"]


def same_word(view: ViewState, embedding: EmbeddingView, service: EncoderService) -> None:
    """The word rows of two texts beside each other: which are the same numbers?"""
    others = other_texts(view, embedding)
    titles = {name: f"{name}  {shortened(other.text, 40)}" for name, other in others.items()}
    with st.container(width=360):
        chosen = inputs.select(view, OTHER.among(titles))
    pair = two_texts(embedding, others[chosen], service)
    kit.reading(same_rows_reading(pair.shared, own=pair.share_own), key="reading_same")
    _matrix(pair, (letter(embedding.index), chosen))
    with st.expander(say("embedding_layer.as_table")):
        kit.table(pair.rows(), key="embedding_same_table")


def neighbours(view: ViewState, embedding: EmbeddingView, service: EncoderService) -> None:
    """The rows of the whole word table that are nearest to one token's."""
    with st.container(width=360):
        asked = inputs.select(view, near_in(embedding.labels, embedding.focus))
    position = int(asked) if asked else embedding.focus
    label = embedding.labels[position]
    near = near_rows(embedding, position, service)
    if near is None:
        st.info(say("embedding_layer.no_row", token=quoted(label)))
        return
    state = embedding.card.provenance.embedding_layer
    found = list(zip(near.names, near.cosines, strict=True))
    n_rows = embedding.card.vocabulary_size
    claims, sure = neighbours_reading(label, found, near.band, state, n_rows)
    kit.reading(claims, sure=sure, key="reading_near")
    bars, table = st.columns([3, 2], gap="medium")
    with bars:
        _bars(near, str(neighbours_title(label, len(found), n_rows)))
    with table:
        kit.table(near.rows(), exact=("cosine",), key="embedding_near_table")


def _matrix(pair: TwoTexts, names: tuple[str, str]) -> None:
    title = str(same_rows_title(pair.shared))
    kit.chart(
        word_row_heatmap(
            pair.drawn_cosines, pair.drawn_labels, pair.drawn_equal, labels=names, title=title
        ),
        key="embedding_same",
        alt=say("embedding_layer.same.alt", title=title),
    )
    band = pair.band
    random = say("embedding_layer.random", mean=band.mean, low=band.low, high=band.high)
    st.caption(f"{say('embedding_layer.equals')} {random}")
    if pair.is_cut:
        st.caption(say("embedding_layer.cut_rows", n=MAX_TOKENS))


def _bars(near: NearRows, title: str) -> None:
    names = [f"{name}  {i}" for name, i in zip(near.names, near.token_ids, strict=True)]
    kit.chart(
        neighbour_bars(names, np.array(near.cosines, np.float32), near.band, title=title),
        key="embedding_near",
        alt=say("embedding_layer.near.alt", title=title),
    )
