"""A map without labels and groups, said in words: its closest points and the loneliest one.

Told from the lists of true neighbours. A point is called the closest where the digits shown are its
own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from components.content.wording import quoted, two
from components.core.schema import IntArray
from components.maps.neighbors import Neighbors
from components.maps.points import Points

__all__ = ["closest_reading", "count_identical"]

_SAME = 1e-6  # what rounding leaves of a distance of 0: cosine, or of the largest Euclidean one
_PAIR = 2


def count_identical(neighbors: Neighbors) -> int:
    """How many points are at distance 0 from another one, rounding in float32 apart."""
    return int(_equal(neighbors)[:, :1].sum())


def _equal(neighbors: Neighbors) -> NDArray[np.bool_]:
    """(n, k) which neighbours are at distance 0."""
    far = neighbors.distances
    unit = 1.0 if neighbors.metric == "cosine" else float(far.max(initial=0.0))
    equal: NDArray[np.bool_] = far <= _SAME * unit
    return equal


def closest_reading(points: Points, neighbors: Neighbors) -> list[str]:
    """The two points most alike that are not the same, and the loneliest one."""
    twins = count_identical(neighbors)
    if twins == points.n_points:
        return [f"Each of the **{twins:,}** {points.unit} is at distance 0 from another one."]
    said = [_pair(points, neighbors, apart=bool(twins)), _loneliest(points, neighbors)]
    same = [f"**{twins:,}** {points.unit} are at distance 0 from another one."] if twins else []
    told = "; ".join(part for part in said if part)
    return [*same, *([f"In the full space, {told}."] if told else [])]


def _pair(points: Points, neighbors: Neighbors, *, apart: bool) -> str:
    """The closest two points that are not the same; nothing where they may not be in the lists."""
    equal, far = _equal(neighbors), neighbors.distances.astype(float)
    if equal.all(axis=1).any() and neighbors.k < points.n_points - 1:
        return ""
    row, place = divmod(int(np.where(equal, np.inf, far).argmin()), far.shape[1])
    near = int(neighbors.indices[row, place])
    others = ~equal & ~_is_pair(neighbors.indices, row, near)
    value, alone = _value(far[row, place], neighbors.metric), True
    if others.any():
        alone = _value(float(far[others].min()), neighbors.metric) != value
    which = "closest" if alone else "among the closest"
    first = "apart from such, " if apart else ""
    return f"{first}{_named(points, row)} and {_named(points, near)} are {which} ({value})"


def _is_pair(indices: IntArray, one: int, other: int) -> NDArray[np.bool_]:
    """(n, k) where a point's neighbour makes a certain pair with it."""
    rows = np.arange(len(indices))[:, None]
    same: NDArray[np.bool_] = (rows == one) & (indices == other) | (rows == other) & (
        indices == one
    )
    return same


def _loneliest(points: Points, neighbors: Neighbors) -> str:
    """The point whose nearest one is furthest; nothing of two points."""
    if points.n_points <= _PAIR:
        return ""
    far = neighbors.distances[:, 0].astype(float)
    lonely = int(far.argmax())
    value = _value(far[lonely], neighbors.metric)
    alone = _value(float(np.sort(far)[-2]), neighbors.metric) != value
    which = "loneliest is" if alone else "among the loneliest is"
    near = _named(points, int(neighbors.indices[lonely, 0]))
    return f"{which} {_named(points, lonely)}, whose nearest is {near} ({value})"


def _named(points: Points, point: int) -> str:
    return quoted(points.names[point])


def _value(distance: float, metric: str) -> str:
    """A distance that is not 0, which it does not read as either."""
    if metric == "cosine":
        said = two(1 - distance)
        return "cosine over **0.99**" if said == "1.00" else f"cosine **{said}**"
    said = two(distance)
    number = f"{distance:.2g}" if said == "0.00" else said
    return f"{metric} distance **{number}**"
