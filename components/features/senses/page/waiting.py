"""What a view shows of a corpus: at once where it is soon done, else as a job with its progress."""

from __future__ import annotations

from collections.abc import Hashable

import streamlit as st

from components.content.language import say
from components.corpus.searchable import SearchableCorpus
from components.features.senses.compute.corpora import first_word
from components.features.senses.compute.course import course_of, units_at
from components.features.senses.compute.groups import grouping_of
from components.features.senses.compute.shown import Shown, shown_of
from components.features.senses.compute.word import Found, Missing, column_of, word_in
from components.features.senses.controls import GROUPS, OWN, PAGE, WORD
from components.features.senses.page import marks
from components.features.senses.page.opened import model_card
from components.jobs import Job, Kind, Report, Task
from components.ui.models import runtime, waiting
from components.ui.models.background import jobs
from components.ui.state.view import ViewState
from components.ui.widgets import kit

__all__ = ["shown"]

WORDS = Kind(
    "words at every layer",
    n_at_once=2,
    n_at_once_each=1,
    forgotten_seconds=30.0,
    first_words="Reading the word",
)
_PLACE = "senses_progress"
_AT_ONCE = 4_000
"""Occurrences times layers up to which the page works by itself: some tenths of a second."""
_COURSE = 0.5
"""The share of the work that all layers are; the groups of one are the rest."""


def shown(view: ViewState, corpus: SearchableCorpus, *, height: int) -> Shown | Missing | None:
    """What is shown; None, with what is to be waited for, while it is worked out.

    The own sentence counts once the model of the corpus is in memory.

    Args:
        view: what is chosen.
        corpus: where the word is looked up.
        height: of the picture, in pixels, whose place is kept meanwhile.

    Raises:
        ContextlensError: the corpus or the model cannot be used.
    """
    if OWN.of(view).strip() and model_card(corpus) is None:
        view = OWN.put(view, OWN.default)
    place = st.empty()  # in every run, or what follows would be another element to the browser
    job, found = _job(view, corpus), None
    with kit.room(PAGE, height=height):
        is_ready = job is None or waiting.shortly(job)
        if is_ready:
            error = None if job is None or job.was_stopped else job.exception()
            if error is not None:
                raise error
            found = shown_of(view, corpus, runtime.service(), marks.drawn())
    if job is not None and not is_ready:
        with place.container():
            waiting.follow(job, _PLACE, cancel="")
            _room(height)
    return found


def _room(height: int) -> None:
    with st.container(
        height=height, border=True, horizontal_alignment="center", vertical_alignment="center"
    ):
        st.caption(say("senses.place"), width="content")


def _job(view: ViewState, corpus: SearchableCorpus) -> Job | None:
    """The job that reads a word at every layer; None where that takes no time."""
    typed = WORD.of(view).strip() or first_word(view, corpus)
    found = word_in(corpus, typed, column_of(view, corpus))
    if not isinstance(found, Found) or found.n * len(corpus.layers) <= _AT_ONCE:
        return None
    layer, how = view.layer_among(corpus.layers), GROUPS.of(view)
    key: Hashable = ("senses", found.key, layer, how)

    def work(report: Report) -> bool:
        report("Reading the word at every layer", 0.0)
        course_of(found, corpus)
        report(f"Looking for groups at layer {layer}", _COURSE)
        grouping_of(found, units_at(found, corpus, layer), layer, how)
        return True

    known = jobs().get(key)
    if known is not None and known.state == "done":
        return known
    return jobs().start(Task(key, WORDS, work), waiting.me(_PLACE))
