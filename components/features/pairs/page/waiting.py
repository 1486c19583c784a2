"""What was computed of pairs: at once where it is soon done, else after a click.

A session keeps which pairs it asked for, by the key of their job; what was computed lies in the
store of all jobs, and is computed again where it had to make room.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

import streamlit as st

from components.content.language import say
from components.core import ModelCard
from components.core.errors import BusyError, JobError
from components.features.pairs.compute.pair_set import PairSet
from components.features.pairs.compute.task import (
    LARGE_SECONDS,
    Compared,
    comparison,
    comparison_key,
    seconds_of,
)
from components.jobs import Job
from components.ui.models import waiting
from components.ui.models.background import jobs, maps
from components.ui.models.services import uncached
from components.ui.state import session

__all__ = ["compared"]

_PLACE = "pairs_progress"
_WANTED = "pairs_wanted"
"""Under which a visit keeps the key of the comparison that it asked for with a click."""
_AWAITED = "pairs_awaited"
"""Under which a visit keeps the key of the comparison that it waits for, or waited for last."""


def compared(pairs: PairSet, card: ModelCard, *, height: int) -> Compared | None:
    """What was computed of these pairs; None, with what is to be waited or clicked for, before.

    Args:
        pairs: what is compared.
        card: of the model.
        height: of the picture, in pixels, whose place is kept meanwhile.
    """
    place = st.empty()  # in every run, or what follows would be another element to the browser
    key = comparison_key(pairs, card)
    try:
        job = _job(pairs, card, key)
    except BusyError as exc:
        _failed(exc, key)
        return None
    if job is None:
        return None
    if not waiting.shortly(job):
        with place.container():
            waiting.follow(job, _PLACE)
            _room(height)
        return None
    error = job.exception()
    if error is not None and not job.was_stopped:
        _failed(error, key)
        return None
    try:
        found: Compared | None = None if job.was_stopped else job.result()
    except JobError:  # it had to make room this moment
        found = None
    return compared(pairs, card, height=height) if found is None else found


def _room(height: int) -> None:
    with st.container(
        height=height, border=True, horizontal_alignment="center", vertical_alignment="center"
    ):
        st.caption(say("pairs.waiting.place"), width="content")


def _failed(error: BaseException, key: Hashable) -> None:
    waiting.failed(error, "pairs_again", partial(session.keep, _WANTED, key))


def _job(pairs: PairSet, card: ModelCard, key: Hashable) -> Job | None:
    """The job of a comparison that is done, under way, cheap or asked for; else what it costs."""
    found = jobs().get(key)
    state = None if found is None else found.look(waiting.me(_PLACE)).state
    is_wanted = session.kept(_WANTED) == key
    if found is not None and (state == "done" or (state == "failed" and not is_wanted)):
        return found
    seconds = seconds_of(pairs, card, maps().token_seconds(card))
    is_cheap = seconds <= LARGE_SECONDS and state != "cancelled"
    if is_wanted or is_cheap or state in {"waiting", "running"}:
        session.keep(_WANTED, None)
        return _begin(pairs, card, key, seconds)
    was_stopped = state in {"stopped", "cancelled"}
    cost = say(
        "pairs.waiting.cost",
        n=pairs.n,
        duration=_duration(seconds),
        texts=len(pairs.texts),
        layers=card.n_layers + 1,
    )
    why = say("pairs.waiting.was_stopped") + " " if was_stopped else ""
    st.info(f"{why}{cost}", icon=":material/timer:")
    st.button(
        say("pairs.waiting.compare"),
        icon=":material/play_arrow:",
        type="primary",
        key="pairs_compare",
        on_click=session.keep,
        args=(_WANTED, key),
    )
    return None


def _begin(pairs: PairSet, card: ModelCard, key: Hashable, seconds: float) -> Job:
    """Compare; what this place waited for before, and nobody else does, is let go."""
    me = waiting.me(_PLACE)
    before = session.kept(_AWAITED)
    other = None if before in (None, key) else jobs().get(before)
    if other is not None:
        other.drop(me)
    session.keep(_AWAITED, key)
    return jobs().start(comparison(pairs, card, uncached(), seconds=seconds), me)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return say("pairs.waiting.seconds", n=max(2, round(seconds)))
    return say("pairs.waiting.minutes", n=round(seconds / 60))
