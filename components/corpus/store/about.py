"""What is known of a stored corpus without reading it, and how that is written down.

A corpus's name is its address and nobody can guess it: whoever has it may see the corpus. Where
visitors sign in, it also has an owner, who alone may take it away as a whole or delete it.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from components.core.errors import CorpusError
from components.core.schema import ModelCard, Precision
from components.corpus.sheet import named

__all__ = [
    "VERSION",
    "About",
    "Indexing",
    "State",
    "checked_name",
    "from_json",
    "indexing_of",
    "is_name",
    "new_name",
    "now",
    "to_json",
    "version_of",
]

VERSION = 3
"""Of what is written: raised when an older app could not read it, or would not heed its owner."""

_FINISHED, _WITHOUT_OWNER = 2, 1
"""Of a corpus that is done, and of one of nobody in particular: older apps read these too."""

State = Literal["waiting", "indexing", "paused", "done", "failed"]
"""Of a corpus: "waiting" for its turn, "failed" with a reason; all but "done" can go on."""

_NAME = re.compile(r"[A-Za-z0-9_-]{16}", re.ASCII)


@dataclass(frozen=True)
class Indexing:
    """What a corpus was indexed with: vectors of two of these are never mixed.

    Attributes:
        model: its id.
        checksum, revision: of its weights.
        layers: those whose vectors are kept, increasing; 0 is the embedding layer.
        n_dims: how long a vector is.
        precision: the one that ran, whichever was asked for.
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
        """What the vectors of one occurrence take, as float16."""
        return 2 * self.n_dims * len(self.layers)


@dataclass(frozen=True)
class About:
    """A stored corpus as it stands.

    Attributes:
        name: what it is found by.
        title: what to call it: its file's name.
        digest: SHA-256 of what is in it; the same file twice has the same.
        columns: the titles of its labels.
        split: the one that parts training from test, or "".
        has_targets: whether its texts are each marked for one word.
        n_texts, n_texts_done: all of them, and those whose words have vectors.
        n_occurrences: words that have vectors.
        n_cut: words that have none: cut off by the model's maximum, or dropped by its tokenizer.
        n_bytes: what it takes on disk.
        state: see `State`.
        why: the sentence that it failed with, else "".
        indexing: see `Indexing`.
        created: when, in UTC, as ISO 8601.
        version: of what is written.
        owner: whose it is, where visitors sign in, else "".
        n_bytes_expected: what it was estimated to take once it is done; 0 when it is done.
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
    """What a corpus is indexed with by a model: the layers in order, the precision that runs."""
    runs = "exact" if card.fast.dtype == "float32" else precision
    return Indexing(
        model=card.id,
        checksum=card.checksum,
        revision=card.revision,
        layers=tuple(sorted(set(layers))),
        n_dims=card.n_dims,
        precision=runs,
    )


def new_name() -> str:
    """A name that nobody can guess."""
    return secrets.token_urlsafe(12)


def is_name(name: str) -> bool:
    """Whether it may be a corpus's name, so that a table may be called after it."""
    return _NAME.fullmatch(name) is not None


def checked_name(name: str) -> str:
    """The name itself.

    Raises:
        CorpusError: no corpus is named so.
    """
    if not is_name(name):
        raise CorpusError(
            f"There is no corpus {named(name)} here: a corpus's name is 16 letters, digits, - or "
            "_. Copy the address again, in full."
        )
    return name


def now() -> str:
    """The time in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def version_of(*, owner: str, n_bytes_expected: int) -> int:
    """Return the lowest version in which a corpus can be written."""
    if n_bytes_expected:
        return VERSION
    return _FINISHED if owner else _WITHOUT_OWNER


def to_json(about: About) -> str:
    """Return the text that `from_json` reads."""
    written = asdict(about)
    for field in ("owner", "n_bytes_expected"):  # unknown to older apps, which read what has none
        if not written[field]:
            del written[field]
    return json.dumps(written, ensure_ascii=False)


def from_json(text: str, *, version: int) -> About:
    """What was written.

    Raises:
        CorpusError: by a newer app.
        ValueError, TypeError, LookupError: it is damaged.
    """
    if version > VERSION:
        raise CorpusError(
            f"This corpus was stored by a newer Contextlens (its format is {version}; this one "
            f"reads up to {VERSION}). Update this app, or index its file again."
        )
    found: dict[str, Any] = json.loads(text)
    if found["state"] not in get_args(State):
        raise ValueError(f"no such state: {found['state']!r}")
    own = found.pop("indexing")
    indexing = Indexing(**{**own, "layers": tuple(own["layers"])})
    return About(**{**found, "columns": tuple(found["columns"]), "indexing": indexing})
