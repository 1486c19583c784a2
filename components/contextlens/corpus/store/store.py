"""All stored corpora of a server, each found by its name. Thread-safe, headless.

    store = open_store(settings)
    about = store.create(corpus, indexing_of(card, layers=(0, 6), precision="exact"))
    index(store, service, about.name, report)        # see `indexing`
    store.open(about.name).occurrences("python")     # see `stored_corpus`

The description of a growing corpus is counted from its tables, so that it is correct whenever the
server ended. Only the holder of the writer's lease creates a corpus or adds to it. Any process can
set its state or delete it at any time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contextlens.core.errors import BusyError, CorpusError
from contextlens.core.settings import Settings
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.about import (
    About,
    Indexing,
    State,
    about_row,
    about_schema,
    counted,
    first_about,
    gone_with_it,
    last_text,
    n_cut,
    overwrite,
    version_of,
    written,
)
from contextlens.corpus.store.failures import reading, writing
from contextlens.corpus.store.lease import OnWait
from contextlens.corpus.store.rows import (
    Target,
    schema,
    sentence_batch,
    text_batches,
    texts_of,
    texts_schema,
)
from contextlens.corpus.store.space import COMMIT_BYTES, Space, estimated_bytes
from contextlens.corpus.store.stored_corpus import StoredCorpus, export
from contextlens.corpus.store.tables import N_PARTS, Answer, Part, Tables, checked_name, new_name
from contextlens.corpus.table import named

__all__ = ["Store", "open_store"]

_TURN_SECONDS, _ASKED_SECONDS = 10.0, 0.1  # for another process: the longest wait, the pauses
_WORD_INDEX_BYTES = 24  # of an occurrence in the index of words, at most


class Store:
    """Corpora by name.

    Args:
        root: a folder, or an address in object storage.
        max_bytes: the most bytes of all corpora on disk.
        max_corpus_bytes: the most bytes of one corpus.
    """

    def __init__(
        self,
        root: str,
        *,
        max_bytes: int = 20_000_000_000,
        max_corpus_bytes: int = 5_000_000_000,
    ) -> None:
        self.root = root
        self._space = Space(max_bytes, max_corpus_bytes)
        self._tables = Tables(root)
        self._states: dict[str, tuple[State, str]] = {}  # states that a full disk could not store
        self._states_lock = threading.Lock()  # held while a corpus's state is written
        # Held from the check for room until the room is used:
        self._creation_lock, self._growth_lock = threading.Lock(), threading.Lock()

    def create(
        self,
        corpus: Corpus,
        indexing: Indexing,
        *,
        split: str = "",
        name: str | None = None,
        owner: str = "",
    ) -> About:
        """Store a corpus's texts; the state is then "waiting", as no word has a vector yet.

        If two processes store the same name at once, one succeeds, and the other gets an error.

        Args:
            corpus: the texts with their labels and their marked words.
            indexing: the model and settings that its words will be indexed with.
            split: the title of the labels that separate training from test.
            name: the name that finds it; by default one that nobody can guess.
            owner: its owner, on a server for several visitors.

        Raises:
            CorpusError: there is no room, or no text, or a corpus of that name exists.
            BusyError: another process is still storing one of that name.
        """
        name = checked_name(name or new_name())
        _check_request(corpus, indexing, split)
        n_bytes = estimated_bytes(corpus, indexing)
        row = about_row(
            first_about(corpus, indexing, split=split, name=name, owner=owner, n_bytes=n_bytes)
        )
        with writing(corpus.name), self._turn(name), self._creation_lock:
            self._check_free_name(name)
            self.check_room(corpus.name, n_bytes)
            made: list[Part] = []
            # "about" is the last of them: without it, a partly created corpus does not count.
            tables: tuple[tuple[Part, pa.Schema, Iterator[pa.RecordBatch]], ...] = (
                ("texts", texts_schema(len(corpus.labels)), text_batches(corpus)),
                ("occurrences", schema(indexing), iter(())),
                ("about", about_schema, iter([row])),
            )
            try:
                for part, columns, rows in tables:
                    made.append(part)
                    self._tables.create(name, part, columns, rows)
                self._check_whole(name)
            except BusyError:  # the tables belong to another process by now
                raise
            except BaseException:
                with suppress(Exception):
                    self._tables.drop_parts(name, made)
                raise
        return self.about(name)

    def check_room(self, title: str, n_bytes: int) -> None:
        """Check that a corpus that is estimated to take so many bytes may be stored.

        Raises:
            CorpusError: the other corpora, with what they still may take, leave no room for it.
        """
        with reading(title):
            free = self._tables.free_bytes()
            reserved = sum(self.for_each(self._reserved))
        self._space.check_new(title, n_bytes, reserved=reserved, free=free)

    def names(self) -> tuple[str, ...]:
        """Return the names of all corpora, including damaged and incomplete ones.

        Raises:
            CorpusError: the store cannot be read.
        """
        return self._tables.names()

    def has(self, name: str) -> bool:
        """True if a corpus of that name was stored completely.

        Raises:
            CorpusError: the name is not allowed, or the store cannot be read.
        """
        with reading("This corpus"):
            return self._tables.has(checked_name(name))

    def about(self, name: str) -> About:
        """Return the description of a corpus.

        Raises:
            CorpusError: there is none of that name, or only a part of it, or it is damaged, or of a
                newer version.
        """
        about = counted(self._tables, written(self._tables, name))
        state, why = self._states.get(name, (about.state, about.why))
        return replace(about, state=state, why=why)

    def owner(self, name: str) -> str:
        """Return the owner of a corpus, also if its texts or words are damaged.

        Raises:
            CorpusError: there is none of that name, or its description is damaged.
        """
        return written(self._tables, name).owner

    def find(self, digest: str, indexing: Indexing, among: Iterable[str]) -> About | None:
        """Return the first of some corpora with the same content and indexing, or None.

        One that was indexed exactly counts in place of one that would be indexed fast.
        """
        fitting = indexing, replace(indexing, precision="exact")
        for name in among:
            with suppress(CorpusError):  # damaged, or deleted: not the same
                about = self.about(name)
                if about.digest == digest and about.indexing in fitting:
                    return about
        return None

    def open(self, name: str) -> StoredCorpus:
        """Return a corpus for searching, as far as it is indexed.

        Raises:
            CorpusError: as `about`.
        """
        return StoredCorpus(self.about(name), self._tables)

    def export(self, name: str, path: Path) -> None:
        """Write a corpus to a Parquet file, as far as it is indexed: see `stored_corpus`.

        Raises:
            CorpusError: as `about`, or the disk is full.
        """
        export(self.open(name), path)

    def delete(self, name: str) -> None:
        """Delete a corpus in any state, also a partial one; its indexing stops."""
        checked_name(name)
        with writing("This corpus"):
            self._states.pop(name, None)
            self._tables.drop(name)

    def delete_half(self, name: str) -> None:
        """Delete what an interrupted creation left of a corpus; a complete one stays.

        Raises:
            BusyError: another process is storing it at this moment.
        """
        with writing("This corpus"), self._tables.only_writer(checked_name(name)):
            if not self._tables.has(name):
                self._tables.drop_parts(name, ("texts", "occurrences"))

    @property
    def n_bytes(self) -> int:
        """The bytes that all corpora take on disk."""
        return sum(self.for_each(self._size))

    def for_each(self, read: Callable[[str], Answer]) -> list[Answer]:
        """Return the results of a function that is called with each corpus's name."""
        return self._tables.for_each(read)

    def keep_sentences(self, name: str, vectors: NDArray[np.float16]) -> None:
        """Store a vector for each text of a corpus, once; later calls change nothing.

        Args:
            name: the corpus's name.
            vectors: (n_texts, n_dims) by the model that the corpus is indexed with.

        Raises:
            CorpusError: the corpus was deleted, or there is no room.
        """
        with self._growth_lock, gone_with_it(self._tables, name, "sentences"):
            about = written(self._tables, name)
            if self._tables.has_sentences(name):
                return
            self._check_growth(about, vectors.nbytes)
            batch = sentence_batch(vectors)
            with writing(about.title):
                self._tables.drop_parts(name, ("sentences",))  # what an ended process left
                try:
                    self._tables.create(name, "sentences", batch.schema, iter([batch]))
                except ValueError as exc:
                    if "already exists" not in str(exc):  # another process was faster
                        raise

    # For indexing

    def texts(
        self, name: str, start: int = 0, stop: int | None = None
    ) -> Iterator[tuple[str, Target]]:
        """Yield texts of a corpus in order, by default all, with their marked words."""
        with reading(written(self._tables, name).title):
            yield from texts_of(self._tables.open(name, "texts"), start, stop)

    def state(self, name: str) -> State:
        """Return the wanted state of a corpus; faster than `about`."""
        changed_state = self._states.get(name)
        return written(self._tables, name).state if changed_state is None else changed_state[0]

    def last_text(self, name: str) -> int:
        """Return the number of the last text with a stored word, -1 if there is none."""
        with reading(written(self._tables, name).title):
            table = self._tables.open(name, "occurrences")
            return last_text(table, table.count_rows())

    def append(self, name: str, indexing: Indexing, rows: Sequence[pa.RecordBatch]) -> None:
        """Add all of these words to a corpus, or none if it fails.

        Raises:
            CorpusError: it was indexed with another model or settings, or deleted, or there is no
                room.
        """
        with self._growth_lock, gone_with_it(self._tables, name, "occurrences"):
            about = written(self._tables, name)
            if about.indexing != indexing:
                raise CorpusError(
                    f"{named(about.title)} was indexed with {about.indexing.model} and its "
                    "layers, weights and precision, and other vectors were to be added: they are "
                    "never mixed. Index the file again."
                )
            self._check_growth(about, sum(batch.nbytes for batch in rows))
            with writing(about.title):
                self._tables.append(name, rows)

    def set_state(
        self, name: str, state: State, why: str = "", *, unless: Collection[State] = ()
    ) -> None:
        """Set a corpus's state, and the reason if it failed.

        Args:
            name: the corpus's name.
            state: its new state.
            why: the sentence with the reason for a failure.
            unless: states that are not changed.

        Raises:
            CorpusError: as `about`, or "done" cannot be written; another state is kept in memory.
        """
        with self._states_lock, gone_with_it(self._tables, name, "about"):
            written(self._tables, name, is_fresh=True)
            about = self.about(name)
            if about.state in unless:
                return
            wanted = replace(about, state=state, why=why, n_cut=n_cut(self._tables, about))
            if state == "done":
                wanted = replace(
                    wanted,
                    n_texts_done=about.n_texts,
                    n_bytes_expected=0,
                    version=version_of(owner=about.owner, n_bytes_expected=0),
                )
            try:
                overwrite(self._tables, wanted)
            except CorpusError:
                if state == "done":
                    raise
                self._states[name] = (state, why)
            else:
                self._states.pop(name, None)

    def finish(self, name: str) -> None:
        """Make a corpus fast to search, once all of its words are stored, and set it to "done"."""
        from lancedb.index import BTree

        about = self.about(name)
        if about.n_occurrences:
            self.check_index_room(name, _WORD_INDEX_BYTES * about.n_occurrences)
            with gone_with_it(self._tables, name, "occurrences"), writing(about.title):
                self._tables.open(name, "occurrences").create_index("word", config=BTree())
        self.set_state(name, "done")

    def check_index_room(self, name: str, n_bytes: int) -> None:
        """Check that a corpus may have an index of about so many bytes.

        Raises:
            CorpusError: there is no room for it; searches work without it, more slowly.
        """
        self._check_growth(self.about(name), n_bytes)

    def writing_rows(self, name: str) -> AbstractContextManager[None]:
        """Run a block that writes occurrences or an index of them; see `gone_with_it`."""
        return gone_with_it(self._tables, name, "occurrences")

    def only_writer(self, name: str, on_wait: OnWait | None = None) -> AbstractContextManager[None]:
        """Run a block as a corpus's only writer; `BusyError` if there is another one."""
        return self._tables.only_writer(name, on_wait)

    def has_writer(self, name: str) -> bool:
        """True if a process creates a corpus or adds to it at this moment.

        Raises:
            CorpusError: object storage does not answer.
        """
        return self._tables.has_writer(checked_name(name))

    def occurrences_table(self, name: str) -> Any:
        """Return the table of a corpus's words, for its vector indexes."""
        return self._tables.open(name, "occurrences")

    @contextmanager
    def _turn(self, name: str) -> Iterator[None]:
        """Run a block as the only process that stores this name; wait some seconds for another.

        Raises:
            CorpusError: another process has stored it.
            BusyError: another process is still storing it.
        """
        deadline = time.monotonic() + _TURN_SECONDS
        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(self._tables.only_writer(name))
                    break
                except BusyError as exc:
                    if self._is_readable(name):
                        raise _taken(name) from exc
                    if time.monotonic() > deadline:
                        raise BusyError(
                            "Somebody else is storing this corpus just now. Wait a moment, and "
                            "look again."
                        ) from exc
                time.sleep(_ASKED_SECONDS)
            yield

    def _is_readable(self, name: str) -> bool:
        try:
            written(self._tables, name)
        except CorpusError:
            return False
        return True

    def _check_whole(self, name: str) -> None:
        if self._tables.missing(name):
            raise CorpusError("This corpus was deleted while it was stored. Try again.")

    def _check_free_name(self, name: str) -> None:
        if self._tables.has(name):
            raise _taken(name)
        if len(self._tables.missing(name)) < N_PARTS:
            raise CorpusError(
                f"There is a part of a corpus {name} already, whose storing or deleting was "
                "interrupted. Delete it first."
            )

    def _check_growth(self, about: About, n_new: int) -> None:
        """Check that so many bytes may be added to a corpus.

        Up to the corpus's estimate, only the actual sizes of the others limit it. Beyond its
        estimate, the space reserved for them counts too.
        """
        n_new += COMMIT_BYTES
        n_bytes = self._tables.n_bytes(about.name) + n_new
        count = self._size if n_bytes <= about.n_bytes_expected else self._reserved
        others = sum(self.for_each(lambda name: 0 if name == about.name else count(name)))
        free = self._tables.free_bytes()
        self._space.check_growth(
            about.title, n_bytes, others=others, free=None if free is None else free - n_new
        )

    def _reserved(self, name: str) -> int:
        """Return the bytes that are counted for a corpus in the bound for all: see `space`."""
        n_bytes = self._size(name)
        with suppress(CorpusError):  # a damaged corpus does not grow
            n_bytes = max(n_bytes, written(self._tables, name).n_bytes_expected)
        return n_bytes

    def _size(self, name: str) -> int:
        try:
            return self._tables.n_bytes(name)
        except Exception:  # noqa: BLE001 - a damaged corpus in object storage
            return 0


def _taken(name: str) -> CorpusError:
    return CorpusError(f"There is a corpus {name} already. Delete it first.")


def _check_request(corpus: Corpus, indexing: Indexing, split: str) -> None:
    if not corpus.texts:
        raise CorpusError(f"{named(corpus.name)} has no text. Give one with at least one.")
    if split and split not in corpus.labels:
        raise CorpusError(
            f"{named(corpus.name)} has no column {named(split)} to part training from test. "
            "Choose one of its columns."
        )
    if not indexing.layers:
        raise CorpusError("No layer was chosen. Choose at least one to index.")


def open_store(settings: Settings) -> Store:
    """Return the store that the settings describe."""
    return Store(
        settings.corpora_uri or str(settings.data_dir / "corpora"),
        max_bytes=settings.corpora_bytes,
        max_corpus_bytes=settings.corpus_bytes,
    )
