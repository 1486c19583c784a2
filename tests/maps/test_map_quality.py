"""Measures of a map against scikit-learn's trustworthiness, both ways round."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors

from contextlens.core.errors import RequestError
from contextlens.maps import map_quality
from contextlens.maps.map_quality import MapQuality, measure
from contextlens.maps.neighbors import nearest
from contextlens.maps.vector_space import METRICS, Metric, VectorSpace

by_metric = pytest.mark.parametrize("metric", METRICS)
RANDOM = np.random.default_rng(3)


def scene(n: int, d: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """Vectors, and a map of them that keeps some of their neighbourhoods."""
    vectors = RANDOM.normal(size=(n, d)) * np.linspace(3, 0.3, d) + 1
    return vectors.astype(np.float32), vectors[:, :2].astype(np.float32)


def backwards(vectors: np.ndarray, places: np.ndarray, k: int, metric: str) -> float:
    """scikit-learn's trustworthiness with the spaces swapped, for a metric on the second."""
    from sklearn.metrics import pairwise_distances

    full = pairwise_distances(vectors.astype(np.float64), metric=metric)
    np.fill_diagonal(full, np.inf)
    true = np.argsort(full, axis=1)[:, :k]
    here = pairwise_distances(places.astype(np.float64))
    np.fill_diagonal(here, np.inf)
    ranks = np.argsort(np.argsort(here, axis=1), axis=1) + 1
    excess = np.maximum(np.take_along_axis(ranks, true, 1) - k, 0).sum()
    n = len(vectors)
    return float(1 - 2 * excess / (n * k * (2 * n - 3 * k - 1)))


@by_metric
@pytest.mark.parametrize(("n", "k"), [(30, 5), (400, 15), (1500, 40)])
def test_measures_are_scikit_learns(metric: Metric, n: int, k: int) -> None:
    vectors, places = scene(n)
    found = measure(VectorSpace.of(vectors, metric), places, k=k)
    doubles = vectors.astype(np.float64)
    expected = trustworthiness(doubles, places.astype(np.float64), n_neighbors=k, metric=metric)
    assert found.trustworthiness == pytest.approx(expected, abs=1e-6)
    assert found.continuity == pytest.approx(backwards(vectors, places, k, metric), abs=1e-6)
    if metric == "euclidean":
        swapped = trustworthiness(places.astype(np.float64), doubles, n_neighbors=k)
        assert found.continuity == pytest.approx(swapped, abs=1e-6)
    assert found.k == k
    assert found.n_measured == n


@by_metric
def test_recall_is_the_share_of_true_neighbors_kept(metric: Metric) -> None:
    vectors, places = scene(300)
    true = NearestNeighbors(metric=metric, algorithm="brute").fit(vectors).kneighbors(None, 10)[1]
    shown = NearestNeighbors().fit(places).kneighbors(None, 10)[1]
    kept = [len(set(a) & set(b)) / 10 for a, b in zip(true, shown, strict=True)]
    assert measure(VectorSpace.of(vectors, metric), places, k=10).recall == pytest.approx(
        np.mean(kept)
    )


def test_the_plane_itself_is_kept_whole_and_shuffled_it_is_not() -> None:
    _, places = scene(500)
    plane = np.pad(places, ((0, 0), (0, 6)))
    assert measure(VectorSpace.of(plane, "euclidean"), places) == MapQuality(1.0, 1.0, 1.0, 15, 500)
    shuffled = measure(VectorSpace.of(plane, "euclidean"), places[RANDOM.permutation(500)])
    assert shuffled.trustworthiness < 0.6
    assert shuffled.continuity < 0.6
    assert shuffled.recall < 0.1


@by_metric
def test_turning_moving_and_scaling_the_map_changes_nothing(metric: Metric) -> None:
    vectors, places = scene(400)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]], np.float32)
    first, second = (
        measure(VectorSpace.of(vectors, metric), places),
        measure(VectorSpace.of(vectors, metric), 2 * places @ turn + 3),
    )
    assert first.trustworthiness == pytest.approx(second.trustworthiness, abs=1e-5)
    assert first.recall == pytest.approx(second.recall, abs=1e-3)


@by_metric
def test_the_order_of_the_points_changes_nothing(metric: Metric) -> None:
    vectors, places = scene(400)
    order = RANDOM.permutation(400)
    assert measure(VectorSpace.of(vectors[order], metric), places[order]) == measure(
        VectorSpace.of(vectors, metric), places
    )


@by_metric
@pytest.mark.parametrize("k", [3, 15])
def test_known_neighbors_and_small_blocks_give_the_same(
    metric: Metric, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, places = scene(600)
    plain = measure(VectorSpace.of(vectors, metric), places, k=k)
    assert (
        measure(
            VectorSpace.of(vectors, metric),
            places,
            k=k,
            neighbors=nearest(VectorSpace.of(vectors, metric), 15),
        )
        == plain
    )
    few = nearest(VectorSpace.of(vectors, metric), 2)  # too few to be of use
    assert measure(VectorSpace.of(vectors, metric), places, k=k, neighbors=few) == plain
    monkeypatch.setattr(map_quality, "_BLOCK_BYTES", 8 * 600 * 7)
    assert measure(VectorSpace.of(vectors, metric), places, k=k) == plain


@pytest.mark.slow
@by_metric
def test_a_sample_of_many_points_is_near_the_whole_and_always_the_same(metric: Metric) -> None:
    vectors, places = scene(4000)
    whole = measure(VectorSpace.of(vectors, metric), places, sample=None)
    sampled = measure(VectorSpace.of(vectors, metric), places)
    assert whole.n_measured == 4000
    assert sampled.n_measured == 2000
    assert sampled.trustworthiness == pytest.approx(whole.trustworthiness, abs=0.01)
    assert sampled.continuity == pytest.approx(whole.continuity, abs=0.01)
    assert sampled.recall == pytest.approx(whole.recall, abs=0.02)
    assert measure(VectorSpace.of(vectors, metric), places) == sampled
    assert measure(VectorSpace.of(vectors, metric), places, seed=1) != sampled
    if metric == "euclidean":
        exact = trustworthiness(vectors.astype(np.float64), places, n_neighbors=15)
        assert whole.trustworthiness == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (5, 2), (15, 7), (31, 15), (32, 15)])
def test_k_is_brought_below_half_the_points(n: int, k: int) -> None:
    vectors, places = scene(n)
    found = measure(VectorSpace.of(vectors, "cosine"), places)
    assert found.k == k
    assert 0 <= found.trustworthiness <= 1


def tied_scene(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Points with many equal distances, in numbers without rounding, so that ties are exact."""
    random = np.random.default_rng(5)
    if kind == "corners of a cube":
        corners = 2.0 * (np.arange(64)[:, None] >> np.arange(6) & 1) - 1
        vectors = np.tile(corners, (4, 1)).astype(np.float32)
        return vectors, (vectors[:, :2] + random.normal(size=(256, 2))).astype(np.float32)
    vectors = random.integers(0, 30, (300, 6)).astype(np.float32)
    places = vectors[:, :2] + random.normal(size=(300, 2)).astype(np.float32) * 3
    if kind == "half of the vectors are equal":
        vectors[:150] = vectors[0]
        places[:150] = places[0] + np.arange(150)[:, None] / 100
    if kind == "equal places":
        places = np.round(places / 8)
    return vectors, places.astype(np.float32)


def ranks_in_some_order(distances: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Ranks from 1; each row orders its equals at random."""
    order = np.lexsort((random.random(distances.shape), distances), axis=1)
    return np.argsort(order, axis=1) + 1


@pytest.mark.parametrize(
    "kind", ["half of the vectors are equal", "corners of a cube", "equal places"]
)
def test_the_measures_are_means_over_all_orders_of_equals(kind: str) -> None:
    vectors, places = tied_scene(kind)
    found = measure(VectorSpace.of(vectors, "euclidean"), places, k=15)
    squares = [((own[:, None] - own[None]) ** 2).sum(axis=2) for own in (vectors, places)]
    for own in squares:
        np.fill_diagonal(own, np.inf)
    n, runs = len(vectors), []
    worst = n * 15 * (2 * n - 45 - 1) / 2
    for seed in range(60):
        random = np.random.default_rng(seed)
        full, here = (ranks_in_some_order(own, random) for own in squares)
        false = np.maximum(full[here <= 15] - 15, 0).sum() / worst
        missed = np.maximum(here[full <= 15] - 15, 0).sum() / worst
        runs.append((1 - false, 1 - missed, ((full <= 15) & (here <= 15)).sum() / (15 * n)))
    error = np.std(runs, axis=0) / np.sqrt(len(runs))
    ours = np.array([found.trustworthiness, found.continuity, found.recall])
    assert (np.abs(ours - np.mean(runs, axis=0)) < 4 * error + 1e-6).all()


def test_equal_vectors_do_not_count_in_a_map_s_favour() -> None:
    """Half of the points are one vector, drawn anywhere: the map keeps nothing of them."""
    vectors, _ = tied_scene("half of the vectors are equal")
    places = np.random.default_rng(0).normal(size=(300, 2))
    found = measure(VectorSpace.of(vectors, "euclidean"), places, k=15)
    assert found.trustworthiness == pytest.approx(0.5, abs=0.02)
    assert found.recall == pytest.approx(15 / 299, abs=0.02)
    assert found.n_tied >= 150
    assert not found.is_flat


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n", [40, 3100])
def test_where_all_vectors_are_equal_every_map_is_as_good_as_chance(metric: Metric, n: int) -> None:
    places = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
    found = measure(VectorSpace.of(np.ones((n, 5), np.float32), metric), places, k=15, sample=100)
    assert found.is_flat
    assert found.n_tied == found.n_measured
    chance = 1 - (n - 15) * (n - 16) / ((n - 1) * (2 * n - 46))
    assert found.trustworthiness == pytest.approx(chance)
    assert found.continuity == pytest.approx(chance)
    assert found.recall == pytest.approx(15 / (n - 1))


def test_points_without_ties_are_not_called_tied() -> None:
    for n in (300, 3100):
        vectors, places = scene(n)
        found = measure(VectorSpace.of(vectors, "cosine"), places)
        assert found.n_tied <= n // 500
        assert not found.is_flat


def test_what_cannot_be_measured_is_refused() -> None:
    vectors, places = scene(3)
    with pytest.raises(RequestError, match="4 points or more"):
        measure(VectorSpace.of(vectors, "cosine"), places)
    vectors, places = scene(10)
    with pytest.raises(RequestError, match="10 vectors, 9 places"):
        measure(VectorSpace.of(vectors, "cosine"), places[:9])
    with pytest.raises(RequestError, match="k = 0"):
        measure(VectorSpace.of(vectors, "cosine"), places, k=0)
