"""The quality of a map: its neighbours beside the neighbours in the full space.

Trustworthiness and continuity are those of Venna and Kaski 2001, "Neighborhood preservation in
nonlinear projection methods": the first falls if points are neighbours only on the map, the second
if they are neighbours only in the full space.

Equal distances have no order. The measures are then means over all orders of equal distances, on
the map and in the full space alike, so that ties do not improve a map's score.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.maps.neighbors import Neighbors
from contextlens.maps.progress import Report, silent
from contextlens.maps.vector_space import VectorSpace

__all__ = ["ALL_UP_TO", "FEWEST", "N_SAMPLE", "MapQuality", "measure"]


FEWEST = 4
"""The fewest points that can be measured: a neighbourhood must be less than half of them."""
ALL_UP_TO = 3_000
"""Up to this number, all points are measured."""
N_SAMPLE = 2_000
"""The size of the seeded sample if there are more points; ranks are still among all points."""
_BLOCK_BYTES = 8 << 20
_ROUNDING: dict[type[np.floating], float] = {np.float64: 1e-12, np.float32: 1e-6}
"""The largest difference of equal distances, in units of the values that they are computed from."""


@dataclass(frozen=True)
class MapQuality:
    """The share of the full space's neighbourhoods that a map keeps.

    Attributes:
        trustworthiness: in [0, 1]; 1 if all map neighbours are true neighbours.
        continuity: in [0, 1]; 1 if all true neighbours are map neighbours.
        recall: in [0, 1], the share of the k true neighbours that are map neighbours.
        k: the number of compared neighbours, less than half of the points.
        n_measured: the number of measured points.
        n_tied: the number of measured points whose k true neighbours are ambiguous, as others are
            as far as the k-th.
        is_flat: True if all distances in the full space are equal.
    """

    trustworthiness: float
    continuity: float
    recall: float
    k: int
    n_measured: int
    n_tied: int = 0
    is_flat: bool = False


def measure(
    space: VectorSpace,
    coordinates: FloatArray,
    *,
    neighbors: Neighbors | None = None,
    k: int = 15,
    sample: int | None = N_SAMPLE,
    seed: int = 0,
    report: Report = silent,
) -> MapQuality:
    """Return the share of the vectors' neighbourhoods that a map keeps.

    Args:
        space: the vectors, at least 4.
        coordinates: (n, 2) or (n, 3), their places on the map.
        neighbors: the vectors' nearest neighbours, if they are known; approximate ones are not
            used.
        k: the number of compared neighbours; reduced to less than half the points.
        sample: the number of measured points if there are more than `ALL_UP_TO`; None for all.
        seed: seeds the sample.
        report: receives the share done; an exception from it ends the work.
    """
    n = space.n_points
    if len(coordinates) != n or n < FEWEST or k < 1:
        raise RequestError(
            f"A map can be measured where there are {FEWEST} points or more, one place for each, "
            f"and k of at least 1; given were {n} vectors, {len(coordinates)} places and k = {k}."
        )
    k = min(k, (n - 1) // 2)
    points = _sample(n, sample, seed)
    # Doubles are used while they are cheap, so that ranks are right however close distances are.
    kind: type[np.floating] = np.float64 if n <= ALL_UP_TO else np.float32
    places = np.ascontiguousarray(coordinates.T, dtype=kind)
    full = space.rows.astype(kind)
    half_squares = 0.5 * np.einsum("ij,ij->i", full, full)
    if space.metric == "cosine":
        # Distances are then minus the cosine, which is right for a zero vector, too.
        half_squares = np.zeros_like(half_squares)
    size = max(1, _BLOCK_BYTES // (np.dtype(kind).itemsize * n))
    blocks = [points[begin : begin + size] for begin in range(0, len(points), size)]
    true = None
    if neighbors is not None and neighbors.recall is None and neighbors.k >= k:
        true = neighbors.indices[:, :k]
    rounding = _ROUNDING[kind]
    in_full = np.array([rounding * max(1.0, 2 * float(half_squares.max())), 0.0], kind)
    on_map = np.array([0.0, rounding], kind)

    def count(some: IntArray) -> NDArray[np.float64]:
        in_full_space, on_the_map = full[some] @ full.T, _map_distances(places, some)
        np.subtract(half_squares, in_full_space, out=in_full_space)
        in_full_space[np.arange(len(some)), some] = on_the_map[np.arange(len(some)), some] = np.inf
        near = None if true is None else true[some]
        return _counts(
            _Distances(in_full_space, in_full, k, near), _Distances(on_the_map, on_map, k)
        )

    counts = _summed(blocks, count, report)
    false, missed, shared, n_tied, n_flat = counts.tolist()
    worst = len(points) * k * (2 * n - 3 * k - 1) / 2
    recall = shared / (len(points) * k)
    is_flat = space.all_same or n_flat == len(points)
    shares = 1 - false / worst, 1 - missed / worst, recall
    return MapQuality(*shares, k, len(points), int(n_tied), is_flat)


def _summed(
    blocks: list[IntArray], count: Callable[[IntArray], NDArray[np.float64]], report: Report
) -> NDArray[np.float64]:
    """Return the sum of the counts of all blocks, two blocks at a time."""
    counts = np.zeros(5)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(count, some) for some in blocks]
        try:
            for i, future in enumerate(waiting):
                counts += future.result()
                report((i + 1) / len(blocks))
        finally:
            pool.shutdown(cancel_futures=True)
    return counts


class _Distances:
    """The distances of some points from all, on the map or in the full space.

    Attributes:
        distances: (m, n), infinite from a point to itself.
        nearest: (m, k) the columns of each row's k smallest distances, in no order.
        is_open: (m,) True if more than k columns could be the nearest.
        is_flat: (m,) True if all distances of the row are equal.
    """

    def __init__(
        self, distances: NDArray[Any], slack: NDArray[Any], k: int, nearest: IntArray | None = None
    ) -> None:
        from contextlens.maps.kernels import n_as_near

        self.distances, self.slack, self.k = distances, slack, k
        self.nearest = np.ascontiguousarray(_nearest(distances, k) if nearest is None else nearest)
        counts = np.empty((len(distances), 2), np.int32)
        n_as_near(distances, self.nearest, slack, counts)
        self.is_open = counts[:, 0] > k
        self.is_flat = counts[:, 1] == distances.shape[1] - 1

    def excess(self, chosen: IntArray) -> NDArray[np.float64]:
        """(m, k) the amount by which the mean ranks of chosen columns exceed k, or 0."""
        from contextlens.maps.kernels import middle_ranks

        ranks = np.empty(chosen.shape, np.int32)
        middle_ranks(self.distances, chosen, self.slack, ranks)
        return np.maximum(ranks / 2 - self.k, 0)

    def expected(self, rows: IntArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return means over all orders of equal distances, for some rows.

        The result is two arrays, (rows, n): the probability that a column is among the k nearest,
        and the amount by which its rank exceeds k.
        """
        distances, k = self.distances[rows], self.k
        order = np.argsort(distances, axis=1)
        rising = np.take_along_axis(distances, order, 1)
        with np.errstate(invalid="ignore"):  # the point itself, at infinite distance, is the last
            steps = np.diff(rising, axis=1) > self.slack[0] + self.slack[1] * np.abs(rising[:, :-1])
        starts = np.pad(steps, ((0, 0), (1, 0)), constant_values=True)
        place = np.arange(distances.shape[1])
        first = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
        ends = np.pad(steps, ((0, 0), (0, 1)), constant_values=True)
        behind = np.where(ends, place + 1, distances.shape[1])[:, ::-1]
        last = np.minimum.accumulate(behind, axis=1)[:, ::-1]
        size, low, high = last - first, np.maximum(first - k, 0), np.maximum(last - k, 0)
        chance, excess = np.empty(distances.shape), np.empty(distances.shape)
        np.put_along_axis(chance, order, np.clip((k - first) / size, 0, 1), 1)
        above = (high * (high + 1) - low * (low + 1)) / 2
        np.put_along_axis(excess, order, above / size, 1)
        return chance, excess


def _counts(full: _Distances, placed: _Distances) -> NDArray[np.float64]:
    """Return five sums over points.

    They are the excess over k of the ranks of map neighbours and of true neighbours, the number of
    neighbours that are both, and the numbers of points that have ambiguous true neighbours, and of
    points that are equally far from all others.
    """
    is_open = full.is_open | placed.is_open
    is_plain, rows = ~is_open, np.flatnonzero(is_open)
    false = full.excess(placed.nearest)[is_plain].sum()
    missed = placed.excess(full.nearest)[is_plain].sum()
    shared = _n_shared(placed.nearest[is_plain], full.nearest[is_plain])
    counts = np.array([false, missed, shared, full.is_open.sum(), full.is_flat.sum()], np.float64)
    step = max(1, _BLOCK_BYTES // (64 * full.distances.shape[1]))
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        (true, below), (near, beyond) = full.expected(some), placed.expected(some)
        counts[:3] += (near * below).sum(), (true * beyond).sum(), (near * true).sum()
    return counts


def _sample(n: int, sample: int | None, seed: int) -> IntArray:
    if sample is None or n <= max(ALL_UP_TO, sample):
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, sample, replace=False))


def _map_distances(places: NDArray[np.floating], some: IntArray) -> NDArray[np.floating]:
    """(m, n) squared distances of some points from all; `places` is (n_axes, n)."""
    from contextlens.maps.kernels import squared_distances

    squares = np.empty((len(some), places.shape[1]), places.dtype)
    squared_distances(places, some, squares)
    return squares


def _nearest(distances: NDArray[np.floating], k: int) -> IntArray:
    """(m, k) the columns of each row's k smallest distances, in no order."""
    from contextlens.maps.kernels import nearest_columns

    columns = np.zeros((len(distances), k), np.int64)
    nearest_columns(distances, np.empty(columns.shape, distances.dtype), columns)
    return columns


def _n_shared(first: IntArray, second: IntArray) -> int:
    """Return the number of values that the rows of two (m, k) arrays share, summed over rows."""
    both = np.sort(np.concatenate([first, second], axis=1), axis=1)
    return int((both[:, 1:] == both[:, :-1]).sum())
