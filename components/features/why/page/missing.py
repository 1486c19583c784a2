"""What stands in the picture's place where two sentences cannot be compared, with a way on."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.features.why.compute.score import Missing, Score
from components.features.why.controls import WHAT, WORD
from components.ui.state import session
from components.ui.state.view import Sentence, ViewState

__all__ = ["cut_off", "missing"]


def missing(view: ViewState, found: Missing) -> None:
    """Why there is nothing to take apart, and what to do."""
    st.info(escape(found.problem), icon=":material/compare_arrows:")
    if len(view.sentences) == 1:
        _second_field()
    elif WHAT.of(view) == WORD:
        st.button(
            say("why.missing.whole"), icon=":material/notes:", key="why_whole", on_click=_whole
        )


def cut_off(score: Score) -> None:
    """What of the sentences did not fit the model."""
    most = score.card.max_length
    for side in score.sides:
        if side.n_truncated:
            st.caption(say("why.missing.cut", most=most, n=side.n_truncated, letter=side.letter))


def _second_field() -> None:
    field = session.bind("why_another", "")
    st.text_input(
        say("why.missing.second"),
        "",
        key=field,
        max_chars=session.max_characters(),
        placeholder=say("why.missing.type_one"),
        on_change=_add,
        args=(field,),
    )


def _add(field: str) -> None:
    view, text = session.current(), str(session.value(field) or "")
    if session.is_shown(field) and text.strip() and len(view.sentences) == 1:
        session.write(replace(view, sentences=(*view.sentences, Sentence(text))))


def _whole() -> None:
    session.write(WHAT.put(session.current(), WHAT.default))
