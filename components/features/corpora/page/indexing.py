"""A corpus that is not indexed to its end: how far it is, Pause, Go on, Cancel."""

from __future__ import annotations

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.core.errors import ContextlensError
from components.features.corpora.page.managing import ask_to_delete
from components.features.corpora.reading import model_note, state_of
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
            state = state_of(about, is_under_way=False).capitalize()
            numbers = {"n": about.n_texts, "done": about.n_texts_done}
            done = say("corpora.progress.state", state=state, **numbers)
            st.markdown(f"{done} {escape(about.why)}")
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
        n, done = about.n_texts, about.n_texts_done
        st.progress(done / max(1, n), text=say("corpora.progress.done", n=n, done=done))
        st.caption(_note(is_pausing=about.state == "paused"))

    watch()


def _note(*, is_pausing: bool) -> str:
    return say(f"corpora.progress.{'pausing' if is_pausing else 'leave'}")


def _buttons(kept: Kept) -> None:
    about = kept.about
    if about is None:
        return
    if not kept.is_under_way:
        st.button(
            say("corpora.progress.go_on"),
            icon=":material/play_arrow:",
            type="primary",
            key="corpora_go_on",
            on_click=begin,
            args=(kept.name,),
        )
    elif about.state != "paused":
        st.button(
            say("corpora.progress.pause"),
            icon=":material/pause:",
            key="corpora_pause",
            on_click=_pause,
            args=(kept.name,),
        )
    if may_delete(session.current(), kept):
        cancel = say("corpora.progress.cancel")
        ask_to_delete(kept, cancel, key="corpora_cancel", width="content")


def _pause(name: str) -> None:
    try:
        changing.pause(name)
    except ContextlensError as exc:
        session.remember(str(exc))


def _place(name: str) -> str:
    return f"index_{name}"
