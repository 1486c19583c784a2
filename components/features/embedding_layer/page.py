"""The parts of the Embedding layer page: toolbar, picture, reading, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from components.content.wording import quoted
from components.features.embedding_layer.compute import (
    MAX_ROWS,
    PAGE,
    SECTIONS,
    WIDTHS,
    EmbeddingView,
    index_of,
)
from components.features.embedding_layer.explain import FORMULA, LIMITS, VARIANTS
from components.features.embedding_layer.figures.parts import sum_strips, token_strips
from components.features.embedding_layer.measures.parts import part_rows, summands
from components.features.embedding_layer.reading.parts import (
    embedding_reading,
    embedding_title,
    token_title,
)
from components.features.embedding_layer.snippet import embedding_snippet
from components.ui.state.view import ViewState
from components.ui.widgets import export, inputs, kit, sentences

__all__ = ["closer", "downloads", "explain", "picture", "terms", "toolbar", "words"]

CHART = "embedding_sum"
_FILE = "embedding-layer"


def toolbar(view: ViewState, what: EmbeddingView) -> None:
    """Which sentence, one token or all of them; the texts and the zoom in popovers."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        if len(view.sentences) > 1:
            inputs.sentence_choice(view, PAGE)
        with st.container(width=132):
            inputs.select(view, PAGE, "token", _tokens(what), "Tokens")
        with st.popover("Edit", icon=":material/edit:", type="tertiary"):
            sentences.sentence_editor(view, "sentences", where="page", least=1)
            if view.sentences:
                sentences.pair_field(view, index_of(view), key="page_pair")
        with st.popover("Zoom", icon=":material/zoom_in:", type="tertiary"):
            _ranges(view, what)


def picture(what: EmbeddingView) -> None:
    """The sum of all tokens as strips, or of one token."""
    if what.picked is None:
        title = embedding_title(what.shares)
        shown = slice(*what.rows)
        chart = sum_strips(
            what.panels(),
            {name: share[shown] for name, share in what.shares.items()},
            what.labels[shown],
            title=title,
            chosen=what.focus - what.rows[0],
        )
    else:
        title = token_title(what.shares, what.picked, what.labels[what.picked])
        chart = token_strips(what.panels(), title=title)
    st.plotly_chart(
        chart,
        key=CHART,
        config={"displayModeBar": False, "displaylogo": False},
        alt=f"{title}. The rows that are added for each token, their sum and layer 0, as strips of "
        "colour; the table has the numbers.",
    )
    _left_out(what)


def words(what: EmbeddingView) -> None:
    """The reading."""
    kit.reading(
        embedding_reading(
            what.shares,
            what.labels,
            what.focus,
            difference=what.difference,
            largest=float(np.abs(what.layer_0).max(initial=0)),
            state=what.card.provenance.embedding_layer,
        )
    )
    st.caption(VARIANTS[what.card.family])


def terms() -> None:
    """The terms that the page uses, each with its meaning at hand."""
    kit.terms("embedding layer", "position embedding", "segment", "LayerNorm", "norm", "dimension")


def closer(view: ViewState, looks: Mapping[str, Callable[[], None]]) -> None:
    """The closer looks, one at a time."""
    chosen = inputs.choice(view, PAGE, "section", SECTIONS, "Look closer")
    with st.container(border=True):
        looks[chosen]()


def explain(what: EmbeddingView) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(what), lambda: _under_the_hood(what), LIMITS)


def downloads(what: EmbeddingView, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    with kit.downloads(place, export.caption(what.passport), chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            what.passport,
            rows=lambda: part_rows(what.parts, what.labels),
            arrays=lambda: _arrays(what),
        )


def _tokens(what: EmbeddingView) -> dict[str, str]:
    return {"": "All tokens", **{str(i): f"{i}  {name}" for i, name in enumerate(what.labels)}}


def _ranges(view: ViewState, what: EmbeddingView) -> None:
    n_tokens, n_dims = what.parts.tokens.n_tokens, what.card.n_dims
    inputs.choice(view, PAGE, "width", WIDTHS, "Dimensions")
    inputs.number(
        view,
        PAGE,
        "first_dim",
        "First dimension",
        between=(0, n_dims - what.dims[1]),
        default=0,
        help="With fewer than all dimensions: where to begin.",
    )
    inputs.number(
        view,
        PAGE,
        "first_token",
        "First token",
        between=(0, max(0, n_tokens - MAX_ROWS)),
        default=0,
        help=f"Of a longer text, {MAX_ROWS} tokens are drawn at once.",
    )


def _left_out(what: EmbeddingView) -> None:
    """What of a long text is not in the picture."""
    n_tokens, lost = what.parts.tokens.n_tokens, what.parts.tokens.n_truncated
    said = []
    if what.picked is None and n_tokens > MAX_ROWS:
        said.append(
            f"Tokens {what.rows[0]} to {what.rows[1] - 1} of {n_tokens} are drawn; Zoom moves on. "
            "The reading and the table count all."
        )
    if lost:
        said.append(
            f"The text is longer than the model takes: its last {lost} tokens are left out."
        )
    if said:
        st.caption(" ".join(said))


def _numbers(what: EmbeddingView) -> None:
    table = pd.DataFrame(part_rows(what.parts, what.labels)).dropna(axis=1, how="all")
    numbers = {
        name: st.column_config.NumberColumn(format="%.4f")
        for name in table.columns
        if name.endswith(("norm", "share"))
    }
    st.dataframe(table, hide_index=True, column_config=numbers, key="embedding_table")
    st.caption(
        f"Every value of token {what.focus}, {quoted(what.labels[what.focus])}. Choose another one "
        "under Tokens."
    )
    values = _values(what)
    formats = {name: st.column_config.NumberColumn(format="%.4f") for name in values.columns[1:]}
    st.dataframe(values, hide_index=True, column_config=formats, height=320, key="embedding_values")


def _values(what: EmbeddingView) -> pd.DataFrame:
    """Dimensions down, the steps of the sum of one token across."""
    parts, i = what.parts, what.focus
    columns = {name: rows[i] for name, rows in summands(parts).items()}
    columns |= {"sum": parts.total[i]}
    columns |= {"LayerNorm": parts.normalized[i]} if parts.projected else {}
    columns |= {"layer 0, ours": what.rebuilt[i], "layer 0, the model's": what.layer_0[i]}
    table = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
    table.insert(0, "dimension", range(len(table)))
    return table


def _under_the_hood(what: EmbeddingView) -> None:
    formula, code = st.columns(2, gap="medium")
    with formula:
        st.markdown(FORMULA)
    with code:
        st.markdown("**The same numbers with transformers alone**")
        snippet = embedding_snippet(what.card, what.parts)
        st.code(snippet, language="python", wrap_lines=True)
        st.markdown("**Shapes**")
        st.dataframe(pd.DataFrame(_shapes(what)), hide_index=True, key="embedding_shapes")
        st.caption(f"ε of this model's LayerNorm: {what.parts.epsilon:g}")
        st.markdown("**Passport**")
        kit.passport(what.passport)


def _shapes(what: EmbeddingView) -> list[dict[str, str]]:
    arrays = {**summands(what.parts), "sum": what.parts.total, "layer 0": what.layer_0}
    return [
        {"step": name, "shape (tokens, dims)": str(rows.shape)} for name, rows in arrays.items()
    ]


def _arrays(what: EmbeddingView) -> dict[str, NDArray[Any]]:
    parts = what.parts
    return {
        **summands(parts),
        "sum": parts.total,
        "normalized": parts.normalized,
        "layer_0": what.layer_0,
        "rebuilt": what.rebuilt,
        "token_ids": parts.tokens.token_ids,
        "position_ids": parts.position_ids,
        "tokens": np.array(parts.tokens.tokens),
        "text": np.array(parts.tokens.text),
        "pair": np.array(parts.tokens.pair or ""),
        **{f"{name}_share": share for name, share in what.shares.items()},
    }
