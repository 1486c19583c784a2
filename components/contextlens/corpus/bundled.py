"""Corpora that ship with the app, and those that the server's operator offers."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from contextlens.content.bundled_texts import (
    SenseSentence,
    ambiguous_words,
    measured_words,
    sentiment_sentences,
)
from contextlens.core.errors import CorpusError
from contextlens.core.words import find_words
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.readers import FORMATS, Table, read
from contextlens.corpus.table import named

__all__ = [
    "MAX_FILES",
    "Offered",
    "ambiguous_corpus",
    "offered",
    "read_offered",
    "sample_corpus",
    "sentiment_corpus",
    "stored_name",
]


# --- The corpora that ship with the app


@lru_cache(maxsize=1)
def ambiguous_corpus() -> Corpus:
    """Return sentences with a chosen ambiguous word each, labelled by word and by sense.

    The labels of "sense" are complete by themselves: "python: animal".
    """
    return _labelled(ambiguous_words())


@lru_cache(maxsize=1)
def sample_corpus() -> Corpus:
    """Return the sentences of `MEASURED_WORDS`, for pages that need the vectors of all texts."""
    return _labelled(measured_words())


def _labelled(entries: Sequence[SenseSentence]) -> Corpus:
    labels = {
        "word": tuple(entry.word for entry in entries),
        "sense": tuple(f"{entry.word}: {entry.sense}" for entry in entries),
    }
    return Corpus(
        name="Ambiguous words",
        texts=tuple(entry.text for entry in entries),
        labels=MappingProxyType(labels),
        spans=tuple(find_words(entry.text, entry.word)[0] for entry in entries),
    )


@lru_cache(maxsize=1)
def sentiment_corpus() -> Corpus:
    """Return sentences labelled by sentiment, by kind (plain, irony, ...) and by split.

    No word is chosen. Half of each kind and of each split is "positive", half is "negative".
    """
    entries = sentiment_sentences()
    labels = {
        "sentiment": tuple(entry.sentiment for entry in entries),
        "kind": tuple(entry.kind for entry in entries),
        "split": tuple(entry.split for entry in entries),
    }
    return Corpus(
        name="Sentiment",
        texts=tuple(entry.text for entry in entries),
        labels=MappingProxyType(labels),
    )


# --- Files that the server's operator offers to everybody as corpora

MAX_FILES = 100
"""The largest number of files offered from one folder, in alphabetical order."""


@dataclass(frozen=True)
class Offered:
    """A file in the operator's folder.

    Attributes:
        title: its name.
        path: its path.
        mark: its size and time of modification, which change with its content.
    """

    title: str
    path: Path
    mark: tuple[int, int]


def offered(folder: Path | None) -> tuple[Offered, ...]:
    """Return the files of a folder that can be read as corpora, by name, without linked files."""
    files = []
    try:
        paths = sorted(folder.iterdir()) if folder is not None else []
        for path in paths:
            if path.suffix.casefold() in FORMATS and path.is_file() and not path.is_symlink():
                about = path.stat()
                files.append(Offered(named(path.name), path, (about.st_size, about.st_mtime_ns)))
    except OSError:  # it was removed after the server started
        return tuple(files[:MAX_FILES])
    return tuple(files[:MAX_FILES])


def stored_name(file: Offered, model: str) -> str:
    """Return the name of the corpus that a file becomes with a model: the same for everybody."""
    given = repr((file.path.name, file.mark, model)).encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(hashlib.sha256(given).digest())[:16].decode()


def read_offered(file: Offered, *, max_bytes: int) -> Table:
    """Return the content of a file.

    Raises:
        CorpusError: it is too large, cannot be read, or is no longer there.
    """
    if file.mark[0] > max_bytes:
        raise CorpusError(
            f"{file.title} is {file.mark[0] / 1e6:,.1f} MB; at most {max_bytes / 1e6:,.0f} MB are "
            "read here. Whoever runs this server can raise CONTEXTLENS_MAX_UPLOAD_MB."
        )
    try:
        content = file.path.read_bytes()
    except OSError as exc:
        raise CorpusError(
            f"{file.title} cannot be read on this server any more. Choose another corpus, or ask "
            "whoever runs it."
        ) from exc
    return read(file.path.name, content, max_bytes=max_bytes)
