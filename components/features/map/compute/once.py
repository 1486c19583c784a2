"""What is computed of a map by walking over its points: once, whoever looks at it and how often."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import TypeVar

from components.core.byte_cache import ByteCache
from components.maps.picture import Picture
from components.ui.models.services import settings

__all__ = ["once"]

T = TypeVar("T")


@cache
def _kept() -> ByteCache:
    return ByteCache(settings().cache_bytes // 16)


def once(picture: Picture, name: str, *given: Hashable, compute: Callable[[], T]) -> T:
    """What is called so of a map, from the store or computed now.

    Args:
        picture: the map. What is kept must not refer to it: its vectors would never be let go.
        name: what is computed.
        given: all that it depends on beside the map.
        compute: computes it.
    """
    passport = picture.gathered.passport
    weights = "" if passport is None else passport.checksum
    key = (name, picture.request.key, weights, picture.points.n_points, *given)
    found: T = _kept().get(key, compute)
    return found
