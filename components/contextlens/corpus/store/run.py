"""One run over a stored corpus: the rows of its chunks, made in any process, added in order.

A chunk depends on the texts before it and on the model, and on nothing else, such as timing. So a
resumed run sends the model the same texts as a run without interruption, and gets the same rows.
Only the last bits of their vectors also depend on the model's other requests at that time, and on
its number of threads.

A separate thread adds some seconds' worth of rows to the corpus in one commit. The rows themselves
record the progress. So a process that is killed loses only the rows that were not stored yet, and
the next run begins after the last row.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from functools import partial
from typing import Protocol, TypeVar

import pyarrow as pa

from contextlens.core import EncoderService
from contextlens.core.calls import check_checksum
from contextlens.core.errors import CorpusError
from contextlens.core.schema import Encoding, ModelCard, Precision
from contextlens.core.threads import limit_threads
from contextlens.corpus.store.about import About, Indexing
from contextlens.corpus.store.rows import Chunk, Target, numbered, rows_of
from contextlens.corpus.store.store import Store
from contextlens.corpus.table import named
from contextlens.jobs import StoppedError, time_left

__all__ = [
    "N_STREAMS",
    "IndexingRun",
    "Made",
    "Make",
    "OnProgress",
    "UntilOver",
    "checked_model",
    "cut_into_chunks",
    "in_order",
    "most_tokens",
    "rows_in_threads",
    "rows_made",
    "word_seconds",
]

N_STREAMS = 2
"""Threads that share the processors: one makes rows while the other's model computes."""

_COMMIT_SECONDS, _COMMIT_BYTES = 5.0, 64_000_000
"""The limits of uncommitted rows, which are in memory and lost if the process ends."""

_MAX_TOKENS = 8_192
"""About a second's work of the bundled model; sorting by length pays off from 4,000 tokens on."""
_MAX_TEXTS = 1_024
_MAX_BYTES = 256_000_000  # of hidden states, which are float32
_LETTERS = 3  # characters of ASCII in a token; English has 4 to 5

Any_ = TypeVar("Any_")
Given_ = TypeVar("Given_")
Made_ = TypeVar("Made_")
Made = tuple[int, pa.RecordBatch]
"""The number of texts up to a chunk's end, and the rows of the chunk, not numbered yet."""

_word_seconds: dict[tuple[str, tuple[int, ...], Precision], float] = {}
"""The last measured seconds for a word, by the model's checksum, layers and precision."""


def word_seconds(indexing: Indexing) -> float | None:
    """Return the seconds for a word, as last measured in this process; None if never."""
    return _word_seconds.get((indexing.checksum, indexing.layers, indexing.precision))


class OnProgress(Protocol):
    """The progress, as words and a share in [0, 1]. An exception from it ends the work."""

    def __call__(self, stage: str, share: float) -> None:
        """Record the progress."""


class UntilOver(Protocol):
    """Passes items on until the corpus is paused, done or deleted."""

    def __call__(self, given: Iterable[Any_]) -> Iterator[Any_]:
        """Pass items on."""


Make = Callable[[Iterable[Chunk], About, ModelCard, UntilOver], Generator[Made, None, None]]
"""Makes the rows of chunks, in their order; it is closed once nobody reads it any more."""


def rows_in_threads(service: EncoderService) -> Make:
    """Return a function that makes rows in threads of this process."""

    def make(
        chunks: Iterable[Chunk], about: About, card: ModelCard, until_over: UntilOver
    ) -> Generator[Made, None, None]:
        make_rows = partial(rows_made, service, card, about)
        with closing(in_order(make_rows, until_over(chunks))) as made:
            yield from ((chunk.stop, rows) for chunk, rows in made)

    return make


def rows_made(
    service: EncoderService, card: ModelCard, about: About, chunk: Chunk
) -> pa.RecordBatch:
    """Return the rows of a chunk, and release its hidden states.

    Raises:
        RevisionError: the model's revision is no longer that of the corpus.
        CorpusError: another precision is used here.
    """
    settings = about.indexing
    encodings = service.encode(
        card.id,
        chunk.texts,
        layers=settings.layers,
        precision=settings.precision,
        checksum=settings.checksum,
    )
    for encoding in encodings:
        check_checksum(card.id, encoding.passport.checksum, settings.checksum)
        _check_precision(encoding, about)
    return rows_of(chunk, encodings, settings)


class IndexingRun:
    """One run over a corpus. Rows are added in the background, a commit at a time."""

    def __init__(self, store: Store, name: str, report: OnProgress) -> None:
        self._store, self._name, self._report = store, name, report
        self._about = store.about(name)
        self._writer = ThreadPoolExecutor(1, "contextlens-store")
        self._writing: Future[None] | None = None
        self._held: list[pa.RecordBatch] = []
        self._next_row = self._first_row = self._about.n_occurrences
        self._committed = self._began = time.monotonic()
        self._is_whole = True

    def __enter__(self) -> IndexingRun:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None or issubclass(kind, StoppedError):
                self._commit()
                self._wait()
        finally:
            self._writer.shutdown()

    def index(self, service: EncoderService, make: Make) -> None:
        """Make the rows that are not stored yet, and store them."""
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
        """Add chunk after chunk, until all are done or the run is over."""
        first = self._store.last_text(self._name) + 1
        self._began = time.monotonic()
        self._say(first, "")
        with closing(made):
            for n_chunks, (n_done, rows) in enumerate(made, start=1):
                self._add(rows)
                # Chunks are made side by side: only after some of them is the speed known.
                self._say(n_done, self._speed(n_done, first) if n_chunks >= N_STREAMS else "")

    def _chunks(self, card: ModelCard) -> Iterator[Chunk]:
        """Yield the chunks after the last stored row: all rows of a chunk are stored, or none."""
        settings = self._about.indexing
        most = most_tokens(n_layers=len(settings.layers), n_dims=settings.n_dims)
        last = self._store.last_text(self._name)
        for chunk in cut_into_chunks(
            self._store.texts(self._name), max_length=card.max_length, most=most
        ):
            if chunk.start > last:
                yield chunk

    def _until_over(self, given: Iterable[Any_]) -> Iterator[Any_]:
        for one in given:
            if self._is_over():
                self._is_whole = False  # even if the state changes back before this is read
                return
            yield one

    def _is_over(self) -> bool:
        return self._store.state(self._name) in {"paused", "done"}

    def _say(self, n_done: int, speed: str) -> None:
        n_texts = self._about.n_texts
        n_bytes = self._next_row * self._about.indexing.row_bytes
        words = f"Indexing text {min(n_done + 1, n_texts):,} of {n_texts:,}"
        self._report(f"{words}{speed}, {n_bytes / 1e6:,.0f} MB", n_done / max(1, n_texts))

    def _speed(self, n_done: int, first: int) -> str:
        """Return the speed and the time left in words, and remember the speed."""
        seconds, n_rows = time.monotonic() - self._began, self._next_row - self._first_row
        if seconds < 1 or not n_rows:
            return ""
        indexing, speed = self._about.indexing, (n_done - first) / seconds
        settings = indexing.checksum, indexing.layers, indexing.precision
        _word_seconds[settings] = seconds / n_rows
        left = time_left((self._about.n_texts - n_done) / speed)
        return f", {speed:,.0f} a second, {left}"

    def _add(self, rows: pa.RecordBatch) -> None:
        rows = numbered(rows, self._next_row)
        self._next_row += rows.num_rows
        if rows.num_rows:
            self._held.append(rows)
        is_much = sum(batch.nbytes for batch in self._held) >= _COMMIT_BYTES
        if is_much or time.monotonic() - self._committed >= _COMMIT_SECONDS:
            self._commit()

    def _commit(self) -> None:
        """Have the collected rows stored; wait for the previous commit first."""
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
    """Return the card of the model that a corpus is indexed with.

    Raises:
        CorpusError: the model is no longer here, or has changed.
    """
    settings = about.indexing
    spec = service.spec(settings.model)
    if not (spec.loaded or spec.on_disk or spec.source != "hub"):
        raise CorpusError(
            f"{named(about.title)} was to be indexed with {settings.model}, which is not on this "
            "machine any more. Choose that model on any page, which fetches it, and go on."
        )
    card = service.load(settings.model)
    if (card.checksum, card.n_dims) != (settings.checksum, settings.n_dims):
        raise CorpusError(
            f"{named(about.title)} was indexed with other weights of {settings.model} than those "
            "that are here now: vectors of both are never mixed. Index its file again."
        )
    return card


def _check_precision(encoding: Encoding, about: About) -> None:
    wanted, ran = about.indexing.precision, encoding.passport.precision
    if wanted != ran:
        raise CorpusError(
            f"{named(about.title)} was indexed with the precision “{wanted}”, and “{ran}” runs "
            "here: vectors of both are never mixed. Index its file again."
        )


def most_tokens(*, n_layers: int, n_dims: int) -> int:
    """Return the number of tokens to encode at once for so many layers."""
    return max(64, min(_MAX_TOKENS, _MAX_BYTES // (4 * n_layers * n_dims)))


def cut_into_chunks(
    texts: Iterable[tuple[str, Target]], *, max_length: int, most: int
) -> Iterator[Chunk]:
    """Yield all chunks in order.

    Args:
        texts: all texts of the corpus, with their marked words.
        max_length: the tokens that the model reads of one text.
        most: the most tokens at once; see `most_tokens`.
    """
    start, n_tokens = 0, 0
    held: list[tuple[str, Target]] = []
    for text, target in texts:
        n_text_tokens = min(max_length, _n_tokens(text))
        if held and (n_tokens + n_text_tokens > most or len(held) >= _MAX_TEXTS):
            yield _chunk(start, held)
            start, n_tokens, held = start + len(held), 0, []
        held.append((text, target))
        n_tokens += n_text_tokens
    if held:
        yield _chunk(start, held)


def _chunk(start: int, held: list[tuple[str, Target]]) -> Chunk:
    return Chunk(start, tuple(text for text, _ in held), tuple(target for _, target in held))


def _n_tokens(text: str) -> int:
    """Estimate the tokens: one for each few letters of ASCII, and one for each other character."""
    n_ascii = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return 2 + n_ascii // _LETTERS + len(text) - n_ascii


def in_order(
    make: Callable[[Given_], Made_], given: Iterable[Given_]
) -> Generator[tuple[Given_, Made_], None, None]:
    """Yield the result for each item, in their order; the threads share the processors.

    One more item is taken than there are threads, so that no thread waits. A caller that stops
    early has to close this, which waits for the running items.
    """
    under_way: deque[tuple[Given_, Future[Made_]]] = deque()
    streams = ThreadPoolExecutor(N_STREAMS, "contextlens-index", partial(limit_threads, N_STREAMS))
    try:
        for one in given:
            under_way.append((one, streams.submit(copy_context().run, make, one)))
            if len(under_way) > N_STREAMS:
                yield _next(under_way)
        while under_way:
            yield _next(under_way)
    finally:
        streams.shutdown(cancel_futures=True)


def _next(under_way: deque[tuple[Given_, Future[Made_]]]) -> tuple[Given_, Made_]:
    one, made = under_way.popleft()
    return one, made.result()
