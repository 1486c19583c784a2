"""What happens once in a process, behind the first page, and at its end.

First the first model is loaded, then what maps need, then indexing goes on that an earlier server
did not finish.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path

import streamlit as st

from components.core import Settings
from components.core.caller import otherwise
from components.core.errors import ContextlensError, SettingsError
from components.corpus.store import indexing
from components.jobs import Visitor
from components.ui.corpora import known
from components.ui.frame import logs, readings
from components.ui.frame.navigation import PAGES
from components.ui.models import runtime
from components.ui.models.background import jobs, maps, store
from components.ui.state import session

__all__ = ["lifespan", "warm_up"]

_OFTEN = 0.2
"""Seconds."""
_LIBRARIES = (
    "sklearn.cluster",
    "sklearn.decomposition",
    "sklearn.metrics",
    "sklearn.model_selection",
)
"""Of the measures of senses: half a second."""
_SERVER = Visitor("this server")
_END_SECONDS = 5.0  # in all, for batches of texts that are being read or stored

_log = logging.getLogger("contextlens")


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncGenerator[None, None]:
    """Begin when the server does, not when the first visitor comes; in the background."""
    try:
        logs.begin(Settings.from_env().log)
    except SettingsError as exc:
        logs.begin("plain")
        _log.critical("%s", exc)
        yield  # every page says that there is something
        return
    readings.begin()
    otherwise(session.caller)
    threading.Thread(target=_prepare, daemon=True, name="contextlens-startup").start()
    yield
    await asyncio.to_thread(_end)


def _prepare() -> None:
    try:
        loading = runtime.start_loading(session.default().model, _SERVER)
    except ContextlensError as exc:  # every page says it too
        _log.error("The first model is not loaded: %s", exc)
        return
    for page in PAGES:
        import_module(f"components.features.{page.name}.page")
    # Streamlit collects garbage after every run of a script. With half a million objects of the
    # libraries in sight that takes 0.4 s, in which nothing else runs; they never become garbage.
    while not loading.wait(_OFTEN):
        loading.look(_SERVER)  # where it has to be fetched, nobody else may want it yet
        gc.freeze()
    gc.freeze()
    maps().warm_up()
    warm_up()
    gc.freeze()
    _go_on()


def warm_up() -> None:
    """Import what pages use inside functions, so that no visitor waits for it."""
    for library in _LIBRARIES:
        import_module(library)


def _go_on() -> None:
    """Go on with the corpora that an earlier server began to index; nothing where none are kept."""
    root = store().root
    if "://" not in root and not any(Path(root).glob("*.about.lance")):
        return  # to look into the store means a second of imports
    try:
        indexing.go_on(jobs(), store(), runtime.service())
        known.note_owners()
    except ContextlensError as exc:
        _log.error("Indexing does not go on: %s", exc)


def _end() -> None:
    """Have all work stop where it can be gone on with, and wait a moment for what is half done.

    A thread that is still in torch when the process ends would end it with an error.
    """
    jobs().stop(_END_SECONDS)
