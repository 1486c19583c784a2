"""What a look shows: at once where it is soon worked out, else as a job with progress and Cancel.

A session keeps the key of the job that it waits for; what was worked out lies in the store of all
jobs, and is worked out again where it had to make room.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import streamlit as st

from components.content.language import say
from components.core.errors import BusyError, JobError
from components.features.why.compute.work import LARGE_SECONDS
from components.jobs import Job, Task
from components.ui.models import waiting
from components.ui.models.background import jobs
from components.ui.state import session

__all__ = ["found"]

_AGAIN = 3


def found(task: Task, *, place: str, height: int, what: str) -> Any:
    """What a task gives; None, with what is to be waited or clicked for, before.

    Args:
        task: the work.
        place: a name for the widgets, and for where this visitor waits.
        height: of the picture, in pixels, whose place is kept meanwhile.
        what: what the work is, in words: "Leaving out each word".
    """
    spot = st.empty()  # in every run, or what follows would be another element to the browser
    for _ in range(_AGAIN):
        try:
            job = _job(task, place, what)
        except BusyError as exc:
            _failed(exc, task.key, place)
            return None
        if job is None:
            return None
        if not waiting.shortly(job):
            with spot.container():
                waiting.follow(job, place)
                _room(height)
            return None
        error = job.exception()
        if error is not None and not job.was_stopped:
            _failed(error, task.key, place)
            return None
        try:
            if not job.was_stopped:
                return job.result()
        except JobError:  # it had to make room this moment
            continue
    return None


def _room(height: int) -> None:
    with st.container(
        height=height, border=True, horizontal_alignment="center", vertical_alignment="center"
    ):
        st.caption(say("why.work.room"), width="content")


def _failed(error: BaseException, key: Hashable, place: str) -> None:
    waiting.failed(error, f"{place}_again", _wanting(key, place))


def _wanting(key: Hashable, place: str) -> Callable[[], None]:
    return partial(session.keep, _wanted(place), key)


def _wanted(place: str) -> str:
    """Under which a visit keeps the key of the work that it asked for with a click."""
    return f"{place}_wanted"


def _job(task: Task, place: str, what: str) -> Job | None:
    """The job that is done, under way, cheap or asked for; else what it costs, and a button."""
    me, key = waiting.me(place), task.key
    known = jobs().get(key)
    state = None if known is None else known.look(me).state
    is_wanted = session.kept(_wanted(place)) == key
    if known is not None and (state == "done" or (state == "failed" and not is_wanted)):
        return known
    is_cheap = task.size <= LARGE_SECONDS and state != "cancelled"
    if is_wanted or is_cheap or state in {"waiting", "running"}:
        session.keep(_wanted(place), None)
        return _begin(task, place)
    said = say("why.work.stopped", what=what)
    if state != "cancelled":
        said = say("why.work.takes", what=what, duration=_duration(task.size))
    st.info(said, icon=":material/timer:")
    st.button(
        say("why.work.begin"),
        icon=":material/play_arrow:",
        type="primary",
        key=f"{place}_begin",
        on_click=_wanting(key, place),
    )
    return None


def _begin(task: Task, place: str) -> Job:
    """Begin; what this place waited for before, and nobody else does, is let go."""
    me, awaited = waiting.me(place), f"{place}_awaited"
    before = session.kept(awaited)
    other = None if before in (None, task.key) else jobs().get(before)
    if other is not None:
        other.drop(me)
    session.keep(awaited, task.key)
    return jobs().start(task, me)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return say("why.work.seconds", n=max(2, round(seconds)))
    return say("why.work.minutes", n=round(seconds / 60))
