"""Above the picture: which corpus, which word, what colours it, how many groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from components.content.language import say
from components.content.wording import shortened
from components.corpus.searchable import SearchableCorpus, WordCount
from components.features.senses import controls
from components.features.senses.compute.corpora import first_word, suggested
from components.features.senses.compute.word import column_of
from components.features.senses.page import marks
from components.ui.corpora.known import titles
from components.ui.state import session
from components.ui.state.controls import Choice, Control, Text
from components.ui.state.view import ViewState
from components.ui.widgets import inputs, kit

__all__ = ["corpus_options", "select", "toolbar", "word_field"]

Then = Callable[[ViewState], ViewState]
_LONGEST = 200  # characters that an address takes


def toolbar(view: ViewState, corpus: SearchableCorpus | None) -> None:
    """The controls of the page; without a corpus, the one that chooses another."""
    with kit.controls("senses"):
        select(
            view, controls.corpus_among(corpus_options(view, controls.CORPUS)), _of_another_corpus
        )
        if corpus is None:
            return
        word_field(view, controls.WORD, first_word(view, corpus), suggested(corpus), marks.anew)
        if column_of(view, corpus):
            inputs.choice(view, controls.COLOR)
        inputs.select(view, controls.GROUPS)
        if corpus.columns:
            with st.popover("Senses", icon=":material/label:", type="tertiary"):
                st.caption(say("senses.labels_help"))
                inputs.select(view, controls.labels_among(corpus.columns))


def corpus_options(view: ViewState, control: Choice) -> Mapping[str, str]:
    """The stored corpora that a visit knows, by name; the one that is asked for among them."""
    asked = control.asked(view) or ""
    known = titles(view, *([asked] if asked and asked not in controls.LIVE else []))
    if asked and asked not in {*controls.LIVE, *known}:
        return {**known, asked: say("senses.not_here")}
    return known


def word_field(
    view: ViewState,
    control: Text,
    first: str,
    words: tuple[WordCount, ...],
    then: Then | None = None,
) -> None:
    """A field for a word, with words of the corpus and their counts; any other can be typed.

    Args:
        view: what is chosen.
        control: what is typed.
        first: the word that counts while none is typed.
        words: what is suggested.
        then: what else is different of a view with another word.
    """
    counts = {own.word: f"{shortened(own.word, 40)} · {own.n:,}" for own in words}
    chosen = control.of(view).strip() or first
    options = list(dict.fromkeys([*counts, *([chosen] if chosen else [])]))
    key = session.bind(control.key, chosen or None)
    st.selectbox(
        control.label,
        options,
        index=options.index(chosen) if chosen else None,
        key=key,
        format_func=lambda word: counts.get(word, word),
        placeholder=control.placeholder,
        accept_new_options=True,
        help=say("senses.word_help"),
        on_change=_write(control, key, then or _as_it_is, _typed),
    )


def _typed(value: Any) -> str:
    return str(value or "")[:_LONGEST]


def select(view: ViewState, control: Choice, then: Then) -> None:
    """A control as a menu; `then` gives what else is different of a view with another choice."""
    chosen, values = control.of(view), list(control.options)
    key = session.bind(control.key, chosen)
    st.selectbox(
        control.label,
        values,
        index=values.index(chosen),
        key=key,
        format_func=control.options.__getitem__,
        on_change=_write(control, key, then, str),
    )


def _write(
    control: Control[Any], key: str, then: Then, read: Callable[[Any], str]
) -> Callable[[], None]:
    def write() -> None:
        if session.is_shown(key):
            session.write(then(control.put(session.current(), read(session.value(key)))))

    return write


def _of_another_corpus(view: ViewState) -> ViewState:
    """Its word and its labels are others."""
    view = controls.LABELS.put(view, controls.LABELS.default)
    return marks.anew(controls.WORD.put(view, controls.WORD.default))


def _as_it_is(view: ViewState) -> ViewState:
    return view
