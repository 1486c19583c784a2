"""Which map is on screen: the one asked for, or an older one that is marked as such meanwhile.

A session keeps which map it looked at, by its request; the map itself lies in the store of all
jobs. One that had to make room there is drawn again as at the first time.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from components.content.language import say
from components.content.wording import escape
from components.core import ModelCard
from components.core.errors import BusyError
from components.corpus.corpus import Corpus
from components.jobs import Job
from components.maps.engine import LARGE_SECONDS
from components.maps.picture import Picture
from components.maps.plan import Plan
from components.maps.request import MapRequest, changes
from components.ui.models import waiting
from components.ui.models.background import maps
from components.ui.state import session

__all__ = ["drawn"]

_MOST_TIMES = 3
"""How often a map that had to make room is drawn again by itself: two that stand side by side may
each push the other out of a small store."""


def drawn(
    request: MapRequest | None, corpus: Corpus | None, card: ModelCard, *, slot: str, height: int
) -> tuple[Picture | None, bool]:
    """The map asked for, or the last one, if any; and whether it is an older one.

    Says how far the map asked for is, and what it costs.

    Args:
        request: None where something must be chosen first: the last map stays, as a stale one.
        corpus: its texts.
        card: of its model.
        slot: which of a page's maps this is.
        height: of the map, in pixels; its place is kept while the first one is drawn.
    """
    # In every run, or what follows would be another element to the browser, and drawn anew. The
    # map's own run clears it at once, and is not drawn below it first.
    place = st.empty()
    last = _last(slot)
    if request is None or corpus is None:
        return _stale(last, say("map.waiting.not_mapped"))
    if last is not None and last.request == request:
        return last, False
    try:
        job = _job(request, corpus, card, slot)
    except BusyError as exc:
        _failed(exc, request, slot)
        return _older(last, request)
    if job is None:
        return _older(last, request)
    if not waiting.shortly(job):
        with place.container():
            older = _older(last, request)
            waiting.follow(job, _place(slot))
            if older[0] is None:
                _room(height)
        return older
    error = job.exception()
    if error is not None and not job.was_stopped:
        _failed(error, request, slot)
        return _older(last, request)
    picture = maps().picture(request)
    if picture is None:  # stopped, or let go in this moment; known only now
        return drawn(request, corpus, card, slot=slot, height=height)
    session.keep(slot, request)
    return picture, False


def _last(slot: str) -> Picture | None:
    """The map that was on screen last, as long as it is kept."""
    request: MapRequest | None = session.kept(slot)
    return None if request is None else maps().picture(request)


def _place(slot: str) -> str:
    return f"{slot}_progress"


def _room(height: int) -> None:
    """Where the map will stand; nothing moves in it, as that would take the time it is drawn in."""
    with st.container(
        height=height, border=True, horizontal_alignment="center", vertical_alignment="center"
    ):
        st.caption(say("map.place"), width="content")


def _failed(error: BaseException, request: MapRequest, slot: str) -> None:
    waiting.failed(error, f"{slot}_again", partial(session.keep, _wanted(slot), request.key))


def _job(request: MapRequest, corpus: Corpus, card: ModelCard, slot: str) -> Job | None:
    """The job of a map that is under way, or cheap, or asked for; else its costs and a button."""
    found, key = maps().find(request), request.key
    state = None if found is None else found.look(waiting.me(_place(slot))).state
    is_wanted = session.kept(_wanted(slot)) == key
    if found is not None and (state == "done" or (state == "failed" and not is_wanted)):
        return found
    plan = maps().plan(request, corpus, card)
    n_times = _n_times(slot, key)
    is_cheap = plan.seconds <= LARGE_SECONDS and state != "cancelled" and n_times < _MOST_TIMES
    if is_wanted or is_cheap or state in {"waiting", "running"}:
        job = _begin(request, corpus, card, slot)
        session.keep(_wanted(slot), None)
        if state not in {"waiting", "running"}:
            session.keep(_times(slot), (key, 0 if is_wanted else n_times + 1))
        return job
    st.info(_in_words(plan, _why(slot, request, state)), icon=":material/timer:")
    st.button(
        say("map.waiting.draw"),
        icon=":material/play_arrow:",
        type="primary",
        key=f"{slot}_draw",
        on_click=session.keep,
        args=(_wanted(slot), key),
    )
    return None


def _begin(request: MapRequest, corpus: Corpus, card: ModelCard, slot: str) -> Job:
    """Draw a map; one that this place waited for before, and nobody else does, is let go."""
    me = waiting.me(_place(slot))
    job = maps().draw(request, corpus, card, me)
    before: MapRequest | None = session.kept(_awaited(slot))
    session.keep(_awaited(slot), request)
    other = None if before in (None, request) else maps().find(before)
    if other is not None:  # not before: both may need the same points
        other.drop(me)
    return job


def _wanted(slot: str) -> str:
    """Under which a visit keeps the key of the map that it asked for with a click."""
    return f"{slot}_wanted"


def _awaited(slot: str) -> str:
    """Under which a visit keeps the request of the map that it waits for, or waited for last."""
    return f"{slot}_awaited"


def _times(slot: str) -> str:
    """Under which a visit keeps how often a map was begun by itself, with the map's key."""
    return f"{slot}_times"


def _n_times(slot: str, key: str) -> int:
    of, n = session.kept(_times(slot)) or ("", 0)
    return int(n) if of == key else 0


def _why(slot: str, request: MapRequest, state: str | None) -> str:
    """Why a map that was begun or drawn once is not there."""
    if state in {"stopped", "cancelled"}:
        return say("map.waiting.was_stopped") + " "
    if session.kept(slot) == request:
        return say("map.waiting.was_dropped") + " "
    return ""


def _older(last: Picture | None, request: MapRequest) -> tuple[Picture | None, bool]:
    if last is None:
        return None, False
    what = ", ".join(changes(last.request, request))
    case = "changed" if what else "changed_something"
    return _stale(last, say(f"map.waiting.{case}", what=what))


def _stale(last: Picture | None, why: str) -> tuple[Picture | None, bool]:
    if last is not None:
        names = {"corpus": escape(last.corpus.name), "settings": escape(last.request.in_words())}
        st.warning(f"{say('map.waiting.stale', **names)} {why}", icon=":material/history:")
    return last, True


def _in_words(plan: Plan, why: str) -> str:
    return why + say(
        "map.waiting.cost",
        duration=_duration(plan.seconds),
        megabytes=max(1, round(plan.n_bytes / 1e6)),
        n=plan.n_points,
        texts=plan.n_texts,
        tokens=plan.n_tokens,
    )


def _duration(seconds: float) -> str:
    if seconds < 2:
        return say("map.waiting.second")
    if seconds < 90:
        return say("map.waiting.seconds", n=max(2, round(seconds)))
    return say("map.waiting.minutes", n=round(seconds / 60))
