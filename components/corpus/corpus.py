"""A corpus: sentences, with optional labels and optional chosen words. What readers give."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from components.core.words import Span

__all__ = ["Corpus"]


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
        content = [self.texts, {k: list(v) for k, v in self.labels.items()}, self.spans]
        packed = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(packed.encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def n_kinds(self) -> Mapping[str, int]:
        """How many different labels each column has, by its title."""
        return MappingProxyType({title: len(set(own)) for title, own in self.labels.items()})
