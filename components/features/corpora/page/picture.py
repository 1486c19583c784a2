"""The most frequent words of the corpus that is looked at, and what they say."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.features.corpora.compute.shown import Shown, shown_of
from components.features.corpora.controls import WORD
from components.features.corpora.figures import word_bars
from components.features.corpora.page.indexing import indexing_panel
from components.features.corpora.reading import words_claims, words_title
from components.ui.state import session
from components.ui.widgets import kit

__all__ = ["CHART", "HEIGHT", "picture"]

CHART = "corpora_chart"
HEIGHT = 440
_SECONDS = 8.0  # after which the words of a corpus that is being indexed are counted anew


def picture(shown: Shown) -> None:
    """The picture with its reading; while the corpus is indexed, how far that is."""
    if shown.problem:
        st.error(escape(shown.problem), icon=":material/error:")
        return
    if shown.kept is not None:
        indexing_panel(shown.kept)
    if shown.kept is None or not shown.kept.is_under_way:
        _words(shown)
        return

    @st.fragment(run_every=_SECONDS)
    def words() -> None:
        now = shown_of(session.current())  # a word may have been chosen in here
        _words(now if now.key == shown.key else shown)

    words()


def _words(shown: Shown) -> None:
    if not shown.words.n:
        with st.container(
            height=HEIGHT, border=True, horizontal_alignment="center", vertical_alignment="center"
        ):
            st.caption(_nothing(shown), width="content")
        return
    rows, title = shown.first, words_title(shown.words, is_whole=shown.is_whole)
    if rows:
        kit.chart(
            word_bars(rows, chosen=shown.word, title=title, height=HEIGHT),
            key=CHART,
            alt=say("corpora.alt", title=title),
            on_select=_on_select(tuple(row.word for row in rows)),
        )
    kit.reading(words_claims(shown.title, shown.n_texts, shown.words, is_whole=shown.is_whole))


def _nothing(shown: Shown) -> str:
    about = None if shown.kept is None else shown.kept.about
    if about is not None and about.state == "done":
        return say("corpora.no_words")
    return say("corpora.place")


def _on_select(words: tuple[str, ...]) -> Callable[[], None]:
    """A click on a bar chooses its word."""

    def selected() -> None:
        event = session.value(CHART)
        points = [] if event is None else event["selection"]["points"]
        place = points[0].get("point_index", -1) if points else -1
        if 0 <= place < len(words):
            session.write(WORD.put(session.current(), words[place][:200]))

    return selected
