"""The parts of the Tokens & IDs page: toolbar, strip, reading, tabs and downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.analysis.tokens import token_rows
from contextlens.content.language import say, table
from contextlens.core import ModelCard
from contextlens.core.schema import TokenizerCard
from contextlens.features.tokens.compute import TokenizedSentence
from contextlens.features.tokens.controls import (
    HIDE,
    ID_TO_ROW,
    PAGE,
    PICKED,
    SEARCH,
    SECTION,
    SENTENCE,
    VOCABULARY,
    cut_within,
    pad_within,
)
from contextlens.features.tokens.examples import TOKEN_EXAMPLES, from_example
from contextlens.features.tokens.explain import FORMULA
from contextlens.features.tokens.figures import tokens_svg
from contextlens.features.tokens.reading import padding_note, tokens_reading, tokens_sure
from contextlens.features.tokens.snippet import PICTURE, tokens_snippet
from contextlens.figures.theme import color_of
from contextlens.ui.page import navigation
from contextlens.ui.state import session
from contextlens.ui.state.controls import sentence_index
from contextlens.ui.state.view import ViewState, letter
from contextlens.ui.widgets import export, inputs, kit, sentences
from contextlens.ui.widgets.token_strip import token_strip

_FILE = "tokens"


def toolbar(view: ViewState, card: TokenizerCard) -> None:
    """The choice of sentence and length, ready texts, and editors of the texts for a phone."""
    index = sentence_index(view, SENTENCE)
    with kit.controls():
        inputs.sentence(view, SENTENCE)
        with st.popover("Edit", icon=":material/edit:", type="tertiary"):
            sentences.sentence_editor(view, "sentences", where="page", least=1)
            sentences.pair_field(view, index, key="page_pair")
        with st.popover("Try", icon=":material/lightbulb:", type="tertiary"):
            st.caption(say("tokens.page.examples", letter=letter(index)))
            _examples(view)
        with st.popover("Length", icon=":material/straighten:", type="tertiary"):
            inputs.number(view, pad_within(card))
            inputs.number(view, cut_within(card, view.sentences[index]))
            inputs.switch(view, HIDE)


def strip(tokenized: TokenizedSentence) -> None:
    """The main picture: the text, and its tokens with their IDs."""
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


def words(tokenized: TokenizedSentence) -> None:
    """Draw the reading of the tokens."""
    tokens, kinds, name = tokenized.tokens, tokenized.kinds, tokenized.unknown_name
    kit.claims(
        tokens_reading(tokens, kinds, tokenized.labels, name, tokenized.changes),
        sure=tokens_sure(tokens, kinds, tokenized.reasons, name, tokenized.changes),
    )


def explain(tokenized: TokenizedSentence, model: ModelCard) -> None:
    """The tabs under the picture."""
    limits = say("tokens.page.limits")
    kit.tabs(lambda: _numbers(tokenized), lambda: _under_the_hood(tokenized, model), limits)


def downloads(
    tokenized: TokenizedSentence,
    model: ModelCard,
    place: DeltaGenerator,
    again: Callable[[], TokenizedSentence],
) -> None:
    """The page's Download menu.

    Args:
        tokenized: the data of the page.
        model: the model's card.
        place: where the menu is drawn.
        again: recomputes the data for a file, because a session must not hold a reference to it.
    """
    svg = tokens_svg(tokenized.boxes, tokenized.title)
    caption = export.caption(tokenized.passport, weights=False)
    snippets = [*_snippets(tokenized, model), ("", PICTURE)]
    with kit.downloads(
        place,
        caption,
        page=PAGE,
        svg=svg,
        svg_title=tokenized.title,
        name=_FILE,
        snippets=snippets,
    ):
        kit.download_files(
            _FILE,
            tokenized.passport,
            rows=lambda: _rows(again()),
            arrays=lambda: again().arrays(),
        )


def _rows(tokenized: TokenizedSentence) -> list[dict[str, Any]]:
    return token_rows(tokenized.tokens, tokenized.vocabulary)


def _pick(position: int) -> None:
    """Pick a token: look up its word if the vocabulary is shown, or else show its row."""
    view = SEARCH.put(PICKED.put(session.current(), position), SEARCH.default)
    looks_up = SECTION.of(view) == VOCABULARY
    session.write(view if looks_up else SECTION.put(view, ID_TO_ROW))


def _examples(view: ViewState) -> None:
    page = navigation.row(PAGE)
    for example in TOKEN_EXAMPLES:
        with st.container(key=f"token_example_{example.key}"):
            navigation.link(
                page, from_example(example, view), label=example.title, icon=example.icon
            )


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
