"""The service and what runs beside it: one for all sessions, loads and baselines in the background.

Streamlit's script threads only wait and show progress, so that a visitor who leaves stops nothing.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.analysis import baseline as baselines
from components.analysis.readings import escape
from components.content.sample import baseline_sentences
from components.core import EncoderService, ModelCard, Settings, open_service
from components.core.schema import ProgressEvent
from components.core.words import Span, split_words

__all__ = [
    "await_baseline",
    "baseline",
    "baseline_failed",
    "is_loaded",
    "load",
    "service",
    "start_loading",
]

_POLL_SECONDS = 0.1
_FORMAT = 1
"""Part of a baseline's file name: raised when what is measured changes."""

_log = logging.getLogger("contextlens")


@dataclass
class _Background:
    """Work under way, by model."""

    pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(4, thread_name_prefix="contextlens")
    )
    lock: Lock = field(default_factory=Lock)
    loads: dict[str, Future[ModelCard]] = field(default_factory=dict)
    events: dict[str, ProgressEvent] = field(default_factory=dict)
    baselines: dict[str, Future[baselines.Baseline]] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def service() -> EncoderService:
    """The one service of this process."""
    return open_service(_settings())


@st.cache_resource(show_spinner=False)
def _settings() -> Settings:
    return Settings.from_env()


@st.cache_resource(show_spinner=False)
def _background() -> _Background:
    return _Background()


def is_loaded(model: str) -> bool:
    """Whether a model is in memory, so that using it costs nothing."""
    return any(spec.id == model and spec.loaded for spec in service().models())


def load(model: str) -> ModelCard:
    """A model's card, after it is loaded; shows progress where that takes time.

    Raises:
        ModelError: the model cannot be had or used.
    """
    if is_loaded(model):
        return service().load(model)
    future = _start_load(model)
    bar = st.empty()
    while not future.done():
        # Each turn must send something: it is then that Streamlit lets a visitor's click through.
        _show(_background().events.get(model), bar)
        time.sleep(_POLL_SECONDS)
    bar.empty()
    return future.result()


def start_loading(model: str) -> None:
    """Begin to load a model in the background, so that it is nearer when a page asks for it."""
    if model not in _background().loads and not is_loaded(model):
        _start_load(model)


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


def _start_load(model: str) -> Future[ModelCard]:
    background = _background()
    with background.lock:
        running = background.loads.get(model)
        if running is None or running.done():
            background.events.pop(model, None)
            running = background.pool.submit(_load, model, service())
            background.loads[model] = running
        return running


def _load(model: str, from_service: EncoderService) -> ModelCard:
    events = _background().events
    return from_service.load(model, progress=lambda event: events.__setitem__(model, event))


def _show(event: ProgressEvent | None, place: DeltaGenerator) -> None:
    if event is None:
        place.caption("Looking for the model…")
    elif event.total_bytes:
        place.progress(min(1.0, event.done_bytes / event.total_bytes), text=_in_words(event))
    else:
        place.caption(f"{escape(event.stage)}…")


def _in_words(event: ProgressEvent) -> str:
    done, total = event.done_bytes / 1e6, (event.total_bytes or 0) / 1e6
    return f"{event.stage}: {done:,.1f} of {total:,.1f} MB"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a data folder that cannot be looked at
        return False


def _baseline_path(card: ModelCard) -> Path:
    return _settings().data_dir / "baselines" / f"{card.checksum[:32]}-{_FORMAT}.npz"


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
