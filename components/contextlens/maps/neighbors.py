"""The k nearest neighbours of vectors: exact in bounded memory, or of very many nearly so.

The exact search is half a matrix product, block by block: each product gives both of its points a
key that grows with nearness; the largest keys are kept. If many keys are tied, or for few points,
whole rows are searched: the k-th largest of the maxima of groups of columns is a lower bound of the
k-th largest key, and is far cheaper to find. Differences then measure the candidates again, so that
equal vectors are at distance 0 and ties are broken by index, whatever the rounding.

Beyond `EXACT_UP_TO` points, whose exact search takes a minute or more, candidates come from
nearest-neighbour descent (Dong, Moses and Li 2011) as pynndescent has it, and are measured the same
way. The share of the true neighbours that it finds is measured on a sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, IntArray
from contextlens.maps.compiled import umap_functions
from contextlens.maps.progress import FINDING, OnProgress, Report, Stages, silent
from contextlens.maps.vector_space import Metric, VectorSpace

__all__ = [
    "EXACT_UP_TO",
    "N_CHECKED",
    "Neighbors",
    "fill_places",
    "map_neighbors",
    "nearest",
    "neighbors_of",
    "searched",
]

EXACT_UP_TO = 50_000
"""The most points whose neighbours are searched exactly. For so many, the exact search takes 19 s
of processor time, which grow with their square, and descent 7 s (for 200,000 points 30 s). Below
40,000, loading its code takes longer than it saves."""
N_CHECKED = 1_000
"""The points by which the recall of an approximate search is measured."""
_DESCENT_THREADS = 2
_DESCENT_SPARE = 9  # neighbours beyond k, which raise its recall from .975 to .99

_MAX_SEARCHED = 5_000
"""The most points of an approximate search that are searched exactly."""

_BLOCK_BYTES = 32 << 20
_BLOCK_POINTS = 4_096
_PAIR_BYTES = 8 << 20
_SPARE = 48  # candidates beyond k that may be tied with the k-th
_SPARE_KEPT = 16  # keys kept beyond k; if more may be tied, the whole row is searched
_FEW = 500  # the largest number of points that need no compiled code
_TIED = 1e-5  # of squared lengths: rounding moves two float32 products apart by less


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest neighbours of each point.

    Attributes:
        indices: (n, k) int64, nearest first, without the point itself.
        distances: (n, k) float32: 1 - cosine in [0, 2], or Euclidean.
        metric: the metric of the distances.
        recall: None if they are exact, else the share of the true neighbours among them, in [0, 1],
            measured on `N_CHECKED` points.
    """

    indices: IntArray
    distances: FloatArray
    metric: Metric
    recall: float | None = None

    @property
    def k(self) -> int:
        """The number of neighbours of each point."""
        return int(self.indices.shape[1])


def nearest(space: VectorSpace, k: int, *, on_progress: OnProgress | None = None) -> Neighbors:
    """Return each vector's k nearest neighbours, or all others if there are fewer.

    They are exact up to `EXACT_UP_TO` vectors.

    Args:
        space: the vectors.
        k: the number of neighbours, at least 1.
        on_progress: receives the share done; an exception from it ends the search.

    Raises:
        RequestError: k is below 1.
    """
    if k < 1:
        raise RequestError(f"{k} neighbours were asked for; at least 1 is needed.")
    k = min(k, space.n_points - 1)
    stages = Stages(on_progress, {FINDING: 1.0})
    report = stages.stage(FINDING)
    if space.n_points > EXACT_UP_TO:
        found = _descended(space, k, report)
        stages.done(FINDING)
        return found
    indices = np.empty((space.n_points, k), np.int64)
    distances = np.empty((space.n_points, k), np.float32)
    for rows, near, measured in _blocks(space, k):
        indices[rows], distances[rows] = near, measured
        report(rows.stop / space.n_points)
    stages.done(FINDING)
    return Neighbors(indices, distances, space.metric)


def _descended(space: VectorSpace, k: int, report: Report) -> Neighbors:
    """Return nearly each vector's k nearest neighbours; the search itself reports no progress.

    The number of threads changes the result, so it is the same wherever there are as many.
    """
    n = space.n_points
    with umap_functions() as umap_module:
        from pynndescent import NNDescent

        threads = min(_DESCENT_THREADS, umap_module.numba.config.NUMBA_NUM_THREADS)
        descent = NNDescent(
            space.rows,
            n_neighbors=k + _DESCENT_SPARE,  # the point itself is one of them
            random_state=0,
            n_jobs=threads,
        )
        candidates = descent.neighbor_graph[0]
        del descent
    indices, distances = np.empty((n, k), np.int64), np.empty((n, k), np.float32)
    for begin in range(0, n, _BLOCK_POINTS):
        points = np.arange(begin, min(n, begin + _BLOCK_POINTS))
        indices[points], distances[points] = _among(space, points, candidates[points], k)
        report(0.9 + 0.05 * begin / n)
    fill_places(space, indices, distances, lambda share: report(0.95 + 0.05 * share))
    sample = np.sort(np.random.default_rng(0).choice(n, N_CHECKED, replace=False))
    farthest = searched(space, sample, k)[1][:, -1:]
    recall = float((distances[sample] <= farthest + _TIED).mean())  # equals count as true
    return Neighbors(indices, distances, space.metric, recall)


def fill_places(
    space: VectorSpace, indices: IntArray, distances: FloatArray, report: Report | None = None
) -> None:
    """Fill the places that a descent left empty, whose distances are infinite.

    Up to `_MAX_SEARCHED` points are searched exactly. Others get any points there, as a descent has
    at its start; where these are far, the measured recall is lower.

    Args:
        space: the vectors.
        indices: (n, k), nearest first.
        distances: (n, k).
        report: receives the share done; an exception from it ends the work.
    """
    n, k = indices.shape
    tell = silent if report is None else report
    lacking = np.flatnonzero(~np.isfinite(distances[:, -1]))
    exact, others = lacking[:_MAX_SEARCHED], lacking[_MAX_SEARCHED:]
    part = len(exact) / max(1, len(lacking))
    indices[exact], distances[exact] = searched(space, exact, k, lambda share: tell(part * share))
    step = max(1, min(_BLOCK_POINTS, _BLOCK_BYTES // (8 * 3 * k)))
    steps = np.random.default_rng(0).integers(1, n - 2 * k, size=len(others))
    for begin in range(0, len(others), step):
        some = slice(begin, begin + step)
        points = others[some]
        start = (points + steps[some])[:, None]
        near = np.where(np.isfinite(distances[points]), indices[points], -1)
        any_points = (start + np.arange(2 * k)) % n  # at most k of them are known already
        row, place = np.nonzero((near >= 0) & ((near - start) % n < 2 * k))
        any_points[row, (near - start)[row, place] % n] = -1
        indices[points], distances[points] = _among(space, points, np.hstack([near, any_points]), k)
        tell((len(exact) + begin + len(points)) / len(lacking))


def _among(
    space: VectorSpace, points: IntArray, candidates: NDArray[Any], k: int
) -> tuple[IntArray, FloatArray]:
    """Return the k nearest of each point's candidates; -1 and the point itself are none."""
    row, place = np.nonzero((candidates >= 0) & (candidates != points[:, None]))
    return _measured(space, points, row, candidates[row, place].astype(np.int64), place, k)


def searched(
    space: VectorSpace, points: IntArray, k: int, report: Report | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the exact k nearest neighbours of some points and their distances, (m, k) each.

    Args:
        space: the vectors.
        points: the points whose neighbours are sought.
        k: the number of neighbours, less than all points.
        report: receives the share done; an exception from it ends the search.
    """
    indices, distances = np.empty((len(points), k), np.int64), np.empty((len(points), k), "f4")
    step = max(1, _BLOCK_BYTES // (4 * space.n_points))
    for begin in range(0, len(points), step):
        some = slice(begin, begin + step)
        own = points[some]
        indices[some], distances[some] = _select(space, own, space.keys(own), k)
        if report is not None:
            report(min(1.0, some.stop / len(points)))
    return indices, distances


def neighbors_of(
    vectors: object, point: int, k: int, metric: Metric
) -> tuple[IntArray, FloatArray]:
    """Return one point's k nearest neighbours and their distances, (k,) each, without a graph."""
    space = VectorSpace.of(vectors, metric)
    if not 0 <= point < space.n_points:
        raise RequestError(f"There is no point {point}: points are 0 to {space.n_points - 1}.")
    if k < 1:
        raise RequestError(f"{k} neighbours were asked for; at least 1 is needed.")
    points = np.array([point])
    indices, distances = _select(space, points, space.keys(points), min(k, space.n_points - 1))
    return indices[0], distances[0]


def map_neighbors(coordinates: FloatArray, k: int) -> Neighbors:
    """Return each point's k nearest neighbours on a map, by Euclidean distance there.

    Args:
        coordinates: (n, 2) or (n, 3).
        k: the number of neighbours, at least 1.
    """
    from scipy.spatial import KDTree

    n = len(coordinates)
    k = min(k, n - 1)
    exact = np.asarray(coordinates, dtype=np.float64)
    # Ties with the k-th are rare on a map: a few more than k are found, then sorted by distance and
    # index.
    distances, indices = KDTree(exact).query(exact, k=min(n, k + 9), workers=1)
    distances, indices = np.reshape(distances, (n, -1)), np.reshape(indices, (n, -1))
    distances = np.where(indices == np.arange(n)[:, None], np.inf, distances)
    order = np.lexsort((indices, distances), axis=1)[:, :k]
    nearest_points = np.take_along_axis(indices, order, 1).astype(np.int64)
    measured = np.take_along_axis(distances, order, 1).astype(np.float32)
    return Neighbors(nearest_points, measured, "euclidean")


Block = tuple[slice, IntArray, FloatArray]


def _blocks(space: VectorSpace, k: int) -> Iterator[Block]:
    """Yield neighbours block by block; one block is selected while the next is multiplied."""
    n = space.n_points
    size = max(1, _BLOCK_BYTES // (4 * n))
    if n < _FEW or k < 1:
        for begin in range(0, n, size):
            rows = slice(begin, min(n, begin + size))
            yield rows, *_select(space, np.arange(n)[rows], space.keys(rows), k)
        return
    from contextlens.maps.kernels import keep_largest

    width = min(n - 1, k + _SPARE_KEPT)
    values = np.full((n, width), -np.inf, np.float32)
    columns = np.zeros((n, width), np.int32)
    least = values[:, 0].copy()
    halves = space.half_squares if space.metric == "euclidean" else np.zeros(n, np.float32)

    def chosen(rows: slice, products: FloatArray) -> Block:
        keep_largest(products, halves, rows.start, values, columns, least)
        return rows, *_by_largest_keys(space, rows, values, columns, k)

    with ThreadPoolExecutor(1) as pool:
        waiting: Future[Block] | None = None
        begin = 0
        while begin < n:
            rows = slice(begin, min(n, begin + max(size, _BLOCK_BYTES // (4 * (n - begin)))))
            products = space.rows[rows] @ space.rows[begin:].T
            if waiting is not None:
                yield waiting.result()
            waiting = pool.submit(chosen, rows, products)
            begin = rows.stop
        if waiting is not None:
            yield waiting.result()


def _by_largest_keys(
    space: VectorSpace, rows: slice, values: FloatArray, columns: NDArray[np.int32], k: int
) -> tuple[IntArray, FloatArray]:
    """Return the k nearest of each row of a block, from its largest keys in rising order."""
    points = np.arange(rows.start, rows.stop)
    keys = values[rows][:, ::-1]
    kth = keys[:, k - 1]
    maybe = keys >= (kth - _margin(kth, 2 * space.half_squares[rows]))[:, None]
    row, place = np.nonzero(maybe)
    column = columns[rows][:, ::-1][row, place].astype(np.int64)
    indices, distances = _measured(space, points, row, column, place, k)
    # If all the keys of a row may be tied with the k-th, the whole row is searched again.
    full = np.flatnonzero(maybe.all(axis=1)) if keys.shape[1] < space.n_points - 1 else ()
    if len(full):
        indices[full], distances[full] = searched(space, points[full], k)
    return indices, distances


def _select(
    space: VectorSpace, points: IntArray, keys: FloatArray, k: int
) -> tuple[IntArray, FloatArray]:
    """Return the k nearest of some points by their keys, nearest first; ties by index."""
    keys[np.arange(len(points)), points] = -np.inf
    if k == 0:
        return np.empty((len(points), 0), np.int64), np.empty((len(points), 0), np.float32)
    lengths = 2 * space.half_squares[points]
    row, column, key = _at_least(keys, _floor(keys, k), lengths)
    # Sorting within rows gives the k-th key, and the number of keys that may be tied with it.
    order = np.lexsort((-key, row))
    row, column, key = row[order], column[order], key[order]
    first = np.searchsorted(row, np.arange(len(points)))
    kth = key[first + k - 1]
    margin = _margin(kth, lengths)
    is_candidate = key >= (kth - margin)[row]
    row, column, key = row[is_candidate], column[is_candidate], key[is_candidate]
    maybe = key <= (kth + margin)[row]
    order = np.lexsort((column, maybe, row))
    row, column = row[order], column[order]
    place = np.arange(len(row)) - np.searchsorted(row, np.arange(len(points)))[row]
    is_candidate = place < k + _SPARE
    return _measured(space, points, row[is_candidate], column[is_candidate], place[is_candidate], k)


def _measured(
    space: VectorSpace, points: IntArray, row: IntArray, column: IntArray, place: IntArray, k: int
) -> tuple[IntArray, FloatArray]:
    """Measure candidates as differences and sort them: (m, k) indices and distances."""
    width = max(k, int(place.max(initial=0)) + 1)
    indices = np.full((len(points), width), np.iinfo(np.int64).max)
    distances = np.full((len(points), width), np.inf, np.float32)
    indices[row, place] = column
    step = max(1, _PAIR_BYTES // (4 * space.rows.shape[1]))
    for begin in range(0, len(row), step):
        some = slice(begin, begin + step)
        distances[row[some], place[some]] = space.distances(points[row[some]], column[some])
    order = np.lexsort((indices, distances), axis=1)[:, :k]
    return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)


def _floor(keys: FloatArray, k: int) -> FloatArray:
    """(m,) a lower bound of the k-th largest key of each row, and close to it."""
    n = keys.shape[1]
    n_groups = max(1024, 8 * k)
    size = n // n_groups
    if size < 4:
        partitioned: FloatArray = np.partition(keys, n - k, axis=1)[:, n - k]
        return partitioned
    grouped = keys[:, : size * n_groups].reshape(len(keys), size, n_groups)
    maxima = grouped.max(axis=1)
    floor: FloatArray = np.partition(maxima, n_groups - k, axis=1)[:, n_groups - k]
    return floor


def _margin(kth: FloatArray, lengths: FloatArray) -> FloatArray:
    """(m,) how far rounding may move two keys apart near the k-th of each row."""
    margin: FloatArray = _TIED * (lengths + np.abs(lengths - 2 * kth) + 1e-30)
    return margin.astype(np.float32)


def _at_least(
    keys: FloatArray, floor: FloatArray, lengths: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return rows, columns and values of the keys that reach their row's floor, or nearly do."""
    bound = floor - _margin(floor, lengths)
    flat = np.flatnonzero(keys >= bound[:, None])
    row, column = np.divmod(flat, keys.shape[1])
    return row, column, keys.ravel()[flat]
