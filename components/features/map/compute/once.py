"""What is computed of a map by walking over its points: once, whoever looks at it and how often."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from functools import cache
from typing import TypeVar

from components.core.byte_cache import ByteCache
from components.maps.picture import Picture
from components.ui.models.services import settings

__all__ = ["drawn_once", "once"]

T = TypeVar("T")


@cache
def _kept() -> ByteCache:
    return ByteCache(settings().cache_bytes // 32)


@cache
def _drawings() -> ByteCache:
    """By themselves: one of many points takes as much room as a hundred findings."""
    return ByteCache(settings().cache_bytes // 32)


def once(picture: Picture, name: str, *given: Hashable, compute: Callable[[], T]) -> T:
    """What is called so of a map, from the store or computed now.

    Args:
        picture: the map. What is kept must not refer to it: its vectors would never be let go.
        name: what is computed.
        given: all that it depends on beside the map.
        compute: computes it.
    """
    found: T = _kept().get(_key(picture, name, given), compute)
    return found


def drawn_once(picture: Picture, *given: Hashable, compute: Callable[[], T]) -> T:
    """`once` for a drawing of a map."""
    found: T = _drawings().get(_key(picture, "drawing", given), compute)
    return found


def _key(picture: Picture, name: str, given: tuple[Hashable, ...]) -> str:
    """Short, whatever is given: a selection of many points would take more room than its value."""
    passport = picture.gathered.passport
    weights = "" if passport is None else passport.checksum
    parts = (name, picture.request.key, weights, picture.digest, given)
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()
