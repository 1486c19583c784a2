"""A second model or tokenizer beside the page's own, got in the background when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from components.content.wording import escape
from components.core import ModelCard, ModelSpec
from components.core.schema import TokenizerCard
from components.jobs import Job, Task
from components.ui.models import runtime, tasks, waiting
from components.ui.models.background import jobs

__all__ = ["model_card", "tokenizer_card"]


def model_card(spec: ModelSpec) -> ModelCard | None:
    """The model's card; where its files are not here yet, a button that gets them, and None."""
    service = runtime.service()
    if spec.loaded:
        return service.load(spec.id)
    size = f" ({spec.download_bytes / 1e6:,.0f} MB)" if spec.download_bytes else ""
    found = _awaited(
        tasks.load(spec.id, service),
        "get_second_model",
        f"Get {escape(spec.title)}{size}",
        "It is fetched once and stays on the machine that runs this app.",
        is_here=spec.on_disk or spec.source != "hub",
    )
    return None if found is None else service.load(spec.id)  # it may have left memory since


def tokenizer_card(spec: ModelSpec) -> TokenizerCard | None:
    """A tokenizer's card; where it is not here yet, a button that gets it, and None."""
    if spec.loaded or spec.on_disk:
        return runtime.service().load_tokenizer(spec.id)
    found: TokenizerCard | None = _awaited(
        tasks.tokenizer(spec.id, runtime.service()),
        "get_tokenizer",
        f"Get the tokenizer of {spec.title}",
        "Less than 1 MB for a BERT model: its weights are not needed.",
    )
    return found


def _awaited(task: Task, key: str, label: str, note: str, *, is_here: bool = False) -> Any | None:
    """What a task gives once someone asked for it and it is done; how far it is until then.

    Args:
        task: what to get.
        key: of the button that begins it, and the visitor's place.
        label, note: of that button.
        is_here: whether it begins without being asked for.
    """
    begin = partial(_begin, task, key)
    found = jobs().get(task.key)
    state = None if found is None else found.look(waiting.me(key)).state
    if state == "cancelled":
        _button("Get it after all", key, begin)
    elif is_here and state in {None, "stopped", "forgotten"}:
        return _result(begin(), key, begin)
    elif found is None or state in {"stopped", "forgotten"}:
        _button(label, key, begin)
        st.caption(note)
    elif state == "failed" or (state == "done" and task.kind.keeps):
        return _result(found, key, begin)
    else:
        return _result(begin(), key, begin)  # others wait for it too, or it left memory since
    return None


def _result(found: Job, key: str, begin: Callable[[], Job]) -> Any | None:
    if not waiting.shortly(found):
        waiting.follow(found, key)
        return None
    error = found.exception()
    if found.was_stopped:
        _button("Get it after all", key, begin)
    elif error is not None:
        waiting.failed(error, key, begin)
    else:
        return found.result()
    return None


def _begin(task: Task, key: str) -> Job:
    return jobs().start(task, waiting.me(key))


def _button(label: str, key: str, begin: Callable[[], Any]) -> None:
    st.button(label, icon=":material/download:", key=key, on_click=begin)
