"""The identity of a map: a name for its points, and values computed once for it.

No streamlit, and no visitor: a script draws the same map.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from typing import TypeVar

from contextlens.core.byte_cache import remembered
from contextlens.maps.result import MapResult

T = TypeVar("T")


def once(result: MapResult, name: str, *given: Hashable, compute: Callable[[], T]) -> T:
    """Return a named value of a map, from the cache or computed now.

    Args:
        result: the map. A cached value must not refer to it, or its vectors stay in memory.
        name: the name of the value.
        given: everything else that it depends on.
        compute: computes it.
    """
    passport = result.gathered.passport
    weights = "" if passport is None else passport.checksum
    return remembered(
        f"map: {name}", result.request.key, weights, result.digest, *given, compute=compute
    )


def name_of(result: MapResult) -> str:
    """A short name that only maps of the same points share.

    It includes their number and first text: in a large corpus, a map of all layers samples other
    points than a map of one layer.
    """
    points = result.points
    identity = (result.request.points_key, points.n_points, points.texts[:1])
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:12]
