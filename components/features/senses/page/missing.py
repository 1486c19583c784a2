"""What stands in the picture's place where there is no such word, or no such corpus."""

from __future__ import annotations

from functools import partial

import streamlit as st

from components.content.wording import escape, shortened
from components.corpus.searchable import WordCount
from components.features.senses.compute.word import Missing
from components.features.senses.controls import WORD
from components.features.senses.page import marks
from components.ui.state import session

__all__ = ["missing", "no_corpus"]

_MOST = 8


def missing(found: Missing) -> None:
    """Why there is nothing of a word, with those that may have been meant."""
    st.info(escape(found.problem), icon=":material/search_off:")
    words = {own.word: own for own in (*found.similar, *found.inside)}
    if words:
        with st.container(horizontal=True, gap="small", key="senses_instead"):
            for own in list(words.values())[:_MOST]:
                _button(own)


def no_corpus(problem: str) -> None:
    """Why there is no corpus; another can be chosen above."""
    st.info(f"{escape(problem)}", icon=":material/folder_off:")


def _button(own: WordCount) -> None:
    label = f"{escape(shortened(own.word, 40))} · {own.n:,}"
    st.button(label, key=f"senses_instead_{own.word}", on_click=partial(_look_at, own.word))


def _look_at(word: str) -> None:
    session.write(WORD.put(marks.anew(session.current()), word))
