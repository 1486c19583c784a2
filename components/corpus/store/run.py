"""One go at a stored corpus: the rows of its chunks, made wherever it may be, added in order.

Some seconds' worth of rows is added to the corpus at once, in one commit, by a thread of its own.
The rows say themselves how far it is: so a process that is killed loses what was not stored yet and
nothing else, and whoever goes on begins behind the last row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Protocol, TypeVar

import pyarrow as pa

from components.core import EncoderService
from components.core.errors import CorpusError
from components.core.schema import Encoding, ModelCard
from components.corpus.sheet import named
from components.corpus.store.about import About
from components.corpus.store.chunks import chunks, most_tokens
from components.corpus.store.rows import Chunk, numbered, rows_of
from components.corpus.store.store import Store
from components.corpus.store.streams import in_order
from components.jobs import StoppedError, time_left

__all__ = ["Made", "Make", "OnProgress", "Run", "UntilOver", "checked_model", "here", "rows_made"]

_COMMIT_SECONDS, _COMMIT_BYTES = 5.0, 64_000_000
"""What is encoded since the last commit is lost with the process, and is held in memory."""

Any_ = TypeVar("Any_")
Made = tuple[int, pa.RecordBatch]
"""The number of a chunk's first text, and the rows of the chunk, not numbered yet."""


class OnProgress(Protocol):
    """How far it is: words and a share in [0, 1]. What it raises ends the work."""

    def __call__(self, stage: str, share: float) -> None:
        """Note it."""


class UntilOver(Protocol):
    """Passes on what it is given, until the corpus is paused, done or deleted."""

    def __call__(self, given: Iterable[Any_]) -> Iterator[Any_]:
        """Pass it on."""


Make = Callable[[Iterable[Chunk], About, ModelCard, UntilOver], Generator[Made, None, None]]
"""Makes the rows of chunks, in their order; it is closed where nobody listens any more."""


def here(service: EncoderService) -> Make:
    """Makes rows in threads of this process."""

    def make(
        chunks: Iterable[Chunk], about: About, card: ModelCard, until_over: UntilOver
    ) -> Generator[Made, None, None]:
        rows = partial(rows_made, service, card, about)
        with closing(in_order(rows, until_over(chunks))) as made:
            yield from ((chunk.start, own) for chunk, own in made)

    return make


def rows_made(
    service: EncoderService, card: ModelCard, about: About, chunk: Chunk
) -> pa.RecordBatch:
    """The rows of a chunk, whose hidden states are let go.

    Raises:
        CorpusError: another precision runs here than the corpus is indexed with.
    """
    own = about.indexing
    encodings = service.encode(card.id, chunk.texts, layers=own.layers, precision=own.precision)
    for encoding in encodings[:1]:
        _check_precision(encoding, about)
    return rows_of(chunk, encodings, own)


class Run:
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

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None or issubclass(kind, StoppedError):
                self._commit()
                self._wait()
        finally:
            self._writer.shutdown()

    def index(self, service: EncoderService, make: Make) -> None:
        """Make the rows of what is not stored yet, and store them."""
        about, store = self._about, self._store
        if about.state in {"done", "paused"}:
            return
        self._report(f"Getting {about.indexing.model} ready", 0.0)
        card = checked_model(service, about)
        store.set_state(self._name, "indexing", unless=("paused", "done"))
        self._add_all(make(self._chunks(card), about, card, self._until_over))
        self._commit()
        self._wait()
        if self._is_whole and not self._is_over():
            self._report("Making it quick to search", 1.0)
            store.finish(self._name)

    def _add_all(self, made: Generator[Made, None, None]) -> None:
        """Chunk after chunk, until all are done or it is over."""
        first: int | None = None
        with closing(made):
            for start, rows in made:
                first = start if first is None else first
                self._say(start, first)
                self._add(rows)

    def _chunks(self, card: ModelCard) -> Iterator[Chunk]:
        """Those behind the last stored row: of a chunk all rows are stored or none."""
        own = self._about.indexing
        most = most_tokens(n_layers=len(own.layers), n_dims=own.n_dims)
        last = self._store.last_text(self._name)
        for chunk in chunks(self._store.texts(self._name), max_length=card.max_length, most=most):
            if chunk.start > last:
                yield chunk

    def _until_over(self, given: Iterable[Any_]) -> Iterator[Any_]:
        for one in given:
            if self._is_over():
                self._is_whole = False  # whatever is wanted by the time that this is looked at
                return
            yield one

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


def checked_model(service: EncoderService, about: About) -> ModelCard:
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
