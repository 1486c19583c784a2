"""The keys by which what was computed of a text is found again, and which texts are missing."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["exact_numbers", "pick", "read_once", "text_keys"]


def text_keys(
    first: tuple[str, ...],
    texts: Sequence[str],
    pairs: Sequence[str | None] | None,
    settings: tuple[Any, ...],
    each: Sequence[Any] | None = None,
) -> list[Hashable] | None:
    """A key for each text, or None where these are no texts: for a service to refuse.

    Args:
        first: what all keys begin with.
        texts: what is asked about.
        pairs: of the texts.
        settings: that all texts share.
        each: one more for each text.
    """
    others = pairs if pairs is not None else [None] * len(texts)
    more = each if each is not None else [None] * len(texts)
    if isinstance(texts, str) or isinstance(pairs, str):
        return None
    if not len(others) == len(more) == len(texts):
        return None
    if not all(
        isinstance(t, str) and isinstance(p, str | None) for t, p in zip(texts, others, strict=True)
    ):
        return None
    exact = repr(settings)  # not the values: 1, 1.0 and True are equal as keys
    return [
        (*first, text, pair, exact, repr(own))
        for text, pair, own in zip(texts, others, more, strict=True)
    ]


def read_once(value: Any) -> Any:
    """An iterator or array as a list: the key and the computation both read it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else value


def exact_numbers(values: Any) -> Any:
    """Numbers as a key, every bit of them; anything else as it shows itself."""
    try:
        numbers = np.asarray(values, np.float32)
    except (TypeError, ValueError):
        return repr(values)
    return numbers.shape, numbers.tobytes()


def pick(
    texts: Sequence[str], pairs: Sequence[str | None] | None, missing: list[int]
) -> tuple[Sequence[str], Sequence[str | None] | None]:
    """The missing texts and pairs; the very arguments where all are missing or they do not fit."""
    if len(missing) == len(texts):
        return texts, pairs
    return [texts[i] for i in missing], None if pairs is None else [pairs[i] for i in missing]
