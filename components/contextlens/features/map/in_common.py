"""Two maps of the same points side by side: how many nearest neighbours their vectors share.

It uses the full vectors of both, never the drawings, and only points that are on both maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from contextlens.content.language import Claim, claim
from contextlens.core.schema import FloatArray, IntArray
from contextlens.features.map.identity import once
from contextlens.maps.neighbors import searched
from contextlens.maps.result import MapResult
from contextlens.maps.vector_space import VectorSpace
from contextlens.ui.panel import Panel, Rows

FORMULA = r"""
**Neighbours in common.** For each point, the $k$ others with the highest cosine by the first
vectors, $A$, and by the second, $B$, among the $n$ compared points. The share in common is
$|A \cap B| / k$. Two sets drawn at random share $k / (n - 1)$.
""".strip()

_K = 10
_MAX_COMPARED = 5_000  # points, drawn at random from more
_MAX_LISTED = 20


@dataclass(frozen=True, eq=False)
class InCommon(Panel):
    """The neighbours that the points of two maps have in common.

    Attributes:
        n: the number of points that are on both maps.
        k: the number of neighbours of each.
        names: the names of the compared points, among which neighbours are sought.
        shares: (n_compared,) the share of neighbours in common.
        nearest: the names of each one's nearest point by the first and by the second vectors.
    """

    formula: ClassVar[str] = FORMULA

    n: int
    k: int
    names: tuple[str, ...]
    shares: FloatArray
    nearest: tuple[tuple[str, str], ...]

    @property
    def nbytes(self) -> int:
        """Approximate bytes in memory."""
        return self.shares.nbytes + 300 * len(self.names)

    @property
    def mean(self) -> float:
        """The mean share of neighbours in common."""
        return float(self.shares.mean())

    @property
    def chance(self) -> float:
        """The share that random neighbours would have in common."""
        return self.k / (len(self.names) - 1)

    def claims(self) -> Sequence[Claim]:
        """Return the mean share, beside chance."""
        numbers = {"k": self.k, "share": self.mean, "chance": self.chance}
        return [claim("map.in_common.found", **numbers)]

    def notes(self) -> Sequence[Claim]:
        """Return how many points were compared."""
        return [claim("map.in_common.compared", n=len(self.names), of=self.n)]

    def rows(self) -> Rows:
        """Return the points whose neighbours differ most."""
        order = np.argsort(self.shares, kind="stable")[:_MAX_LISTED].tolist()
        return [
            {
                "in common": float(self.shares[i]),
                "point": self.names[i],
                "nearest on the left": self.nearest[i][0],
                "nearest on the right": self.nearest[i][1],
            }
            for i in order
        ]


def in_common(first: MapResult, row: int, second: MapResult, other_row: int) -> InCommon | None:
    """Return the neighbours in common of two maps at a layer each; None for too few points.

    Args:
        first: the map on the left.
        row: the row of its layer.
        second: the map on the right.
        other_row: the row of its layer.
    """

    def compute() -> InCommon | None:
        places = {point: i for i, point in reversed(list(enumerate(second.point_ids)))}
        pairs = {
            point: (i, places[point])
            for i, point in reversed(list(enumerate(first.point_ids)))
            if point in places
        }
        rows = np.array(sorted(pairs.values()), dtype=np.int64).reshape(-1, 2)
        names = first.points.names
        return compared(first.vectors[row], second.vectors[other_row], names, rows)

    key = (second.request.key, second.digest, row, other_row)
    return once(first, "in common", *key, compute=compute)


def compared(
    left: FloatArray, right: FloatArray, names: Sequence[str], rows: IntArray
) -> InCommon | None:
    """Return the neighbours in common of points with two vectors each; None for too few points.

    Args:
        left, right: the vectors of both maps.
        names: the names of the points on the left.
        rows: (n, 2) the rows of each point that is on both.
    """
    n = len(rows)
    if n > _MAX_COMPARED:
        chosen = np.random.default_rng(0).choice(n, _MAX_COMPARED, replace=False)
        rows = rows[np.sort(chosen)]
    k = min(_K, (len(rows) - 1) // 2)
    if k < 1:
        return None
    every = np.arange(len(rows))
    one, other = (
        searched(VectorSpace.of(vectors[own], "cosine"), every, k)[0].tolist()
        for vectors, own in ((left, rows[:, 0]), (right, rows[:, 1]))
    )
    taken = tuple(names[i] for i in rows[:, 0].tolist())
    return InCommon(
        n=n,
        k=k,
        names=taken,
        shares=np.array([len({*a} & {*b}) / k for a, b in zip(one, other, strict=True)], "f4"),
        nearest=tuple((taken[a[0]], taken[b[0]]) for a, b in zip(one, other, strict=True)),
    )
