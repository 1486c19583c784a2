"""What a map keeps, against scikit-learn's trustworthiness of it, and the other way round."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors

from components.core.errors import RequestError
from components.maps import honesty as module
from components.maps.honesty import Honesty, measure
from components.maps.neighbors import nearest
from components.maps.vector_space import METRICS, Metric

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
    found = measure(vectors, places, metric, k=k)
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
    assert measure(vectors, places, metric, k=10).recall == pytest.approx(np.mean(kept))


def test_the_plane_itself_is_kept_whole_and_shuffled_it_is_not() -> None:
    _, places = scene(500)
    plane = np.pad(places, ((0, 0), (0, 6)))
    assert measure(plane, places, "euclidean") == Honesty(1.0, 1.0, 1.0, 15, 500)
    shuffled = measure(plane, places[RANDOM.permutation(500)], "euclidean")
    assert shuffled.trustworthiness < 0.6
    assert shuffled.continuity < 0.6
    assert shuffled.recall < 0.1


@by_metric
def test_turning_moving_and_scaling_the_map_changes_nothing(metric: Metric) -> None:
    vectors, places = scene(400)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]], np.float32)
    first, second = (
        measure(vectors, places, metric),
        measure(vectors, 2 * places @ turn + 3, metric),
    )
    assert first.trustworthiness == pytest.approx(second.trustworthiness, abs=1e-5)
    assert first.recall == pytest.approx(second.recall, abs=1e-3)


@by_metric
def test_the_order_of_the_points_changes_nothing(metric: Metric) -> None:
    vectors, places = scene(400)
    order = RANDOM.permutation(400)
    assert measure(vectors[order], places[order], metric) == measure(vectors, places, metric)


@by_metric
@pytest.mark.parametrize("k", [3, 15])
def test_known_neighbors_and_small_blocks_give_the_same(
    metric: Metric, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, places = scene(600)
    plain = measure(vectors, places, metric, k=k)
    assert measure(vectors, places, metric, k=k, neighbors=nearest(vectors, 15, metric)) == plain
    few = nearest(vectors, 2, metric)  # too few to be of use
    assert measure(vectors, places, metric, k=k, neighbors=few) == plain
    monkeypatch.setattr(module, "_BLOCK_BYTES", 8 * 600 * 7)
    assert measure(vectors, places, metric, k=k) == plain


@by_metric
def test_a_sample_of_many_points_is_near_the_whole_and_always_the_same(metric: Metric) -> None:
    vectors, places = scene(4000)
    whole = measure(vectors, places, metric, sample=None)
    sampled = measure(vectors, places, metric)
    assert whole.n_measured == 4000
    assert sampled.n_measured == 2000
    assert sampled.trustworthiness == pytest.approx(whole.trustworthiness, abs=0.01)
    assert sampled.continuity == pytest.approx(whole.continuity, abs=0.01)
    assert sampled.recall == pytest.approx(whole.recall, abs=0.02)
    assert measure(vectors, places, metric) == sampled
    assert measure(vectors, places, metric, seed=1) != sampled
    if metric == "euclidean":
        exact = trustworthiness(vectors.astype(np.float64), places, n_neighbors=15)
        assert whole.trustworthiness == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (5, 2), (15, 7), (31, 15), (32, 15)])
def test_k_is_brought_below_half_the_points(n: int, k: int) -> None:
    found = measure(*scene(n), "cosine")
    assert found.k == k
    assert 0 <= found.trustworthiness <= 1


@by_metric
def test_equal_and_zero_vectors_are_measured(metric: Metric) -> None:
    vectors, places = scene(40)
    vectors[:12] = vectors[0]
    vectors[12:15] = 0
    places[:12] = places[0]
    found = measure(vectors, places, metric, k=5)
    assert 0 < found.trustworthiness <= 1
    assert 0 < found.continuity <= 1


def test_what_cannot_be_measured_is_refused() -> None:
    vectors, places = scene(3)
    with pytest.raises(RequestError, match="4 points or more"):
        measure(vectors, places, "cosine")
    vectors, places = scene(10)
    with pytest.raises(RequestError, match="10 vectors, 9 places"):
        measure(vectors, places[:9], "cosine")
    with pytest.raises(RequestError, match="k = 0"):
        measure(vectors, places, "cosine", k=0)
