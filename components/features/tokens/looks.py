"""Closer looks on Tokens & IDs: the vocabulary, an ID's row, two tokenizers, and back to text."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

from components.analysis.tokens import find_pieces
from components.content.wording import escape
from components.core import EncoderService, ModelCard, ModelSpec
from components.core.schema import Vocabulary
from components.features.tokens.compute import PAGE, TokenView
from components.features.tokens.explain import ROW
from components.features.tokens.measures import Change, Part, fates, rewritten
from components.features.tokens.reading.tokens import (
    back_reading,
    tokenizers_reading,
    twins_reading,
)
from components.features.tokens.reading.vocabulary import row_reading, vocabulary_reading
from components.features.tokens.snippet import row_snippet
from components.figures.strips import vector_strips
from components.figures.theme import color_of
from components.ui.models import second
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit
from components.ui.widgets.chips import visible
from components.ui.widgets.token_strip import token_strip

__all__ = ["back", "id_to_row", "two_tokenizers", "vocabulary"]

_KINDS: dict[str, Literal["all", "start", "continuation", "special"]] = {
    "All": "all",
    "Words": "start",
    "Continuations": "continuation",
    "Special": "special",
}
_KIND_NAMES = {"start": "begins a word", "continuation": "goes on", "special": "special"}
_NEIGHBOURS = 3  # rows shown on each side of an ID's own
_VALUES = 8  # of a row, as numbers


def vocabulary(view: ViewState, what: TokenView, service: EncoderService) -> None:
    """Search and browse the vocabulary; how any word splits."""
    left, right = st.columns([2, 3], gap="medium")
    with left:
        query = inputs.text(view, PAGE, "search", "Look a word or piece up", default="an")
        kind = inputs.choice(view, PAGE, "kind", list(_KINDS), "Show")
        tokens = service.tokenize(view.model, [query])[0]
        normalized = service.normalize(view.model, [query])[0]
        asked = (query, normalized.replace("▁", " "))
        found = find_pieces(what.vocabulary, *map(str.strip, asked), kind=_KINDS[kind])
        kit.reading(
            vocabulary_reading(query, normalized, tokens, what.vocabulary, n_found=len(found)),
            key="reading_vocabulary",
        )
    with right:
        st.dataframe(
            _pieces(what.vocabulary, what.card.checksum).iloc[found],
            hide_index=True,
            height=320,
            lazy=True,
            key="vocabulary_table",
        )


def id_to_row(what: TokenView, service: EncoderService, model: ModelCard) -> None:
    """Why an ID is a row: one-hot times matrix, and the row looked up."""
    token_id = int(what.tokens.token_ids[what.picked])
    last = min(len(what.vocabulary.pieces), model.vocabulary_size) - 1
    if token_id > last:
        st.info(
            f"ID {token_id} has no row: the table of this model ends at row {last}, so its "
            "tokenizer is that of another model."
        )
        return
    ids = list(range(max(0, token_id - _NEIGHBOURS), min(last, token_id + _NEIGHBOURS) + 1))
    rows = service.word_rows(model.id, ids)
    own = ids.index(token_id)
    piece = what.labels[what.picked]
    kit.reading(row_reading(piece, token_id, model.vocabulary_size, rows[own]), key="reading_row")
    names = [f"{i}  {what.vocabulary.pieces[i]}" for i in ids]
    st.plotly_chart(
        vector_strips(rows, names, chosen=own, title=f"ID {token_id} is row {token_id}"),
        key="rows_heatmap",
        config={"displayModeBar": False, "displaylogo": False},
        alt=f"Rows {ids[0]} to {ids[-1]} of the word-embedding table.",
    )
    table = pd.DataFrame(rows[:, :_VALUES], columns=[f"dim {d}" for d in range(_VALUES)])
    table.insert(0, "row", names)
    numbers = {name: st.column_config.NumberColumn(format="%.4f") for name in table.columns[1:]}
    st.dataframe(table, hide_index=True, column_config=numbers, key="rows_table")
    with st.expander("Why a row: one-hot times matrix"):
        st.markdown(ROW)
        st.code(row_snippet(model, token_id), language="python", wrap_lines=True)
    st.caption("Click another token above to see its row.")


def two_tokenizers(view: ViewState, what: TokenView, service: EncoderService) -> None:
    """The same text, cut by another model's tokenizer."""
    others = [spec for spec in service.models() if spec.id != view.model]
    if not others:
        st.info("Only one model is allowed here, so there is no other tokenizer to compare with.")
        return
    specs = {spec.id: spec for spec in _cased_first(others)}
    titles = {spec.id: spec.title for spec in specs.values()}
    other = inputs.select(view, PAGE, "other", titles, "With the tokenizer of")
    card = second.tokenizer_card(specs[other])
    if card is None:
        kit.reading(twins_reading(what.tokens), key="reading_twins")
        return
    text, pair = what.sentence.text, what.sentence.pair
    pairs = None if pair is None else [pair]
    theirs = service.tokenize(other, [text], pairs=pairs)[0]
    ours = service.tokenize(view.model, [text], pairs=pairs)[0]
    names = (what.card.title, card.title)
    kit.reading(tokenizers_reading(ours, theirs, names), key="reading_tokenizers")
    for side, (tokens, words, name) in enumerate(
        ((ours, what.vocabulary, names[0]), (theirs, service.vocabulary(other), names[1]))
    ):
        st.markdown(f"**{escape(name)}** · {len(words.pieces):,} pieces")
        token_strip(
            tokens,
            words,
            key=f"token_strip_{side}",
            name=name,
            color=color_of(what.index),
            word=what.sentence.word,
        )


def back(view: ViewState, what: TokenView, service: EncoderService) -> None:
    """From the IDs back to text, and what was lost on the way."""
    tokens = what.tokens
    for which, text in enumerate([tokens.text, *([tokens.pair] if tokens.pair else [])]):
        if tokens.pair:
            st.caption(("First text", "Second text")[which])
        _back(view, what, service, which, text)
    st.caption("With the special tokens:")
    st.code(service.decode(view.model, tokens.token_ids), language=None, wrap_lines=True)


def _back(view: ViewState, what: TokenView, service: EncoderService, which: int, text: str) -> None:
    own = what.tokens.text_ids == which
    decoded = service.decode(view.model, what.tokens.token_ids[own])
    asked = what.tokens, what.vocabulary, which, partial(service.normalize, view.model)
    changes = rewritten(*asked)
    parts = fates(*asked)
    n_unknown = sum(kind == "unknown" for kind, here in zip(what.kinds, own, strict=True) if here)
    n_lost = sum(len(part.text) for part in parts if part.fate == "lost")
    kit.reading(
        back_reading(decoded, text, sum(c.count for c in changes), n_unknown, n_lost),
        key=f"reading_back_{which}",
    )
    st.html(_there_and_back(parts, decoded))
    if changes:
        st.dataframe(_change_table(changes), hide_index=True, key=f"changes_{which}")


def _cased_first(specs: list[ModelSpec]) -> list[ModelSpec]:
    """The other models; first the one that differs most plainly from an uncased default."""
    return sorted(specs, key=lambda spec: spec.id != "google-bert/bert-base-cased")


@st.cache_resource(show_spinner=False, max_entries=4)
def _pieces(_vocabulary: Vocabulary, checksum: str) -> pd.DataFrame:  # noqa: ARG001 - the key
    return pd.DataFrame(
        {
            "ID": np.arange(len(_vocabulary.pieces)),
            "piece": _vocabulary.pieces,
            "stands for": _vocabulary.texts,
            "kind": [_KIND_NAMES[kind] for kind in _vocabulary.kinds],
        }
    )


def _change_table(changes: list[Change]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "what is rewritten": change.what,
            "for example": _seen(change.before),
            "becomes": _seen(change.after),
            "characters": change.count,
        }
        for change in changes
    )


def _seen(text: str) -> str:
    """A character as it is, or its code where it cannot be seen."""
    if text.isprintable() and text.strip():
        return text
    return " ".join(f"U+{ord(c):04X}" for c in text) or "nothing"


def _there_and_back(parts: Sequence[Part], decoded: str) -> str:
    """The text with what was rewritten or lost marked, and what came back; everything escaped."""
    marks = {"kept": "{}", "rewritten": "<mark>{}</mark>", "unknown": "<mark>{}</mark>"}
    typed = "".join(
        marks.get(part.fate, "<del>{}</del>").format(html.escape(visible(part.text)))
        for part in parts
    )
    return (
        f'<div class="back"><span>typed; what does not come back is marked</span><p>{typed}</p>'
        f"<span>back from the IDs</span><p>{html.escape(visible(decoded))}</p></div>"
    )
