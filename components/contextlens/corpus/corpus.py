"""A corpus, the result of every reader: sentences, optional labels and optional chosen words."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any

from contextlens.core.errors import CorpusError
from contextlens.core.words import Span
from contextlens.corpus.file_vectors import FileVectors

__all__ = ["Corpus"]

_BATCH = 200  # values packed at once: JSON repeats texts that are one object in memory


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sentences to encode and map.

    Attributes:
        name: a file's name, or the title of a bundled corpus.
        texts: the sentences, none of them blank.
        labels: columns of labels by title, a value for each sentence; "" for none.
        spans: a chosen word for each sentence (code points), or None for a corpus without chosen
            words.
        notes: a sentence for each thing that a reader had to decide or leave out.
        vectors: those that its file gives for the sentences, a row for each.
        own: the vectors that stand for its sentences, in place of those of a model; or None.
    """

    name: str
    texts: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    spans: tuple[Span, ...] | None = None
    notes: tuple[str, ...] = ()
    vectors: tuple[FileVectors, ...] = ()
    own: FileVectors | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content, hex: the same for the same sentences, labels, words, vectors."""
        kept = (*self.vectors, *([] if self.own is None else [self.own]))
        return _digest(chain(self._packed(), (vectors.digest for vectors in kept)))

    @cached_property
    def key(self) -> str:
        """SHA-256 of everything that a page shows of it, hex, including its name and notes.

        A visitor whose corpus has the same texts under another name does not share what is stored
        under this key, such as a map.
        """
        return _digest([self.digest, _dumps([self.name, self.notes])])

    @cached_property
    def n_bytes(self) -> int:
        """The memory that its texts and labels take; a repeated text is one object."""
        columns = (self.texts, *self.labels.values())
        distinct_texts = {id(text): text for column in columns for text in column}
        n_references = sum(map(len, columns)) + 16 * len(self.spans or ())
        kept = (*self.vectors, *([] if self.own is None else [self.own]))
        n_vectors = sum(vectors.n_bytes for vectors in kept)
        return sum(map(sys.getsizeof, distinct_texts.values())) + 8 * n_references + n_vectors

    @cached_property
    def n_kinds(self) -> Mapping[str, int]:
        """The number of different labels in each column, by its title."""
        return MappingProxyType({title: len(set(labels)) for title, labels in self.labels.items()})

    def read_by(self, vectors: FileVectors) -> Corpus:
        """Return the sentences that have one of its vectors, which stands for them from now on.

        Raises:
            CorpusError: no sentence has one.
        """
        rows = vectors.usable.tolist()
        if not rows:
            raise CorpusError(
                f"No text has a vector in “{vectors.title}”. {vectors.left_out_note()} Choose the "
                "vectors of the model."
            )
        labels = {title: tuple(own[i] for i in rows) for title, own in self.labels.items()}
        return replace(
            self,
            texts=tuple(self.texts[i] for i in rows),
            labels=MappingProxyType(labels),
            spans=None,
            notes=(*self.notes, vectors.note(), *filter(None, [vectors.left_out_note()])),
            vectors=(),
            own=replace(vectors.take(rows), skipped=vectors.left_out),
        )

    def _packed(self) -> Iterator[str]:
        """Yield the content as JSON, in parts."""
        yield "["
        yield from _list(self.texts)
        for number, (title, labels) in enumerate(self.labels.items()):
            yield f"{',' if number else ',{'}{_dumps(title)}:"
            yield from _list(labels)
        yield "}," if self.labels else ",{},"
        yield f"{_dumps(self.spans)}]"


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _list(values: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(values), _BATCH):
        yield f"{',' if start else '['}{_dumps(values[start : start + _BATCH])[1:-1]}"
    yield "]" if values else "[]"


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
