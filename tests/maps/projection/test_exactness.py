"""Maps of vectors: the same every time, and equal to the libraries' own."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from scipy.spatial import procrustes
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness

from components.maps import layouts
from components.maps.compiled import umap_functions
from components.maps.layouts import optimize, pca
from components.maps.projection import Map, project
from components.maps.request import MapSettings, Method
from components.maps.vector_space import METRICS, Metric, VectorSpace
from tests.maps.projection.projections import assert_same, blobs, by_method

# The same every time


@pytest.mark.slow
@by_method
@pytest.mark.parametrize("n_components", [2, 3])
def test_a_map_is_the_same_again_bit_for_bit(method: Method, n_components: int) -> None:
    settings = MapSettings(method=method, n_components=n_components)
    first = project(blobs(300), settings)
    project(blobs(250, seed=1), MapSettings(seed=5))  # what ran between does not matter
    second = project(blobs(300), settings)
    assert_same(first, second)
    assert first.coordinates.shape == (300, n_components)
    assert first.coordinates.dtype == np.float32
    assert first.method == method
    assert first.reason == ""
    assert first.honesty is not None
    assert first.honesty.trustworthiness > 0.85


@pytest.mark.slow
def test_maps_made_at_once_are_those_made_one_by_one() -> None:
    wanted = [MapSettings(seed=0), MapSettings(seed=1), MapSettings(method="tsne"), MapSettings()]
    vectors = blobs(400)
    alone = [project(vectors, settings) for settings in wanted]
    together: dict[int, Map] = {}

    def make(i: int) -> None:
        together[i] = project(vectors, wanted[i])

    stop = threading.Event()

    def load() -> None:
        while not stop.is_set():
            np.random.default_rng(0).normal(size=(300, 300)) @ np.ones((300, 300))

    busy = threading.Thread(target=load)
    threads = [threading.Thread(target=make, args=(i,)) for i in reversed(range(len(wanted)))]
    for thread in [busy, *threads]:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    busy.join()
    for i, expected in enumerate(alone):
        assert_same(together[i], expected)


def test_numpys_own_random_state_is_neither_read_nor_changed() -> None:
    np.random.seed(1)
    before = np.random.get_state()[1].copy()  # type: ignore[index, union-attr]
    first = project(blobs(60), MapSettings())
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # type: ignore[index]
    np.random.seed(2)
    assert_same(first, project(blobs(60), MapSettings()))


def test_another_seed_gives_another_umap_and_the_same_pca() -> None:
    vectors = blobs(200)
    maps = [project(vectors, MapSettings(seed=seed)).coordinates for seed in (0, 1)]
    assert not np.array_equal(*maps)
    flat = [project(vectors, MapSettings(method="pca", seed=s)).coordinates for s in (0, 1)]
    np.testing.assert_array_equal(*flat)


def test_vectors_given_are_left_as_they_are() -> None:
    vectors = blobs(60)
    kept = vectors.copy()
    vectors.flags.writeable = False
    for metric in METRICS:
        project(vectors, MapSettings(metric=metric))
    np.testing.assert_array_equal(vectors, kept)


# Against the libraries


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n", "n_neighbors"), [(300, 10), (300, 40)])
def test_links_and_curve_are_umap_learns(metric: Metric, n: int, n_neighbors: int) -> None:
    """The map is that of umap-learn's own graph and curve, from the PCA start, by our layout."""
    vectors = blobs(n)
    settings = MapSettings(metric=metric, n_neighbors=n_neighbors, min_dist=0.3, seed=3)
    ours = project(vectors, settings)
    others = slice(0, n_neighbors - 1)
    indices = np.column_stack([np.arange(n), ours.neighbors.indices[:, others]])
    distances = np.column_stack([np.zeros(n), ours.neighbors.distances[:, others]])
    with umap_functions() as umap:
        mapper = umap.UMAP(
            n_neighbors=n_neighbors,
            min_dist=0.3,
            transform_mode="graph",
            precomputed_knn=(indices.astype(np.int32), distances.astype(np.float32)),
            random_state=0,
            n_jobs=1,
        )
        with pytest.warns(UserWarning, match="not an NNDescent object"):
            mapper.fit(vectors)
    start = pca(VectorSpace.of(vectors, metric).rows, 2)
    start = start * (10.0 / float(np.abs(start).max()))
    shaking = np.random.RandomState(3).normal(scale=1e-4, size=start.shape)
    expected = optimize(
        mapper.graph_,
        (start + shaking).astype(np.float32),
        a=mapper._a,
        b=mapper._b,
        n_epochs=settings.n_epochs(n),
        seed=3,
    )
    np.testing.assert_array_equal(ours.coordinates, expected)


@pytest.mark.slow
def test_full_effort_is_as_good_as_plain_umap_learn() -> None:
    vectors = blobs(600)
    with umap_functions() as umap:
        plain = umap.UMAP(metric="cosine", random_state=0, n_jobs=1).fit_transform(vectors)
    theirs = trustworthiness(vectors, plain, n_neighbors=15, metric="cosine")
    ours = project(vectors, MapSettings(effort="full")).honesty
    assert ours is not None
    assert ours.trustworthiness > theirs - 0.01


@pytest.mark.parametrize(("n", "d"), [(200, 12), (20, 30)])
def test_pca_is_scikit_learns_but_for_signs(n: int, d: int) -> None:
    vectors = blobs(n, d)
    ours = project(vectors, MapSettings(method="pca", metric="euclidean", n_components=3))
    theirs = PCA(3).fit_transform(vectors.astype(np.float64))
    scale = np.abs(ours.coordinates).max() / np.abs(theirs).max()
    np.testing.assert_allclose(
        np.abs(ours.coordinates), scale * np.abs(theirs), atol=1e-4 * scale * np.abs(theirs).max()
    )


def test_pca_does_not_see_rotation() -> None:
    from scipy.stats import ortho_group

    vectors = blobs(100)
    turned = vectors @ ortho_group.rvs(12, random_state=0).astype(np.float32)
    settings = MapSettings(method="pca")
    first, second = project(vectors, settings), project(turned, settings)
    assert procrustes(first.coordinates, second.coordinates)[2] < 1e-9
    assert first.honesty == second.honesty


def test_permuted_points_are_permuted_on_a_pca_map() -> None:
    vectors, order = blobs(150), np.random.default_rng(0).permutation(150)
    settings = MapSettings(method="pca")
    first, second = project(vectors, settings), project(vectors[order], settings)
    np.testing.assert_allclose(first.coordinates[order], second.coordinates, atol=1e-5)


@pytest.mark.slow
def test_tsne_is_scikit_learns_on_the_same_start() -> None:
    random = np.random.default_rng(0)
    sheet = random.uniform(size=(200, 2)) * [2, 1] @ random.normal(size=(2, 12))
    vectors = sheet + 0.01 * random.normal(size=sheet.shape)
    ours = project(vectors, MapSettings(method="tsne", metric="euclidean", n_neighbors=20))
    # Thousands of steps carry rounding far; the arrangement of a sheet is the same.
    assert procrustes(ours.coordinates, scikit_learns_tsne(vectors, 2))[2] < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("n_components", [2, 3])
def test_tsne_is_as_faithful_as_scikit_learns(n_components: int) -> None:
    vectors = blobs(200)
    settings = MapSettings(
        method="tsne", metric="euclidean", n_neighbors=20, n_components=n_components
    )
    ours, theirs = project(vectors, settings).coordinates, scikit_learns_tsne(vectors, n_components)
    least = trustworthiness(vectors, theirs, n_neighbors=10) - 0.005
    assert trustworthiness(vectors, ours, n_neighbors=10) > least


def scikit_learns_tsne(vectors: np.ndarray, n_components: int) -> np.ndarray:
    rows = VectorSpace.of(vectors, "euclidean").rows
    start = pca(rows, n_components)
    start = (start / np.std(start[:, 0]) * 1e-4).astype(np.float32)
    theirs = TSNE(n_components, perplexity=20, init=start, random_state=0)
    found: np.ndarray = theirs.fit_transform(rows)
    return found


@pytest.mark.parametrize("n_components", [2, 3])
def test_tsne_in_two_threads_is_that_of_one(
    n_components: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = MapSettings(method="tsne", n_components=n_components)
    monkeypatch.setattr(layouts, "_N_LATE", 20)  # threads that wait for a busy machine are slow
    monkeypatch.setattr(layouts, "_N_EARLY", 10)
    alone = project(blobs(150), settings)
    monkeypatch.setattr(layouts, "_ONE_THREAD_BELOW", 0)
    assert_same(project(blobs(150), settings), alone)
