"""Waiting for a job on a page: its progress, Cancel, Try again. All pages wait in this way.

A waiting page holds no thread. It ends at the point where it needs the result, and a fragment polls
a few times a second; each poll keeps the visitor counted as waiting. When the job is over, the page
runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from contextlens.content.language import say
from contextlens.content.wording import escape
from contextlens.core.errors import BusyError, JobError
from contextlens.jobs import Job, Status, StoppedError, Task, Visitor, in_words
from contextlens.ui.models.background import jobs
from contextlens.ui.models.tasks import BASELINES, FETCHES, LOADS, TOKENIZERS
from contextlens.ui.page import errors
from contextlens.ui.state import session

_SHORT_SECONDS = 0.7
"""The time that a page waits for a job before it shows progress: most jobs end sooner."""
_POLL_SECONDS = 0.4
_COUNTED = {LOADS, FETCHES, TOKENIZERS, BASELINES}
"""Kinds of jobs whose only progress is a number of bytes.

If they report no bytes, they get a line of text and no bar.
"""


_MAX_STARTS = 3
"""The most times that a page starts work again by itself when its result was evicted or stopped.

Two results side by side may evict each other from a small store.
"""


def current_visitor(place: str) -> Visitor:
    """Return the visitor of this page, who waits at one of its places."""
    return Visitor(session.session(), place)


def shortly(job: Job) -> bool:
    """Return True if a job is over, now or in a moment."""
    return job.wait(_SHORT_SECONDS)


def measured(task: Task, place: str, wait: Callable[[Job], object] = shortly) -> Any | None:
    """Return a measurement's result, or None until there is one; a failed one is not repeated.

    Args:
        task: the measurement.
        place: a name for the place where this visitor waits.
        wait: waits a moment for the job.
    """
    job = jobs().get(task.key)
    if job is None or job.state != "failed":
        try:
            job = jobs().start(task, current_visitor(place))
        except BusyError:  # the page goes without for now
            return None
    wait(job)
    return _result_of(job)


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
        status = job.poll(current_visitor(key))
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


@dataclass(frozen=True)
class WaitingTexts:
    """The sentences of one place where a visitor waits.

    Attributes:
        begin: the label of the button that begins large work.
        picture: in the place of the first result until it is there.
        stopped: the reason why work that was begun has no result.
        dropped: the reason why a result that was shown is gone.
    """

    begin: str
    picture: str
    stopped: str
    dropped: str = ""


@dataclass(frozen=True, eq=False)
class Latest:
    """The state of a task as a page shows it.

    Attributes:
        result: the task's result, or what stands in for it; None if there is nothing to show yet.
        is_stale: True if it is the result of the task before.
        follow_rest: draws the progress of the task, if the result is only a part of its own.
    """

    result: Any | None = None
    is_stale: bool = False
    follow_rest: Callable[[], None] | None = None


def result_of(task: Task, cost: str, *, place: str, height: int) -> Any | None:
    """Return a task's result; until it is there, draw its progress or a button, and return None.

    Work that is large for its kind begins with a click on the button.

    Args:
        task: the work.
        cost: a sentence in Markdown on what the work takes, beside the button.
        place: a name for the widgets, and for the place where this visitor waits.
        height: the picture's height in pixels, reserved while the work runs.
    """
    texts = WaitingTexts(
        begin=say("page.waiting.begin"),
        picture=say("page.waiting.picture"),
        stopped=say("page.waiting.stopped"),
    )
    return latest_of(task, cost, place=place, height=height, texts=texts).result


def latest_of(
    task: Task | None,
    cost: str,
    *,
    place: str,
    height: int,
    texts: WaitingTexts,
    seconds: float | None = None,
    parts: Sequence[Hashable] = (),
    on_stale: Callable[[bool], None] | None = None,
) -> Latest:
    """Return a task's result, or what stands in for it; until it is there, do as `result_of`.

    Args:
        task: the work; None if something must be chosen first.
        cost, place, height: as in `result_of`.
        texts: the sentences of this place.
        seconds: the expected duration of all of the work; None if it is the task's size.
        parts: the keys of tasks before it whose results stand in for its own until that is there,
            the best first; the caller then follows the rest.
        on_stale: draws a note on the last result of this place, which stays until another one is
            there, and gets whether that is under way; None if it does not stay.
    """

    def last(*, is_under_way: bool = False) -> Latest:
        shown = session.kept(f"{place}_shown")
        result = None if on_stale is None else _finished(shown)
        if on_stale is None or result is None:
            return Latest()
        if shown in parts:
            return Latest(result)
        on_stale(is_under_way)
        return Latest(result, is_stale=True)

    # In every run, or the browser would take the next element for a new one. The run that has the
    # result empties it first, so that the picture never appears below old progress.
    area = st.empty()
    while task is not None:
        again = f"{place}_again", partial(session.keep, f"{place}_wanted", task.key)
        try:
            job = _job_of(task, cost, place, texts, task.size if seconds is None else seconds)
        except BusyError as exc:
            failed(exc, *again)
            break
        if job is None:
            break
        if not shortly(job):
            part = _first_finished(parts)
            result = _finished(part)
            if result is not None:
                session.keep(f"{place}_shown", part)
                is_better = partial(_is_another, parts, part)
                return Latest(result, follow_rest=partial(follow, job, place, until=is_better))
            with area.container():
                shown = last(is_under_way=True)
                follow(job, place, until=partial(_is_another, parts, part))
                if shown.result is None:
                    placeholder(texts.picture, height=height)
            return shown
        error = job.exception()
        if error is not None and not job.was_stopped:
            failed(error, *again)
            break
        with suppress(JobError, StoppedError):  # it was stopped or evicted at this moment
            result = job.result()
            session.keep(f"{place}_shown", task.key)
            return Latest(result)
    return last()


def placeholder(text: str, *, height: int) -> None:
    """Draw a frame with a text in the place of a picture that is not there yet.

    It has no animation, which would slow the work.
    """
    with st.container(
        height=height, border=True, horizontal_alignment="center", vertical_alignment="center"
    ):
        st.caption(text, width="content")


def _finished(key: Hashable) -> Any | None:
    """Return the result of a task while it is kept, else None."""
    return None if key is None else _result_of(jobs().get(key))


def _first_finished(keys: Sequence[Hashable]) -> Hashable | None:
    """Return the key of the first of some tasks whose result is kept, or None."""
    return next((key for key in keys if _finished(key) is not None), None)


def _is_another(keys: Sequence[Hashable], key: Hashable | None) -> bool:
    return _first_finished(keys) != key


def _result_of(job: Job | None) -> Any | None:
    """Return the result of a job while it is kept, else None."""
    if job is None or job.state != "done":
        return None
    try:
        return job.result()
    except JobError:  # it was evicted at this moment
        return None


def _job_of(task: Task, cost: str, place: str, texts: WaitingTexts, seconds: float) -> Job | None:
    """Return the job that is done, running, cheap or requested; else draw the cost and a button."""
    visitor, requested = current_visitor(place), f"{place}_wanted"
    job = jobs().get(task.key)
    state = None if job is None else job.poll(visitor).state
    is_requested = session.kept(requested) == task.key
    if job is not None and (state == "done" or (state == "failed" and not is_requested)):
        return job
    starts_of, n_starts = session.kept(f"{place}_starts") or (None, 0)
    n_starts = n_starts if starts_of == task.key else 0
    is_cheap = seconds <= task.kind.large_seconds and n_starts < _MAX_STARTS
    is_under_way = state in {"waiting", "running"}
    if is_requested or is_under_way or (is_cheap and state != "cancelled"):
        job = jobs().start(task, visitor)
        session.keep(requested, None)
        if not is_under_way:
            session.keep(f"{place}_starts", (task.key, 0 if is_requested else n_starts + 1))
        before = session.kept(f"{place}_awaited")
        session.keep(f"{place}_awaited", task.key)
        other = None if before in (None, task.key) else jobs().get(before)
        if other is not None:  # not earlier: both may need the same work first
            other.drop(visitor)
        return job
    was_shown = session.kept(f"{place}_shown") == task.key
    reason = texts.stopped if state in {"cancelled", "stopped"} else texts.dropped * was_shown
    st.info(f"{reason} {cost}".strip(), icon=":material/timer:")
    st.button(
        texts.begin,
        icon=":material/play_arrow:",
        type="primary",
        key=f"{place}_begin",
        on_click=session.keep,
        args=(requested, task.key),
    )
    return None


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
