"""Many texts as parts, each asked for by itself: no answer gets too large for one body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["parts_of"]

_N_TEXTS = 128
_N_CHARACTERS = 8_000
"""Texts go in parts of so many: a part's answer has some 20 MB, or 200 of a large model."""


def parts_of(texts: Sequence[Any], pairs: Sequence[Any] | None) -> Iterator[slice] | None:
    """Slices of the texts, or None where they go at once: few, or for the service to refuse."""
    if not isinstance(texts, list | tuple) or not isinstance(pairs, list | tuple | None):
        return None
    others = [None] * len(texts) if pairs is None else pairs
    if len(others) != len(texts):
        return None
    sizes = [_size(text) + _size(other) for text, other in zip(texts, others, strict=True)]
    if len(texts) <= _N_TEXTS and sum(sizes) <= _N_CHARACTERS:
        return None
    return _slices(sizes)


def _size(text: Any) -> int:
    return len(text) if isinstance(text, str) else 0


def _slices(sizes: list[int]) -> Iterator[slice]:
    start = n = 0
    for i, size in enumerate(sizes):
        if i > start and (i - start == _N_TEXTS or n + size > _N_CHARACTERS):
            yield slice(start, i)
            start, n = i, 0
        n += size
    yield slice(start, len(sizes))
