"""Which map is on screen: the one asked for, or an older one that is marked as such meanwhile."""

from __future__ import annotations

import time
from dataclasses import dataclass

import streamlit as st

from components.content.wording import escape
from components.core import ModelCard
from components.core.errors import ContextlensError
from components.corpus.corpus import Corpus
from components.features.map import costs, drawing
from components.features.map.costs import Costs
from components.features.map.drawing import Picture
from components.features.map.jobs import Job
from components.features.map.request import MapRequest, changes
from components.ui.frame import errors
from components.ui.state import session

__all__ = ["Drawn", "drawn", "follow"]

_AUTOMATIC_SECONDS = 30.0
"""Maps that should take longer are drawn when someone says so."""
_SHORT_SECONDS = 0.7
"""How long a page waits for a map before it shows what it has: most are there by then."""
_POLL_SECONDS = 0.4


@dataclass(frozen=True, eq=False)
class Drawn:
    """A map on screen, and whether it is an older one than the controls say."""

    picture: Picture
    is_stale: bool


def drawn(
    request: MapRequest | None, corpus: Corpus | None, card: ModelCard, *, slot: str, height: int
) -> Drawn | None:
    """The map asked for, or the last one marked as stale; says how far it is, and what it costs.

    Args:
        request: None where something must be chosen first: the last map stays, as a stale one.
        slot: which of a page's maps this is.
        height: of the map, in pixels; its place is kept while the first one is drawn.
    """
    last: Picture | None = session.kept(slot)
    if request is None or corpus is None:
        return _stale(last, "What you chose has not been mapped yet.")
    if last is not None and last.request == request:
        return Drawn(last, is_stale=False)
    job = drawing.jobs().get(request.key)
    if job is None or job.was_stopped or job.is_unwanted:
        job = _begin(request, corpus, card, slot)
    if job is None:
        return _older(last, request)
    _wait_shortly(job)
    if not job.done():
        older = _older(last, request)
        follow(job, f"{slot}_progress")
        if older is None:
            _place(height)
        return older
    if job.was_stopped:  # known only now: it may be stopped at any time before
        return drawn(request, corpus, card, slot=slot, height=height)
    try:
        picture: Picture = job.future.result()
    except ContextlensError as exc:
        errors.show(exc)
        st.button("Try again", icon=":material/refresh:", key=f"{slot}_again", on_click=_again,
                  args=(request, corpus, card))  # fmt: skip
        return _older(last, request)
    session.keep(slot, picture)
    return Drawn(picture, is_stale=False)


def follow(job: Job, key: str) -> None:
    """How far a job is, with a way to stop it; the page runs again when it is done."""

    @st.fragment(run_every=_POLL_SECONDS)
    def watch() -> None:
        stage, share = job.look(session.session())
        if job.done():
            st.rerun()
        bar, stop = st.columns([5, 1], vertical_alignment="center")
        bar.progress(share, text=f"{stage}…")
        stop.button("Cancel", key=f"{key}_cancel", on_click=job.give_up, args=(session.session(),))

    with st.container(key=key):
        watch()


def _place(height: int) -> None:
    """Where the map will stand; nothing moves in it, as that would take the time it is drawn in."""
    with st.container(
        height=height, border=True, horizontal_alignment="center", vertical_alignment="center"
    ):
        st.caption("The map appears here as soon as it is drawn.", width="content")


def _begin(request: MapRequest, corpus: Corpus, card: ModelCard, slot: str) -> Job | None:
    """The job of a map that is cheap, or that was asked for; else its costs and a button."""
    cost = costs.costs(request, corpus, card)
    stopped = drawing.jobs().get(request.key)
    wanted = session.kept(f"{slot}_wanted") == request.key
    if wanted or (cost.seconds <= _AUTOMATIC_SECONDS and stopped is None):
        session.keep(f"{slot}_wanted", None)
        return drawing.draw(request, corpus, card)
    st.info(_in_words(cost, stopped is not None), icon=":material/timer:")
    st.button("Draw this map", icon=":material/play_arrow:", type="primary", key=f"{slot}_draw",
              on_click=session.keep, args=(f"{slot}_wanted", request.key))  # fmt: skip
    return None


def _again(request: MapRequest, corpus: Corpus, card: ModelCard) -> None:
    drawing.draw(request, corpus, card)


def _wait_shortly(job: Job) -> None:
    end = time.monotonic() + _SHORT_SECONDS
    while not job.done() and time.monotonic() < end:
        time.sleep(0.01)


def _older(last: Picture | None, request: MapRequest) -> Drawn | None:
    if last is None:
        return None
    different = ", ".join(changes(last.request, request)) or "something"
    return _stale(last, f"Since then you changed {different}.")


def _stale(last: Picture | None, why: str) -> Drawn | None:
    if last is None:
        return None
    st.warning(
        f"**This is the map drawn before**: {escape(last.corpus.name)} · "
        f"{escape(last.request.in_words())}. {why}",
        icon=":material/history:",
    )
    return Drawn(last, is_stale=True)


def _in_words(cost: Costs, was_stopped: bool) -> str:
    start = "This map was stopped. " if was_stopped else ""
    return (
        f"{start}It would take about **{_duration(cost.seconds)}** and "
        f"**{max(1, round(cost.n_bytes / 1e6)):,} MB** of memory here: about {cost.n_points:,} "
        f"points from {cost.n_texts:,} texts ({cost.n_tokens:,} tokens to read)."
    )


def _duration(seconds: float) -> str:
    if seconds < 2:
        return "a second"
    if seconds < 90:
        return f"{max(2, round(seconds)):,} seconds"
    return f"{round(seconds / 60):,} minutes"
