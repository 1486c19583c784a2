"""Closer looks on the Embedding layer: one word in two texts, and a row's nearest neighbours."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from components.analysis.tokens import labels
from components.content.examples import EXAMPLES
from components.content.wording import quoted
from components.core import EncoderService, ModelCard
from components.core.schema import Vocabulary
from components.features.embedding_layer.compute import PAGE, EmbeddingView
from components.features.embedding_layer.figures.tables import neighbour_bars, word_row_heatmap
from components.features.embedding_layer.measures.parts import (
    Band,
    random_band,
    row_cosines,
    shared_tokens,
)
from components.features.embedding_layer.reading.parts import (
    neighbours_reading,
    same_rows_reading,
    same_rows_title,
)
from components.ui.state.view import Sentence, ViewState, letter
from components.ui.widgets import inputs, kit

__all__ = ["CHART", "neighbours", "other_texts", "same_word"]

CHART = {"displayModeBar": False, "displaylogo": False}
_MAX_TOKENS = 24  # of each text in the matrix
_N_NEIGHBOURS = 10
_N_RANDOM = 2000  # rows behind the random-row band
_SEED = 0


def same_word(view: ViewState, what: EmbeddingView, service: EncoderService) -> None:
    """The word rows of two texts beside each other: which are the same numbers?"""
    others = other_texts(view, what)
    with st.container(width=360):
        chosen = inputs.select(view, PAGE, "other", _titles(others), "Compare with")
    other = others[chosen]
    theirs = service.embedding_parts(view.model, other.text, pair=other.pair)
    their_labels = labels(theirs.tokens, what.vocabulary)
    shared = shared_tokens(what.parts, theirs)
    special = [bool(s) for s in what.parts.tokens.special_tokens_mask]
    kit.reading(same_rows_reading(shared, what.labels, special), key="reading_same")
    mine = what.parts.word[:_MAX_TOKENS]
    equal = [s for s in shared if s.word == 0 and max(s.first, s.second) < _MAX_TOKENS]
    title = same_rows_title(shared)
    st.plotly_chart(
        word_row_heatmap(
            row_cosines(mine, theirs.word[:_MAX_TOKENS]),
            (what.labels[:_MAX_TOKENS], their_labels[:_MAX_TOKENS]),
            equal,
            labels=(letter(what.index), chosen),
            title=title,
        ),
        key="embedding_same",
        config=CHART,
        alt=f"{title}. Cosines of the word rows of the two texts.",
    )
    band = _band(service, what.card, what.card.checksum)
    st.caption(
        f"= marks rows that are equal number by number. Random pairs of rows average "
        f"{band.mean:.2f}, nine in ten lie between {band.low:.2f} and {band.high:.2f}."
    )
    if max(what.parts.tokens.n_tokens, theirs.tokens.n_tokens) > _MAX_TOKENS:
        st.caption(
            f"The first {_MAX_TOKENS} tokens of each text are drawn; the reading counts all."
        )
    with st.expander("As a table"):
        st.dataframe(
            pd.DataFrame(
                {
                    "token": what.labels[s.first],
                    "ID": s.token_id,
                    "position here": s.first,
                    "position there": s.second,
                    "word rows differ by": s.word,
                    "layer 0 differs by": s.output,
                }
                for s in shared
            ),
            hide_index=True,
            placeholder="",
            key="embedding_same_table",
        )


def neighbours(view: ViewState, what: EmbeddingView, service: EncoderService) -> None:
    """The rows of the whole word table that are nearest to one token's."""
    options = {str(i): f"{i}  {name}" for i, name in enumerate(what.labels)}
    focus = str(what.focus)
    first = {"": f"{what.labels[what.focus]} (chosen)"}
    with st.container(width=360):
        asked = inputs.select(view, PAGE, "near", {**first, **options}, "Token")
    position = int(asked or focus)
    label, token_id = what.labels[position], int(what.parts.tokens.token_ids[position])
    row = what.parts.word[position]
    if not row.any():
        st.info(f"The row of {quoted(label)} is all zeros, so nothing is near it.")
        return
    found = _nearest(service, what, row, token_id)
    band = _band(service, what.card, what.card.checksum)
    trained = what.card.provenance.embedding_layer.state == "trained"
    names = [(_written(what.vocabulary, i, piece), cosine) for i, piece, cosine in found]
    kit.reading(neighbours_reading(label, names, band, trained=trained), key="reading_near")
    title = f"Of {what.card.vocabulary_size:,} rows, the {len(found)} nearest to {label}"
    chart, table = st.columns([3, 2], gap="medium")
    with chart:
        st.plotly_chart(
            neighbour_bars(
                [f"{name}  {i}" for (name, _), (i, _, _) in zip(names, found, strict=True)],
                np.array([cosine for _, _, cosine in found], np.float32),
                band,
                title=title,
            ),
            key="embedding_near",
            config=CHART,
            alt=f"{title}, by cosine.",
        )
    with table:
        st.dataframe(
            pd.DataFrame({"ID": i, "token": piece, "cosine": cosine} for i, piece, cosine in found),
            hide_index=True,
            placeholder="",
            column_config={"cosine": st.column_config.NumberColumn(format="%.4f")},
            key="embedding_near_table",
        )


def other_texts(view: ViewState, what: EmbeddingView) -> dict[str, Sentence]:
    """Texts to compare with: the other sentences, and a ready one so that there always is one."""
    own = {letter(i): sentence for i, sentence in enumerate(view.sentences) if i != what.index}
    ready = next(
        s.text for s in EXAMPLES[0].sentences[::-1] if s.text.strip() != what.sentence.text.strip()
    )
    return {**own, "Example": Sentence(ready)}


def _titles(others: dict[str, Sentence]) -> dict[str, str]:
    return {name: f"{name}  {_cut(other.text)}" for name, other in others.items()}


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 40 else flat[:39] + "…"


def _nearest(
    service: EncoderService, what: EmbeddingView, row: np.ndarray, token_id: int
) -> list[tuple[int, str, float]]:
    """The nearest rows but the token's own."""
    found = service.nearest_rows(what.card.id, row, _N_NEIGHBOURS + 1)
    return [each for each in found if each[0] != token_id][:_N_NEIGHBOURS]


def _written(vocabulary: Vocabulary, token_id: int, piece: str) -> str:
    """A piece as it is written, or its text where pieces are coded."""
    known = token_id < len(vocabulary.texts) and vocabulary.method != "WordPiece"
    return (vocabulary.texts[token_id] if known else "") or piece


@st.cache_resource(show_spinner=False, max_entries=8)
def _band(_service: EncoderService, _card: ModelCard, checksum: str) -> Band:  # noqa: ARG001
    """How alike rows of a model's word table are that have nothing to do with each other."""
    ids = np.random.default_rng(_SEED).integers(_card.vocabulary_size, size=_N_RANDOM)
    return random_band(_service.word_rows(_card.id, ids))
