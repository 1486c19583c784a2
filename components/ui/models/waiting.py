"""The one way to wait for a job on a page: how far it is, Cancel, Try again.

Who waits holds no thread: the page ends where it cannot go on, and a fragment looks again a few
times a second, by which the visitor goes on to count as waiting. When the job is over, the page
runs again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.content.wording import escape
from components.jobs import Job, Status, Visitor, in_words
from components.ui.frame import errors
from components.ui.models.tasks import BASELINES, FETCHES, LOADS, TOKENIZERS
from components.ui.state import session

__all__ = ["failed", "follow", "me", "shortly"]

_SHORT_SECONDS = 0.7
"""How long a page waits for a job before it shows what it has: most are over by then."""
_POLL_SECONDS = 0.4
_COUNTED = {LOADS, FETCHES, TOKENIZERS, BASELINES}
"""Of these no share is known but that of bytes: a line where there are none, and no bar."""


def me(place: str) -> Visitor:
    """The visitor of this page, who waits at one of its places."""
    return Visitor(session.session(), place)


def shortly(job: Job) -> bool:
    """Whether a job is over, now or in a moment."""
    return job.wait(_SHORT_SECONDS)


def follow(
    job: Job,
    key: str,
    *,
    cancel: str = "Cancel",
    on_cancel: Callable[[], None] | None = None,
    note: str = "",
    below: bool = False,
    on_over: Callable[[], None] = st.rerun,
) -> None:
    """How far a job is, with a way to stop it.

    Args:
        job: one that this visitor waits for at the place of this name, if it waits for it.
        key: of the widgets, and the visitor's place.
        cancel: what the button says; "" for none.
        on_cancel: what it does beside leaving the job.
        note: a line of what goes on meanwhile.
        below: whether the button stands under the line, not beside it.
        on_over: called when there is nothing to wait for any more.
    """

    @st.fragment(run_every=_POLL_SECONDS)
    def watch() -> None:
        status = job.look(me(key))
        if status.is_over:
            on_over()
        line, button = _places(below or not cancel)
        _progress(status, line, is_counted=job.kind in _COUNTED)
        if note:
            line.caption(note)
        if cancel:
            button.button(cancel, key=f"{key}_cancel", on_click=_cancel, args=(job, key, on_cancel))

    with st.container(key=f"waiting_{key}"):
        watch()


def failed(error: BaseException, key: str, again: Callable[[], Any], **button: Any) -> None:
    """Why a job failed, with a button that begins it again."""
    with errors.boundary(again=False):
        raise error
    st.button("Try again", icon=":material/refresh:", key=key, on_click=again, **button)


def _places(below: bool) -> tuple[DeltaGenerator, DeltaGenerator]:
    if below:
        place = st.container(gap="xsmall")
        return place, place
    left, right = st.columns([5, 1], vertical_alignment="center")
    return left, right


def _progress(status: Status, place: DeltaGenerator, *, is_counted: bool) -> None:
    text = escape(in_words(status))
    if is_counted and status.total_bytes is None:
        place.caption(text)
    else:
        place.progress(status.share, text=text)


def _cancel(job: Job, key: str, then: Callable[[], None] | None) -> None:
    job.cancel(me(key))
    if then is not None:
        then()
