"""Closer looks on Tokens & IDs: the vocabulary, an ID's row, two tokenizers, and back to text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from contextlens.content.language import say, table
from contextlens.content.wording import escape, shortened
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import Tokens, Vocabulary
from contextlens.features.tokens.compute import (
    RoundTrip,
    TableRows,
    TokenizedSentence,
    last_row,
    look_up,
    other_tokenizers,
    picked_text,
    round_trips,
    table_rows,
    tokens_of,
)
from contextlens.features.tokens.controls import KIND, OTHER, SEARCH
from contextlens.features.tokens.explain import ROW
from contextlens.features.tokens.figures import there_and_back
from contextlens.features.tokens.measures import Change, WordCut
from contextlens.features.tokens.reading import (
    back_reading,
    cut_reading,
    row_reading,
    tokenizers_reading,
    twins_reading,
    vocabulary_reading,
)
from contextlens.features.tokens.snippet import row_snippet
from contextlens.figures.frames import vector_strips
from contextlens.figures.theme import color_of
from contextlens.ui.models import runtime, second_model
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import inputs, kit
from contextlens.ui.widgets.chips import visible
from contextlens.ui.widgets.token_strip import token_strip
from contextlens.ui.widgets.unread import unknown_reason

_VALUES = 8  # values of a row that are shown as numbers
_LONGEST_PICKED = 40  # characters of the picked word in the empty search field
_LONGEST_TITLE = 24  # characters of a token in a title


def vocabulary(view: ViewState, tokenized: TokenizedSentence, service: EncoderService) -> None:
    """Draw the search in the vocabulary, with the steps that cut the query."""
    pieces = tokenized.vocabulary
    left, right = st.columns([2, 3], gap="medium")
    with left:
        picked = shortened(picked_text(tokenized).strip(), _LONGEST_PICKED)
        placeholder = say("tokens.page.placeholder", word=picked)
        inputs.text(view, replace(SEARCH, placeholder=placeholder))
        inputs.choice(view, KIND)
        result = look_up(view, service, tokenized)
        claims = vocabulary_reading(
            result.query,
            result.tokens,
            pieces,
            n_found=len(result.ids),
            reason=str(unknown_reason(result.seen, pieces)),
        )
        kit.claims(claims, key="reading_vocabulary")
    with right:
        if result.cut is not None:
            _cut_steps(result.cut, pieces.method)
        if result.ids:
            st.dataframe(
                _pieces(pieces, tokenized.card.checksum).iloc[result.ids],
                hide_index=True,
                height=320 if result.cut is None else 220,
                lazy=True,
                key="vocabulary_table",
            )


def id_to_row(tokenized: TokenizedSentence, service: EncoderService, model: ModelCard) -> None:
    """The row of an ID in two ways: one-hot vector times matrix, and direct lookup."""
    token_id = tokenized.picked_id
    rows = table_rows(tokenized, service, model)
    if rows is None:
        last = last_row(tokenized.vocabulary, model)
        st.info(say("tokens.no_row", token_id=token_id, last=last))
        return
    piece, n_rows = tokenized.labels[tokenized.picked], model.vocabulary_size
    claim = row_reading(piece, token_id, n_rows, rows.values.shape[1])
    kit.claims([claim], key="reading_row")
    name = shortened(piece, _LONGEST_TITLE)
    _strips(rows, say("tokens.page.row_title", piece=name, token_id=token_id, n_rows=n_rows))
    with st.expander(say("tokens.page.row_formula")):
        st.markdown(ROW)
        st.code(row_snippet(model, token_id), language="python", wrap_lines=True)
    st.caption(say("tokens.page.row_more"))


def two_tokenizers(view: ViewState, tokenized: TokenizedSentence, service: EncoderService) -> None:
    """The same text, cut by another model's tokenizer."""
    others = other_tokenizers(view, service, runtime.own_models())
    if not others:
        st.info(say("tokens.page.one_model"))
        return
    titles = {model: spec.title for model, spec in others.items()}
    other = inputs.select(view, OTHER.among(titles))
    card = second_model.tokenizer_card(others[other])
    if card is None:
        unknown_id, name = tokenized.vocabulary.unknown_id, tokenized.unknown_name
        kit.claims(twins_reading(tokenized.tokens, unknown_id, name), key="reading_twins")
        return
    ours, theirs = (tokens_of(service, m, tokenized.sentence) for m in (view.model, other))
    names = (tokenized.card.title, card.title)
    vocabularies = (tokenized.vocabulary, service.vocabulary(other))
    unknown_ids = (vocabularies[0].unknown_id, vocabularies[1].unknown_id)
    kit.claims(tokenizers_reading(ours, theirs, names, unknown_ids), key="reading_tokenizers")
    _side(0, names[0], ours, vocabularies[0], tokenized)
    _side(1, names[1], theirs, vocabularies[1], tokenized)


def back(view: ViewState, tokenized: TokenizedSentence, service: EncoderService) -> None:
    """The text decoded from the IDs, and what was lost on the way."""
    trips = round_trips(view, service, tokenized)
    for which, trip in enumerate(trips):
        if len(trips) > 1:
            st.caption(say(("tokens.page.first_text", "tokens.page.second_text")[which]))
        _round_trip(which, trip)
    st.caption(say("tokens.page.with_special"))
    st.code(service.decode(view.model, tokenized.tokens.token_ids), language=None, wrap_lines=True)


def _cut_steps(cut: WordCut, method: str) -> None:
    """The steps that cut a word."""
    st.markdown(str(cut_reading(cut, method)))
    if len(cut.rows) > 1:
        names = table("tokens.column")
        frame = pd.DataFrame(cut.rows).rename(columns=names)
        kit.table(frame, key="cut_table", exact=[names["score"]])


def _strips(rows: TableRows, title: str) -> None:
    kit.chart(
        vector_strips(rows.values, rows.names, chosen=rows.picked, title=title),
        key="rows_heatmap",
        alt=say("tokens.page.row_alt", first=rows.ids[0], last=rows.ids[-1]),
    )
    values = pd.DataFrame(rows.values[:, :_VALUES], columns=[f"dim {d}" for d in range(_VALUES)])
    values.insert(0, "row", rows.names)
    kit.table(values, key="rows_table", after=1)


def _side(
    side: int, name: str, tokens: Tokens, vocabulary: Vocabulary, tokenized: TokenizedSentence
) -> None:
    st.markdown(say("tokens.page.tokenizer", name=escape(name), n=len(vocabulary.pieces)))
    token_strip(
        tokens,
        vocabulary,
        key=f"token_strip_{side}",
        name=name,
        color=color_of(tokenized.index),
        word=tokenized.sentence.word,
    )


def _round_trip(which: int, trip: RoundTrip) -> None:
    claims = back_reading(trip.decoded, trip.text, trip.n_rewritten, trip.n_unknown, trip.n_lost)
    kit.claims(claims[:3], sure=claims[3:], key=f"reading_back_{which}")
    stretches = [(visible(stretch.text), stretch.fate) for stretch in trip.stretches]
    st.html(there_and_back(stretches, visible(trip.decoded)))
    if trip.changes:
        kit.table(_change_table(trip.changes), key=f"changes_{which}")


@st.cache_resource(show_spinner=False, max_entries=4)
def _pieces(_vocabulary: Vocabulary, checksum: str) -> pd.DataFrame:  # noqa: ARG001 - the cache key
    names = table("tokens.kind")
    return pd.DataFrame(
        {
            "ID": np.arange(len(_vocabulary.pieces)),
            "piece": _vocabulary.pieces,
            "stands for": _vocabulary.texts,
            "kind": [names[kind] for kind in _vocabulary.kinds],
        }
    )


def _change_table(changes: list[Change]) -> pd.DataFrame:
    rows = [
        {
            "change": say(f"tokens.change.{change.way}"),
            "before": _printable(change.before),
            "after": _printable(change.after),
            "count": change.count,
        }
        for change in changes
    ]
    return pd.DataFrame(rows).rename(columns=table("tokens.column"))


def _printable(text: str) -> str:
    """The characters, or their codes if they are invisible."""
    if text.isprintable() and text.strip():
        return text
    return " ".join(f"U+{ord(c):04X}" for c in text) or say("tokens.change.nothing")
