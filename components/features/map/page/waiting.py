"""Which map is on screen: the one asked for, or an older one that is marked as such meanwhile."""

from __future__ import annotations

from functools import partial

import streamlit as st

from components.content.wording import escape
from components.core import ModelCard
from components.corpus.corpus import Corpus
from components.jobs import Job
from components.maps.picture import Picture
from components.maps.plan import Plan
from components.maps.request import MapRequest, changes
from components.ui.models import waiting
from components.ui.models.background import maps
from components.ui.state import session

__all__ = ["drawn"]

_AUTOMATIC_SECONDS = 30.0
"""Maps that should take longer are drawn when someone says so."""


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
    last: Picture | None = session.kept(slot)
    if request is None or corpus is None:
        return _stale(last, "What you chose has not been mapped yet.")
    if last is not None and last.request == request:
        return last, False
    job = _job(request, corpus, card, slot)
    if job is None:
        return _older(last, request)
    if not waiting.shortly(job):
        with place.container():
            older = _older(last, request)
            waiting.follow(job, _place(slot))
            if older[0] is None:
                _room(height)
        return older
    if job.was_stopped:  # known only now: it may be stopped at any time before
        return drawn(request, corpus, card, slot=slot, height=height)
    error = job.exception()
    if error is not None:
        again = partial(maps().draw, request, corpus, card, waiting.me(_place(slot)))
        waiting.failed(error, f"{slot}_again", again)
        return _older(last, request)
    picture: Picture = job.result()
    session.keep(slot, picture)
    return picture, False


def _place(slot: str) -> str:
    return f"{slot}_progress"


def _room(height: int) -> None:
    """Where the map will stand; nothing moves in it, as that would take the time it is drawn in."""
    with st.container(
        height=height, border=True, horizontal_alignment="center", vertical_alignment="center"
    ):
        st.caption("The map appears here as soon as it is drawn.", width="content")


def _job(request: MapRequest, corpus: Corpus, card: ModelCard, slot: str) -> Job | None:
    """The job of a map that is under way, or cheap, or asked for; else its costs and a button."""
    found, me = maps().find(request), waiting.me(_place(slot))
    state = None if found is None else found.look(me).state
    if found is not None and state in {"done", "failed"}:
        return found
    was_stopped = state in {"stopped", "cancelled"}
    plan = maps().plan(request, corpus, card)
    is_wanted = session.kept(f"{slot}_wanted") == request.key
    is_cheap = plan.seconds <= _AUTOMATIC_SECONDS and not was_stopped
    if is_wanted or is_cheap or state in {"waiting", "running"}:
        session.keep(f"{slot}_wanted", None)
        return maps().draw(request, corpus, card, me)
    st.info(_in_words(plan, was_stopped), icon=":material/timer:")
    st.button("Draw this map", icon=":material/play_arrow:", type="primary", key=f"{slot}_draw",
              on_click=session.keep, args=(f"{slot}_wanted", request.key))  # fmt: skip
    return None


def _older(last: Picture | None, request: MapRequest) -> tuple[Picture | None, bool]:
    if last is None:
        return None, False
    different = ", ".join(changes(last.request, request)) or "something"
    return _stale(last, f"Since then you changed {different}.")


def _stale(last: Picture | None, why: str) -> tuple[Picture | None, bool]:
    if last is not None:
        st.warning(
            f"**This is the map drawn before**: {escape(last.corpus.name)} · "
            f"{escape(last.request.in_words())}. {why}",
            icon=":material/history:",
        )
    return last, True


def _in_words(plan: Plan, was_stopped: bool) -> str:
    start = "This map was stopped. " if was_stopped else ""
    return (
        f"{start}It would take about **{_duration(plan.seconds)}** and "
        f"**{max(1, round(plan.n_bytes / 1e6)):,} MB** of memory here: about {plan.n_points:,} "
        f"points from {plan.n_texts:,} texts ({plan.n_tokens:,} tokens to read)."
    )


def _duration(seconds: float) -> str:
    if seconds < 2:
        return "a second"
    if seconds < 90:
        return f"{max(2, round(seconds)):,} seconds"
    return f"{round(seconds / 60):,} minutes"
