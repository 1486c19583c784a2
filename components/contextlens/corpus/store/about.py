"""The description of a stored corpus, how it is written, and the counts in it.

A corpus's name is its address, and nobody can guess it: anyone who has it may see the corpus. On a
server for several visitors, a corpus also has an owner. Only the owner may export, change or delete
it.

While a corpus grows, only its rows change. The number of rows, and the last text that they have
reached, are read from the rows themselves. So they are correct whenever the server ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

import pyarrow as pa

from contextlens.core.errors import BusyError, CorpusError
from contextlens.core.schema import ModelCard, Precision
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.failures import reading, writing
from contextlens.corpus.store.tables import N_PARTS, Part, Tables, checked_name

__all__ = [
    "VERSION",
    "About",
    "Indexing",
    "State",
    "about_row",
    "about_schema",
    "counted",
    "first_about",
    "from_json",
    "gone_with_it",
    "indexing_of",
    "last_text",
    "n_cut",
    "overwrite",
    "to_json",
    "version_of",
    "written",
]

VERSION = 3
"""The version of the format, raised if an older app could not read it or would ignore owners."""

_FINISHED, _WITHOUT_OWNER = 2, 1
"""The versions of a finished corpus, with an owner and without: older apps read these too."""

State = Literal["waiting", "indexing", "paused", "done", "failed"]
"""A corpus's state: "waiting" for its turn, "failed" with a reason; all but "done" can resume."""


@dataclass(frozen=True)
class Indexing:
    """The model and settings of an index: vectors of two different ones are never mixed.

    Attributes:
        model: the model's id.
        checksum, revision: those of its weights.
        layers: the layers whose vectors are stored, increasing; 0 is the embedding layer.
        n_dims: the length of a vector.
        precision: the precision that was used, whichever was requested.
        pooling: how a word's tokens became one vector.
    """

    model: str
    checksum: str
    revision: str
    layers: tuple[int, ...]
    n_dims: int
    precision: Precision = "exact"
    pooling: str = "mean"

    @property
    def row_bytes(self) -> int:
        """The bytes that the vectors of one occurrence take, as float16."""
        return 2 * self.n_dims * len(self.layers)


@dataclass(frozen=True)
class About:
    """The current description of a stored corpus.

    Attributes:
        name: the name that finds it.
        title: its file's name.
        digest: SHA-256 of its content; the same file stored twice has the same.
        columns: the titles of its columns of labels.
        split: the column that separates training from test, or "".
        has_targets: True if each of its texts is marked for one word.
        n_texts, n_texts_done: the numbers of all texts, and of those whose words have vectors.
        n_occurrences: the number of words with vectors.
        n_cut: the number of words without vectors: cut off by the model's maximum length, or
            dropped by its tokenizer.
        n_bytes: the bytes that it takes on disk.
        state: see `State`.
        why: the sentence with the reason for a failure, else "".
        indexing: see `Indexing`.
        created: the time of its creation, in UTC, as ISO 8601.
        version: the version of the format.
        owner: its owner on a server for several visitors, else "".
        n_bytes_expected: the estimated bytes once it is done; 0 when it is done.
    """

    name: str
    title: str
    digest: str
    columns: tuple[str, ...]
    split: str
    has_targets: bool
    n_texts: int
    n_texts_done: int
    n_occurrences: int
    n_cut: int
    n_bytes: int
    state: State
    why: str
    indexing: Indexing
    created: str
    version: int = _WITHOUT_OWNER
    owner: str = ""
    n_bytes_expected: int = 0


def indexing_of(card: ModelCard, layers: Sequence[int], precision: Precision) -> Indexing:
    """Return a model's indexing: the layers in order, and the precision that is used."""
    runs = "exact" if card.fast.dtype == "float32" else precision
    return Indexing(
        model=card.id,
        checksum=card.checksum,
        revision=card.revision,
        layers=tuple(sorted(set(layers))),
        n_dims=card.n_dims,
        precision=runs,
    )


def version_of(*, owner: str, n_bytes_expected: int) -> int:
    """Return the lowest version in which a corpus can be written."""
    if n_bytes_expected:
        return VERSION
    return _FINISHED if owner else _WITHOUT_OWNER


def to_json(about: About) -> str:
    """Return the text that `from_json` reads."""
    written = asdict(about)
    for field in ("owner", "n_bytes_expected"):  # older apps can read a corpus without these
        if not written[field]:
            del written[field]
    return json.dumps(written, ensure_ascii=False)


def from_json(text: str, *, version: int) -> About:
    """Return the description in a text from `to_json`.

    Raises:
        CorpusError: a newer app wrote it.
        ValueError, TypeError, LookupError: it is damaged.
    """
    if version > VERSION:
        raise CorpusError(
            f"This corpus was stored by a newer Contextlens (its format is {version}; this one "
            f"reads up to {VERSION}). Update this app, or index its file again."
        )
    fields: dict[str, Any] = json.loads(text)
    if fields["state"] not in get_args(State):
        raise ValueError(f"no such state: {fields['state']!r}")
    settings = fields.pop("indexing")
    indexing = Indexing(**{**settings, "layers": tuple(settings["layers"])})
    return About(**{**fields, "columns": tuple(fields["columns"]), "indexing": indexing})


_N_TIMES = 5  # attempts if other processes write at the same time
_PREEMPTED = "Please retry"  # of Lance: another commit was quicker

about_schema = pa.schema([("version", pa.int32()), ("json", pa.string())])


def first_about(
    corpus: Corpus, indexing: Indexing, *, split: str, name: str, owner: str, n_bytes: int = 0
) -> About:
    """Return the description of a corpus that has no occurrences yet.

    Args:
        corpus: the texts with their labels.
        indexing: the model and settings that its words will be indexed with.
        split: the title of the labels that separate training from test.
        name: the name that finds it.
        owner: its owner.
        n_bytes: the bytes that it is estimated to take.
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
        created=datetime.now(UTC).isoformat(),
        version=version_of(owner=owner, n_bytes_expected=n_bytes),
        owner=owner,
        n_bytes_expected=n_bytes,
    )


def about_row(about: About) -> pa.RecordBatch:
    """Return the single row of the "about" table."""
    values = [pa.array([about.version], pa.int32()), pa.array([to_json(about)], pa.string())]
    return pa.RecordBatch.from_arrays(values, schema=about_schema)


def written(tables: Tables, name: str, *, is_fresh: bool = False) -> About:
    """Return a corpus's description as of its last change of state.

    Args:
        tables: the tables of all corpora.
        name: the corpus's name.
        is_fresh: True to see also what another process wrote a moment ago.

    Raises:
        CorpusError: there is none of that name, or it is damaged, or of a newer version.
    """
    checked_name(name)
    with reading("This corpus"):
        if not tables.has(name):
            missing = tables.missing(name)
            raise _half(tables, name) if len(missing) < N_PARTS else _gone()
        table = tables.open(name, "about")
        if is_fresh:
            table.checkout_latest()
        row = table.search().select(["version", "json"]).limit(1).to_arrow().to_pylist()[0]
        return from_json(row["json"], version=row["version"])


def overwrite(tables: Tables, about: About) -> None:
    """Replace the row of the "about" table in one step.

    Raises:
        CorpusError: the disk is full, or another error prevents writing.
    """
    row = pa.Table.from_batches([about_row(about)])
    with writing(about.title):
        table = tables.open(about.name, "about")
        for left in reversed(range(_N_TIMES)):
            table.checkout_latest()  # also replaces what another process wrote
            try:
                table.add(row, mode="overwrite")
            except RuntimeError as exc:
                if not left or _PREEMPTED not in str(exc):
                    raise
            else:
                return


def counted(tables: Tables, about: About) -> About:
    """Return a description with the current counts from the tables.

    Raises:
        CorpusError: a file of the corpus is damaged.
    """
    with reading(about.title):
        if tables.folder is not None and tables.missing(about.name):
            raise _half(tables, about.name)
        table = tables.open(about.name, "occurrences")
        n_rows = table.count_rows()
        if n_rows < about.n_occurrences:  # another process added rows since they were counted here
            table.checkout_latest()
            n_rows = table.count_rows()
        n_bytes = tables.n_bytes(about.name)
        if n_bytes < about.n_bytes or n_rows < about.n_occurrences:  # nothing ever shrinks
            raise ValueError("there is less of it than was written")
        n_done = max(about.n_texts_done, last_text(table, n_rows) + 1)
        return replace(about, n_texts_done=n_done, n_occurrences=n_rows, n_bytes=n_bytes)


def last_text(table: Any, n_rows: int) -> int:
    """The number of the last text with a stored word, -1 if there is none."""
    if not n_rows:
        return -1
    return int(table.take_offsets([n_rows - 1]).select(["text"]).to_arrow()["text"][0].as_py())


def n_cut(tables: Tables, about: About) -> int:
    """Return the number of words without a vector, in the texts that are done.

    Raises:
        CorpusError: a file of the corpus is damaged.
    """
    with reading(about.title):
        rows = tables.open(about.name, "occurrences").search().select(["cut"]).to_arrow()
        return int(rows["cut"].to_numpy().sum())


@contextmanager
def gone_with_it(tables: Tables, name: str, *parts: Part) -> Iterator[None]:
    """Run a block that writes some of a corpus's tables; delete them if the corpus is deleted.

    Args:
        tables: the tables of all corpora.
        name: the corpus's name.
        parts: the tables that are written; no others are deleted here.

    Raises:
        CorpusError: the corpus was deleted.
    """
    try:
        yield
    except BusyError as exc:  # the tables are another process's now, or were deleted by one
        if "about" in tables.missing(name):
            raise _gone() from exc
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
