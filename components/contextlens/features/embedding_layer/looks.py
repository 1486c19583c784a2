"""The closer looks of the Embedding layer page."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import streamlit as st

from contextlens.content.language import say
from contextlens.content.wording import escape, quoted, shortened
from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray
from contextlens.features.embedding_layer.compute import (
    MAX_BARS,
    MAX_TOKENS,
    EmbeddingView,
    MovedTokens,
    NearRows,
    PositionTable,
    TwoTexts,
    drawn_positions,
    layer_parameters,
    moved_tokens,
    near_rows,
    other_texts,
    parameter_rows,
    position_table,
    segment_rows,
    two_texts,
)
from contextlens.features.embedding_layer.controls import FEW, OTHER, POSITIONS, change_in, near_in
from contextlens.features.embedding_layer.figures import (
    moved_bars,
    neighbour_bars,
    position_curve,
    position_heatmap,
    word_row_heatmap,
)
from contextlens.features.embedding_layer.measures import PositionStatistics, sinusoid
from contextlens.features.embedding_layer.reading import (
    curve_title,
    learned_reading,
    moved_claim,
    moved_title,
    neighbours_reading,
    neighbours_title,
    positions_reading,
    positions_title,
    same_rows_reading,
    same_rows_title,
    segment_rows_claim,
)
from contextlens.figures.frames import vector_strips
from contextlens.ui.state.view import ViewState, letter
from contextlens.ui.widgets import inputs, kit

# --- The position and segment tables


def positions(view: ViewState, embedding: EmbeddingView, service: EncoderService) -> None:
    """The position table: the similarity of its rows, and its shape in two dimensions."""
    try:
        table = position_table(embedding, service)
    except RequestError as exc:  # a table with very many positions is not sent
        st.info(escape(str(exc)))
        return
    chosen = inputs.choice(view, POSITIONS)
    state = embedding.card.provenance.embedding_layer
    claims, sure = positions_reading(table.statistics, state)
    kit.reading(claims, sure=sure, key="reading_positions")
    n = len(table.statistics.cosines)
    drawn = drawn_positions(view, n)
    left, right = st.columns(2, gap="medium")
    with left:
        _alike(table.statistics, drawn)
    with right:
        _curve(table.statistics, n if chosen == POSITIONS.default else len(drawn))
    if drawn.step > 1:
        st.caption(say("embedding_layer.positions.thinned", step=drawn.step, n=n, few=FEW))


def segments(view: ViewState, embedding: EmbeddingView, service: EncoderService) -> None:
    """The segment rows, and the effect of a second text on layer 0."""
    rows = segment_rows(embedding, service)
    change = inputs.choice(view, change_in(0 if rows is None else len(rows)))
    moved = moved_tokens(view, embedding, service, change)
    kit.reading(
        [moved_claim(moved.shares, moved.text_ids, change), segment_rows_claim(rows)],
        key="reading_segments",
    )
    _moved(moved)
    if rows is not None and len(rows) > 1:
        _segment_strips(rows)


def learned(embedding: EmbeddingView, service: EncoderService) -> None:
    """The layer's parameters, and the position rows beside the fixed formula."""
    parameters = layer_parameters(embedding, service)
    part = embedding.card.provenance.embedding_layer
    table: PositionTable | None = None
    with suppress(RequestError):  # a table with very many positions is not sent
        table = position_table(embedding, service)
    statistics = None if table is None else table.statistics
    kit.reading(learned_reading(parameters, statistics, part), key="reading_learned")
    if part.state == "trained" and statistics is not None and not statistics.is_fixed:
        st.caption(say("embedding_layer.learned_note"))
    numbers = {"numbers": st.column_config.NumberColumn(format="localized")}
    kit.table(parameter_rows(parameters), columns=numbers, key="embedding_learned")
    if table is not None:
        _beside_the_formula(table)


def _alike(statistics: PositionStatistics, drawn: range) -> None:
    title = str(positions_title(statistics))
    kit.chart(
        position_heatmap(statistics.cosines[np.ix_(drawn, drawn)], drawn, title=title),
        key="embedding_positions",
        alt=say("embedding_layer.positions.alt", title=title),
    )


def _curve(statistics: PositionStatistics, n: int) -> None:
    title = str(curve_title(statistics))
    kit.chart(
        position_curve(statistics.curve[:n], statistics.explained, title=title),
        key="embedding_curve",
        alt=say("embedding_layer.positions.alt_curve", title=title),
    )


def _moved(moved: MovedTokens) -> None:
    title, drawn = str(moved_title(moved.shares)), moved.drawn
    has_second = 1 in moved.text_ids
    kit.chart(
        moved_bars(
            moved.drawn_names, moved.shares[drawn], second=has_second, title=title, height=280
        ),
        key="embedding_moved",
        alt=say("embedding_layer.moved.alt", title=title),
    )
    if len(drawn) < len(moved.names):
        st.caption(say("embedding_layer.moved.drawn", n=MAX_BARS))


def _segment_strips(rows: FloatArray) -> None:
    kit.chart(
        vector_strips(
            np.vstack([rows[:2], rows[1:2] - rows[:1]]),
            ["segment 0", "segment 1", "difference"],
            title=say("embedding_layer.segments.title"),
            height=220,
        ),
        key="embedding_segments",
        alt=say("embedding_layer.segments.alt"),
    )


def _beside_the_formula(table: PositionTable) -> None:
    """The first rows that a text uses, beside those of the formula."""
    first = slice(table.statistics.first, table.statistics.first + 16)
    formula = sinusoid(*table.rows.shape)
    left, right = st.columns(2, gap="medium")
    with left:
        title = say("embedding_layer.learned.own")
        _position_strips(table.rows[first, :FEW], title, key="own")
    with right:
        title = say("embedding_layer.learned.formula")
        _position_strips(formula[first, :FEW], title, key="formula")


def _position_strips(rows: FloatArray, title: str, *, key: str) -> None:
    names = [f"position {i}" for i in range(len(rows))]
    kit.chart(
        vector_strips(rows, names, title=title, height=340),
        key=f"embedding_learned_{key}",
        alt=say("embedding_layer.learned.alt", title=title, n=FEW),
    )


# --- Word rows


def same_word(view: ViewState, embedding: EmbeddingView, service: EncoderService) -> None:
    """The word rows of two texts beside each other, with identical ones marked."""
    others = other_texts(view, embedding)
    titles = {name: f"{name}  {shortened(other.text, 40)}" for name, other in others.items()}
    with st.container(width=360):
        chosen = inputs.select(view, OTHER.among(titles))
    pair = two_texts(embedding, others[chosen], service)
    kit.reading(same_rows_reading(pair.shared, in_text=pair.share_text_token), key="reading_same")
    _matrix(pair, (letter(embedding.index), chosen))
    with st.expander(say("embedding_layer.as_table")):
        kit.table(pair.rows(), key="embedding_same_table")


def neighbours(view: ViewState, embedding: EmbeddingView, service: EncoderService) -> None:
    """The rows of the whole word table nearest to one token's row."""
    with st.container(width=360):
        choice = inputs.select(view, near_in(embedding.labels, embedding.focus))
    position = int(choice) if choice else embedding.focus
    label = embedding.labels[position]
    near = near_rows(embedding, position, service)
    if near is None:
        st.info(say("embedding_layer.no_row", token=quoted(label)))
        return
    state = embedding.card.provenance.embedding_layer
    nearest = list(zip(near.names, near.cosines, strict=True))
    n_rows = embedding.card.vocabulary_size
    claims, sure = neighbours_reading(label, nearest, near.band, state, n_rows)
    kit.reading(claims, sure=sure, key="reading_near")
    bars, table = st.columns([3, 2], gap="medium")
    with bars:
        _bars(near, str(neighbours_title(label, len(nearest), n_rows)))
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
