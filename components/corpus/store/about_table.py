"""What is written of a stored corpus when its state changes, and what is counted in its tables.

While a corpus grows only its rows do: how many there are, and which text they have reached, is
asked of them. So it is true whenever the server ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa

from components.core.errors import CorpusError
from components.corpus.corpus import Corpus
from components.corpus.store.about import (
    VERSION,
    WITHOUT_OWNER,
    About,
    Indexing,
    checked_name,
    from_json,
    now,
    to_json,
)
from components.corpus.store.failures import reading, writing
from components.corpus.store.tables import Tables

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


def first_about(corpus: Corpus, indexing: Indexing, split: str, name: str, owner: str) -> About:
    """What is written of a corpus that has no occurrences yet."""
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
        version=VERSION if owner else WITHOUT_OWNER,
        owner=owner,
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
            raise _gone()
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
def gone_with_it(tables: Tables, name: str) -> Iterator[None]:
    """Write to a corpus inside; what another process deleted meanwhile stays deleted.

    Raises:
        CorpusError: it was deleted.
    """
    try:
        yield
    except Exception as exc:
        _check_there(tables, name, exc)
        raise
    _check_there(tables, name, None)


def _check_there(tables: Tables, name: str, error: Exception | None) -> None:
    missing = tables.missing(name)
    if not missing:
        return
    if "about" in missing or error is None:  # where that was written, it may be there again
        tables.drop(name)
    else:  # it is being deleted, or damaged
        tables.drop_parts(name, missing)
    raise _gone() from error


def _gone() -> CorpusError:
    return CorpusError(
        "There is no such corpus here, or no longer: it was deleted, or the address is another "
        "server's. Index its file again."
    )
