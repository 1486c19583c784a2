"""Giving a stored corpus's words their vectors: a job that outlives the page, and the server.

Texts are encoded in chunks (see `chunks`), by two threads that share the processors: while one
makes rows of its chunk's words, the other's model computes. Some seconds' worth of rows is added to
the corpus at once, in the order of the texts and in one commit, by a thread of its own. The rows
say themselves how far it is: so a process that is killed loses what was not stored yet and nothing
else, and whoever goes on begins behind the last row.

A corpus's state is what is wanted of it. A job looks at it between chunks, so that to pause is to
write "paused". A job that is stopped with its server leaves "indexing", and `go_on` of the next one
goes on.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from typing import Protocol

import pyarrow as pa

from components.core import EncoderService
from components.core.cache import CachedService
from components.core.errors import BusyError, ContextlensError, CorpusError
from components.core.schema import Encoding, ModelCard
from components.corpus.sheet import named
from components.corpus.store.about import About
from components.corpus.store.chunks import Chunk, chunks, most_tokens
from components.corpus.store.store import Store
from components.corpus.store.streams import in_order
from components.corpus.store.vector_index import index_vectors
from components.corpus.store.word_rows import numbered, rows_of
from components.jobs import Job, Jobs, Kind, StoppedError, Task, Visitor, time_left

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
_COMMIT_SECONDS, _COMMIT_BYTES = 5.0, 64_000_000
"""What is encoded since the last commit is lost with the process, and is held in memory."""
_NICE = 10  # how far pages come before it, where the system can tell threads apart

_WANTED = {"waiting", "indexing"}

_log = logging.getLogger("contextlens")


class OnProgress(Protocol):
    """How far it is: words and a share in [0, 1]. What it raises ends the work."""

    def __call__(self, stage: str, share: float) -> None:
        """Note it."""


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


def index(store: Store, service: EncoderService, name: str, report: OnProgress) -> None:
    """Index a corpus from where it stands until it is done, paused or deleted, in this thread.

    Raises:
        ContextlensError: it failed; the corpus says so, and can be used as far as it is.
    """
    try:
        with store.only_writer(name), _Run(store, name, report) as run:
            run.index(service.uncached if isinstance(service, CachedService) else service)
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
    found = []
    for name in store.names():
        with suppress(CorpusError):
            found.append(store.about(name))
    return sorted(found, key=lambda about: about.created)


def _note_failure(store: Store, name: str, error: Exception) -> None:
    why = str(error)
    if not isinstance(error, ContextlensError):
        _log.error("Indexing a corpus failed", exc_info=error)
        why = "Indexing failed unexpectedly; the server's log has the reason. Try to go on."
    with suppress(CorpusError):  # deleted, or damaged: that is said wherever it is looked at
        if store.about(name).state != "done":
            store.set_state(name, "failed", why)


class _Run:
    """One go at a corpus. What is encoded is added to it in the background, a commit at a time."""

    def __init__(self, store: Store, name: str, report: OnProgress) -> None:
        self._store, self._name, self._report = store, name, report
        self._about = store.about(name)
        self._writer = ThreadPoolExecutor(1, "contextlens-store")
        self._writing: Future[None] | None = None
        self._held: list[pa.RecordBatch] = []
        self._next_row = self._about.n_occurrences
        self._committed = self._began = time.monotonic()
        self._is_whole = True

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None or issubclass(kind, StoppedError):
                self._commit()
                self._wait()
        finally:
            self._writer.shutdown()

    def index(self, service: EncoderService) -> None:
        """Encode what is not stored yet."""
        about, store = self._about, self._store
        if about.state in {"done", "paused"}:
            return
        self._report(f"Getting {about.indexing.model} ready", 0.0)
        card = _model(service, about)
        store.set_state(self._name, "indexing")
        self._encode(service, card)
        self._commit()
        self._wait()
        if self._is_whole and not self._is_over():
            self._report("Making it quick to search", 1.0)
            store.finish(self._name)

    def _encode(self, service: EncoderService, card: ModelCard) -> None:
        """Chunk after chunk, until all are done or it is over."""
        first: int | None = None
        with closing(in_order(partial(self._rows, service, card), self._chunks(card))) as made:
            for chunk, rows in made:
                first = chunk.start if first is None else first
                self._say(chunk.start, first)
                self._add(rows)

    def _chunks(self, card: ModelCard) -> Iterator[Chunk]:
        """Those behind the last stored row (of a chunk all rows are stored or none); until over."""
        own = self._about.indexing
        most = most_tokens(n_layers=len(own.layers), n_dims=own.n_dims)
        last = self._store.last_text(self._name)
        for chunk in chunks(self._store.texts(self._name), max_length=card.max_length, most=most):
            if chunk.start > last:
                if self._is_over():
                    self._is_whole = False  # whatever is wanted by the time that this is looked at
                    return
                yield chunk

    def _is_over(self) -> bool:
        return self._store.state(self._name) in {"paused", "done"}

    def _say(self, n_done: int, first: int) -> None:
        n_texts = self._about.n_texts
        words = f"Indexing text {n_done + 1:,} of {n_texts:,}"
        n_new, seconds = n_done - first, time.monotonic() - self._began
        if n_new and seconds > 1:
            speed = n_new / seconds
            left = time_left((n_texts - n_done) / speed)
            words += f", {speed:,.0f} a second, {left}"
        n_bytes = self._next_row * self._about.indexing.row_bytes
        self._report(f"{words}, {n_bytes / 1e6:,.0f} MB", n_done / max(1, n_texts))

    def _rows(self, service: EncoderService, card: ModelCard, chunk: Chunk) -> pa.RecordBatch:
        """The rows of a chunk, whose hidden states are let go."""
        own = self._about.indexing
        encodings = service.encode(card.id, chunk.texts, layers=own.layers, precision=own.precision)
        for encoding in encodings[:1]:
            _check_precision(encoding, self._about)
        return rows_of(chunk, encodings, own)

    def _add(self, rows: pa.RecordBatch) -> None:
        rows = numbered(rows, self._next_row)
        self._next_row += rows.num_rows
        if rows.num_rows:
            self._held.append(rows)
        is_much = sum(batch.nbytes for batch in self._held) >= _COMMIT_BYTES
        if is_much or time.monotonic() - self._committed >= _COMMIT_SECONDS:
            self._commit()

    def _commit(self) -> None:
        """Have what is held stored; waits for what was to be stored before it."""
        self._wait()
        if self._held:
            self._writing = self._writer.submit(
                self._store.append, self._name, self._about.indexing, self._held
            )
        self._held, self._committed = [], time.monotonic()

    def _wait(self) -> None:
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()


def _model(service: EncoderService, about: About) -> ModelCard:
    """The card of the model that a corpus is indexed with.

    Raises:
        CorpusError: it is not here any more, or is another by now.
    """
    own = about.indexing
    spec = service.spec(own.model)
    if not (spec.loaded or spec.on_disk or spec.source != "hub"):
        raise CorpusError(
            f"{named(about.title)} was to be indexed with {own.model}, which is not on this "
            "machine any more. Choose that model on any page, which fetches it, and go on."
        )
    card = service.load(own.model)
    if (card.checksum, card.n_dims) != (own.checksum, own.n_dims):
        raise CorpusError(
            f"{named(about.title)} was indexed with other weights of {own.model} than those that "
            "are here now: vectors of both are never mixed. Index its file again."
        )
    return card


def _check_precision(encoding: Encoding, about: About) -> None:
    own, ran = about.indexing.precision, encoding.passport.precision
    if own != ran:
        raise CorpusError(
            f"{named(about.title)} was indexed with the precision “{own}”, and “{ran}” runs here: "
            "vectors of both are never mixed. Index its file again."
        )
