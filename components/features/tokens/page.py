"""The parts of the Tokens & IDs page: toolbar, strip, reading, and the four closer looks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.analysis.tokens import token_rows
from components.content.wording import escape, quoted
from components.core import ModelCard
from components.core.schema import TokenizerCard
from components.features.tokens.compute import (
    PAGE,
    SECTIONS,
    TokenView,
    cut_between,
    from_example,
    index_of,
)
from components.features.tokens.explain import FORMULA, LIMITS, METHODS
from components.features.tokens.figures import tokens_svg
from components.features.tokens.reading.tokens import tokens_reading
from components.features.tokens.samples import TOKEN_EXAMPLES
from components.features.tokens.snippet import tokens_snippet
from components.figures.theme import color_of
from components.ui.frame import errors, navigation
from components.ui.state import session
from components.ui.state.view import ViewState, letter
from components.ui.widgets import export, inputs, kit, sentences
from components.ui.widgets.token_strip import token_strip

__all__ = ["closer", "downloads", "explain", "strip", "terms", "toolbar", "words"]

_FILE = "tokens"


def toolbar(view: ViewState, card: TokenizerCard) -> None:
    """Which sentence, its texts for a phone, ready texts, and how to cut and pad."""
    index = index_of(view)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        if len(view.sentences) > 1:
            inputs.sentence_choice(view, PAGE)
        with st.popover("Edit", icon=":material/edit:", type="tertiary"):
            sentences.sentence_editor(view, "sentences", where="page", least=1)
            sentences.pair_field(view, index, key="page_pair")
        with st.popover("Try", icon=":material/lightbulb:", type="tertiary"):
            st.caption(f"Puts a ready text in the place of sentence {letter(index)}.")
            _examples(view)
        with st.popover("Length", icon=":material/straighten:", type="tertiary"):
            _lengths(view, card)


def strip(what: TokenView) -> None:
    """The main picture: the text, and its tokens with their IDs."""
    if what.pad_asked and what.pad_to is None and what.pad_asked != what.tokens.n_tokens:
        st.caption(
            f"Padding to {what.pad_asked} was asked, but there are {what.tokens.n_tokens} tokens "
            "already: nothing to pad."
        )
    token_strip(
        what.tokens,
        what.vocabulary,
        key="token_strip",
        name=f"sentence {letter(what.index)}",
        color=color_of(what.index),
        word=what.sentence.word,
        reasons=what.reasons,
        special=what.special,
        picked=what.picked,
        on_pick=_pick,
    )


def words(what: TokenView) -> None:
    """The reading, and why pieces are unknown."""
    kit.reading(tokens_reading(what.tokens, what.kinds, what.labels))
    for position, reason in list(what.reasons.items())[:3]:
        start, end = what.tokens.offsets[position].tolist()
        text = what.tokens.text if what.tokens.text_ids[position] == 0 else what.tokens.pair or ""
        st.caption(f"Token {position} is unknown, {quoted(text[start:end])}: {escape(reason)}")


def closer(place: DeltaGenerator, view: ViewState, looks: dict[str, Callable[[], None]]) -> None:
    """The four closer looks, one at a time; what goes wrong in one leaves the page as it is."""
    with place:
        chosen = inputs.choice(view, PAGE, "section", SECTIONS, "Look closer")
        with st.container(border=True), errors.boundary():
            looks[chosen]()


def terms() -> None:
    """The terms that the page uses, each with its meaning at hand."""
    kit.terms("token", "sub-token", "token ID", "vocabulary", "special token", "padding", "[UNK]")


def explain(what: TokenView, model: ModelCard) -> None:
    """The tabs under the picture."""
    kit.tabs(lambda: _numbers(what), lambda: _under_the_hood(what, model), LIMITS)


def downloads(what: TokenView, place: DeltaGenerator) -> None:
    """The page's Download menu."""
    added = [kind in ("special", "padding") for kind in what.kinds]
    boxes = [
        (label, token_id, faint)
        for label, token_id, faint in zip(
            what.labels, what.tokens.token_ids.tolist(), added, strict=True
        )
        if what.special or not faint
    ]
    svg = tokens_svg(boxes, " / ".join(filter(None, (what.tokens.text, what.tokens.pair))))
    caption = export.caption(what.passport, weights=False)
    with kit.downloads(place, caption, svg=svg, name=_FILE):
        kit.download_files(
            _FILE,
            what.passport,
            rows=lambda: token_rows(what.tokens, what.vocabulary),
            arrays=lambda: _arrays(what),
        )


def _pick(position: int) -> None:
    view = session.current().with_control(PAGE, "token", position, -1)
    session.write(view.with_control(PAGE, "section", SECTIONS[1], SECTIONS[0]))


def _examples(view: ViewState) -> None:
    page = navigation.row(PAGE)
    for example in TOKEN_EXAMPLES:
        with st.container(key=f"token_example_{example.key}"):
            navigation.link(
                page, from_example(example, view), label=example.title, icon=example.icon
            )


def _lengths(view: ViewState, card: TokenizerCard) -> None:
    least, most = cut_between(card, view.sentences[index_of(view)])
    inputs.number(
        view,
        PAGE,
        "pad",
        "Pad to (0: no padding)",
        between=(0, most),
        default=0,
        help="Adds padding until there are so many tokens.",
    )
    inputs.number(
        view,
        PAGE,
        "cut",
        "Cut at",
        between=(least, most),
        default=most,
        help=f"Special tokens count too. {escape(card.title)} takes at most {most}.",
    )
    inputs.switch(view, PAGE, "hide", "Hide special tokens and padding")


def _numbers(what: TokenView) -> None:
    table = pd.DataFrame(token_rows(what.tokens, what.vocabulary, special=what.special))
    empty = [name for name in table.columns if table[name].isna().all()]
    st.dataframe(table.drop(columns=empty), hide_index=True, placeholder="", key="tokens_table")
    st.caption("“from” and “to” count characters from 0; “word” counts the text's words from 0.")


def _under_the_hood(what: TokenView, model: ModelCard) -> None:
    formula, code = st.columns(2, gap="medium")
    with formula:
        st.markdown(METHODS.get(what.vocabulary.method, ""))
        st.markdown(FORMULA)
    with code:
        st.markdown("**The same tokens with transformers alone**")
        sentence = what.sentence
        snippet = tokens_snippet(
            model, sentence.text, sentence.pair, cut=what.cut, pad_to=what.pad_to
        )
        st.code(snippet, language="python", wrap_lines=True)
        st.markdown("**Shapes**")
        n = what.tokens.n_tokens
        st.markdown(f"`input_ids`, `attention_mask`: [1, {n}], one row of {n} numbers each")
        st.markdown("**Passport**")
        kit.passport(what.passport)


def _arrays(what: TokenView) -> dict[str, np.ndarray]:
    tokens = what.tokens
    segments = {} if tokens.token_type_ids is None else {"token_type_ids": tokens.token_type_ids}
    return {
        "token_ids": tokens.token_ids,
        "attention_mask": tokens.attention_mask,
        "special_tokens_mask": tokens.special_tokens_mask,
        "offsets": tokens.offsets,
        "tokens": np.array(tokens.tokens),
        "text": np.array(tokens.text),
        "pair": np.array(tokens.pair or ""),
        **segments,
    }
