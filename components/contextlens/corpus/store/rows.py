"""The rows of a stored corpus's tables: its texts, and their words with a vector each.

A word is a word of UAX 29 with a letter or a digit. The marked word of a text also counts, whatever
it is made of. A word's vector is the plain mean of its tokens' vectors, as in `word_vectors` of
`contextlens.analysis.words`, computed for all words of a text at once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contextlens.core import EncoderService
from contextlens.core.errors import CorpusError
from contextlens.core.schema import Encoding, FloatArray, IntArray
from contextlens.core.words import Span, folded, split_words
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.searchable import Occurrences, SearchableCorpus
from contextlens.corpus.store.about import Indexing

__all__ = [
    "LIGHT",
    "Chunk",
    "Target",
    "label_column",
    "layer_column",
    "mean_vectors",
    "numbered",
    "read_vectors",
    "rows_of",
    "schema",
    "sentence_batch",
    "take_texts",
    "text_batches",
    "texts_of",
    "texts_schema",
    "words_of",
]

LIGHT = ("row", "text", "start", "end", "surface", "left", "right", "is_target")
"""The columns of an occurrence without its word and its vectors."""


_SIZE, _NOT_FINITE = np.uint16(0x7FFF), 0x7C00  # of float16: all bits but the sign; infinity
_BATCH = 5_000  # rows
_N_ENCODED = 96  # texts at a time

Target = Span | None
"""The marked word of a text, if any."""


@dataclass(frozen=True)
class Chunk:
    """Texts that are encoded together: the number of the first, and texts with their targets."""

    start: int
    texts: tuple[str, ...]
    targets: tuple[Target, ...]

    @property
    def stop(self) -> int:
        """The number after the last text."""
        return self.start + len(self.texts)


@dataclass(frozen=True)
class WordInContext:
    """A word in its text, with the words beside it; "" at the text's ends."""

    span: Span
    left: str
    right: str


@dataclass
class _Columns:
    """The rows of a chunk while they are collected."""

    texts: list[int] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    surfaces: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    right: list[str] = field(default_factory=list)
    is_target: list[bool] = field(default_factory=list)
    vectors: list[FloatArray] = field(default_factory=list)
    n_cut: int = 0


def layer_column(layer: int) -> str:
    """Return the column of a layer's vectors."""
    return f"layer_{layer}"


def schema(indexing: Indexing) -> pa.Schema:
    """Return the schema of the table of occurrences.

    `row` is the row's place in the corpus. `cut` of a chunk's last row is the number of the chunk's
    words without a vector, so that this number is stored in the same commit as the words.
    """
    vector = pa.list_(pa.float16(), indexing.n_dims)
    return pa.schema(
        [
            ("row", pa.int32()),
            ("text", pa.int32()),
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("word", pa.string()),
            ("surface", pa.string()),
            ("left", pa.string()),
            ("right", pa.string()),
            ("is_target", pa.bool_()),
            ("cut", pa.int32()),
            *((layer_column(layer), vector) for layer in indexing.layers),
        ]
    )


def words_of(text: str, target: Target = None) -> list[WordInContext]:
    """Return the words of a text that may become rows, in order."""
    spans = [span for span in split_words(text) if any(map(str.isalnum, text[slice(*span)]))]
    words = [folded(text[a:b]) for a, b in spans]
    beside = ["", *words, ""]
    words_in_text = [WordInContext(span, beside[i], beside[i + 2]) for i, span in enumerate(spans)]
    if target is not None and target not in spans:
        words_in_text.insert(bisect_left(spans, target), _marked(target, spans, words))
    return words_in_text


def _marked(target: Span, spans: Sequence[Span], words: Sequence[str]) -> WordInContext:
    """Return a target that is not exactly one word of its text, with the words beside it."""
    before = bisect_right([end for _, end in spans], target[0])
    after = bisect_left([start for start, _ in spans], target[1])
    return WordInContext(
        target, words[before - 1] if before else "", words[after] if after < len(words) else ""
    )


def mean_vectors(encoding: Encoding, spans: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the spans that have tokens, and their vectors.

    Args:
        encoding: the encoding of one text.
        spans: (n, 2) start and end in the text, in code points.

    Returns:
        (n_kept,) places in `spans`, and (n_layers, n_kept, n_dims) float32 means.
    """
    token_rows = np.flatnonzero(encoding.text_ids == 0)
    if not token_rows.size or not spans.size:
        nothing = np.empty((len(encoding.layers), 0, encoding.hidden.shape[2]), np.float32)
        return np.empty(0, np.int64), nothing
    starts, ends = encoding.offsets[token_rows].T
    if not _in_order(token_rows, starts, ends):
        return _one_by_one(encoding, token_rows, spans)
    first = np.searchsorted(ends, spans[:, 0], "right")  # the first token that ends after the start
    n_tokens = np.searchsorted(starts, spans[:, 1], "left") - first
    with_tokens = np.flatnonzero(n_tokens > 0)
    return with_tokens, _means(
        encoding.hidden, token_rows[0] + first[with_tokens], n_tokens[with_tokens]
    )


def read_vectors(
    corpus: SearchableCorpus,
    occurrences: Occurrences,
    layers: Sequence[int],
    service: EncoderService,
    checksum: str,
) -> FloatArray:
    """(len(layers), n, n_dims) float32: the occurrences' vectors, read exactly from their texts.

    Args:
        corpus: the corpus of the occurrences.
        occurrences: words of its texts, each with a token.
        layers: the layers.
        service: has the corpus's model.
        checksum: that of the model.
    """
    vectors = np.zeros((len(layers), len(occurrences), corpus.n_dims), dtype=np.float32)
    numbers, place = np.unique(occurrences.texts, return_inverse=True)
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(len(numbers) + 1))
    for start in range(0, len(numbers), _N_ENCODED):
        batch = corpus.text(numbers[start : start + _N_ENCODED])
        encodings = service.encode(corpus.model, batch, layers=layers, checksum=checksum)
        for i, encoding in enumerate(encodings, start):
            rows = order[ends[i] : ends[i + 1]]
            vectors[:, rows] = mean_vectors(encoding, occurrences.spans[rows])[1]
    return vectors


def _in_order(token_rows: IntArray, starts: IntArray, ends: IntArray) -> bool:
    """True if a text's tokens follow each other in its order, as they nearly always do."""
    return bool(
        token_rows[-1] - token_rows[0] + 1 == len(token_rows)
        and np.all(np.diff(starts) >= 0)
        and np.all(np.diff(ends) >= 0)
    )


def _means(hidden: FloatArray, first: IntArray, n_tokens: IntArray) -> FloatArray:
    """(n_layers, n, n_dims): the means of runs of tokens."""
    means: FloatArray = hidden[:, first]
    for place in range(
        1, int(n_tokens.max(initial=0))
    ):  # most words have one token, and few have five
        more = np.flatnonzero(n_tokens > place)
        means[:, more] += hidden[:, first[more] + place]
    several = np.flatnonzero(n_tokens > 1)
    means[:, several] /= n_tokens[several, None].astype(np.float32)
    return means


def _one_by_one(
    encoding: Encoding, token_rows: IntArray, spans: IntArray
) -> tuple[IntArray, FloatArray]:
    """Return what `mean_vectors` returns, for a tokenizer that reorders tokens."""
    starts, ends = encoding.offsets[token_rows].T
    inside = [token_rows[(starts < b) & (ends > a)] for a, b in spans.tolist()]
    with_tokens = [i for i, tokens in enumerate(inside) if tokens.size]
    shape = len(encoding.layers), len(with_tokens), encoding.hidden.shape[2]
    vectors = np.empty(shape, np.float32)
    for place, i in enumerate(with_tokens):
        vectors[:, place] = encoding.hidden[:, inside[i]].mean(axis=1, dtype=np.float32)
    return np.array(with_tokens, np.int64), vectors


def rows_of(chunk: Chunk, encodings: Sequence[Encoding], indexing: Indexing) -> pa.RecordBatch:
    """Return the rows of a chunk's words, in the order of the texts; not `numbered` yet.

    Raises:
        CorpusError: a vector does not fit float16.
    """
    columns = _Columns()
    for i, encoding in enumerate(encodings):
        _add(columns, chunk.start + i, chunk.targets[i], encoding)
    n = len(columns.texts)
    cut = np.zeros(n, np.int32)
    cut[-1:] = columns.n_cut
    spans = np.array(columns.spans, np.int32).reshape(n, 2)
    arrays = [
        _numbers(0, n),
        pa.array(columns.texts, pa.int32()),
        pa.array(spans[:, 0]),
        pa.array(spans[:, 1]),
        *(
            pa.array(texts, pa.string())
            for texts in (columns.words, columns.surfaces, columns.left, columns.right)
        ),
        pa.array(columns.is_target, pa.bool_()),
        pa.array(cut),
        *_vector_arrays(columns.vectors, indexing),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema(indexing))


def numbered(rows: pa.RecordBatch, first_row: int) -> pa.RecordBatch:
    """Return the same rows with their places in the corpus, starting at the given one."""
    return rows.set_column(0, rows.schema.field(0), _numbers(first_row, rows.num_rows))


def _numbers(first: int, n: int) -> pa.Array:
    return pa.array(np.arange(first, first + n, dtype=np.int32))


def _add(columns: _Columns, number: int, target: Target, encoding: Encoding) -> None:
    text = encoding.text
    words = words_of(text, target)
    spans = np.array([word.span for word in words], np.int64).reshape(-1, 2)
    with_tokens, vectors = mean_vectors(encoding, spans)
    columns.n_cut += len(words) - len(with_tokens)
    columns.vectors.append(vectors)
    for word in (words[i] for i in with_tokens.tolist()):
        surface = text[slice(*word.span)]
        columns.texts.append(number)
        columns.spans.append(word.span)
        columns.words.append(folded(surface))
        columns.surfaces.append(surface)
        columns.left.append(word.left)
        columns.right.append(word.right)
        columns.is_target.append(word.span == target)


def _vector_arrays(vectors: Sequence[FloatArray], indexing: Indexing) -> list[pa.Array]:
    narrow = [
        _narrow([layer_vectors[layer] for layer_vectors in vectors])
        for layer in range(len(indexing.layers))
    ]
    if not all(layer_vectors is not None for layer_vectors in narrow):
        raise CorpusError(
            f"{indexing.model} gives vectors with values over 65,504 or none at all, which cannot "
            "be stored. Choose other layers, or another model."
        )
    return [
        pa.FixedSizeListArray.from_arrays(pa.array(layer_vectors.ravel()), indexing.n_dims)
        for layer_vectors in narrow
        if layer_vectors is not None
    ]


def _narrow(vectors: Sequence[FloatArray]) -> NDArray[np.float16] | None:
    """Return vectors stacked as float16; None if one does not fit."""
    stacked = np.empty((sum(map(len, vectors)), vectors[0].shape[1]), np.float16)
    at = 0
    with np.errstate(over="ignore"):  # the caller reports it
        for block in vectors:
            stacked[at : at + len(block)] = block
            at += len(block)
    # Comparing bits takes a third of the time of `isfinite`: an infinity or NaN has all exponent
    # bits set.
    fits = (stacked.view(np.uint16) & _SIZE).max(initial=0) < _NOT_FINITE
    return stacked if fits else None


def sentence_batch(vectors: NDArray[np.float16]) -> pa.RecordBatch:
    """Return the table of sentences: row i is the vector of text i, from (n_texts, n_dims)."""
    rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    return pa.RecordBatch.from_arrays([rows], ["vector"])


def label_column(place: int) -> str:
    """Return the column of labels at a place; titles may be anything and are stored elsewhere."""
    return f"label_{place}"


def texts_schema(n_columns: int) -> pa.Schema:
    """Return the schema of the table of texts: row i is text i."""
    labels = [(label_column(place), pa.string()) for place in range(n_columns)]
    targets = [("target_start", pa.int32()), ("target_end", pa.int32())]
    return pa.schema([("text", pa.string()), *labels, *targets])


def text_batches(corpus: Corpus) -> Iterator[pa.RecordBatch]:
    """Yield a corpus's texts as rows, in batches."""
    columns_schema = texts_schema(len(corpus.labels))
    for start in range(0, len(corpus.texts), _BATCH):
        part = slice(start, start + _BATCH)
        spans: list[Target] = list(corpus.spans[part]) if corpus.spans is not None else []
        spans = spans or [None] * len(corpus.texts[part])
        columns = [
            corpus.texts[part],
            *(labels[part] for labels in corpus.labels.values()),
            [None if span is None else span[0] for span in spans],
            [None if span is None else span[1] for span in spans],
        ]
        arrays = [
            pa.array(column, field.type)
            for column, field in zip(columns, columns_schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=columns_schema)


def texts_of(table: Any, first: int = 0, stop: int | None = None) -> Iterator[tuple[str, Target]]:
    """Yield texts in order, by default all, with their targets."""
    stop = table.count_rows() if stop is None else stop
    for start in range(first, stop, _BATCH):
        places = np.arange(start, min(start + _BATCH, stop))
        rows = take_texts(table, ["text", "target_start", "target_end"], places)
        columns = zip(*(column.to_pylist() for column in rows.columns), strict=True)
        yield from ((text, None if a is None else (a, b)) for text, a, b in columns)


def take_texts(table: Any, columns: list[str], ids: IntArray) -> pa.Table:
    """Return columns of the texts with these numbers, in the order given.

    Raises:
        CorpusError: there is no such text.
    """
    numbers, places = np.unique(np.asarray(ids, np.int64), return_inverse=True)
    n_rows = table.count_rows()
    if numbers.size and not 0 <= numbers[0] <= numbers[-1] < n_rows:
        raise CorpusError(
            f"Texts {numbers[0]:,} to {numbers[-1]:,} were asked; this corpus has texts 0 to "
            f"{n_rows - 1:,}. Choose one of these."
        )
    if not numbers.size:
        return table.schema.empty_table().select(columns)
    rows = table.take_offsets(numbers.tolist()).select([*columns, "_rowoffset"]).to_arrow()
    return rows.sort_by("_rowoffset").select(columns).take(pa.array(places))
