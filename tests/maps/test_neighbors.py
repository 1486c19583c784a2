"""Nearest neighbours against scikit-learn's brute force, and where it gives no one answer."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from contextlens.core.errors import RequestError
from contextlens.maps import neighbors as module
from contextlens.maps.neighbors import fill_places, map_neighbors, nearest, neighbors_of, searched
from contextlens.maps.vector_space import METRICS, Metric, VectorSpace

by_metric = pytest.mark.parametrize("metric", METRICS)


def blobs(n: int, d: int = 24, seed: int = 0) -> np.ndarray:
    """Vectors in eight clusters, far from the origin."""
    random = np.random.default_rng(seed)
    centres = 3 * random.normal(size=(8, d))
    return (centres[random.integers(0, 8, n)] + random.normal(size=(n, d)) + 5).astype(np.float32)


def brute(vectors: np.ndarray, k: int, metric: str) -> tuple[np.ndarray, np.ndarray]:
    fitted = NearestNeighbors(algorithm="brute", metric=metric).fit(vectors.astype(np.float64))
    return fitted.kneighbors(None, k)


@by_metric
@pytest.mark.parametrize(("n", "k"), [(40, 39), (700, 15), (3000, 250)])
def test_neighbors_are_those_of_brute_force(metric: Metric, n: int, k: int) -> None:
    vectors = blobs(n)
    found = nearest(VectorSpace.of(vectors, metric), k)
    distances, indices = brute(vectors, k, metric)
    np.testing.assert_allclose(found.distances, distances, rtol=2e-5, atol=1e-6)
    # Two neighbours nearly equally far may change places, and hardly ever do.
    assert (found.indices == indices).mean() > 0.9999
    assert found.k == k
    assert found.indices.dtype == np.int64
    assert found.distances.dtype == np.float32


@by_metric
def test_small_blocks_find_the_same(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = blobs(600)
    whole = nearest(VectorSpace.of(vectors, metric), 15)
    monkeypatch.setattr(module, "_BLOCK_BYTES", 4 * 600 * 7)  # seven rows, and a shorter last block
    pieces = nearest(VectorSpace.of(vectors, metric), 15)
    np.testing.assert_array_equal(whole.indices, pieces.indices)
    np.testing.assert_array_equal(whole.distances, pieces.distances)


@by_metric
@pytest.mark.parametrize("n", [300, 6000])
def test_ties_are_broken_by_index(metric: Metric, n: int) -> None:
    """A hundred copies of each vector: the nearest of each are its first copies."""
    vectors = np.tile(blobs(n // 100, seed=4), (100, 1))
    found = nearest(VectorSpace.of(vectors, metric), 9)
    copies = np.arange(0, n, n // 100)
    for point in (0, 7 % (n // 100), n // 2, n - 1):
        same = copies + point % (n // 100)
        np.testing.assert_array_equal(found.indices[point], same[same != point][:9])
    assert not found.distances.any()


@by_metric
def test_half_the_products_find_what_whole_rows_do(
    metric: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Points with many copies, with few and with none, in blocks that end anywhere."""
    vectors = np.concatenate([blobs(900), blobs(9).repeat(40, axis=0), np.zeros((3, 24))])
    monkeypatch.setattr(module, "_FEW", 10**6)
    whole = nearest(VectorSpace.of(vectors, metric), 12)
    for size in (4 * len(vectors) * 37, 1 << 30):
        monkeypatch.setattr(module, "_BLOCK_BYTES", size)
        monkeypatch.setattr(module, "_FEW", 0)
        found = nearest(VectorSpace.of(vectors, metric), 12)
        np.testing.assert_array_equal(found.indices, whole.indices)
        np.testing.assert_array_equal(found.distances, whole.distances)


def test_cosine_does_not_see_length_and_euclidean_does_not_see_place() -> None:
    vectors = blobs(400)
    lengths = np.random.default_rng(2).uniform(0.1, 1e6, size=(400, 1)).astype(np.float32)
    np.testing.assert_array_equal(
        nearest(VectorSpace.of(vectors, "cosine"), 5).indices,
        nearest(VectorSpace.of(vectors * lengths, "cosine"), 5).indices,
    )
    far = nearest(VectorSpace.of(vectors.astype(np.float64) + 1e3, "euclidean"), 5)
    near = nearest(VectorSpace.of(vectors, "euclidean"), 5)
    assert (far.indices == near.indices).mean() > 0.999
    np.testing.assert_allclose(far.distances, near.distances, atol=2e-3)


@by_metric
@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_very_small_and_very_large_values_work(metric: Metric, size: float) -> None:
    vectors = blobs(60)
    scaled = nearest(VectorSpace.of(vectors * np.float32(size), metric), 4)
    plain = nearest(VectorSpace.of(vectors, metric), 4)
    np.testing.assert_array_equal(scaled.indices, plain.indices)
    expected = plain.distances * (size if metric == "euclidean" else 1)
    np.testing.assert_allclose(scaled.distances, expected, rtol=1e-4)


def test_a_zero_vector_is_at_distance_one_from_all_others() -> None:
    vectors = np.abs(blobs(30))
    vectors[[3, 11]] = 0
    found = nearest(VectorSpace.of(vectors, "cosine"), 29)
    np.testing.assert_array_equal(found.distances[3], np.ones(29))
    np.testing.assert_array_equal(found.indices[3], [i for i in range(30) if i != 3])
    assert np.isfinite(found.distances).all()


@by_metric
def test_one_point_alone_is_the_row_of_the_graph(metric: Metric) -> None:
    vectors = blobs(2000)
    graph = nearest(VectorSpace.of(vectors, metric), 12)
    for point in (0, 999, 1999):
        indices, distances = neighbors_of(vectors, point, 12, metric)
        np.testing.assert_array_equal(indices, graph.indices[point])
        np.testing.assert_array_equal(distances, graph.distances[point])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points_have_all_others_as_neighbors(n: int) -> None:
    assert nearest(VectorSpace.of(blobs(n), "cosine"), 15).indices.shape == (n, n - 1)
    assert map_neighbors(blobs(n, d=2), 15).indices.shape == (n, n - 1)
    assert len(neighbors_of(blobs(n), 0, 5, "cosine")[0]) == n - 1


def test_map_neighbors_are_those_of_brute_force() -> None:
    coordinates = blobs(3000, d=2)
    distances, indices = brute(coordinates, 15, "euclidean")
    found = map_neighbors(coordinates, 15)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-5)
    stacked = map_neighbors(np.zeros((20, 2), np.float32), 4)
    assert (stacked.indices != np.arange(20)[:, None]).all()


class CancelledError(Exception):
    pass


def test_progress_rises_to_one_and_can_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK_BYTES", 4 * 500 * 50)
    shares: list[float] = []
    nearest(
        VectorSpace.of(blobs(500), "cosine"), 5, on_progress=lambda _, share: shares.append(share)
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > 6

    def stop(stage: str, share: float) -> None:
        if share > 0.4:
            raise CancelledError

    with pytest.raises(CancelledError):
        nearest(VectorSpace.of(blobs(500), "cosine"), 5, on_progress=stop)


@by_metric
def test_some_points_of_many_equal_ones_are_searched_with_progress(
    metric: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = blobs(900)
    vectors[300:] = vectors[300]
    space, some = VectorSpace.of(vectors, metric), np.arange(250, 900)
    graph = nearest(space, 15)
    monkeypatch.setattr(module, "_BLOCK_BYTES", 4 * 900 * 100)
    shares: list[float] = []
    indices, distances = searched(space, some, 15, shares.append)
    np.testing.assert_array_equal(indices, graph.indices[some])
    np.testing.assert_array_equal(distances, graph.distances[some])
    assert len(shares) == 7
    assert shares == sorted(shares)
    assert shares[-1] == 1

    def stop(share: float) -> None:
        if share > 0.4:
            raise CancelledError

    with pytest.raises(CancelledError):
        searched(space, some, 15, stop)


@pytest.mark.parametrize(
    ("vectors", "told"),
    [
        (np.full((4, 3), np.nan), "4 of 4 vectors"),
        (np.array([[0.0, 1.0], [np.inf, 1.0], [1.0, 1.0]]), "1 of 3 vectors"),
        (np.array([[1e300, 1.0], [0.0, 1.0]]), "too large for float32"),
        (np.zeros(5), r"shape \(n, d\)"),
        (np.zeros((2, 2, 2)), r"shape \(n, d\)"),
        (np.zeros((0, 5)), "at least one vector"),
        (np.zeros((5, 0)), "at least one vector"),
        (np.array([["a", "b"]]), "array of numbers"),
        (np.zeros((2, 2), complex), "array of numbers"),
        ([], r"shape \(n, d\)"),
    ],
)
def test_bad_vectors_are_refused(vectors: Any, told: str) -> None:
    with pytest.raises(RequestError, match=told):
        nearest(VectorSpace.of(vectors, "cosine"), 2)


def test_bad_requests_are_refused() -> None:
    with pytest.raises(RequestError, match="at least 1"):
        nearest(VectorSpace.of(blobs(5), "cosine"), 0)
    with pytest.raises(RequestError, match="at least 1"):
        neighbors_of(blobs(5), 1, 0, "cosine")
    with pytest.raises(RequestError, match="points are 0 to 4"):
        neighbors_of(blobs(5), 5, 1, "cosine")
    with pytest.raises(RequestError, match="'manhattan' is not a metric"):
        nearest(VectorSpace.of(blobs(5), "manhattan"), 1)  # type: ignore[arg-type]


@by_metric
def test_empty_places_are_filled_exactly_up_to_a_number_of_points(
    metric: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = VectorSpace.of(blobs(900), metric)
    exact = nearest(space, 15)
    known = np.random.default_rng(3).integers(0, 16, 900)  # the places of each point that are known
    is_empty = np.arange(15) >= known[:, None]
    lacking = np.flatnonzero(known < 15)
    monkeypatch.setattr(module, "_MAX_SEARCHED", 200)
    monkeypatch.setattr(module, "_BLOCK_POINTS", 300)
    indices = np.where(is_empty, np.iinfo(np.int64).max, exact.indices)
    distances = np.where(is_empty, np.float32(np.inf), exact.distances)
    shares: list[float] = []
    fill_places(space, indices, distances, shares.append)
    assert len(shares) > len(lacking[200:]) // 300
    assert shares == sorted(shares)
    assert shares[-1] == 1
    whole = np.setdiff1d(np.arange(900), lacking[200:])
    np.testing.assert_array_equal(indices[whole], exact.indices[whole])
    rows = np.repeat(np.arange(900), 15)
    measured = space.distances(rows, indices.ravel()).reshape(900, 15)
    np.testing.assert_array_equal(distances, measured)
    assert (np.diff(distances, axis=1) >= 0).all()
    assert all(len({i, *row}) == 16 for i, row in enumerate(indices.tolist()))
    rest = lacking[200:]
    assert (distances[rest] >= exact.distances[rest]).all()
    kept = [np.isin(exact.indices[i, : known[i]], indices[i]).all() for i in rest]
    assert all(kept)  # the known ones are nearer than any others


def test_places_of_many_neighbours_are_filled_in_little_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n, k = 1500, 200
    space = VectorSpace.of(blobs(n, 8), "cosine")
    indices, distances = np.zeros((n, k), np.int64), np.full((n, k), np.inf, np.float32)
    monkeypatch.setattr(module, "_MAX_SEARCHED", 10)
    monkeypatch.setattr(module, "_BLOCK_BYTES", 1 << 20)
    monkeypatch.setattr(module, "_PAIR_BYTES", 1 << 20)
    tracemalloc.start()
    fill_places(space, indices, distances)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.isfinite(distances).all()
    assert peak < 30 << 20  # a table of all pairs of candidates and known ones takes 120 MB


@pytest.mark.slow  # compiling the descent takes half a minute
@by_metric
def test_neighbors_of_very_many_points_are_nearly_all_true(
    metric: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = blobs(3000)
    vectors[:40] = vectors[40:80]  # equal pairs
    space = VectorSpace.of(vectors, metric)
    exact = nearest(space, 15)
    monkeypatch.setattr(module, "EXACT_UP_TO", 2999)
    found, again = nearest(space, 15), nearest(space, 15)
    np.testing.assert_array_equal(found.indices, again.indices)
    true = np.mean(
        [np.isin(*pair).mean() for pair in zip(found.indices, exact.indices, strict=True)]
    )
    assert found.recall == pytest.approx(true, abs=0.01)
    assert true > 0.97
    rows = np.repeat(np.arange(3000), 15)
    measured = space.distances(rows, found.indices.ravel()).reshape(3000, 15)
    np.testing.assert_array_equal(found.distances, measured)
    assert (np.diff(found.distances, axis=1) >= 0).all()
    assert (found.indices != np.arange(3000)[:, None]).all()
    assert (found.distances[:80, 0] < 1e-6).all()
    assert exact.recall is None
