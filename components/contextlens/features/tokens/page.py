"""The parts of the Tokens & IDs page: toolbar, strip, reading, closer looks, tabs, downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.tokens import token_rows
from contextlens.content.language import say, table
from contextlens.content.wording import escape, shortened
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import TokenizerCard, Vocabulary
from contextlens.features.tokens.back_to_text import RoundTrip, round_trips, there_and_back
from contextlens.features.tokens.controls import (
    BACK_TO_TEXT,
    HIDE,
    ID_TO_ROW,
    KIND,
    OTHER,
    PAGE,
    PICKED,
    SEARCH,
    SECTION,
    SENTENCE,
    TWO_TOKENIZERS,
    VOCABULARY,
    cut_within,
    pad_within,
)
from contextlens.features.tokens.examples import TOKEN_EXAMPLES, from_example
from contextlens.features.tokens.id_to_row import id_to_row, last_row
from contextlens.features.tokens.tokenized_sentence import (
    FORMULA,
    PICTURE,
    TokenizedSentence,
    padding_note,
    tokens_claims,
    tokens_of,
    tokens_snippet,
    tokens_sure,
    tokens_svg,
)
from contextlens.features.tokens.two_tokenizers import (
    TwoTokenizers,
    other_tokenizers,
    twins_claims,
)
from contextlens.features.tokens.vocabulary_search import look_up, picked_text, vocabulary_table
from contextlens.figures.theme import color_of
from contextlens.ui.models import runtime, second_model
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.controls import sentence_index
from contextlens.ui.state.view import ViewState, letter
from contextlens.ui.widgets import export, inputs, kit
from contextlens.ui.widgets.chips import visible
from contextlens.ui.widgets.subject import subject_bar
from contextlens.ui.widgets.token_strip import token_strip

_FILE = "tokens"
_MAX_PICKED_LENGTH = 40  # characters of the picked word in the empty search field


# --- Above the closer looks


def toolbar(view: ViewState, card: TokenizerCard) -> None:
    """Draw the choices of length."""
    index = sentence_index(view, SENTENCE)
    with kit.menu("Length", icon="straighten"):
        inputs.number(view, pad_within(card))
        inputs.number(view, cut_within(card, view.sentences[index]))
        inputs.switch(view, HIDE)


def subject(view: ViewState) -> None:
    """Draw the subject bar, which follows what one types; its examples replace one sentence."""
    examples = partial(_examples, view)
    subject_bar(view, PAGE, control=SENTENCE, pairs=True, live=True, examples=examples)


def _examples(view: ViewState) -> None:
    index, page = sentence_index(view, SENTENCE), navigation.row(PAGE)
    st.caption(say("tokens.page.examples", letter=letter(index)))
    for example in TOKEN_EXAMPLES:
        with st.container(key=f"token_example_{example.key}"):
            navigation.link(
                page, from_example(example, view), label=example.title, icon=example.icon
            )


def strip(tokenized: TokenizedSentence) -> None:
    """Draw the main picture: the text, and its tokens with their IDs."""
    if note := padding_note(tokenized.requested_pad, tokenized.tokens.n_tokens):
        st.caption(str(note))
    token_strip(
        tokenized.tokens,
        tokenized.vocabulary,
        key="token_strip",
        name=say("tokens.page.sentence", letter=letter(tokenized.index)),
        color=color_of(tokenized.index),
        word=tokenized.sentence.word,
        reasons=tokenized.reasons,
        special=tokenized.special,
        picked=tokenized.picked,
        large=True,
        on_pick=_pick,
    )


def _pick(position: int) -> None:
    """Pick a token: look up its word if the vocabulary is shown, or else show its row."""
    view = SEARCH.put(PICKED.put(session.current(), position), SEARCH.default)
    looks_up = SECTION.of(view) == VOCABULARY
    session.write(view if looks_up else SECTION.put(view, ID_TO_ROW))


def headline(tokenized: TokenizedSentence) -> None:
    """Write how many tokens the text becomes, and what the model misses."""
    tokens, kinds, name = tokenized.tokens, tokenized.kinds, tokenized.unknown_name
    kit.headline(
        *tokens_claims(tokens, kinds, tokenized.labels, name, tokenized.changes),
        sure=tokens_sure(tokens, kinds, tokenized.reasons, name, tokenized.changes),
        key="reading",
    )


# --- The closer looks


def _vocabulary(
    view: ViewState, tokenized: TokenizedSentence, service: EncoderService, _model: ModelCard
) -> None:
    """Draw the search in the vocabulary, with the steps that cut the query."""
    vocabulary = tokenized.vocabulary
    left, right = st.columns([2, 3], gap="medium")
    with left:
        picked = shortened(picked_text(tokenized).strip(), _MAX_PICKED_LENGTH)
        placeholder = say("tokens.page.placeholder", word=picked)
        inputs.text(view, replace(SEARCH, placeholder=placeholder))
        inputs.choice(view, KIND)
        result = look_up(view, service, tokenized)
        kit.claims(result.claims(), key="reading_vocabulary")
    with right:
        if result.cut is not None:
            st.markdown(str(result.cut.claim(vocabulary.method)))
            cut_table = result.cut_table()
            if cut_table is not None:
                score = table("tokens.column")["score"]
                kit.table(cut_table, key="cut_table", exact=[score])
        if result.ids:
            st.dataframe(
                _pieces(vocabulary, tokenized.card.checksum).iloc[result.ids],
                hide_index=True,
                height=320 if result.cut is None else 220,
                lazy=True,
                key="vocabulary_table",
            )


@st.cache_resource(show_spinner=False, max_entries=4)
def _pieces(_vocabulary: Vocabulary, checksum: str) -> pd.DataFrame:  # noqa: ARG001 - the cache key
    return vocabulary_table(_vocabulary)


def _id_to_row(
    _view: ViewState, tokenized: TokenizedSentence, service: EncoderService, model: ModelCard
) -> None:
    """Draw the row of an ID, looked up and as a one-hot vector times the matrix."""
    result = id_to_row(tokenized, service, model)
    if result is None:
        last = last_row(tokenized.vocabulary, model)
        st.info(say("tokens.no_row", token_id=tokenized.picked_id, last=last))
        return
    kit.claims(result.claims(), key="reading_row")
    kit.chart(result.figure(), key="rows_heatmap", alt=result.alt())
    kit.table(result.table(), key="rows_table", after=1)
    with st.expander(say("tokens.page.row_formula")):
        st.markdown(result.formula)
        st.code(result.snippet(), language="python", wrap_lines=True)
    st.caption(say("tokens.page.row_more"))


def _two_tokenizers(
    view: ViewState, tokenized: TokenizedSentence, service: EncoderService, _model: ModelCard
) -> None:
    """Draw the same text, cut by another model's tokenizer."""
    others = other_tokenizers(view, service, runtime.own_models())
    if not others:
        st.info(say("tokens.page.one_model"))
        return
    other = inputs.select(view, OTHER.among({model: spec.title for model, spec in others.items()}))
    card = second_model.tokenizer_card(others[other])
    if card is None:
        unknown_id, name = tokenized.vocabulary.unknown_id, tokenized.unknown_name
        kit.claims(twins_claims(tokenized.tokens, unknown_id, name), key="reading_twins")
        return
    result = TwoTokenizers(
        tokens=(
            tokens_of(service, view.model, tokenized.sentence),
            tokens_of(service, other, tokenized.sentence),
        ),
        names=(tokenized.card.title, card.title),
        vocabularies=(tokenized.vocabulary, service.vocabulary(other)),
    )
    kit.claims(result.claims(), key="reading_tokenizers")
    sides = zip(result.tokens, result.names, result.vocabularies, strict=True)
    for side, (tokens, name, vocabulary) in enumerate(sides):
        st.markdown(say("tokens.page.tokenizer", name=escape(name), n=len(vocabulary.pieces)))
        token_strip(
            tokens,
            vocabulary,
            key=f"token_strip_{side}",
            name=name,
            color=color_of(tokenized.index),
            word=tokenized.sentence.word,
        )


def _back_to_text(
    view: ViewState, tokenized: TokenizedSentence, service: EncoderService, _model: ModelCard
) -> None:
    """Draw the text decoded from the IDs, and what was lost on the way."""
    trips = round_trips(view, service, tokenized)
    for text_id, trip in enumerate(trips):
        if len(trips) > 1:
            st.caption(say(("tokens.page.first_text", "tokens.page.second_text")[text_id]))
        _round_trip(text_id, trip)
    st.caption(say("tokens.page.with_special"))
    st.code(service.decode(view.model, tokenized.tokens.token_ids), language=None, wrap_lines=True)


def _round_trip(text_id: int, trip: RoundTrip) -> None:
    kit.claims(trip.claims(), sure=trip.sure(), key=f"reading_back_{text_id}")
    stretches = [(visible(stretch.text), stretch.fate) for stretch in trip.stretches]
    st.html(there_and_back(stretches, visible(trip.decoded)))
    if trip.changes:
        kit.table(trip.rows(), key=f"changes_{text_id}")


Look = Callable[[ViewState, TokenizedSentence, EncoderService, ModelCard], None]

LOOKS: Mapping[str, Look] = {
    VOCABULARY: _vocabulary,
    ID_TO_ROW: _id_to_row,
    TWO_TOKENIZERS: _two_tokenizers,
    BACK_TO_TEXT: _back_to_text,
}
"""What computes and draws each closer look, by its name among the options of `SECTION`."""


# --- Below the closer looks


def explain(tokenized: TokenizedSentence, model: ModelCard) -> None:
    """Draw the tabs under the picture."""
    limits = say("tokens.page.limits")
    kit.tabs(lambda: _numbers(tokenized), lambda: _under_the_hood(tokenized, model), limits)


def downloads(
    tokenized: TokenizedSentence,
    model: ModelCard,
    container: DeltaGenerator,
    again: Callable[[], TokenizedSentence],
) -> None:
    """Draw the Download menu.

    Args:
        tokenized: the data of the page.
        model: the model's card.
        container: where the menu is drawn.
        again: recomputes the data for a file, because a session must not hold a reference to it.
    """
    svg = tokens_svg(tokenized.boxes, tokenized.title)
    caption = export.caption(tokenized.passport, weights=False)
    snippets = [*_snippets(tokenized, model), ("", PICTURE)]
    kit.downloads(
        container,
        caption,
        page=PAGE,
        svg=svg,
        svg_title=tokenized.title,
        name=_FILE,
        snippets=snippets,
        files=lambda: kit.download_files(
            _FILE,
            tokenized.passport,
            rows=lambda: _rows(again()),
            arrays=lambda: again().arrays(),
        ),
    )


def _rows(tokenized: TokenizedSentence) -> list[dict[str, Any]]:
    return token_rows(tokenized.tokens, tokenized.vocabulary)


def _numbers(tokenized: TokenizedSentence) -> None:
    rows = token_rows(tokenized.tokens, tokenized.vocabulary, special=tokenized.special)
    frame = pd.DataFrame(rows)
    empty = [name for name in frame.columns if frame[name].isna().all()]
    kit.table(frame.drop(columns=empty), key="tokens_table")
    st.caption(say("tokens.page.table"))


def _under_the_hood(tokenized: TokenizedSentence, model: ModelCard) -> None:
    n = tokenized.tokens.n_tokens

    def shapes() -> None:
        st.markdown(say("tokens.page.shapes", n=n))

    kit.under_the_hood(
        formula=(table("tokens.method").get(tokenized.vocabulary.method, ""), FORMULA),
        snippet=_snippets(tokenized, model),
        passport=tokenized.passport,
        shapes=shapes,
    )


def _snippets(tokenized: TokenizedSentence, model: ModelCard) -> list[tuple[str, str]]:
    sentence = tokenized.sentence
    snippet = tokens_snippet(
        model, sentence.text, sentence.pair, cut=tokenized.max_length, pad_to=tokenized.pad_to
    )
    return [(say("tokens.page.snippet"), snippet)]
