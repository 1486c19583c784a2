"""Start and end of a process: work that runs once, in the background.

It loads the first model, compiles code for maps unless the set-up did, then resumes indexing that
an earlier server left unfinished.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import streamlit as st

from contextlens.core import Settings
from contextlens.core.caller import set_default_caller
from contextlens.core.errors import ContextlensError, SettingsError
from contextlens.core.ready_answers import ReadyService
from contextlens.corpus.store import indexing
from contextlens.jobs import Job, Visitor
from contextlens.ui.corpora import catalogue
from contextlens.ui.files import downloads
from contextlens.ui.models import runtime
from contextlens.ui.models.background import jobs, maps, store
from contextlens.ui.page import runs
from contextlens.ui.page.navigation import PAGES
from contextlens.ui.server import logs, metrics
from contextlens.ui.state import session
from contextlens.ui.state.services import is_for_one, uncached

_OFTEN = 0.2
"""Seconds between two `gc.freeze` calls while the first model loads."""
_NEW_OBJECTS = 10_000
"""New objects between two collections of the youngest ones. With Python's 700, they take a fifth of
the time in which torch is imported."""
_LIBRARIES = (
    "sklearn.cluster",
    "sklearn.decomposition",
    "sklearn.metrics",
    "sklearn.model_selection",
)
"""Libraries for the measures of senses, which take half a second to import."""
_FIRST_PAGE_SECONDS = 4.0  # in which the first visitor's page, usually opened at once, has run
_DRAWN_SECONDS = 1.5  # in which the browser gets what it draws the page with
_SERVER = Visitor("this server")
_END_SECONDS = 5.0  # in all, for batches of texts that are being read or stored

_log = logging.getLogger("contextlens")


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncGenerator[None, None]:
    """Start work in the background when the server starts, not when the first visitor comes."""
    try:
        logs.begin(Settings.from_env().log)
    except SettingsError as exc:
        logs.begin("plain")
        _log.critical("%s", exc)
        yield  # every page reports the error
        return
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
    metrics.begin()
    downloads.begin()
    set_default_caller(session.caller)
    service = uncached()
    if isinstance(service, ReadyService):
        service.is_starting = True
        service.before_waiting = _await_model
    if "torch" not in sys.modules:
        sys.meta_path.insert(0, _TensorAtOnce())
    threading.Thread(target=_prepare, daemon=True, name="contextlens-startup").start()
    yield
    await asyncio.to_thread(_end)


class _TensorAtOnce(MetaPathFinder):
    """Gives torch a stand-in for its `Tensor` until torch is imported.

    Pages are drawn meanwhile, and scipy asks whether an array is a `torch.Tensor` as soon as there
    is a module of this name. None can be one yet.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what another finder returns, for torch alone."""
        if fullname != "torch":
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next(filter(None, specs), None)
        if spec is not None and spec.loader is not None:
            spec.loader.create_module = self._module  # type: ignore[method-assign]
        return spec

    @staticmethod
    def _module(spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        module.Tensor = type("Tensor", (), {})  # type: ignore[attr-defined]
        return module


def _prepare() -> None:
    for page in PAGES:
        import_module(f"contextlens.features.{page.name}.page")
    try:
        loading = _loading()
    except ContextlensError as exc:  # every page reports it too
        _log.error("The first model is not loaded: %s", exc)
        service = uncached()
        if isinstance(service, ReadyService):
            service.is_starting = False
        return
    # Streamlit collects garbage after every run of a script. Without freezing the libraries' half a
    # million objects, which never become garbage, that takes 0.4 s in which nothing else runs.
    while not loading.wait(_OFTEN):
        loading.poll(_SERVER)  # keeps a download that nobody else waits for
        gc.freeze()
    gc.freeze()
    maps().warm_up()
    warm_up()
    gc.freeze()
    _go_on()


def _await_model() -> None:
    """In a page's script, wait as pages do; a job has a thread to wait in."""
    if runs.page() is not None:
        runtime.await_first_model()


def _loading() -> Job:
    """Return the load of the first model; it leaves the interpreter to a first page from disk.

    A server for many loads at once: a load balancer sends it visitors once its model is in memory.
    """
    service = uncached()
    is_quick = isinstance(service, ReadyService) and service.has_answers and is_for_one()
    if is_quick and runs.FIRST_IS_OVER.wait(_FIRST_PAGE_SECONDS):
        time.sleep(_DRAWN_SECONDS)
    return runtime.start_loading(session.default().model, _SERVER)


def warm_up() -> None:
    """Import the modules that pages import inside functions, so that no visitor waits for them."""
    for library in _LIBRARIES:
        import_module(library)


def _go_on() -> None:
    """Resume the indexing that an earlier server began, if any corpora are stored."""
    root = store().root
    if "://" not in root and not any(Path(root).glob("*.about.lance")):
        return  # opening the store takes a second of imports
    try:
        indexing.go_on(jobs(), store(), runtime.service())
        catalogue.note_owners()
    except ContextlensError as exc:
        _log.error("Indexing does not go on: %s", exc)


def _end() -> None:
    """Stop all resumable work, and wait a moment for batches that are nearly done.

    A thread that is still in torch when the process ends would make it end with an error.
    """
    jobs().stop(_END_SECONDS)
