"""A stored corpus that can be searched (see `SearchableCorpus`) and exported, without a model.

An index on words finds the occurrences of a word, and those nearest to a vector are found exactly.
Only a search among many occurrences of all words uses an index on vectors: it chooses candidates,
whose cosines are then computed exactly.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from contextlens.core import EncoderService
from contextlens.core.byte_cache import remembered, shared_cache
from contextlens.core.errors import CorpusError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.core.words import folded
from contextlens.corpus.searchable import Nearest, Occurrences, WordCount
from contextlens.corpus.store.about import About
from contextlens.corpus.store.failures import reading, writing
from contextlens.corpus.store.rows import (
    LIGHT,
    label_column,
    layer_column,
    read_vectors,
    schema,
    take_texts,
)
from contextlens.corpus.store.space import check_export_space
from contextlens.corpus.store.tables import Tables

__all__ = ["StoredCorpus", "export"]

_N_PROBES, _REFINE = 40, 40
"""For the index on vectors: the cells to search, and the candidates for each result."""
_BLOCK = 8_192  # vectors that are read and cached together
_N_SPELLING_WORDS = 20_000  # most frequent words among which similar ones are looked up
_MAX_SPELLING_LENGTH = 64  # characters; a longer word gets no similar spellings
_MIN_SPELLING_RATIO = 0.6  # the lowest ratio of difflib at which spellings are similar
_EXPORTED_ROWS = 8_192  # in one batch
_EXPORTED_COLUMNS = (
    "text",
    "start",
    "end",
    "word",
    "surface",
    "left",
    "right",
    "is_target",
)  # the columns of an occurrence that an export contains


@dataclass(frozen=True, eq=False)
class _Vocabulary:
    """The words of a corpus, most frequent first; ties are in alphabetical order."""

    words: pa.Array
    counts: IntArray

    @property
    def nbytes(self) -> int:
        return int(self.words.nbytes + self.counts.nbytes)


class StoredCorpus:
    """A stored corpus, as it was when it was opened. Thread-safe."""

    def __init__(self, about: About, tables: Tables, service: EncoderService | None = None) -> None:
        self.about, self._service = about, service
        self.name, self.title, self.model = about.name, about.title, about.indexing.model
        self.n_texts, self.n_occurrences = about.n_texts, about.n_occurrences
        self.layers, self.n_dims = about.indexing.layers, about.indexing.n_dims
        self.columns, self.split = about.columns, about.split
        self.has_targets = about.has_targets
        self._tables = tables

    def words(self, prefix: str = "", n: int = 20) -> tuple[WordCount, ...]:
        """See `SearchableCorpus.words`."""
        wanted = folded(prefix)
        return self._word_counts(lambda words: pc.starts_with(words, wanted), n)

    def similar(self, word: str, n: int = 5) -> tuple[WordCount, ...]:
        """See `SearchableCorpus.similar`: by difflib's ratio; a very long word has none."""
        wanted = folded(word)
        if not wanted or len(wanted) > _MAX_SPELLING_LENGTH or n < 1:
            return ()
        vocabulary = self._vocabulary()
        words = vocabulary.words.slice(0, _N_SPELLING_WORDS)
        lengths = pc.utf8_length(words).to_numpy(zero_copy_only=False)
        has_similar_length = np.abs(lengths - len(wanted)) <= max(2, len(wanted) // 2)
        others = words.filter(pa.array(has_similar_length)).to_pylist()
        matches = get_close_matches(
            wanted, [other for other in others if other != wanted], n=n, cutoff=_MIN_SPELLING_RATIO
        )
        counts = (
            dict(zip(words.to_pylist(), vocabulary.counts.tolist(), strict=False))
            if matches
            else {}
        )
        return tuple(WordCount(match, counts[match]) for match in matches)

    def inside(self, word: str, n: int = 5) -> tuple[WordCount, ...]:
        """See `SearchableCorpus.inside`."""
        wanted = folded(word)
        if not wanted:
            return ()
        return self._word_counts(
            lambda words: pc.and_(
                pc.match_substring(words, wanted), pc.not_equal(words, pa.scalar(wanted))
            ),
            n,
        )

    def occurrences(self, word: str, *, most: int | None = None, seed: int = 0) -> Occurrences:
        """See `SearchableCorpus.occurrences`; the same seed gives the same sample."""
        wanted = folded(word)
        with reading(self.title):
            if most is None:
                rows = self._rows_of(wanted, list(LIGHT))
                return _occurrences(wanted, rows, rows.num_rows)
            row_numbers = self._row_numbers_of(wanted)
            n_total = len(row_numbers)
            if n_total > most:
                chosen = np.random.default_rng(seed).choice(n_total, max(0, most), replace=False)
                rows = self._take(row_numbers[np.sort(chosen)], list(LIGHT))
            else:
                rows = self._rows_of(wanted, list(LIGHT))
        return _occurrences(wanted, rows, n_total)

    def at(self, rows: IntArray) -> Occurrences:
        """See `SearchableCorpus.at`."""
        with reading(self.title):
            table = self._take(self._checked_rows(rows), list(LIGHT))
        return _occurrences("", table, table.num_rows)

    def text(self, ids: IntArray) -> tuple[str, ...]:
        """See `SearchableCorpus.text`."""
        return self._texts("text", ids)

    def column(self, title: str, ids: IntArray) -> tuple[str, ...]:
        """See `SearchableCorpus.column`."""
        if title not in self.columns:
            known = ", ".join(f"“{column}”" for column in self.columns) or "none"
            raise CorpusError(f"This corpus has no column “{title}”; it has: {known}. Choose one.")
        return self._texts(label_column(self.columns.index(title)), ids)

    def vectors(self, occurrences: Occurrences, layer: int) -> FloatArray:
        """See `SearchableCorpus.vectors`."""
        rows = self._checked_rows(occurrences.rows)
        if self._service is None:
            return self._vectors(rows, layer)
        self._check_layer(layer)
        checksum = self.about.indexing.checksum
        every = remembered(
            "exact vectors of a word",
            *self._key,
            rows.tobytes(),
            compute=partial(read_vectors, self, occurrences, self.layers, self._service, checksum),
        )
        vectors: FloatArray = every[self.layers.index(layer)]
        return vectors

    def read_exactly(self, service: EncoderService) -> StoredCorpus:
        """Return the same corpus, but with exact `vectors`: read from the texts if indexed fast."""
        is_exact = self.about.indexing.precision == "exact"
        return self if is_exact else StoredCorpus(self.about, self._tables, service)

    @property
    def is_read(self) -> bool:
        """True if `vectors` are read from the texts, by the model of the index."""
        return self._service is not None

    @property
    def has_sentences(self) -> bool:
        """True if each text has a stored vector."""
        return self._tables.has_sentences(self.name)

    def sentences(self) -> NDArray[np.float16]:
        """(n_texts, n_dims) the vector of each text, see `Store.keep_sentences`.

        Raises:
            CorpusError: there are none, or they are damaged.
        """
        with reading(self.title):
            table = self._tables.open(self.name, "sentences").search().select(["vector"])
            column = table.to_arrow()["vector"].combine_chunks()
            return cast(
                "NDArray[np.float16]",
                column.flatten().to_numpy().reshape(self.n_texts, self.n_dims),
            )

    def nearest(
        self, vector: FloatArray, layer: int, n: int, *, word: str | None = None
    ) -> Nearest:
        """See `SearchableCorpus.nearest`: exact if a word is given, else among candidates."""
        query = np.asarray(vector, np.float32).ravel()
        if len(query) != self.n_dims or not np.isfinite(query).all():
            raise CorpusError(
                f"A vector of this corpus has {self.n_dims} finite numbers, and one of "
                f"{len(query)} was given. Give one of the same model."
            )
        self._check_layer(layer)
        with reading(self.title):
            rows = (
                self._candidates(query, layer, n)
                if word is None
                else self._row_numbers_of(folded(word))
            )
        cosines = self._cosines(rows, layer, query)
        order = np.argsort(-cosines, kind="stable")[: max(0, n)]
        return Nearest(rows[order], cosines[order])

    def rows(self, rows: IntArray) -> pa.Table:
        """Return all columns of these rows, in the order given; `store.rows` has the schema."""
        with reading(self.title):
            return self._take(self._checked_rows(rows), self._table.schema.names)

    # Reading

    @property
    def _table(self) -> Any:
        return self._tables.open(self.name, "occurrences")

    def _rows_of(self, word: str, columns: list[str]) -> pa.Table:
        """Return columns of a word's occurrences, sorted by row; the columns must include "row"."""
        from lancedb.expr import col, lit  # expressions, so that no typed text becomes SQL

        is_word = col("word") == lit(word)
        if (decomposed := unicodedata.normalize("NFD", word)) != word:  # as once stored
            is_word = is_word | (col("word") == lit(decomposed))
        rows = self._table.search().where(is_word).select(columns).to_arrow()
        return self._without_new_rows(rows).sort_by("row")

    def _without_new_rows(self, rows: pa.Table) -> pa.Table:
        """Drop the rows that were added to the corpus after it was opened."""
        if self.about.state == "done":
            return rows
        return rows.filter(pc.less(rows["row"], self.n_occurrences))

    def _row_numbers_of(self, word: str) -> IntArray:
        """Return the row numbers of a word's occurrences, increasing."""

        def read() -> IntArray:
            return cast("IntArray", self._rows_of(word, ["row"])["row"].to_numpy().astype(np.int64))

        return cast("IntArray", shared_cache().get((*self._key, "rows", word), read))

    def _take(self, rows: IntArray, columns: list[str]) -> pa.Table:
        """Return columns of these rows, in the order given; "row" is added if it is missing."""
        if not rows.size:
            return self._table.schema.empty_table().select(columns)
        wanted = columns if "row" in columns else [*columns, "row"]
        taken = self._table.take_offsets(rows.tolist()).select(wanted).to_arrow()
        taken_rows = taken["row"].to_numpy()
        if np.array_equal(taken_rows, rows):
            return taken
        # LanceDB chose another order: undo it.
        places = np.argsort(taken_rows, kind="stable")
        return taken.take(pa.array(places[np.argsort(np.argsort(rows, kind="stable"))]))

    def _vectors(self, rows: IntArray, layer: int) -> FloatArray:
        """(n, n_dims) float32: the vectors of these rows at a layer."""
        self._check_layer(layer)
        vectors = np.empty((len(rows), self.n_dims), np.float32)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            vectors[start : start + len(block)] = self._block(block, layer)
        return vectors

    def _block(self, rows: IntArray, layer: int) -> Any:
        """(n, n_dims) float16: the vectors of one block of rows, from the cache if it has them."""

        def read() -> Any:
            with reading(self.title):
                vectors = self._take(rows, [layer_column(layer)])[layer_column(layer)]
                return vectors.combine_chunks().flatten().to_numpy().reshape(-1, self.n_dims)

        digest = hashlib.blake2b(rows.tobytes(), digest_size=16).digest()
        return shared_cache().get((*self._key, "vectors", layer, digest), read)

    def _cosines(self, rows: IntArray, layer: int, query: FloatArray) -> FloatArray:
        """(n,) float32 cosines in [-1, 1] to a vector, computed in blocks; 0 for a zero vector."""
        cosines = np.zeros(len(rows), np.float32)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            vectors = self._block(block, layer).astype(np.float32)
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors)) * np.linalg.norm(query)
            block_cosines = cosines[start : start + len(block)]
            np.divide(vectors @ query, lengths, out=block_cosines, where=lengths > 0)
        return cast("FloatArray", np.clip(cosines, -1, 1))

    def _candidates(self, vector: FloatArray, layer: int, n: int) -> IntArray:
        if n < 1 or not self.n_occurrences or not vector.any():
            return np.arange(min(max(0, n), self.n_occurrences), dtype=np.int64)
        query = (
            self._table.search(vector, vector_column_name=layer_column(layer))
            .distance_type("cosine")
            .nprobes(_N_PROBES)
            .refine_factor(_REFINE)
            .limit(n)
            .select(["row", "_distance"])
        )
        rows = self._without_new_rows(query.to_arrow())
        return cast("IntArray", rows["row"].to_numpy().astype(np.int64))

    def _texts(self, column: str, ids: IntArray) -> tuple[str, ...]:
        with reading(self.title):
            rows = take_texts(self._tables.open(self.name, "texts"), [column], ids)
        return tuple(rows[column].to_pylist())

    def _vocabulary(self) -> _Vocabulary:
        def read() -> _Vocabulary:
            with reading(self.title):
                rows = self._without_new_rows(
                    self._table.search().select(["row", "word"]).to_arrow()
                )
            counted = rows.group_by("word").aggregate([([], "count_all")])
            counted = counted.sort_by([("count_all", "descending"), ("word", "ascending")])
            counts = counted["count_all"].to_numpy()
            return _Vocabulary(counted["word"].combine_chunks(), counts)

        return cast("_Vocabulary", shared_cache().get((*self._key, "words"), read))

    def _word_counts(self, match: Callable[[pa.Array], pa.Array], n: int) -> tuple[WordCount, ...]:
        vocabulary = self._vocabulary()
        places = np.flatnonzero(match(vocabulary.words).to_numpy(zero_copy_only=False))[: max(0, n)]
        words: Sequence[str] = vocabulary.words.take(pa.array(places)).to_pylist()
        counts = vocabulary.counts[places].tolist()
        return tuple(WordCount(word, count) for word, count in zip(words, counts, strict=True))

    @property
    def _key(self) -> tuple[str, ...]:
        """The cache key of this corpus as it was opened; a name alone can be used again."""
        about = self.about
        return self._tables.root, self.name, about.digest, about.created, str(self.n_occurrences)

    def _check_layer(self, layer: int) -> None:
        if layer not in self.layers:
            known = ", ".join(map(str, self.layers))
            raise CorpusError(
                f"This corpus has no vectors of layer {layer}; it was indexed with {known}. Choose "
                "one of these, or index the file again."
            )

    def _checked_rows(self, rows: IntArray) -> IntArray:
        row_numbers = np.asarray(rows, np.int64).ravel()
        if (
            row_numbers.size
            and not 0 <= row_numbers.min() <= row_numbers.max() < self.n_occurrences
        ):
            raise CorpusError(
                f"This corpus has {self.n_occurrences:,} occurrences, and one of another was asked "
                "for. Search for the word again."
            )
        return row_numbers


def _occurrences(word: str, rows: pa.Table, n_total: int) -> Occurrences:
    return Occurrences(
        word=word,
        rows=rows["row"].to_numpy().astype(np.int64),
        texts=rows["text"].to_numpy().astype(np.int64),
        spans=np.stack([rows["start"].to_numpy(), rows["end"].to_numpy()], 1).astype(np.int64),
        surfaces=tuple(rows["surface"].to_pylist()),
        left=tuple(rows["left"].to_pylist()),
        right=tuple(rows["right"].to_pylist()),
        is_target=rows["is_target"].to_numpy().astype(np.bool_),
        n_total=n_total,
    )


def export(corpus: StoredCorpus, path: Path) -> None:
    """Write a corpus to a Parquet file in batches; the metadata of its schema describes the corpus.

    Each row is an occurrence of a word. Its columns are `sentence`, `label: TITLE` for each column
    of labels, the columns in `_EXPORTED` (`text` numbers the sentences from 0; `start` and `end`
    count code points), and the vectors as float16 in `layer_0` and so on.

    The export fails before it fills the disk.

    Raises:
        CorpusError: a file of the corpus is damaged, or there is no room.
    """
    exported = _export_schema(corpus)
    with writing(corpus.title), pq.ParquetWriter(path, exported, compression="zstd") as file:
        for batch in _export_batches(corpus, exported):
            check_export_space(corpus.title, batch.nbytes, path.parent)
            file.write_batch(batch)


def _export_schema(corpus: StoredCorpus) -> pa.Schema:
    fields = schema(corpus.about.indexing)
    occurrence_fields = [fields.field(name) for name in _EXPORTED_COLUMNS]
    layers = [field for field in fields if field.name.startswith("layer_")]
    labels = [pa.field(f"label: {title}", pa.string()) for title in corpus.columns]
    metadata = {"contextlens": json.dumps(_passport(corpus.about), ensure_ascii=False)}
    return pa.schema(
        [pa.field("sentence", pa.string()), *labels, *occurrence_fields, *layers], metadata
    )


def _passport(about: About) -> dict[str, object]:
    return {
        "title": about.title,
        "digest": about.digest,
        "n_texts": about.n_texts,
        "n_occurrences": about.n_occurrences,
        "n_cut": about.n_cut,
        "indexing": asdict(about.indexing),
    }


def _export_batches(corpus: StoredCorpus, exported: pa.Schema) -> Iterator[pa.RecordBatch]:
    for start in range(0, corpus.n_occurrences, _EXPORTED_ROWS):
        rows = np.arange(start, min(start + _EXPORTED_ROWS, corpus.n_occurrences))
        table = corpus.rows(rows)
        texts = table["text"].to_numpy()
        arrays = [
            pa.array(corpus.text(texts), pa.string()),
            *(pa.array(corpus.column(title, texts), pa.string()) for title in corpus.columns),
            *(
                table[field.name].combine_chunks()
                for field in exported
                if field.name in table.schema.names
            ),
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=exported)
