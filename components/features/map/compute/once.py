"""What is computed of a map by walking over its points: once, whoever looks at it and how often."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from components.core.byte_cache import remembered
from components.maps.picture import Picture

__all__ = ["once"]

T = TypeVar("T")


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
    return remembered(
        f"map: {name}", picture.request.key, weights, picture.digest, *given, compute=compute
    )
