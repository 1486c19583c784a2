"""What stands under the Attention page's picture: numbers, formula, snippet, downloads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from components.features.attention.compute import AttentionView
from components.features.attention.explain import FORMULA, LIMITS, SUMMARIES
from components.features.attention.page import CHART, habit_names
from components.features.attention.snippet import attention_snippet
from components.ui.widgets import export, kit

__all__ = ["downloads", "explain"]

_FILE = "attention"
_MOST_COLUMNS = 64  # of a table that is sent whole


def explain(what: AttentionView) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(what), lambda: _under_the_hood(what), LIMITS)


def downloads(what: AttentionView, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    with kit.downloads(place, export.caption(what.passport), chart=CHART, name=_FILE):
        kit.download_files(
            _FILE,
            what.passport,
            rows=lambda: _weight_rows(what),
            arrays=lambda: _arrays(what),
        )


def _numbers(what: AttentionView) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Weights as shown**")
        grid = what.grid
        if len(grid.columns) <= _MOST_COLUMNS:
            _table(_matrix(what), key="attention_matrix", first=1)
        else:
            _table(_picked_table(what), key="attention_picked", first=2)
            st.caption(
                f"All {len(grid.rows):,} x {len(grid.columns):,} weights are in the downloads; "
                "here are those of the picked token."
            )
    with right:
        st.markdown("**All heads**")
        _table(_heads_table(what), key="attention_heads_table", first=2)
        st.caption(SUMMARIES)


def _table(table: pd.DataFrame, *, key: str, first: int) -> None:
    numbers = {name: st.column_config.NumberColumn(format="%.4f") for name in table.columns[first:]}
    st.dataframe(table, hide_index=True, column_config=numbers, height=320, key=key)


def _matrix(what: AttentionView) -> pd.DataFrame:
    grid = what.grid
    names = [f"{i} {item.label}" for i, item in enumerate(grid.columns)]
    table = pd.DataFrame(grid.weights, columns=names)
    table.insert(0, "from", [f"{i} {item.label}" for i, item in enumerate(grid.rows)])
    return table


def _picked_table(what: AttentionView) -> pd.DataFrame:
    side, index = what.picked
    own = side == "from"
    items = what.grid.columns if own else what.grid.rows
    weights = what.grid.weights[index] if own else what.grid.weights[:, index]
    picked = (what.grid.rows if own else what.grid.columns)[index].label
    return pd.DataFrame(
        {
            "position": [item.positions[0] for item in items],
            "token": [item.label for item in items],
            f"{'from' if own else 'to'} {picked}": weights,
        }
    )


def _heads_table(what: AttentionView) -> pd.DataFrame:
    rows = np.array([what.heads.habits[layer - 1, head] for layer, head in what.order])
    names = [*habit_names(what), "entropy (bits)"]
    table = pd.DataFrame(dict(zip(_distinct(names), rows.T, strict=True)))
    table.insert(0, "layer", [layer for layer, _ in what.order])
    table.insert(1, "head", [head for _, head in what.order])
    return table


def _distinct(names: list[str]) -> list[str]:
    """The names, with a word where a model calls both special tokens the same."""
    return [f"{n} (others)" if names[:i].count(n) else n for i, n in enumerate(names)]


def _under_the_hood(what: AttentionView) -> None:
    formula, code = st.columns(2, gap="medium")
    with formula:
        st.markdown(FORMULA)
    with code:
        st.markdown("**The same numbers with transformers alone**")
        shown, sentence = what.shown, what.sentence
        snippet = attention_snippet(
            what.card,
            (sentence.text, sentence.pair),
            (shown.show, shown.layer, shown.head),
            what.grid,
            what.pad_to or 0,
        )
        st.code(snippet, language="python", wrap_lines=True)
        st.markdown("**Shapes**")
        n, card = what.encoding.n_tokens, what.card
        st.markdown(
            f"`attentions` [{card.n_layers}, {card.n_heads}, {n}, {n}]: layers, heads, from, to · "
            f"as shown {list(what.grid.weights.shape)}"
        )
        st.markdown("**Passport**")
        kit.passport(what.passport)


def _weight_rows(what: AttentionView) -> list[dict[str, Any]]:
    grid = what.grid
    return [
        {
            "from position": row.positions[0],
            "from": row.label,
            "to position": column.positions[0],
            "to": column.label,
            "weight": float(weight),
        }
        for row, weights in zip(grid.rows, grid.weights, strict=True)
        for column, weight in zip(grid.columns, weights, strict=True)
    ]


def _arrays(what: AttentionView) -> dict[str, NDArray[Any]]:
    grid = what.grid
    return {
        "weights": grid.weights,
        "rows": np.array([item.label for item in grid.rows]),
        "columns": np.array([item.label for item in grid.columns]),
        "attention": what.attention,
        "layer_means": what.heads.layer_means,
        "habits": what.heads.habits,
        "habit_names": np.array([*habit_names(what), "entropy (bits)"]),
        "tokens": np.array(what.encoding.tokens),
        "token_ids": what.encoding.token_ids,
        "text": np.array(what.encoding.text),
        "pair": np.array(what.encoding.pair or ""),
    }
