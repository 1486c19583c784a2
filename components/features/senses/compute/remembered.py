"""What was computed of a word in a corpus: once, for all visitors, within a bound."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from functools import cache
from typing import TypeVar

from components.core.byte_cache import ByteCache

__all__ = ["once"]

T = TypeVar("T")

_MAX_BYTES = 64 * 2**20  # 2,000 occurrences at 13 layers are 0.5 MB, beside their texts


@cache
def _kept() -> ByteCache:
    return ByteCache(_MAX_BYTES)


def once(name: str, *given: Hashable, compute: Callable[[], T]) -> T:
    """What is called so, from the store or computed now.

    Args:
        name: what is computed.
        given: all that it depends on.
        compute: computes it; errors are not kept.
    """
    key = hashlib.sha256(repr((name, given)).encode("utf-8", "replace")).hexdigest()
    found: T = _kept().get(key, compute)
    return found
