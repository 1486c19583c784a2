"""A corpus: sentences, with optional labels and optional chosen words. What readers give."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from components.core.words import Span

__all__ = ["Corpus"]

_BATCH = 200  # values that are packed at once: together they may be far longer than in memory


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sentences to encode and map.

    Attributes:
        name: what to call it: a file's name, or the title of a bundled corpus.
        texts: the sentences, none of them blank.
        labels: columns of labels by title, a value for each sentence; "" where there is none.
        spans: a chosen word for each sentence (code points), or None for a corpus without.
        notes: what a reader had to decide or leave out, in a sentence each.
    """

    name: str
    texts: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    spans: tuple[Span, ...] | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what is in it, hex: the same for the same sentences, labels and words."""
        return _digest(self._packed())

    @cached_property
    def key(self) -> str:
        """SHA-256 of all that a page shows of it, hex: its name and notes too.

        What is kept under it, a map for instance, belongs to nobody who calls the same texts
        otherwise.
        """
        return _digest([self.digest, _dumps([self.name, self.notes])])

    @cached_property
    def n_bytes(self) -> int:
        """The memory that its texts and labels take; a text that repeats is one object."""
        columns = (self.texts, *self.labels.values())
        own = {id(text): text for column in columns for text in column}
        n_references = sum(map(len, columns)) + 16 * len(self.spans or ())
        return sum(map(sys.getsizeof, own.values())) + 8 * n_references

    @cached_property
    def n_kinds(self) -> Mapping[str, int]:
        """How many different labels each column has, by its title."""
        return MappingProxyType({title: len(set(own)) for title, own in self.labels.items()})

    def _packed(self) -> Iterator[str]:
        """What is in it as JSON, in parts."""
        yield "["
        yield from _list(self.texts)
        for number, (title, own) in enumerate(self.labels.items()):
            yield f"{',' if number else ',{'}{_dumps(title)}:"
            yield from _list(own)
        yield "}," if self.labels else ",{},"
        yield f"{_dumps(self.spans)}]"


def _digest(parts: Iterable[str]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part.encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _list(values: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(values), _BATCH):
        yield f"{',' if start else '['}{_dumps(values[start : start + _BATCH])[1:-1]}"
    yield "]" if values else "[]"


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
