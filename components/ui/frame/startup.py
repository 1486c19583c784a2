"""What happens once in a process, behind the first page: the first model, then what maps need."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module

import streamlit as st

from components.core.errors import ContextlensError
from components.jobs import Visitor
from components.ui.frame.navigation import PAGES
from components.ui.models import runtime
from components.ui.models.background import maps
from components.ui.state import session

__all__ = ["lifespan"]

_OFTEN = 0.2
"""Seconds."""
_SERVER = Visitor("this server")

_log = logging.getLogger("contextlens")


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncGenerator[None, None]:
    """Begin when the server does, not when the first visitor comes; in the background."""
    threading.Thread(target=_prepare, daemon=True, name="contextlens-startup").start()
    yield


def _prepare() -> None:
    try:
        loading = runtime.start_loading(session.default().model, _SERVER)
    except ContextlensError as exc:  # every page says it too
        _log.error("%s", exc)
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
