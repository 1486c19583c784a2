"""Runs of page scripts, counted and timed, and the name of the running page for the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Event
from time import perf_counter
from typing import Literal

from streamlit.navigation.page import Page
from streamlit.runtime.scriptrunner import RerunException, StopException

from contextlens.core import meters
from contextlens.ui.page.navigation import PAGES

Outcome = Literal["ok", "stopped", "refused", "failed"]
""""stopped": the run waits for a model, or the visitor went on."""
_WORST: tuple[Outcome, ...] = ("ok", "stopped", "refused", "failed")
_NAMES = {page.name for page in PAGES}


@dataclass
class _Run:
    page: str
    outcome: Outcome = "ok"


FIRST_IS_OVER = Event()
"""Set when a page has run in this process."""
_current: ContextVar[_Run | None] = ContextVar("contextlens_run", default=None)


@contextmanager
def counted(page: Page) -> Iterator[None]:
    """Count everything inside as one run of this page."""
    name = page.url_path or PAGES[0].name
    run = _Run(name if name in _NAMES else "other")
    token, begun = _current.set(run), perf_counter()
    try:
        yield
    except (StopException, RerunException):
        note("stopped")
        raise
    except BaseException:
        note("failed")
        raise
    finally:
        _current.reset(token)
        FIRST_IS_OVER.set()
        meters.PAGE_SECONDS.labels(run.page).observe(perf_counter() - begun)
        meters.PAGE_RUNS.labels(run.page, run.outcome).inc()


def note(outcome: Outcome) -> None:
    """Record the outcome of the current run, if any, unless a worse one is recorded."""
    run = _current.get()
    if run is not None:
        run.outcome = max(run.outcome, outcome, key=_WORST.index)


def page() -> str | None:
    """Return the name of the page that runs in this thread."""
    run = _current.get()
    return None if run is None else run.page
