"""The parts of the Embedding layer page: toolbar, picture, reading, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import say
from contextlens.content.wording import quoted
from contextlens.features.embedding_layer.compute import (
    EmbeddingView,
    arrays,
    token_table,
    value_table,
)
from contextlens.features.embedding_layer.controls import MAX_ROWS, SENTENCE, TOKEN
from contextlens.features.embedding_layer.explain import FORMULA
from contextlens.features.embedding_layer.figures import sum_flow
from contextlens.features.embedding_layer.measures import (
    constant_parts,
    part_rows,
    summands,
)
from contextlens.features.embedding_layer.reading import (
    embedding_reading,
    embedding_title,
)
from contextlens.features.embedding_layer.snippet import PICTURE, embedding_snippet
from contextlens.ui.state import session
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs, kit, sentences

_CHART = "embedding_sum"
_FILE = "embedding-layer"


def toolbar(view: ViewState, embedding: EmbeddingView) -> None:
    """The choice of the sentence and of the token to follow; the texts in a popover."""
    with kit.controls():
        inputs.sentence(view, SENTENCE)
        with st.container(width=132):
            inputs.select(view, embedding.following)
        with st.popover("Edit", icon=":material/edit:", type="tertiary"):
            sentences.sentence_editor(view, "sentences", where="page", least=1)
            sentences.pair_field(view, embedding.index, key="page_pair")


def picture(embedding: EmbeddingView) -> None:
    """The sum as a flow, one token's row strong; a click on another row follows its token."""
    window = embedding.window
    title = str(embedding_title(embedding.labels, embedding.focus, embedding.segment))
    flow = sum_flow(
        embedding.panels(),
        {name: part.of(window) for name, part in embedding.contributions.items()},
        embedding.labels[window],
        title=title,
        focus=embedding.focus - window.start,
        first=window.start,
    )
    kit.chart(flow, key=_CHART, alt=say("embedding_layer.alt", title=title), on_select=_follow)
    _left_out(embedding)


def _follow() -> None:
    """Follow the token whose row was clicked."""
    points = (session.value(_CHART) or {}).get("selection", {}).get("points", [])
    if points:
        position = str(points[0]["customdata"][0])
        session.write(TOKEN.put(session.current(), position))


def reading(embedding: EmbeddingView) -> None:
    """The reading, and how the model's family computes the sum."""
    claims, sure = embedding_reading(
        embedding.contributions,
        embedding.labels,
        embedding.focus,
        difference=embedding.difference,
        agrees=embedding.agrees,
        state=embedding.card.provenance.embedding_layer,
        constant=constant_parts(embedding.parts),
    )
    kit.reading(claims, sure=sure)
    st.caption(say(f"embedding_layer.family.{embedding.card.family}"))


def explain(embedding: EmbeddingView) -> None:
    """The tabs under the picture."""
    kit.tabs(
        lambda: _numbers(embedding),
        lambda: _under_the_hood(embedding),
        say("embedding_layer.limits"),
    )


def downloads(
    embedding: EmbeddingView, place: DeltaGenerator, again: Callable[[], EmbeddingView]
) -> None:
    """The page's Download menu.

    Args:
        embedding: the data of the page.
        place: where the menu is drawn.
        again: recomputes the data for a file, because a session must not hold a reference to it.
    """
    snippet = embedding_snippet(embedding.card, embedding.parts)
    with kit.downloads(
        place,
        export.caption(embedding.passport),
        page="embedding_layer",
        chart=_CHART,
        name=_FILE,
        snippets=[(say("page.same_numbers"), snippet), ("", PICTURE)],
    ):
        kit.download_files(
            _FILE,
            embedding.passport,
            rows=lambda: _rows(again()),
            arrays=lambda: arrays(again()),
        )


def _rows(embedding: EmbeddingView) -> list[dict[str, Any]]:
    return part_rows(embedding.parts, embedding.contributions, embedding.labels)


def _left_out(embedding: EmbeddingView) -> None:
    """A note on the part of a long text that the picture leaves out."""
    n_tokens = embedding.n_tokens
    first, end = embedding.window.start, embedding.window.stop
    notes = []
    if n_tokens > MAX_ROWS:
        notes.append(say("embedding_layer.window", first=first, last=end - 1, n=n_tokens))
    if n_lost := embedding.parts.tokens.n_truncated:
        texts = "text" if embedding.parts.tokens.pair is None else "pair"
        notes.append(say(f"embedding_layer.cut.{texts}", n=n_lost))
    if notes:
        st.caption(" ".join(notes))


def _numbers(embedding: EmbeddingView) -> None:
    table = token_table(embedding)
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
    kit.table(value_table(embedding), after=1, height=320, key="embedding_values")


def _under_the_hood(embedding: EmbeddingView) -> None:
    kit.under_the_hood(
        formula=[FORMULA],
        snippet=embedding_snippet(embedding.card, embedding.parts),
        passport=embedding.passport,
        shapes=lambda: _shapes(embedding),
    )


def _shapes(embedding: EmbeddingView) -> None:
    parts = embedding.parts
    arrays = {**summands(parts), "sum": parts.total, "layer 0": embedding.layer_0}
    rows = [
        {"step": name, "shape (tokens, dims)": str(array.shape)} for name, array in arrays.items()
    ]
    kit.table(rows, key="embedding_shapes")
    st.caption(say("embedding_layer.epsilon", epsilon=parts.epsilon))
