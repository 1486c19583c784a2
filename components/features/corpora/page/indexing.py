"""A corpus that is not indexed to its end: how far it is, Pause, Go on, Cancel."""

from __future__ import annotations

import streamlit as st

from components.content.wording import escape
from components.core.errors import ContextlensError
from components.features.corpora.page.managing import ask_to_delete
from components.features.corpora.reading import model_note, number, state_of
from components.jobs import Job
from components.ui.corpora import changing
from components.ui.corpora.known import Kept, kept_of, may_delete
from components.ui.models import waiting
from components.ui.models.services import service
from components.ui.state import session

__all__ = ["begin", "indexing_panel"]

_SECONDS = 2.0


def indexing_panel(kept: Kept) -> None:
    """How far a corpus is, and what can be done about it; nothing for one that is done."""
    about = kept.about
    if about is None or about.state == "done":
        note = "" if about is None else model_note(about, service())
        if note:
            st.caption(escape(note))
        return
    with st.container(border=True, gap="small", key="corpora_indexing"):
        if kept.job is not None:
            _progress(kept.job, kept.name, is_pausing=about.state == "paused")
        elif kept.is_elsewhere:
            _progress_elsewhere(kept.name)
        else:
            done = f"{about.n_texts_done:,} of {number(about.n_texts, 'text')} are indexed"
            why = f" {about.why}" if about.why else ""
            said = state_of(about, is_under_way=False).capitalize()
            st.markdown(f"**{said}**: {done} and can be searched.{escape(why)}")
        with st.container(horizontal=True, gap="small"):
            _buttons(kept)


def begin(name: str) -> None:
    """Index a corpus, or go on with it; says where that cannot be."""
    try:
        changing.index(name, waiting.me(_place(name)))
    except ContextlensError as exc:
        session.remember(str(exc))


def _progress(job: Job, name: str, *, is_pausing: bool) -> None:
    waiting.follow(job, _place(name), cancel="", note=_note(is_pausing=is_pausing))


def _progress_elsewhere(name: str) -> None:
    """How far another process is: told by what it has stored."""

    @st.fragment(run_every=_SECONDS)
    def watch() -> None:
        now = kept_of(name)
        if now.about is None or now.is_indexed or not now.is_elsewhere:
            st.rerun()
        about = now.about
        words = f"{about.n_texts_done:,} of {number(about.n_texts, 'text')} are indexed"
        st.progress(about.n_texts_done / max(1, about.n_texts), text=words)
        st.caption(_note(is_pausing=about.state == "paused"))

    watch()


def _note(*, is_pausing: bool) -> str:
    if is_pausing:
        return "It pauses as soon as the texts that are being read are stored."
    return "You can leave this page or close the browser: it goes on, and comes back here."


def _buttons(kept: Kept) -> None:
    about = kept.about
    if about is None:
        return
    if not kept.is_under_way:
        st.button("Go on", icon=":material/play_arrow:", type="primary", key="corpora_go_on",
                  on_click=begin, args=(kept.name,))  # fmt: skip
    elif about.state != "paused":
        st.button("Pause", icon=":material/pause:", key="corpora_pause",
                  on_click=_pause, args=(kept.name,))  # fmt: skip
    if may_delete(session.current(), kept):
        ask_to_delete(kept, "Cancel", key="corpora_cancel", width="content")


def _pause(name: str) -> None:
    try:
        changing.pause(name)
    except ContextlensError as exc:
        session.remember(str(exc))


def _place(name: str) -> str:
    return f"index_{name}"
