"""Waiting for a job on a page: its progress, Cancel, Try again. All pages wait in this way.

A waiting page holds no thread. It ends at the point where it needs the result, and a fragment polls
a few times a second; each poll keeps the visitor counted as waiting. When the job is over, the page
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
"""The time that a page waits for a job before it shows what it has: most jobs end in it."""
_POLL_SECONDS = 0.4
_COUNTED = {LOADS, FETCHES, TOKENIZERS, BASELINES}
"""Jobs whose only known progress is that of bytes.

If they report no bytes, they get a line of text and no bar.
"""


def me(place: str) -> Visitor:
    """Return the visitor of this page, who waits at one of its places."""
    return Visitor(session.session(), place)


def shortly(job: Job) -> bool:
    """Return True if a job is over, now or in a moment."""
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
    """Draw the progress of a job, with a way to stop it.

    Args:
        job: the job; a visitor who waits for it does so at the place with this key.
        key: the key of the widgets, and of the visitor's place.
        cancel: the button's label; "" for no button.
        on_cancel: called when the button is pressed, besides leaving the job.
        note: a line of text shown meanwhile.
        below: True to put the button under the line, not beside it.
        on_over: called when there is nothing left to wait for.
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
    """Draw the reason why a job failed, with a button that starts it again."""
    with errors.boundary(again=False):
        raise error
    st.button("Try again", icon=":material/refresh:", key=key, on_click=again, **button)


def _places(below: bool) -> tuple[DeltaGenerator, DeltaGenerator]:
    if below:
        place = st.container(gap="xsmall")
        return place, place
    line, button = st.columns([5, 1], vertical_alignment="center")
    return line, button


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
