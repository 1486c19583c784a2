"""Closer looks on the Embedding layer's tables: positions, segments, and what is learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from components.analysis.tokens import labels
from components.content.wording import escape
from components.core import EncoderService, ModelCard
from components.core.errors import RequestError
from components.core.schema import PROJECTIONS, EmbeddingParts, FloatArray, Parameter
from components.features.embedding_layer.compute import PAGE, EmbeddingView
from components.features.embedding_layer.explain import LEARNED
from components.features.embedding_layer.figures.tables import (
    moved_bars,
    position_curve,
    position_heatmap,
)
from components.features.embedding_layer.looks.words import CHART, other_texts
from components.features.embedding_layer.measures.parts import rebuild
from components.features.embedding_layer.measures.positions import (
    Positions,
    look_at_positions,
    sinusoid,
)
from components.features.embedding_layer.reading.tables import (
    learned_reading,
    moved_reading,
    positions_reading,
    positions_title,
    segment_rows_reading,
)
from components.figures.strips import vector_strips
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit

__all__ = ["learned", "positions", "segments"]

_POSITIONS = "embeddings.position_embeddings.weight"
_SEGMENTS = "embeddings.token_type_embeddings.weight"
_MAX_CELLS = 128  # positions on each side of the matrix
_FEW = 64
_MAX_BARS = 20  # of each text
_CHANGES = ("Pair", "Segment only", "Alone")


@dataclass(frozen=True, eq=False)
class _Moved:
    """How far tokens moved: their names, the text each is of (-1: added), and the shares."""

    names: list[str]
    text_ids: list[int]
    shares: FloatArray


def positions(view: ViewState, what: EmbeddingView, service: EncoderService) -> None:
    """The position table: which rows are alike, and its shape in two dimensions."""
    try:
        table = service.matrix(view.model, _POSITIONS)
    except RequestError as exc:  # a table of very many positions is not sent
        st.info(escape(str(exc)))
        return
    look = _look(table, what.card.checksum, int(what.parts.position_ids[0]))
    which = inputs.choice(view, PAGE, "positions", ("All", f"First {_FEW}"), "Positions")
    kit.reading(positions_reading(look, len(table)), key="reading_positions")
    n = len(look.cosines)
    rows = range(n)[:_FEW] if which != "All" else range(0, n, -(-n // _MAX_CELLS))
    left, right = st.columns(2, gap="medium")
    with left:
        title = positions_title(look)
        st.plotly_chart(
            position_heatmap(look.cosines[np.ix_(rows, rows)], rows, title=title),
            key="embedding_positions",
            config=CHART,
            alt=f"{title}. Cosines of position rows with each other.",
        )
    with right:
        title = f"{sum(look.explained):.0%} of the variance, as a curve"
        st.plotly_chart(
            position_curve(
                look.curve[: len(rows) if which != "All" else n], look.explained, title=title
            ),
            key="embedding_curve",
            config=CHART,
            alt=f"{title}. The position rows on their first two principal components.",
        )
    if which == "All" and n > _MAX_CELLS:
        st.caption(
            f"The matrix draws every {rows.step}th of {n} positions; choose the first {_FEW} for "
            "each one. Distances in the curve are those of two components only."
        )


def segments(view: ViewState, what: EmbeddingView, service: EncoderService) -> None:
    """The segment rows, and what a second text changes at layer 0."""
    rows = None if what.parts.segment is None else service.matrix(view.model, _SEGMENTS)
    two = rows is not None and len(rows) > 1
    changes = _CHANGES if two else (_CHANGES[0], _CHANGES[2])
    change = inputs.choice(
        view,
        PAGE,
        "change",
        changes,
        "Second text",
        help="Pair: another text follows this one. Segment only: this text alone, its segment row "
        "exchanged.",
    )
    moved = _moved(view, what, service, change, rows)
    said = [
        *segment_rows_reading(rows, what.card.family),
        *moved_reading(moved.shares, moved.text_ids, change),
    ]
    kit.reading(said, key="reading_segments")
    drawn = _first_of_each(moved.text_ids)
    title = (
        f"Layer 0 moves by up to {moved.shares.max(initial=0):.0%} of its length"
        if moved.shares.any()
        else "Layer 0 stays as it is"
    )
    st.plotly_chart(
        moved_bars(
            [moved.names[i] for i in drawn],
            moved.shares[drawn],
            second=1 in moved.text_ids,
            title=title,
            height=280,
        ),
        key="embedding_moved",
        config=CHART,
        alt=f"{title}. How far each token's vector at layer 0 moves.",
    )
    if len(drawn) < len(moved.names):
        st.caption(f"The first {_MAX_BARS} tokens of a text are drawn; the reading counts all.")
    if rows is not None and two:
        st.plotly_chart(
            vector_strips(
                np.vstack([rows[:2], rows[1:2] - rows[:1]]),
                ["segment 0", "segment 1", "difference"],
                title="The two segment rows, and what sets them apart",
                height=220,
            ),
            key="embedding_segments",
            config=CHART,
            alt="The rows of segments 0 and 1 and their difference.",
        )


def learned(what: EmbeddingView, service: EncoderService) -> None:
    """The layer's parameters, and the position rows beside the fixed formula."""
    own = [p for p in service.parameters(what.card.id) if _is_own(p)]
    table = _positions_or_none(service, what.card)
    look = (
        None if table is None else _look(table, what.card.checksum, int(what.parts.position_ids[0]))
    )
    state = what.card.provenance.embedding_layer
    kit.reading(learned_reading(own, look, state), key="reading_learned")
    if state.state == "trained" and look is not None and not look.is_fixed:
        st.caption(LEARNED)
    st.dataframe(
        pd.DataFrame(map(_parameter_row, own)),
        hide_index=True,
        column_config={"numbers": st.column_config.NumberColumn(format="localized")},
        key="embedding_learned",
    )
    if table is None or look is None:
        return
    shown = slice(look.first, look.first + 16)
    names = [f"position {i}" for i in range(len(table[shown]))]
    left, right = st.columns(2, gap="medium")
    for place, key, rows, title in (
        (left, "own", table[shown, :_FEW], "This model's position rows"),
        (right, "formula", sinusoid(*table.shape)[shown, :_FEW], "The fixed formula's rows"),
    ):
        with place:
            st.plotly_chart(
                vector_strips(rows, names, title=title, height=340),
                key=f"embedding_learned_{key}",
                config=CHART,
                alt=f"{title}, the first {_FEW} dimensions.",
            )


def _moved(
    view: ViewState,
    what: EmbeddingView,
    service: EncoderService,
    change: str,
    rows: FloatArray | None,
) -> _Moved:
    if change == "Segment only" and rows is not None:
        parts = service.embedding_parts(view.model, what.sentence.text)
        before, after = (
            rebuild([parts.word, parts.position, row[None]], what.norm) for row in rows[:2]
        )
        names = list(labels(parts.tokens, what.vocabulary))
        return _Moved(names, parts.tokens.text_ids.tolist(), _relative(before, after))
    first = what.sentence
    second = first.pair or next(iter(other_texts(view, what).values())).text
    both = service.embedding_parts(view.model, first.text, pair=second)
    alone = [service.embedding_parts(view.model, text) for text in (first.text, second)]
    return _against_alone(both, alone, list(labels(both.tokens, what.vocabulary)), change)


def _against_alone(
    both: EmbeddingParts, alone: list[EmbeddingParts], names: list[str], change: str
) -> _Moved:
    """Each text's own tokens in the pair, beside the same tokens where the text stood alone."""
    shown: list[int] = []
    moved: list[FloatArray] = []
    for which, single in enumerate(alone):
        here = np.flatnonzero(both.tokens.text_ids == which)
        there = np.flatnonzero(single.tokens.text_ids == 0)[: len(here)]
        here = here[: len(there)]
        shown += here.tolist()
        moved.append(_relative(single.output[there], both.output[here]))
    shares = np.concatenate(moved)
    return _Moved(
        [names[i] for i in shown],
        both.tokens.text_ids[shown].tolist() if shown else [],
        np.zeros_like(shares) if change == "Alone" else shares,
    )


def _first_of_each(text_ids: list[int]) -> list[int]:
    """The places of the first tokens of each text, so that a long one leaves room for the next."""
    return [i for i, own in enumerate(text_ids) if text_ids[:i].count(own) < _MAX_BARS]


def _relative(before: FloatArray, after: FloatArray) -> FloatArray:
    lengths = np.maximum(np.linalg.norm(before, axis=1), 1e-12)
    relative: FloatArray = np.linalg.norm(after - before, axis=1) / lengths
    return relative


def _is_own(parameter: Parameter) -> bool:
    starts = ("embeddings.", *(f"{name}." for name in PROJECTIONS.values()))
    return parameter.name.startswith(starts)


def _parameter_row(parameter: Parameter) -> dict[str, str | int]:
    state = {True: "learned", False: "not trained", None: "not here"}[parameter.trained]
    return {
        "parameter": parameter.name,
        "shape": " x ".join(map(str, parameter.shape)),
        "numbers": int(np.prod(parameter.shape)),
        "state": state,
    }


def _positions_or_none(service: EncoderService, card: ModelCard) -> FloatArray | None:
    try:
        return service.matrix(card.id, _POSITIONS)
    except RequestError:
        return None


@st.cache_resource(show_spinner=False, max_entries=4)
def _look(_table: FloatArray, checksum: str, first: int) -> Positions:  # noqa: ARG001 - the key
    return look_at_positions(_table, first)
