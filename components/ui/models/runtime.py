"""What runs beside the pages, one for all sessions: loads and baselines in the background.

Streamlit's script threads only wait and show progress, so that a visitor who leaves stops nothing.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.analysis import baseline as baselines
from components.content.sample import baseline_sentences
from components.content.wording import escape
from components.core import ModelCard
from components.core.words import Span, split_words
from components.ui.models.loads import Load, Loads, Status, in_words
from components.ui.models.services import service, settings
from components.ui.state import session

__all__ = [
    "await_baseline",
    "baseline",
    "baseline_failed",
    "give_up",
    "is_loaded",
    "is_near",
    "load",
    "service",
    "show_progress",
    "start_ahead",
    "start_loading",
]

_POLL_SECONDS = 0.1
_FORMAT = 1
"""Part of a baseline's file name: raised when what is measured changes."""

_log = logging.getLogger("contextlens")


@dataclass
class _Background:
    """Work under way, by model."""

    loads: Loads = field(default_factory=Loads)
    pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(2, thread_name_prefix="contextlens")
    )
    lock: Lock = field(default_factory=Lock)
    baselines: dict[str, Future[baselines.Baseline]] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def _background() -> _Background:
    return _Background()


def is_loaded(model: str) -> bool:
    """Whether a model is in memory, so that using it costs nothing."""
    return any(spec.id == model and spec.loaded for spec in service().models())


def is_near(model: str) -> bool:
    """Whether a model is in memory, or soon can be because its files are here."""
    return any(spec.id == model and (spec.loaded or spec.on_disk) for spec in service().models())


def load(model: str, *, height: int | None = None) -> ModelCard:
    """A model's card, after it is loaded; shows progress and a way out where that takes time.

    Args:
        model: its id.
        height: of a skeleton below the progress, in pixels, where the page's picture will stand;
            None for a page that shows one of its own.

    Raises:
        ModelError: the model cannot be had or used.
    """
    if is_loaded(model):
        return service().load(model)
    place = st.empty()
    me = object()
    found = start_loading(model, me)
    try:
        _wait(found, place, height)
    finally:  # the script is stopped here when the visitor does something else: the load goes on
        found.leave(me)
    place.empty()
    return load(model, height=height) if found.was_stopped else found.result()


def start_loading(model: str, who: object = None) -> Load:
    """The load of a model, begun where it is not under way; `who`, if given, waits for it."""
    return _background().loads.start(model, service(), who)


def start_ahead(model: str) -> None:
    """Begin to load a model, so that it is nearer when a page asks for it."""
    if _background().loads.get(model) is None and not is_loaded(model):
        start_loading(model)


def give_up(model: str, who: object = None) -> None:
    """Have the load of a model stopped, unless someone else waits for it."""
    found = _background().loads.get(model)
    if found is not None:
        found.give_up(who)


def baseline(card: ModelCard) -> baselines.Baseline | None:
    """A model's random-pair baseline: from memory or disk, or None while it is being measured."""
    background = _background()
    with background.lock:
        future = background.baselines.get(card.checksum)
        if future is None:
            future = background.pool.submit(_baseline, card)
            background.baselines[card.checksum] = future
    # One on disk is read within a few milliseconds: worth waiting for, so that nothing jumps.
    if not future.done() and _is_file(_baseline_path(card)):
        future.exception()
    return future.result() if future.done() and future.exception() is None else None


def baseline_failed(card: ModelCard) -> bool:
    """Whether measuring a model's baseline ended in an error, which is in the log."""
    future = _background().baselines.get(card.checksum)
    return future is not None and future.done() and future.exception() is not None


def await_baseline(card: ModelCard) -> None:
    """Say that the baseline is being measured, and rerun the page when it is there."""
    if baseline_failed(card):
        st.caption(
            "The random-pair baseline could not be measured, so there is no band and no centred "
            "cosine; the log says why."
        )
    else:
        _watch_baseline(card)


@st.fragment(run_every=0.5)
def _watch_baseline(card: ModelCard) -> None:
    if baseline(card) is not None or baseline_failed(card):
        st.rerun()
    st.caption("Measuring how alike random words are in this model…")


def _wait(found: Load, place: DeltaGenerator, height: int | None) -> None:
    first = service().models()[0]
    with place.container():
        bar = st.empty()
        if found.model != first.id:
            st.button(
                f"Cancel, and go on with {escape(first.title)}",
                key="cancel_load",
                on_click=_go_on_without,
                args=(found.model,),
            )
        if height is not None:
            st.skeleton(height=height)
    while not found.done():
        # Each turn must send something: it is then that Streamlit lets a visitor's click through.
        show_progress(found.status(), bar)
        time.sleep(_POLL_SECONDS)


def _go_on_without(model: str) -> None:
    give_up(model)
    session.write(replace(session.current(), model=session.default().model, layer=None))


def show_progress(status: Status, place: DeltaGenerator) -> None:
    """How far a load is: a bar where there are bytes to count, or a line."""
    event, text = status.event, escape(in_words(status))
    if event is None or not event.total_bytes:
        place.caption(text)
    else:
        place.progress(min(1.0, event.done_bytes / event.total_bytes), text=text)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a data folder that cannot be looked at
        return False


def _baseline_path(card: ModelCard) -> Path:
    return settings().data_dir / "baselines" / f"{card.checksum[:32]}-{_FORMAT}.npz"


def _baseline(card: ModelCard) -> baselines.Baseline:
    path = _baseline_path(card)
    found = baselines.load(path)
    if found is not None and found.fits(card.n_layers, card.n_dims):
        return found
    try:
        measured = _measure(card)
    except Exception:
        _log.exception("Measuring the baseline of %s failed", card.id)
        raise
    try:
        baselines.save(measured, path)
    except OSError as exc:
        _log.warning("The baseline of %s could not be kept on disk: %s", card.id, exc)
    return measured


def _measure(card: ModelCard) -> baselines.Baseline:
    texts = baseline_sentences()
    encodings = service().encode(card.id, texts)
    rows = [service().word_rows(card.id, encoding.token_ids) for encoding in encodings]
    return baselines.measure(baselines.sample_words(encodings, rows, list(map(_long_words, texts))))


def _long_words(text: str) -> list[Span]:
    """Words of at least four letters: most shorter ones are function words, alike anywhere."""
    return [(a, b) for a, b in split_words(text) if b - a >= 4 and text[a:b].isalpha()]
