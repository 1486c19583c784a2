"""What is written of a stored corpus when its state changes, and what is counted in its tables.

While a corpus grows only its rows do: how many there are, and which text they have reached, is
asked of them. So it is true whenever the server ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa

from components.core.errors import BusyError, CorpusError
from components.corpus.corpus import Corpus
from components.corpus.store.about import (
    About,
    Indexing,
    checked_name,
    from_json,
    now,
    to_json,
    version_of,
)
from components.corpus.store.failures import reading, writing
from components.corpus.store.tables import N_PARTS, Part, Tables

__all__ = [
    "about_row",
    "about_schema",
    "counted",
    "first_about",
    "gone_with_it",
    "last_text",
    "n_cut",
    "overwrite",
    "written",
]

_N_TIMES = 5  # that it is tried where other processes write at the same moment
_PREEMPTED = "Please retry"  # of Lance: another commit was quicker

about_schema = pa.schema([("version", pa.int32()), ("json", pa.string())])


def first_about(
    corpus: Corpus, indexing: Indexing, *, split: str, name: str, owner: str, n_bytes: int = 0
) -> About:
    """Return what is written of a corpus that has no occurrences yet.

    Args:
        corpus: the texts with their labels.
        indexing: what its words are to be indexed with.
        split: the title of the labels that part training from test.
        name: what it is found by.
        owner: whose it is.
        n_bytes: what it is estimated to take.
    """
    return About(
        name=name,
        title=corpus.name,
        digest=corpus.digest,
        columns=tuple(corpus.labels),
        split=split,
        has_targets=corpus.spans is not None,
        n_texts=len(corpus.texts),
        n_texts_done=0,
        n_occurrences=0,
        n_cut=0,
        n_bytes=0,
        state="waiting",
        why="",
        indexing=indexing,
        created=now(),
        version=version_of(owner=owner, n_bytes_expected=n_bytes),
        owner=owner,
        n_bytes_expected=n_bytes,
    )


def about_row(about: About) -> pa.RecordBatch:
    """The one row of the table."""
    values = [pa.array([about.version], pa.int32()), pa.array([to_json(about)], pa.string())]
    return pa.RecordBatch.from_arrays(values, schema=about_schema)


def written(tables: Tables, name: str) -> About:
    """What was written of a corpus when its state last changed.

    Raises:
        CorpusError: there is none of that name, or it is damaged, or of a newer version.
    """
    checked_name(name)
    with reading("This corpus"):
        if not tables.has(name):
            missing = tables.missing(name)
            raise _half(tables, name) if len(missing) < N_PARTS else _gone()
        table = tables.open(name, "about")
        row = table.search().select(["version", "json"]).limit(1).to_arrow().to_pylist()[0]
        return from_json(row["json"], version=row["version"])


def overwrite(tables: Tables, about: About) -> None:
    """Write another row in place of the one that is there, in one step.

    Raises:
        CorpusError: the disk is full, or it cannot be written otherwise.
    """
    row = pa.Table.from_batches([about_row(about)])
    with writing(about.title):
        table = tables.open(about.name, "about")
        for left in reversed(range(_N_TIMES)):
            table.checkout_latest()  # what another process wrote is written over, too
            try:
                table.add(row, mode="overwrite")
            except RuntimeError as exc:
                if not left or _PREEMPTED not in str(exc):
                    raise
            else:
                return


def counted(tables: Tables, about: About) -> About:
    """What was written, with what the tables say now.

    Raises:
        CorpusError: a file of the corpus is damaged.
    """
    with reading(about.title):
        if tables.folder is not None and tables.missing(about.name):
            raise _half(tables, about.name)
        table = tables.open(about.name, "occurrences")
        n_rows = table.count_rows()
        if n_rows < about.n_occurrences:  # another process added to it since it was looked at here
            table.checkout_latest()
            n_rows = table.count_rows()
        n_bytes = tables.n_bytes(about.name)
        if n_bytes < about.n_bytes or n_rows < about.n_occurrences:  # nothing ever shrinks
            raise ValueError("there is less of it than was written")
        n_done = max(about.n_texts_done, last_text(table, n_rows) + 1)
        return replace(about, n_texts_done=n_done, n_occurrences=n_rows, n_bytes=n_bytes)


def last_text(table: Any, n_rows: int) -> int:
    """The number of the last text with a stored word, -1 where there is none."""
    if not n_rows:
        return -1
    return int(table.take_offsets([n_rows - 1]).select(["text"]).to_arrow()["text"][0].as_py())


def n_cut(tables: Tables, about: About) -> int:
    """How many words of the texts that are done have no vector.

    Raises:
        CorpusError: a file of the corpus is damaged.
    """
    with reading(about.title):
        rows = tables.open(about.name, "occurrences").search().select(["cut"]).to_arrow()
        return int(rows["cut"].to_numpy().sum())


@contextmanager
def gone_with_it(tables: Tables, name: str, *parts: Part) -> Iterator[None]:
    """Write some of a corpus's tables inside; what was deleted meanwhile stays deleted.

    Args:
        tables: where it is.
        name: the corpus's.
        parts: the tables that are written: no other is ever deleted here.

    Raises:
        CorpusError: it was deleted.
    """
    try:
        yield
    except BusyError:  # the tables are somebody else's by now
        raise
    except Exception as exc:
        _check_there(tables, name, parts, exc)
        raise
    _check_there(tables, name, parts, None)


def _check_there(tables: Tables, name: str, parts: Sequence[Part], error: Exception | None) -> None:
    missing = tables.missing(name)
    if not missing:
        return
    if error is not None and "about" not in missing:  # it is being deleted, or damaged
        parts = [part for part in parts if part in missing]
    tables.drop_parts(name, parts)
    raise _gone() from error


def _half(tables: Tables, name: str) -> CorpusError:
    if tables.has_writer(name):
        return CorpusError(
            "This corpus is being stored or deleted just now. Wait a moment, and look again."
        )
    return CorpusError(
        "Only a part of this corpus is here: storing or deleting it was interrupted. Delete it "
        "here, and index its file again."
    )


def _gone() -> CorpusError:
    return CorpusError(
        "There is no such corpus here, or no longer: it was deleted, or the address is another "
        "server's. Index its file again."
    )
