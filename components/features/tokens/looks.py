"""Closer looks on Tokens & IDs: the vocabulary, an ID's row, two tokenizers, and back to text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from components.content.wording import escape, shortened
from components.core import EncoderService, ModelCard
from components.core.schema import Tokens, Vocabulary
from components.features.tokens.compute.looks import (
    RoundTrip,
    TableRows,
    last_row,
    look_up,
    other_tokenizers,
    picked_word,
    round_trips,
    table_rows,
    tokenized_by_both,
)
from components.features.tokens.compute.sentence import TokenizedSentence
from components.features.tokens.controls import KIND, OTHER, SEARCH
from components.features.tokens.explain import ROW
from components.features.tokens.figures import there_and_back
from components.features.tokens.measures.cutting import Cut
from components.features.tokens.measures.rewriting import Change
from components.features.tokens.reading.tokens import (
    back_reading,
    tokenizers_reading,
    twins_reading,
)
from components.features.tokens.reading.vocabulary import (
    cut_reading,
    no_row_reading,
    row_reading,
    vocabulary_reading,
)
from components.features.tokens.snippet import row_snippet
from components.figures.strips import vector_strips
from components.figures.theme import color_of
from components.ui.models import runtime, second
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit
from components.ui.widgets.chips import visible
from components.ui.widgets.token_strip import token_strip

__all__ = ["back", "id_to_row", "two_tokenizers", "vocabulary"]

_KIND_NAMES = {"start": "begins a word", "continuation": "goes on", "special": "special"}
_VALUES = 8  # of a row, as numbers
_LONGEST_PICKED = 40  # characters of a word in the empty field


def vocabulary(view: ViewState, tokenized: TokenizedSentence, service: EncoderService) -> None:
    """Search and browse the vocabulary; how any word splits."""
    every = tokenized.vocabulary
    left, right = st.columns([2, 3], gap="medium")
    with left:
        picked = shortened(picked_word(tokenized), _LONGEST_PICKED)
        inputs.text(view, replace(SEARCH, placeholder=f"{picked}, picked above"))
        inputs.choice(view, KIND)
        found = look_up(view, service, tokenized)
        said = vocabulary_reading(
            found.query,
            found.normalized,
            found.tokens,
            every,
            n_found=len(found.ids),
            among=found.among,
        )
        kit.reading(said, key="reading_vocabulary")
    with right:
        if found.cut is not None:
            _why(found.cut, every.method)
        if found.ids:
            st.dataframe(
                _pieces(every, tokenized.card.checksum).iloc[found.ids],
                hide_index=True,
                height=320 if found.cut is None else 220,
                lazy=True,
                key="vocabulary_table",
            )


def id_to_row(tokenized: TokenizedSentence, service: EncoderService, model: ModelCard) -> None:
    """Why an ID is a row: one-hot times matrix, and the row looked up."""
    token_id = tokenized.picked_id
    rows = table_rows(tokenized, service, model)
    if rows is None:
        st.info(no_row_reading(token_id, last_row(tokenized.vocabulary, model)))
        return
    piece, own = tokenized.labels[tokenized.picked], rows.values[rows.own]
    kit.reading(row_reading(piece, token_id, model.vocabulary_size, own), key="reading_row")
    _strips(rows, token_id)
    with st.expander("Why a row: one-hot times matrix"):
        st.markdown(ROW)
        st.code(row_snippet(model, token_id), language="python", wrap_lines=True)
    st.caption("Click another token above to see its row.")


def two_tokenizers(view: ViewState, tokenized: TokenizedSentence, service: EncoderService) -> None:
    """The same text, cut by another model's tokenizer."""
    others = other_tokenizers(view, service, runtime.own_models())
    if not others:
        st.info("Only one model is allowed here, so there is no other tokenizer to compare with.")
        return
    titles = {model: spec.title for model, spec in others.items()}
    other = inputs.select(view, OTHER.among(titles))
    card = second.tokenizer_card(others[other])
    if card is None:
        kit.reading(twins_reading(tokenized.tokens), key="reading_twins")
        return
    ours, theirs = tokenized_by_both(view, service, tokenized.sentence, other)
    names = (tokenized.card.title, card.title)
    kit.reading(tokenizers_reading(ours, theirs, names), key="reading_tokenizers")
    _side(0, names[0], ours, tokenized.vocabulary, tokenized)
    _side(1, names[1], theirs, service.vocabulary(other), tokenized)


def back(view: ViewState, tokenized: TokenizedSentence, service: EncoderService) -> None:
    """From the IDs back to text, and what was lost on the way."""
    trips = round_trips(view, service, tokenized)
    for which, trip in enumerate(trips):
        if len(trips) > 1:
            st.caption(("First text", "Second text")[which])
        _round_trip(which, trip)
    st.caption("With the special tokens:")
    st.code(service.decode(view.model, tokenized.tokens.token_ids), language=None, wrap_lines=True)


def _why(cut: Cut, method: str) -> None:
    """Why a word is cut as it is."""
    st.markdown(cut_reading(cut, method))
    if len(cut.rows) > 1:
        kit.table(cut.rows, key="cut_table", exact=["log-probability"])


def _strips(rows: TableRows, token_id: int) -> None:
    kit.chart(
        vector_strips(
            rows.values, rows.names, chosen=rows.own, title=f"ID {token_id} is row {token_id}"
        ),
        key="rows_heatmap",
        alt=f"Rows {rows.ids[0]} to {rows.ids[-1]} of the word-embedding table.",
    )
    first = pd.DataFrame(rows.values[:, :_VALUES], columns=[f"dim {d}" for d in range(_VALUES)])
    first.insert(0, "row", rows.names)
    kit.table(first, key="rows_table", after=1)


def _side(
    side: int, name: str, tokens: Tokens, vocabulary: Vocabulary, tokenized: TokenizedSentence
) -> None:
    st.markdown(f"**{escape(name)}** · {len(vocabulary.pieces):,} pieces")
    token_strip(
        tokens,
        vocabulary,
        key=f"token_strip_{side}",
        name=name,
        color=color_of(tokenized.index),
        word=tokenized.sentence.word,
    )


def _round_trip(which: int, trip: RoundTrip) -> None:
    said = back_reading(trip.decoded, trip.text, trip.n_rewritten, trip.n_unknown, trip.n_lost)
    kit.reading(said, key=f"reading_back_{which}")
    parts = [(visible(part.text), part.fate) for part in trip.parts]
    st.html(there_and_back(parts, visible(trip.decoded)))
    if trip.changes:
        kit.table(_change_table(trip.changes), key=f"changes_{which}")


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
            "what is rewritten": change.way,
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
