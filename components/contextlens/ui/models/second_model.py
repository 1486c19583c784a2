"""A second model or tokenizer beside the page's own, loaded in the background on request."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from contextlens.content.wording import escape
from contextlens.core import ModelCard, ModelSpec
from contextlens.core.errors import ContextlensError
from contextlens.core.schema import TokenizerCard
from contextlens.jobs import Job, Task
from contextlens.ui.access import guard
from contextlens.ui.access.roles import FETCH
from contextlens.ui.models import download_requests, runtime, tasks, waiting
from contextlens.ui.models.background import jobs
from contextlens.ui.state import session


def model_card(spec: ModelSpec) -> ModelCard | None:
    """Return the model's card; if its files are not here, draw a button and return None."""
    service = runtime.service()
    if spec.loaded:
        return service.load(spec.id)
    card = _awaited(
        spec,
        tasks.load(spec.id, service),
        "get_second_model",
        download_requests.with_size(f"Get {escape(spec.title)}", spec),
        "It is fetched once and stays on the machine that runs this app.",
        is_here=spec.on_disk or spec.source != "hub",
    )
    return None if card is None else service.load(spec.id)  # it may have left memory since


def tokenizer_card(spec: ModelSpec) -> TokenizerCard | None:
    """Return a tokenizer's card; if it is not here, draw a button and return None."""
    if spec.loaded or spec.on_disk:
        return runtime.service().load_tokenizer(spec.id)
    card: TokenizerCard | None = _awaited(
        spec,
        tasks.tokenizer(spec.id, runtime.service()),
        "get_tokenizer",
        f"Get the tokenizer of {escape(spec.title)}",
        "Less than 1 MB for a BERT model: its weights are not needed.",
    )
    return card


def _awaited(
    spec: ModelSpec, task: Task, key: str, label: str, note: str, *, is_here: bool = False
) -> Any | None:
    """Return a task's result if it is done; else draw its button or progress, and return None.

    Args:
        spec: the model.
        task: the task that gets it.
        key: the key of the button that starts it, and of the visitor's place.
        label, note: the button's label and note.
        is_here: True if it starts without a request.
    """
    begin = partial(_begin, spec, task, key)
    job = jobs().get(task.key)
    state = None if job is None else job.poll(waiting.current_visitor(key)).state
    is_wanted = download_requests.is_requested(key, task.key) and state not in {
        None,
        "stopped",
        "forgotten",
    }
    if state == "cancelled":
        download_requests.button("Get it after all", key, begin)
    elif job is not None and (state == "failed" or (state == "done" and task.kind.keeps)):
        return _result(job, key, begin)
    elif is_here or is_wanted:
        return _result(_joined(spec, task, key), key, begin)
    else:
        download_requests.button(label, key, begin)
        st.caption(note)
    return None


def _result(job: Job, key: str, begin: Callable[[], None]) -> Any | None:
    if not waiting.shortly(job):
        waiting.follow(job, key)
        return None
    error = job.exception()
    if job.was_stopped:
        download_requests.button("Get it after all", key, begin)
    elif error is not None:
        waiting.failed(error, key, begin)
    else:
        download_requests.forget(key)
        return job.result()
    return None


def _begin(spec: ModelSpec, task: Task, key: str) -> None:
    """Start the task of a button that somebody pressed."""
    try:
        _joined(spec, task, key)
        download_requests.add(key, task.key)
    except ContextlensError as exc:  # the next run tells the visitor
        session.remember(str(exc))


def _joined(spec: ModelSpec, task: Task, key: str) -> Job:
    if task.kind is not tasks.LOADS:  # its files come from the hub
        guard.require(FETCH)
    runtime.allow_model(spec.id)
    return jobs().start(task, waiting.current_visitor(key))
