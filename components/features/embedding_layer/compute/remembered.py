"""What is the same for every text of a model, remembered for all visitors within a bound."""

from __future__ import annotations

from functools import cache

from components.core.byte_cache import ByteCache

__all__ = ["remembered"]

_MAX_BYTES = 16 * 2**20  # the cosines of 512 positions are one of them


@cache
def remembered() -> ByteCache:
    """Values by what they are and the checksum of the model that they are of."""
    return ByteCache(_MAX_BYTES)
