"""Indexing of a stored corpus's words: a job that outlives the page, and the server.

Texts are encoded in chunks (see `run`) by two threads that share the processors: while one thread
makes rows of its chunk's words, the other thread's model computes. Rows are added in the order of
the texts. After an interruption, `run` continues after the last row.

A corpus's state says what is wanted. A job reads it between chunks, so writing "paused" pauses the
job. A job that stops with its server leaves the state "indexing", and `go_on` of the next server
resumes it.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from contextlib import suppress
from functools import cache, partial

from contextlens.core import EncoderService
from contextlens.core.errors import BusyError, ContextlensError, CorpusError, SettingsError
from contextlens.corpus.store.about import About
from contextlens.corpus.store.rows import layer_column
from contextlens.corpus.store.run import IndexingRun, Make, OnProgress, rows_in_threads
from contextlens.corpus.store.store import Store
from contextlens.corpus.store.tables import Tables
from contextlens.jobs import (
    Job,
    JobKind,
    Jobs,
    Processes,
    Report,
    StoppedError,
    Task,
    Visitor,
)

__all__ = [
    "INDEXES",
    "go_on",
    "index",
    "index_key",
    "index_vectors",
    "layers_without",
    "pause",
    "start",
    "unfinished",
]


# --- Vector indexes of large corpora

VECTOR_INDEXES = JobKind(
    "vector indexes",
    n_at_once=1,
    n_waiting=1_000,
    keeps=False,
    first_words="Preparing the search",
)
MIN_ROWS = 100_000
"""The number of occurrences from which an index is faster than a search of all."""

_ROW_BYTES = 24  # of an occurrence in an index, plus one bit for each dimension
_SAMPLE_RATE, _ITERATIONS = 64, 15  # of k-means: samples a cell (a quarter of the default), rounds


def layers_without(store: Store, name: str) -> tuple[int, ...]:
    """Return the layers of a corpus whose vectors should have an index and have none."""
    about = store.about(name)
    if (
        about.state != "done"
        or about.n_occurrences < MIN_ROWS
        or store.root.startswith("memory://")
    ):
        return ()
    indexed_columns = {
        column for index in store.occurrences_table(name).list_indices() for column in index.columns
    }
    return tuple(
        layer for layer in about.indexing.layers if layer_column(layer) not in indexed_columns
    )


def index_vectors(jobs: Jobs, store: Store, name: str) -> Job | None:
    """Return the job that indexes a large corpus's vectors if an index is missing, else None."""
    if not layers_without(store, name):
        return None
    key = ("index vectors", store.root, name)
    return jobs.start(Task(key, VECTOR_INDEXES, lambda report: _work(store, name, report)))


def _build(root: str, name: str, layer: int, _report: object) -> None:
    """Index one layer's vectors in a separate process; LanceDB reports no progress."""
    from lancedb.index import IvfRq

    table = Tables(root).open(name, "occurrences")
    config = IvfRq(distance_type="cosine", sample_rate=_SAMPLE_RATE, max_iterations=_ITERATIONS)
    table.create_index(layer_column(layer), config=config)


def _work(store: Store, name: str, report: Report) -> None:
    """Index layer by layer; if the corpus is deleted meanwhile, nothing is left."""
    with suppress(BusyError), store.only_writer(name):  # another process does it already
        layers, about = layers_without(store, name), store.about(name)
        n_bytes = about.n_occurrences * (about.indexing.n_dims // 8 + _ROW_BYTES)
        for done, layer in enumerate(layers):
            store.check_index_room(name, n_bytes)
            say = partial(_say, report, layer, done / len(layers))
            with store.writing_rows(name):
                _processes().run(partial(_build, store.root, name, layer), say)


def _say(report: Report, layer: int, share: float, *_: object) -> None:
    report(f"Preparing the search at layer {layer}", share)


@cache
def _processes() -> Processes:
    return Processes(1)


INDEXES = JobKind(
    "corpora to index",
    n_at_once=2,
    n_at_once_each=1,
    n_waiting=30,
    n_waiting_each=5,
    keeps=False,  # its result is on disk
    first_words="Starting to read",
)
_NICE = 10  # pages have priority by this much, if the system distinguishes threads

_WAITING = "Waiting to see whether another server indexes this corpus"
_WANTED = {"waiting", "indexing"}

_log = logging.getLogger("contextlens")


def index_key(store: Store, name: str) -> tuple[str, str, str]:
    """Return the key of the job that indexes a corpus."""
    return ("index", store.root, name)


def start(
    jobs: Jobs, store: Store, service: EncoderService, name: str, visitor: Visitor | None = None
) -> Job:
    """Return the job that indexes a corpus, or resumes it after a pause or failure.

    The job may be running already.

    Raises:
        CorpusError: there is no such corpus, or it is damaged.
        BusyError: too many jobs are waiting already.
    """
    if store.about(name).state in {"paused", "failed"}:
        store.set_state(name, "waiting")
    task = Task(
        index_key(store, name),
        INDEXES,
        lambda report: _run_to_end(jobs, store, service, name, report),
    )
    return jobs.start(task, visitor)


def pause(store: Store, name: str) -> None:
    """Stop a corpus's indexing after the current chunk; it can be resumed later.

    Raises:
        CorpusError: there is no such corpus, or it is damaged.
    """
    if store.about(name).state in _WANTED:
        store.set_state(name, "paused")


def unfinished(store: Store) -> tuple[About, ...]:
    """Return the corpora with unfinished indexing, oldest first, except damaged ones."""
    return tuple(about for about in _intact(store) if about.state in _WANTED)


def go_on(jobs: Jobs, store: Store, service: EncoderService) -> tuple[Job, ...]:
    """Resume what an earlier server did not finish; running jobs continue."""
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
    """Index a corpus from its current state until it is done, paused or deleted, in this thread.

    Args:
        store: the store that holds it.
        service: the service that has its model.
        name: the corpus's name.
        report: receives the progress.
        make: makes the rows; by default with the service, in threads of this process.

    Raises:
        ContextlensError: it failed; `About.why` has the reason. The finished part can be used.
    """
    uncached = service.uncached
    try:
        with (
            store.only_writer(name, lambda: report(_WAITING, 0.0)),
            IndexingRun(store, name, report) as run,
        ):
            run.index(uncached, make or rows_in_threads(uncached))
    except (StoppedError, BusyError):  # its state is unchanged
        raise
    except Exception as exc:
        _note_failure(store, name, exc)
        raise


def _run_to_end(
    jobs: Jobs, store: Store, service: EncoderService, name: str, report: OnProgress
) -> None:
    """Run `index` as a job: in a thread of its own, with a low priority."""
    if sys.platform == "linux":  # elsewhere it would affect the whole process
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
    index(store, service, name, report)
    while store.state(name) == "waiting":  # it was paused and resumed at the same moment
        index(store, service, name, report)
    index_vectors(jobs, store, name)


def _intact(store: Store) -> list[About]:
    """Return the descriptions of all readable corpora, oldest first."""

    def read(name: str) -> About | None:
        try:
            return store.about(name)
        except CorpusError:
            return None

    descriptions = [about for about in store.for_each(read) if about is not None]
    return sorted(descriptions, key=lambda about: about.created)


def _note_failure(store: Store, name: str, error: Exception) -> None:
    why = str(error)
    if not isinstance(error, ContextlensError) or isinstance(error, SettingsError):
        _log.error("Indexing a corpus failed", exc_info=error)
        why = "Reading failed unexpectedly; the server's log has the reason. Try to go on."
    with suppress(CorpusError):  # deleted, or damaged: other code reports that when it reads it
        if store.about(name).state != "done":
            store.set_state(name, "failed", why)
