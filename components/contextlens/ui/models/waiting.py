"""Waiting for a job on a page: its progress, Cancel, Try again. All pages wait in this way.

A waiting page holds no thread. It ends at the point where it needs the result, and a fragment polls
a few times a second; each poll keeps the visitor counted as waiting. When the job is over, the page
runs again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core.errors import BusyError, JobError
from contextlens.jobs import Job, Status, Task, Visitor, in_words
from contextlens.ui.frame import errors
from contextlens.ui.models.background import jobs
from contextlens.ui.models.tasks import BASELINES, FETCHES, LOADS, TOKENIZERS
from contextlens.ui.state import session

_SHORT_SECONDS = 0.7
"""The time that a page waits for a job before it shows progress: most jobs end sooner."""
_POLL_SECONDS = 0.4
_COUNTED = {LOADS, FETCHES, TOKENIZERS, BASELINES}
"""Kinds of jobs whose only progress is a number of bytes.

If they report no bytes, they get a line of text and no bar.
"""


_MAX_TRIES = 3
"""The most times that a page asks for a result that is evicted or stopped before it is taken."""


def current_visitor(place: str) -> Visitor:
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
    until: Callable[[], bool] = lambda: False,
) -> None:
    """Draw the progress of a job, with a way to stop it.

    Args:
        job: the job.
        key: the key of the widgets, and the place where the visitor waits.
        cancel: the button's label; "" for no button.
        on_cancel: called after the button has cancelled the job for this visitor.
        note: a line of text shown meanwhile.
        below: True to put the button under the line, not beside it.
        on_over: called when the job is over.
        until: called at each poll; True ends the wait before the job is over.
    """

    @st.fragment(run_every=_POLL_SECONDS)
    def watch() -> None:
        status = job.look(current_visitor(key))
        if status.is_over or until():
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


def result_of(task: Task, cost: str, *, place: str, height: int) -> Any | None:
    """Return a task's result; until it is there, draw its progress or a button, and return None.

    Work that is large for its kind begins with a click on the button.

    Args:
        task: the work.
        cost: a sentence in Markdown on what the work takes, beside the button.
        place: a name for the widgets, and for the place where this visitor waits.
        height: the picture's height in pixels, reserved while the work runs.
    """
    area = st.empty()  # in every run, else the browser sees the next element as new
    again_key = f"{place}_again"
    for _ in range(_MAX_TRIES):
        try:
            job = _job_of(task, cost, place)
        except BusyError as exc:
            failed(exc, again_key, _request(place, task))
            return None
        if job is None:
            return None
        if not shortly(job):
            with area.container():
                follow(job, place)
                room(say("page.waiting.picture"), height=height)
            return None
        error = job.exception()
        if error is not None and not job.was_stopped:
            failed(error, again_key, _request(place, task))
            return None
        try:
            if not job.was_stopped:
                return job.result()
        except JobError:  # it was evicted at this moment
            continue
    return None


def room(text: str, *, height: int) -> None:
    """Draw a frame with a text in the place of a picture that is not there yet.

    It has no animation, which would slow the work.
    """
    with st.container(
        height=height, border=True, horizontal_alignment="center", vertical_alignment="center"
    ):
        st.caption(text, width="content")


def _job_of(task: Task, cost: str, place: str) -> Job | None:
    """Return the job that is done, running, cheap or requested; else draw the cost and a button."""
    visitor, requested = current_visitor(place), f"{place}_wanted"
    job = jobs().get(task.key)
    state = None if job is None else job.look(visitor).state
    is_requested = session.kept(requested) == task.key
    if job is not None and (state == "done" or (state == "failed" and not is_requested)):
        return job
    is_cheap = task.size <= task.kind.large_seconds and state != "cancelled"
    if is_requested or is_cheap or state in {"waiting", "running"}:
        session.keep(requested, None)
        awaited = f"{place}_awaited"
        earlier = session.kept(awaited)
        other = None if earlier in (None, task.key) else jobs().get(earlier)
        if other is not None:
            other.drop(visitor)
        session.keep(awaited, task.key)
        return jobs().start(task, visitor)
    was_stopped = f"{say('page.waiting.stopped')} " if state in {"cancelled", "stopped"} else ""
    st.info(was_stopped + cost, icon=":material/timer:")
    st.button(
        say("page.waiting.begin"),
        icon=":material/play_arrow:",
        type="primary",
        key=f"{place}_begin",
        on_click=_request(place, task),
    )
    return None


def _request(place: str, task: Task) -> Callable[[], None]:
    return partial(session.keep, f"{place}_wanted", task.key)


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
    job.cancel(current_visitor(key))
    if then is not None:
        then()
