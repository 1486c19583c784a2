"""How far a map can be believed: neighbours there beside neighbours in the full space.

Trustworthiness and continuity are Venna and Kaski 2001, "Neighborhood preservation in nonlinear
projection methods": the first falls where points are neighbours on the map only, the second where
they are in the full space only. Tied distances count as the nearer rank.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from components.core.errors import RequestError
from components.core.schema import FloatArray, IntArray
from components.maps.neighbors import Neighbors
from components.maps.progress import Report, silent
from components.maps.vector_space import Metric, VectorSpace

__all__ = ["ALL_UP_TO", "FEWEST", "N_SAMPLE", "Honesty", "measure", "measure_in"]

FEWEST = 4
"""Points below which nothing can be measured: a neighbourhood must be less than half of them."""
ALL_UP_TO = 3_000
"""Points up to which every one is measured."""
N_SAMPLE = 2_000
"""Points measured above that, drawn by a seed; their ranks are still among all points."""
_BLOCK_BYTES = 8 << 20


@dataclass(frozen=True)
class Honesty:
    """What a map keeps of the neighbourhoods of the full space.

    Attributes:
        trustworthiness: in [0, 1]; 1 where all map neighbours are true neighbours.
        continuity: in [0, 1]; 1 where all true neighbours are map neighbours.
        recall: in [0, 1], the share of the k true neighbours that are map neighbours.
        k: how many neighbours were compared, less than half of the points.
        n_measured: how many points were measured.
    """

    trustworthiness: float
    continuity: float
    recall: float
    k: int
    n_measured: int


def measure(
    vectors: object,
    coordinates: FloatArray,
    metric: Metric,
    *,
    neighbors: Neighbors | None = None,
    k: int = 15,
    sample: int | None = N_SAMPLE,
    seed: int = 0,
) -> Honesty:
    """What a map keeps of the vectors' neighbourhoods.

    Args:
        vectors: (n, d), n at least 4.
        coordinates: (n, 2) or (n, 3), their places on the map.
        metric: how distances between vectors are measured.
        neighbors: the vectors' nearest neighbours, where they are known.
        k: neighbours compared; brought below half the points.
        sample: points measured where there are more than `ALL_UP_TO`; None for all.
        seed: decides the sample.
    """
    space = VectorSpace.of(vectors, metric)
    return measure_in(space, coordinates, neighbors=neighbors, k=k, sample=sample, seed=seed)


def measure_in(
    space: VectorSpace,
    coordinates: FloatArray,
    *,
    neighbors: Neighbors | None = None,
    k: int = 15,
    sample: int | None = N_SAMPLE,
    seed: int = 0,
    report: Report = silent,
) -> Honesty:
    """`measure` for vectors made ready already."""
    n = space.n_points
    if len(coordinates) != n or n < FEWEST or k < 1:
        raise RequestError(
            f"A map can be measured where there are {FEWEST} points or more, one place for each, "
            f"and k of at least 1; given were {n} vectors, {len(coordinates)} places and k = {k}."
        )
    k = min(k, (n - 1) // 2)
    points = _sample(n, sample, seed)
    # In doubles where that is cheap: then ranks are right however close two distances are.
    kind: type[np.floating] = np.float64 if n <= ALL_UP_TO else np.float32
    places = np.ascontiguousarray(coordinates.T, dtype=kind)
    full = space.rows.astype(kind)
    half_squares = 0.5 * np.einsum("ij,ij->i", full, full)
    if space.metric == "cosine":
        half_squares = np.zeros_like(
            half_squares
        )  # so that a zero vector is as far as it should be
    size = max(1, _BLOCK_BYTES // (np.dtype(kind).itemsize * n))
    blocks = [points[begin : begin + size] for begin in range(0, len(points), size)]
    known = neighbors is not None and neighbors.k >= k
    true = neighbors.indices[:, :k] if known and neighbors else None

    def count(some: IntArray) -> NDArray[np.int64]:
        here, there = full[some] @ full.T, _map_distances(places, some)
        np.subtract(half_squares, here, out=here)
        return _counts(here, there, some, k, None if true is None else true[some])

    counts = np.zeros(3, np.int64)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(count, some) for some in blocks]
        try:
            for i, future in enumerate(waiting):
                counts += future.result()
                report((i + 1) / len(blocks))
        finally:
            pool.shutdown(cancel_futures=True)
    false, missed, shared = counts.tolist()
    worst = len(points) * k * (2 * n - 3 * k - 1) / 2
    recall = shared / (len(points) * k)
    return Honesty(1 - false / worst, 1 - missed / worst, recall, k, len(points))


def _counts(
    here: NDArray[np.floating],
    there: NDArray[np.floating],
    some: IntArray,
    k: int,
    true: IntArray | None,
) -> NDArray[np.int64]:
    """Ranks above k of map neighbours, of true neighbours, and neighbours that are both."""
    own = (np.arange(len(some)), some)
    here[own] = there[own] = np.inf
    on_map = _nearest(there, k)
    true = _nearest(here, k) if true is None else true
    found = _excess(here, on_map, k), _excess(there, true, k), _n_shared(on_map, true)
    return np.array(found, np.int64)


def _sample(n: int, sample: int | None, seed: int) -> IntArray:
    if sample is None or n <= max(ALL_UP_TO, sample):
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, sample, replace=False))


def _map_distances(places: NDArray[np.floating], some: IntArray) -> NDArray[np.floating]:
    """(m, n) squared distances of some points from all, whose places are (n_axes, n)."""
    from components.maps.distance_kernel import squared_distances

    squares = np.empty((len(some), places.shape[1]), places.dtype)
    squared_distances(places, some, squares)
    return squares


def _nearest(distances: NDArray[np.floating], k: int) -> IntArray:
    """(m, k) the columns of each row's k smallest distances, in no order."""
    from components.maps.distance_kernel import nearest_columns

    found = np.zeros((len(distances), k), np.int64)
    nearest_columns(distances, np.empty(found.shape, distances.dtype), found)
    return found


def _excess(distances: NDArray[np.floating], chosen: IntArray, k: int) -> int:
    """By how much the ranks of the chosen columns exceed k, added up over all rows."""
    from components.maps.distance_kernel import n_below

    ranks = np.empty(chosen.shape, np.int32)
    n_below(distances, np.ascontiguousarray(chosen), ranks)
    return int(np.maximum(ranks.astype(np.int64) + 1 - k, 0).sum())


def _n_shared(first: IntArray, second: IntArray) -> int:
    """How many values the rows of two (m, k) arrays have in common, added up."""
    both = np.sort(np.concatenate([first, second], axis=1), axis=1)
    return int((both[:, 1:] == both[:, :-1]).sum())
