"""Giving a stored corpus's words their vectors: a job that outlives the page, and the server.

Texts are encoded in chunks (see `run`), by two threads that share the processors: while one
makes rows of its chunk's words, the other's model computes. Rows are added in the order of the
texts: see `run`, which goes on behind the last of them.

A corpus's state is what is wanted of it. A job looks at it between chunks, so that to pause is to
write "paused". A job that is stopped with its server leaves "indexing", and `go_on` of the next one
goes on.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from contextlib import suppress

from components.core import EncoderService
from components.core.cache import CachedService
from components.core.errors import BusyError, ContextlensError, CorpusError, SettingsError
from components.corpus.store.about import About
from components.corpus.store.run import Make, OnProgress, Run, here
from components.corpus.store.store import Store
from components.corpus.store.vector_index import index_vectors
from components.jobs import Job, Jobs, Kind, StoppedError, Task, Visitor

__all__ = ["INDEXES", "go_on", "index", "index_key", "pause", "start", "unfinished"]

INDEXES = Kind(
    "corpora to index",
    n_at_once=2,
    n_at_once_each=1,
    n_waiting=30,
    n_waiting_each=5,
    keeps=False,  # what it made is on disk
    first_words="Starting to index",
)
_NICE = 10  # how far pages come before it, where the system can tell threads apart

_WAITING = "Waiting to see whether another server indexes this corpus"
_WANTED = {"waiting", "indexing"}

_log = logging.getLogger("contextlens")


def index_key(store: Store, name: str) -> tuple[str, str, str]:
    """The key of the job that indexes a corpus."""
    return ("index", store.root, name)


def start(
    jobs: Jobs, store: Store, service: EncoderService, name: str, visitor: Visitor | None = None
) -> Job:
    """The job that indexes a corpus, or goes on where it was paused or failed; maybe under way.

    Raises:
        CorpusError: there is no such corpus, or it is damaged.
        BusyError: too many wait already.
    """
    if store.about(name).state in {"paused", "failed"}:
        store.set_state(name, "waiting")
    task = Task(
        index_key(store, name), INDEXES, lambda report: _work(jobs, store, service, name, report)
    )
    return jobs.start(task, visitor)


def pause(store: Store, name: str) -> None:
    """Have a corpus's indexing stop after the chunk that is being encoded; it can go on later.

    Raises:
        CorpusError: there is no such corpus, or it is damaged.
    """
    if store.about(name).state in _WANTED:
        store.set_state(name, "paused")


def unfinished(store: Store) -> tuple[About, ...]:
    """The corpora whose indexing is wanted and not done, oldest first, but damaged ones."""
    return tuple(about for about in _intact(store) if about.state in _WANTED)


def go_on(jobs: Jobs, store: Store, service: EncoderService) -> tuple[Job, ...]:
    """Go on with what an earlier server did not finish; what is under way stays so."""
    begun = []
    for about in _intact(store):
        try:
            if about.state in _WANTED:
                begun.append(start(jobs, store, service, about.name))
            elif (job := index_vectors(jobs, store, about.name)) is not None:
                begun.append(job)
        except ContextlensError as exc:
            _log.warning("The indexing of a corpus does not go on: %s", exc)
    return tuple(begun)


def index(
    store: Store,
    service: EncoderService,
    name: str,
    report: OnProgress,
    *,
    make: Make | None = None,
) -> None:
    """Index a corpus from where it stands until it is done, paused or deleted, in this thread.

    Args:
        store: what holds it.
        service: what knows its model.
        name: the corpus's.
        report: told how far it is.
        make: makes the rows; by default with the service, in threads of this process.

    Raises:
        ContextlensError: it failed; the corpus says so, and can be used as far as it is.
    """
    own = service.uncached if isinstance(service, CachedService) else service
    try:
        with (
            store.only_writer(name, lambda: report(_WAITING, 0.0)),
            Run(store, name, report) as run,
        ):
            run.index(own, make or here(own))
    except (StoppedError, BusyError):  # it stands as it stood
        raise
    except Exception as exc:
        _note_failure(store, name, exc)
        raise


def _work(jobs: Jobs, store: Store, service: EncoderService, name: str, report: OnProgress) -> None:
    """`index` as a job: in a thread of its own, which lets others go first."""
    if sys.platform == "linux":  # elsewhere it would be the whole process
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
    index(store, service, name, report)
    while store.state(name) == "waiting":  # it was paused and went on in the same moment
        index(store, service, name, report)
    index_vectors(jobs, store, name)


def _intact(store: Store) -> list[About]:
    """What is known of all corpora that can be read, oldest first."""

    def ask(name: str) -> About | None:
        try:
            return store.about(name)
        except CorpusError:
            return None

    found = [about for about in store.each(ask) if about is not None]
    return sorted(found, key=lambda about: about.created)


def _note_failure(store: Store, name: str, error: Exception) -> None:
    why = str(error)
    if not isinstance(error, ContextlensError) or isinstance(error, SettingsError):
        _log.error("Indexing a corpus failed", exc_info=error)
        why = "Indexing failed unexpectedly; the server's log has the reason. Try to go on."
    with suppress(CorpusError):  # deleted, or damaged: that is said wherever it is looked at
        if store.about(name).state != "done":
            store.set_state(name, "failed", why)
