"""A stored corpus as one Parquet file: a row for each occurrence, with its text and its labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from components.corpus.store.about import About
from components.corpus.store.failures import writing
from components.corpus.store.space import check_export_space
from components.corpus.store.stored_corpus import StoredCorpus
from components.corpus.store.word_rows import schema

__all__ = ["export"]

_ROWS = 8_192  # at a time
_LIGHT = ("text", "start", "end", "word", "surface", "left", "right", "is_target")


def export(corpus: StoredCorpus, path: Path) -> None:
    """Write a corpus to a file, some rows at a time; what the file says of it stands in its schema.

    The columns are `sentence`, `label: TITLE` for each column of labels, those of an occurrence
    (`text` numbers the sentences from 0; `start` and `end` count code points) and `layer_0`, ...
    with the vectors as float16.

    It stops before the disk that the file is on is full.

    Raises:
        CorpusError: a file of the corpus is damaged, or there is no room.
    """
    columns = _columns(corpus)
    with writing(corpus.title), pq.ParquetWriter(path, columns, compression="zstd") as file:
        for batch in _batches(corpus, columns):
            check_export_space(corpus.title, batch.nbytes, path.parent)
            file.write_batch(batch)


def _columns(corpus: StoredCorpus) -> pa.Schema:
    own = schema(corpus.about.indexing)
    light = [own.field(name) for name in _LIGHT]
    layers = [field for field in own if field.name.startswith("layer_")]
    labels = [pa.field(f"label: {title}", pa.string()) for title in corpus.columns]
    said = {"contextlens": json.dumps(_passport(corpus.about), ensure_ascii=False)}
    return pa.schema([pa.field("sentence", pa.string()), *labels, *light, *layers], said)


def _passport(about: About) -> dict[str, object]:
    return {
        "title": about.title,
        "digest": about.digest,
        "n_texts": about.n_texts,
        "n_occurrences": about.n_occurrences,
        "n_cut": about.n_cut,
        "indexing": asdict(about.indexing),
    }


def _batches(corpus: StoredCorpus, columns: pa.Schema) -> Iterator[pa.RecordBatch]:
    for start in range(0, corpus.n_occurrences, _ROWS):
        rows = np.arange(start, min(start + _ROWS, corpus.n_occurrences))
        found = corpus.rows(rows)
        texts = found["text"].to_numpy()
        arrays = [
            pa.array(corpus.text(texts), pa.string()),
            *(pa.array(corpus.column(title, texts), pa.string()) for title in corpus.columns),
            *(
                found[field.name].combine_chunks()
                for field in columns
                if field.name in found.schema.names
            ),
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=columns)
