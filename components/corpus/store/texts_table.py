"""The texts of a stored corpus with their labels and targets, as a table and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from components.core.errors import CorpusError
from components.core.schema import IntArray
from components.corpus.corpus import Corpus
from components.corpus.store.chunks import Target

__all__ = ["label_column", "take_texts", "text_batches", "texts_of", "texts_schema"]

_BATCH = 5_000  # rows


def label_column(place: int) -> str:
    """The column of the labels at a place: their titles may be anything, and are kept elsewhere."""
    return f"label_{place}"


def texts_schema(n_columns: int) -> pa.Schema:
    """Of the table of texts: row i is text i."""
    labels = [(label_column(place), pa.string()) for place in range(n_columns)]
    targets = [("target_start", pa.int32()), ("target_end", pa.int32())]
    return pa.schema([("text", pa.string()), *labels, *targets])


def text_batches(corpus: Corpus) -> Iterator[pa.RecordBatch]:
    """A corpus's texts as rows, some at a time."""
    schema = texts_schema(len(corpus.labels))
    for start in range(0, len(corpus.texts), _BATCH):
        part = slice(start, start + _BATCH)
        spans: list[Target] = list(corpus.spans[part]) if corpus.spans is not None else []
        spans = spans or [None] * len(corpus.texts[part])
        columns = [
            corpus.texts[part],
            *(own[part] for own in corpus.labels.values()),
            [None if span is None else span[0] for span in spans],
            [None if span is None else span[1] for span in spans],
        ]
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def texts_of(table: Any, first: int = 0, stop: int | None = None) -> Iterator[tuple[str, Target]]:
    """Texts in order, by default all, with their targets."""
    stop = table.count_rows() if stop is None else stop
    for start in range(first, stop, _BATCH):
        places = np.arange(start, min(start + _BATCH, stop))
        rows = take_texts(table, ["text", "target_start", "target_end"], places)
        found = zip(*(column.to_pylist() for column in rows.columns), strict=True)
        yield from ((text, None if a is None else (a, b)) for text, a, b in found)


def take_texts(table: Any, columns: list[str], ids: IntArray) -> pa.Table:
    """Columns of the texts of these numbers, in the order given.

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
