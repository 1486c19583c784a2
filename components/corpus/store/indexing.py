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
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from components.core import EncoderService
from components.core.cache import CachedService
from components.core.errors import BusyError, ContextlensError, CorpusError, SettingsError
from components.corpus.store.about import About
from components.corpus.store.rows import layer_column
from components.corpus.store.run import Make, OnProgress, Run, here
from components.corpus.store.store import Store
from components.corpus.store.tables import Tables
from components.jobs import (
    Job,
    Jobs,
    Kind,
    Processes,
    Report,
    Sentences,
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


# --- Indexes of the vectors of large corpora

VECTOR_INDEXES = Kind(
    "vector indexes",
    n_at_once=1,
    n_waiting=1_000,
    keeps=False,
    first_words="Starting to index vectors",
)
LEAST_ROWS = 100_000
"""Occurrences from which an index is quicker than looking at all of them."""

_ROW_BYTES = 24  # of an index, beside one bit for each number
_SAMPLE_RATE, _ITERATIONS = 64, 15  # of k-means, for each cell: a quarter of the usual
_SENTENCES = Sentences()


def layers_without(store: Store, name: str) -> tuple[int, ...]:
    """The layers of a corpus whose vectors should have an index and have none."""
    about = store.about(name)
    if (
        about.state != "done"
        or about.n_occurrences < LEAST_ROWS
        or store.root.startswith("memory://")
    ):
        return ()
    there = {
        column for index in store.occurrences_table(name).list_indices() for column in index.columns
    }
    return tuple(layer for layer in about.indexing.layers if layer_column(layer) not in there)


def index_vectors(jobs: Jobs, store: Store, name: str) -> Job | None:
    """The job that indexes a corpus's vectors, where it is large and has no such index yet."""
    if not layers_without(store, name):
        return None
    key = ("index vectors", store.root, name)
    return jobs.start(Task(key, VECTOR_INDEXES, lambda report: _work(store, name, report)))


def build(task: Mapping[str, Any], folder: Path, report: Callable[[str, float], None]) -> None:
    """Index one layer's vectors; in a process of its own.

    Args:
        task: "root", "name" and "layer".
        folder: not used.
        report: not used, as LanceDB does not say how far it is.
    """
    del folder, report
    from lancedb.index import IvfRq

    table = Tables(task["root"]).open(task["name"], "occurrences")
    config = IvfRq(distance_type="cosine", sample_rate=_SAMPLE_RATE, max_iterations=_ITERATIONS)
    table.create_index(layer_column(task["layer"]), config=config)


def _work(store: Store, name: str, report: Report) -> None:
    """Layer by layer; of a corpus that is deleted in the middle nothing stays."""
    with suppress(BusyError), store.only_writer(name):  # where another process does it: nothing
        layers, about = layers_without(store, name), store.about(name)
        n_bytes = about.n_occurrences * (about.indexing.n_dims // 8 + _ROW_BYTES)
        for done, layer in enumerate(layers):
            store.check_index_room(name, n_bytes)
            say = partial(_say, report, layer, done / len(layers))
            with TemporaryDirectory(prefix="contextlens-", ignore_cleanup_errors=True) as folder:
                task = {"root": store.root, "name": name, "layer": layer}
                with store.writing_rows(name):
                    _processes().run(f"{__name__}:build", task, say, folder=Path(folder))


def _say(report: Report, layer: int, share: float, *_: object) -> None:
    report(f"Indexing the vectors of layer {layer}", share)


@cache
def _processes() -> Processes:
    return Processes(1, sentences=_SENTENCES)


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
        index_key(store, name),
        INDEXES,
        lambda report: _indexing_work(jobs, store, service, name, report),
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


def _indexing_work(
    jobs: Jobs, store: Store, service: EncoderService, name: str, report: OnProgress
) -> None:
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
