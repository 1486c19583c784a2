"""The Embedding layer page: toolbar, picture, reading, closer looks, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import say
from contextlens.content.wording import escape, quoted, shortened
from contextlens.core import EncoderService
from contextlens.core.errors import RequestError
from contextlens.features.embedding_layer.arithmetic import summands
from contextlens.features.embedding_layer.controls import (
    OTHER,
    POSITIONS,
    SECTION,
    SHOW,
    TOKEN,
    WORD,
    change_in,
    near_in,
)
from contextlens.features.embedding_layer.embedding_sum import PICTURE, EmbeddingSum, other_texts
from contextlens.features.embedding_layer.learned import learned
from contextlens.features.embedding_layer.neighbours import Neighbours, neighbours
from contextlens.features.embedding_layer.positions import Positions, positions
from contextlens.features.embedding_layer.same_word import same_word
from contextlens.features.embedding_layer.segments import segment_table, segments
from contextlens.features.embedding_layer.starts import starts_of
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState, letter
from contextlens.ui.widgets import export, inputs, kit

_CHART = "embedding_sum"
_FILE = "embedding-layer"


def toolbar(view: ViewState, embedding: EmbeddingSum) -> None:
    """Draw the choice of the token to follow and of the picture."""
    with kit.controls():
        with st.container(width=132):
            inputs.select(view, embedding.following)
        inputs.choice(view, SHOW)


def picture(view: ViewState, embedding: EmbeddingSum, service: EncoderService) -> None:
    """Draw one word's start in several sentences, or the sum of every token of one."""
    starts = starts_of(view, embedding, service) if SHOW.of(view) == WORD else None
    if starts is None:
        _every_token(embedding)
        return
    kit.headline(starts.headline(), *starts.claims(), key="reading")
    kit.chart(starts.figure(), key=_CHART, alt=starts.alt())
    st.caption(" ".join(map(str, starts.notes())))
    kit.claims([], sure=starts.sure(), key="reading_sure")


def _every_token(embedding: EmbeddingSum) -> None:
    """Draw the reading and the sum as a flow; a click on another row follows its token."""
    kit.headline(*embedding.claims(), key="reading")
    kit.chart(embedding.figure(), key=_CHART, alt=embedding.alt(), on_select=_follow)
    if notes := embedding.notes():
        st.caption(" ".join(map(str, notes)))
    kit.claims([], sure=embedding.sure(), key="reading_sure")
    st.caption(" ".join(map(str, embedding.kind())))


def _follow() -> None:
    """Follow the token whose row was clicked."""
    points = (session.value(_CHART) or {}).get("selection", {}).get("points", [])
    if points:
        position = str(points[0]["customdata"][0])
        session.write(TOKEN.put(session.current(), position))


# --- Closer looks


def look_closer(view: ViewState, embedding: EmbeddingSum, service: EncoderService) -> None:
    """Draw the closer looks."""
    looks = {name: partial(draw, view, embedding, service) for name, draw in _LOOKS.items()}
    kit.look_closer(view, SECTION, looks)


def _same_word(view: ViewState, embedding: EmbeddingSum, service: EncoderService) -> None:
    others = other_texts(view, embedding)
    titles = {name: f"{name}  {shortened(other.text, 40)}" for name, other in others.items()}
    with st.container(width=360):
        chosen = inputs.select(view, OTHER.among(titles))
    result = same_word(embedding, others[chosen], (letter(embedding.index), chosen), service)
    kit.claims(result.claims(), key="reading_same")
    kit.chart(result.figure(), key="embedding_same", alt=result.alt())
    st.caption(f"{say('embedding_layer.equals')} {result.band.claim()}")
    kit.notes(result.notes())
    with st.expander(say("embedding_layer.as_table")):
        kit.table(result.rows(), key="embedding_same_table")


def _neighbours(view: ViewState, embedding: EmbeddingSum, service: EncoderService) -> None:
    with st.container(width=360):
        choice = inputs.select(view, near_in(embedding.labels, embedding.focus))
    position = int(choice) if choice else embedding.focus
    result = neighbours(embedding, position, service)
    if result is None:
        st.info(say("embedding_layer.no_row", token=quoted(embedding.labels[position])))
        return
    kit.claims(result.claims(), sure=result.sure(), key="reading_near")
    bars, table = st.columns([3, 2], gap="medium")
    with bars:
        kit.chart(result.figure(), key="embedding_near", alt=result.alt())
    with table:
        kit.table(result.rows(), exact=("cosine",), key="embedding_near_table")


def _positions(view: ViewState, embedding: EmbeddingSum, service: EncoderService) -> None:
    try:
        result = positions(view, embedding, service)
    except RequestError as exc:  # a table with very many positions is not sent
        st.info(escape(str(exc)))
        return
    if result is None:
        none = say("embedding_layer.positions.none")
        st.info(" ".join([none, *map(str, embedding.told())]))
        return
    inputs.choice(view, POSITIONS)
    kit.claims(result.claims(), sure=result.sure(), key="reading_positions")
    left, right = st.columns(2, gap="medium")
    with left:
        kit.chart(result.figure(), key="embedding_positions", alt=result.alt())
    with right:
        kit.chart(result.curve(), key="embedding_curve", alt=result.curve_alt())
    kit.notes(result.notes())


def _segments(view: ViewState, embedding: EmbeddingSum, service: EncoderService) -> None:
    table = segment_table(embedding, service)
    change = inputs.choice(view, change_in(0 if table is None else len(table)))
    other = next(iter(other_texts(view, embedding).values()))
    result = segments(embedding, other, service, table=table, change=change)
    kit.claims(result.claims(), key="reading_segments")
    kit.chart(result.figure(), key="embedding_moved", alt=result.alt())
    kit.notes(result.notes())
    strips = result.strips()
    if strips is not None:
        kit.chart(strips, key="embedding_segments", alt=say("embedding_layer.segments.alt"))


def _learned(_: ViewState, embedding: EmbeddingSum, service: EncoderService) -> None:
    result = learned(embedding, service)
    kit.claims(result.claims(), key="reading_learned")
    kit.notes(result.notes())
    numbers = {"numbers": st.column_config.NumberColumn(format="localized")}
    kit.table(result.rows(), columns=numbers, key="embedding_learned")
    if strips := result.strips():
        columns = st.columns(2, gap="medium")
        for column, (name, (chart, alt)) in zip(columns, strips.items(), strict=True):
            with column:
                kit.chart(chart, key=f"embedding_learned_{name}", alt=alt)


_LOOKS: Mapping[str, Callable[[ViewState, EmbeddingSum, EncoderService], None]] = {
    "Same word": _same_word,
    "Neighbours": _neighbours,
    "Positions": _positions,
    "Segments": _segments,
    "What is learned": _learned,
}


# --- Tabs and downloads


def explain(embedding: EmbeddingSum) -> None:
    """Draw the tabs under the picture."""
    kit.tabs(
        lambda: _numbers(embedding),
        lambda: _under_the_hood(embedding),
        say("embedding_layer.limits"),
    )


def downloads(
    embedding: EmbeddingSum, place: DeltaGenerator, again: Callable[[], EmbeddingSum]
) -> None:
    """Draw the page's Download menu.

    Args:
        embedding: the data of the page.
        place: where the menu is drawn.
        again: recomputes the data for a file, because a session must not hold a reference to it.
    """
    kit.downloads(
        place,
        export.caption(embedding.passport),
        page="embedding_layer",
        chart=_CHART,
        name=_FILE,
        snippets=[(say("page.same_numbers"), embedding.snippet()), ("", PICTURE)],
        files=lambda: kit.download_files(
            _FILE,
            embedding.passport,
            rows=lambda: again().rows(),
            arrays=lambda: again().arrays(),
        ),
    )


def _numbers(embedding: EmbeddingSum) -> None:
    table = pd.DataFrame(embedding.rows()).dropna(axis=1, how="all")  # of parts the model lacks
    exact = [name for name in table.columns if name.endswith(("norm", "share", "moved", "cos"))]
    kit.table(table, exact=exact, key="embedding_table")
    st.caption(say("embedding_layer.shares_note"))
    st.caption(
        say(
            "embedding_layer.values_note",
            token=quoted(embedding.labels[embedding.focus]),
            position=embedding.focus,
            control=TOKEN.label,
        )
    )
    kit.table(embedding.values(), after=1, height=320, key="embedding_values")


def _under_the_hood(embedding: EmbeddingSum) -> None:
    formulas = (EmbeddingSum.formula, Positions.formula, Neighbours.formula)
    kit.under_the_hood(
        formula=["\n\n".join(formulas)],
        snippet=embedding.snippet(),
        passport=embedding.passport,
        shapes=lambda: _shapes(embedding),
    )


def _shapes(embedding: EmbeddingSum) -> None:
    parts = embedding.parts
    arrays = {**summands(parts), "sum": parts.total, "layer 0": embedding.layer_0}
    rows = [
        {"step": name, "shape (tokens, dims)": str(array.shape)} for name, array in arrays.items()
    ]
    kit.table(rows, key="embedding_shapes")
    if parts.epsilon is not None:
        st.caption(say("embedding_layer.epsilon", epsilon=parts.epsilon))
