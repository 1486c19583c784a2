"""All corpora of a server that stay, each found by its name. Thread-safe, headless.

    store = open_store(settings)
    about = store.create(corpus, indexing_of(card, layers=(0, 6), precision="exact"))
    index(store, service, about.name, report)        # see `indexing`
    store.open(about.name).occurrences("python")     # see `stored_corpus`

What is said of a corpus while it grows is counted in its tables, so that it is true whenever the
server ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.byte_cache import ByteCache
from components.core.errors import CorpusError
from components.core.settings import Settings
from components.corpus.corpus import Corpus
from components.corpus.sheet import named
from components.corpus.store.about import (
    About,
    Indexing,
    State,
    checked_name,
    new_name,
)
from components.corpus.store.about_table import (
    about_row,
    about_schema,
    counted,
    first_about,
    gone_with_it,
    last_text,
    n_cut,
    overwrite,
    written,
)
from components.corpus.store.chunks import Target
from components.corpus.store.export import export
from components.corpus.store.failures import reading, writing
from components.corpus.store.lease import OnWait
from components.corpus.store.space import check_room, check_size, estimated_bytes
from components.corpus.store.stored_corpus import StoredCorpus
from components.corpus.store.tables import Answer, Tables
from components.corpus.store.texts_table import text_batches, texts_of, texts_schema
from components.corpus.store.word_rows import schema

__all__ = ["Store", "open_store"]

_CACHE_BYTES = 128_000_000  # what was read last of all corpora


class Store:
    """Corpora by name.

    Args:
        root: a folder, or the address of a place in object storage.
        max_bytes: what all of them may take on disk.
        max_corpus_bytes: what one may take.
    """

    def __init__(
        self,
        root: str,
        *,
        max_bytes: int = 20_000_000_000,
        max_corpus_bytes: int = 5_000_000_000,
    ) -> None:
        self.root = root
        self._max_bytes, self._max_corpus_bytes = max_bytes, max_corpus_bytes
        self._tables = Tables(root)
        self._cache = ByteCache(_CACHE_BYTES)
        self._states: dict[str, tuple[State, str]] = {}  # what a full disk could not be told
        self._lock = threading.RLock()  # held while any corpus is written to

    def create(
        self,
        corpus: Corpus,
        indexing: Indexing,
        *,
        split: str = "",
        name: str | None = None,
        owner: str = "",
    ) -> About:
        """Store a corpus's texts; the state is "waiting" then, as no word has a vector yet.

        Args:
            corpus: the texts with their labels, and the word that each is marked for.
            indexing: what its words are to be indexed with.
            split: the title of the labels that part training from test.
            name: what it is found by; by default one that nobody can guess.
            owner: whose it is, where visitors sign in.

        Raises:
            CorpusError: there is no room, or no text.
        """
        name = checked_name(name or new_name())
        self._check(corpus, indexing, split, name)
        row = about_row(first_about(corpus, indexing, split, name, owner))
        with self._lock, writing(corpus.name):
            try:
                own = texts_schema(len(corpus.labels))
                self._tables.create(name, "texts", own, text_batches(corpus))
                self._tables.create(name, "occurrences", schema(indexing), iter(()))
                # The last of them: what is created in part is no corpus.
                self._tables.create(name, "about", about_schema, iter([row]))
            except BaseException:
                with suppress(Exception):
                    self._tables.drop(name)
                raise
        return self.about(name)

    def names(self) -> tuple[str, ...]:
        """The names of all corpora, damaged ones too.

        Raises:
            CorpusError: the place where they are cannot be read.
        """
        return self._tables.names()

    def about(self, name: str) -> About:
        """What there is to know of a corpus.

        Raises:
            CorpusError: there is none of that name, or it is damaged, or of a newer version.
        """
        found = counted(self._tables, written(self._tables, name))
        state, why = self._states.get(name, (found.state, found.why))
        return replace(found, state=state, why=why)

    def find(self, digest: str, indexing: Indexing, among: Iterable[str]) -> About | None:
        """The first of some corpora that has the same in it, indexed with the same; or None."""
        for name in among:
            with suppress(CorpusError):  # damaged, or deleted: not the same
                about = self.about(name)
                if (about.digest, about.indexing) == (digest, indexing):
                    return about
        return None

    def open(self, name: str) -> StoredCorpus:
        """A corpus to be searched, as far as it is indexed.

        Raises:
            CorpusError: as `about`.
        """
        return StoredCorpus(self.about(name), self._tables, self._cache)

    def export(self, name: str, path: Path) -> None:
        """Write a corpus to a Parquet file, as far as it is indexed: see `export.export`.

        Raises:
            CorpusError: as `about`, or the disk is full.
        """
        export(self.open(name), path)

    def delete(self, name: str) -> None:
        """Delete a corpus in whatever state, or in none; what indexes it stops."""
        checked_name(name)
        with self._lock, writing("This corpus"):
            self._states.pop(name, None)
            self._tables.drop(name)

    @property
    def n_bytes(self) -> int:
        """What all corpora take on disk."""
        return sum(self.each(self._size))

    def each(self, ask: Callable[[str], Answer]) -> list[Answer]:
        """What is asked of each corpus, by name."""
        return self._tables.each(ask)

    # For indexing

    def texts(
        self, name: str, start: int = 0, stop: int | None = None
    ) -> Iterator[tuple[str, Target]]:
        """Texts of a corpus in order, by default all, with the words that they are marked for."""
        with reading(written(self._tables, name).title):
            yield from texts_of(self._tables.open(name, "texts"), start, stop)

    def state(self, name: str) -> State:
        """What is wanted of a corpus: quicker to ask than `about`."""
        own = self._states.get(name)
        return written(self._tables, name).state if own is None else own[0]

    def last_text(self, name: str) -> int:
        """The number of the last text with a stored word, -1 where there is none."""
        with reading(written(self._tables, name).title):
            table = self._tables.open(name, "occurrences")
            return last_text(table, table.count_rows())

    def append(self, name: str, indexing: Indexing, rows: Sequence[pa.RecordBatch]) -> None:
        """Add words to a corpus: all of these, or none where it fails.

        Raises:
            CorpusError: it was indexed with something else, or deleted, or there is no room.
        """
        with self._lock, gone_with_it(self._tables, name):
            about = written(self._tables, name)
            if about.indexing != indexing:
                raise CorpusError(
                    f"{named(about.title)} was indexed with {about.indexing.model} and its "
                    "layers, weights and precision, and other vectors were to be added: they are "
                    "never mixed. Index the file again."
                )
            check_size(about.title, self._tables.n_bytes(name), self._max_corpus_bytes)
            with writing(about.title):
                self._tables.append(name, rows)

    def set_state(self, name: str, state: State, why: str = "") -> None:
        """Note how a corpus stands, and why where it failed.

        Raises:
            CorpusError: as `about`; not for a full disk, then it is kept in memory.
        """
        with self._lock, gone_with_it(self._tables, name):
            about = self.about(name)
            n_done = about.n_texts if state == "done" else about.n_texts_done
            own = n_cut(self._tables, about)
            wanted = replace(about, state=state, why=why, n_cut=own, n_texts_done=n_done)
            try:
                overwrite(self._tables, wanted)
            except CorpusError:
                if state == "done":
                    raise
                self._states[name] = (state, why)
            else:
                self._states.pop(name, None)

    def finish(self, name: str) -> None:
        """Make a corpus quick to search, now that all of its words are there; it is "done" then."""
        from lancedb.index import BTree

        about = self.about(name)
        with self._lock, gone_with_it(self._tables, name), writing(about.title):
            if about.n_occurrences:
                self._tables.open(name, "occurrences").create_index("word", config=BTree())
            self.set_state(name, "done")

    def only_writer(self, name: str, on_wait: OnWait | None = None) -> AbstractContextManager[None]:
        """Add to a corpus inside, while nobody else does; `BusyError` where somebody does."""
        return self._tables.only_writer(name, on_wait)

    def has_writer(self, name: str) -> bool:
        """Whether somebody adds to a corpus just now, in whatever process.

        Raises:
            CorpusError: object storage is away.
        """
        return self._tables.has_writer(checked_name(name))

    def occurrences_table(self, name: str) -> Any:
        """The table of a corpus's words, for its vector indexes."""
        return self._tables.open(name, "occurrences")

    def _check(self, corpus: Corpus, indexing: Indexing, split: str, name: str) -> None:
        if not corpus.texts:
            raise CorpusError(f"{named(corpus.name)} has no text. Give one with at least one.")
        if split and split not in corpus.labels:
            raise CorpusError(
                f"{named(corpus.name)} has no column {named(split)} to part training from test. "
                "Choose one of its columns."
            )
        if not indexing.layers:
            raise CorpusError("No layer was chosen. Choose at least one to index.")
        with reading(corpus.name):
            if self._tables.has(name):
                raise CorpusError(f"There is a corpus {name} already. Delete it first.")
            free = self._tables.free_bytes()
        check_room(
            corpus.name,
            estimated_bytes(corpus.texts, indexing),
            max_corpus=self._max_corpus_bytes,
            left=self._max_bytes - self.n_bytes,
            free=free,
        )

    def _size(self, name: str) -> int:
        try:
            return self._tables.n_bytes(name)
        except Exception:  # noqa: BLE001 - one in object storage that is damaged
            return 0


def open_store(settings: Settings) -> Store:
    """The store that settings ask for."""
    return Store(
        settings.corpora_uri or str(settings.data_dir / "corpora"),
        max_bytes=settings.corpora_bytes,
        max_corpus_bytes=settings.corpus_bytes,
    )
