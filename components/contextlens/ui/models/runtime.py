"""Models for pages: the service, the card of a loaded model, its baseline and ruler."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from contextlens.analysis import kept_arrays
from contextlens.analysis.baseline import Baseline
from contextlens.analysis.ruler import Ruler
from contextlens.analysis.sense_names import SenseNames
from contextlens.content.language import Claim, claim
from contextlens.content.wording import escape, shortened
from contextlens.core import ModelCard, ModelSpec, registry
from contextlens.core.errors import ContextlensError, ServiceAwayError
from contextlens.jobs import Job, State, Task, Visitor
from contextlens.ui.access import guard
from contextlens.ui.access.roles import FETCH
from contextlens.ui.models import download_requests, tasks, waiting
from contextlens.ui.models.background import jobs
from contextlens.ui.state import session
from contextlens.ui.state.services import is_for_one, settings
from contextlens.ui.state.services import service as service  # for pages

_PAGE = "page_load"
"""The place at which a page waits for its model, and the key of the awaited load."""
_OPENED = "own_models"  # the ids of unlisted models that this visitor opened
_MAX_OPENED = 20
_SPARE_ROWS = 256  # more rows than tokens than a table has that is padded to a round size
_MAX_NAME_LENGTH = 60  # characters on a button
_OVER: set[State] = {"done", "failed"}
_ENDED_BADLY: set[State] = {"stopped", "cancelled", "forgotten"}


def is_loaded(model: str) -> bool:
    """Return True if a model is in memory, so that using it costs nothing.

    Return False if the service has never said so and does not answer now.
    """
    try:
        return service().spec(model).loaded
    except ServiceAwayError:
        return False


def can_load_without_download(model: str) -> bool:
    """Return True if a model is in memory, or can be soon because its files are here."""
    spec = service().spec(model)
    return spec.loaded or spec.on_disk


def own_models() -> list[ModelSpec]:
    """Return models in memory that this visitor opened and that nobody else is offered."""
    listed = {spec.id for spec in service().models()}
    specs = (service().spec(model) for model in session.kept(_OPENED) or () if model not in listed)
    return [spec for spec in specs if spec.loaded]


def load(model: str, *, height: int | None = None) -> ModelCard:
    """Return a model's card; if loading takes time, end the page with its progress and Cancel.

    The page also ends if the model would have to be fetched and the visitor has not asked for it.

    Args:
        model: its id.
        height: the height in pixels of a skeleton below the progress, in place of the page's
            picture; None for a page that shows one of its own.

    Raises:
        ModelError: the model cannot be loaded or used.
    """
    check_model(model)
    if not download_requests.is_requested(_PAGE, model):  # drops a request for another model
        download_requests.forget(_PAGE)
    if is_loaded(model):
        download_requests.forget(_PAGE)
        _note_opened(model)
        return _noted(service().load(model))
    job: Job | None = session.kept(_PAGE)
    if job is None or job.key != tasks.load_key(model) or _was_dropped(job):
        if not _may_load(model):
            _offer(model)
            st.stop()
        job = start_loading(model, waiting.current_visitor(_PAGE))
        session.keep(_PAGE, job)
    if not waiting.shortly(job):
        _wait(job, model, height)
        st.stop()
    session.keep(_PAGE, None)  # the next run starts again after a failure
    if _was_dropped(job):
        return load(model, height=height)
    job.result()
    return _noted(service().load(model))


def await_first_model() -> None:
    """End the page with the progress of the server's first model, unless it is there in a moment.

    Raises:
        BusyError: too many jobs are waiting already.
    """
    model = session.default().model
    job = start_loading(model, waiting.current_visitor(_PAGE))
    if not waiting.shortly(job):
        _wait(job, model, None)
        st.stop()


def notes(card: ModelCard) -> list[Claim]:
    """Return remarks on parts of a model's files that pages do not show or that do not fit."""
    claims, n_tokens, n_rows = [], card.tokenizer_size, card.vocabulary_size
    if card.left_out:
        names = escape(", ".join(card.left_out))
        claims.append(claim("frame.model.head", n=len(card.left_out), names=names))
    if n_tokens > n_rows or n_rows - n_tokens >= _SPARE_ROWS:
        case = "too_many" if n_tokens > n_rows else "too_few"
        claims.append(claim(f"frame.model.{case}", n_tokens=n_tokens, n_rows=n_rows))
    return claims


def _noted(card: ModelCard) -> ModelCard:
    """The card; above the page's picture, what a visitor's own folder makes worth knowing."""
    if card.source == "folder":
        for note in notes(card):
            st.caption(str(note))
    return card


def _was_dropped(job: Job) -> bool:
    return job.poll(waiting.current_visitor(_PAGE)).state in _ENDED_BADLY


def start_loading(model: str, visitor: Visitor | None = None) -> Job:
    """Return the load of a model, starting it if needed; the visitor, if any, waits for it.

    Raises:
        AccessError: it would be fetched, and the visitor may not start that.
        UnknownModelError: this visitor may not load it.
        BusyError: too many jobs are waiting already.
    """
    allow_model(model)
    task = tasks.load(model, service())
    if task.kind is tasks.FETCHES and model != session.default().model:
        guard.require(FETCH)
    return jobs().start(task, visitor)


def preload(model: str) -> None:
    """Start to load a model, so that it is ready sooner when a page asks for it.

    Only the visitor's request or the server's first model starts a download, never a view alone.
    """
    with suppress(ContextlensError):  # the page reports it if it needs the model
        if is_loaded(model):
            _note_opened(model)
        elif jobs().get(tasks.load_key(model)) is None and _may_load(model):
            start_loading(model)


def request(model: str) -> None:
    """Record that the page's visitor asked for this model. Call in callbacks only."""
    download_requests.add(_PAGE, model)


def _may_load(model: str) -> bool:
    """Return True if a model needs no download, was asked for, or is the server's first one."""
    spec = service().spec(model)
    is_fetched = spec.source == "hub" and not spec.on_disk and settings().allow_downloads
    is_requested = download_requests.is_requested(_PAGE, model) and guard.is_allowed(FETCH)
    return not is_fetched or is_requested or model == session.default().model


def may_choose_any() -> bool:
    """Return True if this visitor may load any model: on their own machine, or as an admin.

    If nobody signs in, nobody is known to be an admin.
    """
    if settings().models:
        return False
    return is_for_one() or (guard.sign_in_is_on() and guard.is_allowed(FETCH))


def check_model(model: str) -> None:
    """Check that this visitor may load a model. The service decides which models are offered.

    Raises:
        UnknownModelError: they may not, or no model can have this name.
    """
    offered = service().models()
    if any(spec.id == model for spec in offered):
        return
    if not may_choose_any() and not settings().models:
        registry.check_offered(model, offered)
    registry.check_model(model, settings())


def allow_model(model: str) -> None:
    """Make the service accept a model that this visitor asked for.

    Raises:
        UnknownModelError: as `check_model`.
    """
    check_model(model)
    if not is_for_one() and may_choose_any():
        registry.allow_model(model)


def cancel_loading(model: str) -> None:
    """Stop the load that the page waits for, unless someone else waits for it."""
    job = jobs().get(tasks.load_key(model))
    if job is not None:
        job.cancel(waiting.current_visitor(_PAGE))
    download_requests.forget(_PAGE)


def baseline(card: ModelCard) -> Baseline | None:
    """Return a model's random-pair baseline, or None while it is being measured."""
    task = tasks.measure_baseline(card, service(), settings().data_dir)
    measured: Baseline | None = _measured(task, tasks.baseline_path(card, settings().data_dir))
    return measured


def measured_baseline(card: ModelCard) -> Baseline | None:
    """Return a model's random-pair baseline from memory or disk; nothing is begun."""
    job = jobs().get(tasks.baseline_key(card))
    if job is not None and job.state == "done":
        measured: Baseline = job.result()
        return measured
    return kept_arrays.load(Baseline, tasks.baseline_path(card, settings().data_dir))


def ruler(card: ModelCard, baseline: Baseline | None) -> Ruler | None:
    """Return a model's ruler from memory or disk, or None while it is being measured."""
    if baseline is None:
        return None
    task = tasks.measure_ruler(card, service(), baseline, settings().data_dir)
    measured: Ruler | None = _measured(task, tasks.ruler_path(card, settings().data_dir))
    return measured


def sense_names(card: ModelCard, baseline: Baseline | None, word: str | None) -> SenseNames | None:
    """Return the names of the senses of a word of the ready corpus, or None while there are none.

    Args:
        card: the model's card.
        baseline: its random-pair baseline; None while that is being measured.
        word: the word; None for a word without labelled senses.
    """
    if baseline is None or word is None:
        return None
    task = tasks.measure_senses(card, service(), baseline, word, settings().data_dir)
    names: SenseNames | None = waiting.measured(task, "senses")
    return names


def are_senses_pending(card: ModelCard, word: str | None) -> bool:
    """Return True if the names of a word's senses are still to come."""
    if word is None:
        return False
    jobs_to_come = (
        jobs().get(key) for key in (tasks.baseline_key(card), tasks.senses_key(card, word))
    )
    return any(job is not None and job.state not in _OVER for job in jobs_to_come)


def is_pending(task: Task | None) -> bool:
    """Return True if the result of a task that was started is still to come."""
    job = None if task is None else jobs().get(task.key)
    return job is not None and job.state not in _OVER


def _measured(task: Task, path: Path) -> Any:
    """Return a measurement's result, or None until there is one."""

    # A file on disk is read within a few milliseconds. Waiting for it keeps the page from jumping.
    def wait(job: Job) -> None:
        if _is_file(path):
            job.wait()

    return waiting.measured(task, "baseline", wait)


def await_measures(
    card: ModelCard, word: str | None = None, own: Task | None = None, *, is_pending: bool = False
) -> None:
    """Say which measures of a model are pending, and rerun the page when they are there.

    Args:
        card: the model's card.
        word: a word of the ready corpus, whose senses are among the measures; None for no word.
        own: looks up a word in the visitor's collection; None without one.
        is_pending: True if the page says that senses are still to come; they may be there by now.
    """
    job = jobs().get(tasks.baseline_key(card))
    if job is not None and job.state == "failed":
        st.caption(
            "The random-pair baseline could not be measured, so there is no band and no centred "
            "cosine; the log says why."
        )
        return
    own_job = None if own is None else jobs().get(own.key)
    if own_job is not None and own_job.state not in _OVER:
        job = own_job
    elif word is not None and job is not None and job.state == "done":
        job = jobs().get(tasks.senses_key(card, word)) or job
    if not is_pending and (job is None or job.state in _OVER):
        job = jobs().get(tasks.ruler_key(card))
    if job is not None and (is_pending or job.state not in _OVER):
        waiting.follow(job, "baseline", cancel="")


def _offer(model: str) -> None:
    """Say that a model is not here, with a button that gets it and one that goes on without it.

    Raises:
        UnknownModelError: it cannot be loaded at all.
    """
    check_model(model)
    spec, first = service().spec(model), service().models()[0]
    name = spec.title if spec.download_bytes else model
    with st.container(gap="small", key="offered_model"):
        st.markdown(
            f"This view asks for **{escape(model)}**, which is not on the machine that runs this "
            "app. It is fetched from the hub once and stays there; your sentences stay as they are."
        )
        with st.container(horizontal=True, gap="small"):
            label = f"Get {escape(shortened(name, _MAX_NAME_LENGTH))}"
            label = download_requests.with_size(label, spec)
            get = partial(request, model)
            download_requests.button(label, "get_model", get, kind="primary")
            title = escape(first.title)
            st.button(f"Go on with {title}", key="go_on_without", on_click=_go_on_without)


def _note_opened(model: str) -> None:
    """Remember that this visitor opened a model; only the last few are kept."""
    opened: tuple[str, ...] = session.kept(_OPENED) or ()
    if model not in opened:
        session.keep(_OPENED, (*opened, model)[-_MAX_OPENED:])


def _wait(job: Job, model: str, height: int | None) -> None:
    first = service().models()[0]
    waiting.follow(
        job,
        _PAGE,
        cancel=f"Cancel, and go on with {escape(first.title)}" if model != first.id else "",
        on_cancel=_go_on_without,
        below=True,
    )
    if height is not None:
        st.skeleton(height=height)


def _go_on_without() -> None:
    session.keep(_PAGE, None)
    download_requests.forget(_PAGE)
    session.write(replace(session.current(), model=session.default().model, layer=None))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # the data folder cannot be read
        return False
