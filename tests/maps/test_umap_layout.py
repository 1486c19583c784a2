"""UMAP's layout: the same in any number of threads, and as good as umap-learn's on any links."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.spatial import procrustes
from sklearn.datasets import load_digits, make_swiss_roll

from contextlens.core import EncoderService
from contextlens.maps import layouts
from contextlens.maps.compiled import umap_functions
from contextlens.maps.layouts import optimize
from contextlens.maps.map_quality import measure
from contextlens.maps.neighbors import map_neighbors, nearest
from contextlens.maps.projection import project
from contextlens.maps.request import MapSettings
from contextlens.maps.vector_space import VectorSpace
from tests.support.maps import QUICK, drawn_map, map_view

CURVE = {"a": 1.577, "b": 0.895}  # of min_dist 0.1
NO_WORSE = 0.01  # in trustworthiness and continuity, on average over seeds
SEEDS = (0, 1, 2)


def clusters(n: int = 700, d: int = 20) -> np.ndarray:
    random = np.random.default_rng(0)
    centres = 3 * random.normal(size=(9, d))
    return (centres[np.arange(n) % 9] + random.normal(size=(n, d))).astype(np.float32)


def linked(vectors: np.ndarray, n_components: int = 2) -> tuple[VectorSpace, Any, np.ndarray]:
    """The space of some vectors, its fuzzy graph, and a start for it."""
    space = VectorSpace.of(vectors, "euclidean")
    graph = layouts.links(nearest(space, 15), 15)
    start = layouts.pca(space.rows, n_components)
    return space, graph, (10 * start / np.abs(start).max()).astype(np.float32)


def by_umap_learn(graph: Any, start: np.ndarray, seed: int) -> np.ndarray:
    """Umap-learn's own layout after 500 rounds from the same start."""
    with umap_functions() as umap:
        found: np.ndarray = umap.simplicial_set_embedding(
            None, graph.copy(), start.shape[1], 1.0, **CURVE, gamma=1.0, negative_sample_rate=5,
            n_epochs=500, init=start.copy(), random_state=np.random.RandomState(seed),
            metric="euclidean", metric_kwds={}, densmap=False, densmap_kwds={}, output_dens=False,
        )[0]  # fmt: skip
    return found


@pytest.mark.parametrize(("n", "n_components"), [(40, 2), (700, 3), (2500, 2)])
def test_the_number_of_threads_and_tasks_changes_nothing(
    n: int, n_components: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, graph, start = linked(clusters(n), n_components)
    alone = optimize(graph, start, **CURVE, n_epochs=60, seed=1, n_threads=1)
    for points in (1000, 17, 333):
        monkeypatch.setattr(layouts, "_POINTS_A_THREAD", points)
        for n_threads in (2, 4):
            found = optimize(graph, start, **CURVE, n_epochs=60, seed=1, n_threads=n_threads)
            np.testing.assert_array_equal(found, alone)
    assert alone.shape == start.shape
    assert not np.array_equal(optimize(graph, start, **CURVE, n_epochs=60, seed=2), alone)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["clusters", "digits", "swiss roll"])
def test_maps_are_as_good_as_umap_learns_on_the_same_links(kind: str) -> None:
    vectors = {
        "clusters": clusters,
        "digits": lambda: load_digits().data[::4],
        "swiss roll": lambda: make_swiss_roll(500, random_state=0)[0],
    }[kind]()
    space, graph, start = linked(vectors)

    def kept(places: np.ndarray) -> tuple[float, float, float]:
        found = measure(space, places.astype(np.float32), k=15)
        return found.trustworthiness, found.continuity, found.recall

    theirs = np.mean([kept(by_umap_learn(graph, start, s)) for s in SEEDS], axis=0)
    for n_epochs, worse in ((800, NO_WORSE), (200, 1.5 * NO_WORSE)):
        runs = [optimize(graph, start, **CURVE, n_epochs=n_epochs, seed=s) for s in SEEDS]
        ours = np.mean([kept(places) for places in runs], axis=0)
        assert (ours[:2] > theirs[:2] - worse).all()
        assert ours[2] > theirs[2] - 2 * worse


def test_an_easy_picture_is_umap_learns() -> None:
    """A long sheet with a hole in it: there is one way to lay it out."""
    sheet = np.random.default_rng(0).uniform((0, 0), (24, 10), (800, 2))
    sheet = sheet[np.linalg.norm(sheet - (8, 5), axis=1) > 3]
    _, graph, start = linked(sheet)
    ours = optimize(graph, start, **CURVE, n_epochs=800, seed=0)
    theirs = by_umap_learn(graph, start, 0)
    assert procrustes(ours, theirs)[2] < 0.05
    assert 0.7 < ours.std() / theirs.std() < 1.4


@pytest.mark.slow
def test_a_map_of_words_is_as_like_umap_learn_s_as_that_is_to_itself(
    service: EncoderService,
) -> None:
    """The page's claim on the ready-made corpus's 688 words at layer 6: 78%, 78%, 0.995."""
    view = map_view(word="all", **QUICK)
    vectors = drawn_map(service, view).vectors[-1]
    assert len(vectors) == 688
    ours = project(vectors, MapSettings()).coordinates[0]
    theirs = [by_umap_learn_alone(vectors, seed) for seed in (0, 1)]
    near = [map_neighbors(places, 15).indices for places in (ours, *theirs)]
    like, itself = (
        np.mean([len(set(a) & set(b)) / 15 for a, b in zip(*pair, strict=True)])
        for pair in ((near[0], near[1]), (near[1], near[2]))
    )
    assert 0.72 < itself < 0.84
    assert like > itself - 0.06
    kept = [
        measure(VectorSpace.of(vectors, "cosine"), places).trustworthiness
        for places in (ours, *theirs)
    ]
    assert min(kept) > 0.99
    assert max(kept) - min(kept) < 0.005


def by_umap_learn_alone(vectors: np.ndarray, seed: int) -> np.ndarray:
    """The map of plain umap-learn."""
    import umap

    plain = umap.UMAP(n_neighbors=15, min_dist=0.1, metric="cosine", random_state=seed, n_jobs=1)
    places: np.ndarray = plain.fit_transform(vectors).astype(np.float32)
    return places


@pytest.mark.parametrize("n", [1, 2, 15, 31, 32, 33])
@pytest.mark.parametrize("min_dist", [0.0, 0.99])
def test_few_and_equal_points_stay_finite(n: int, min_dist: float) -> None:
    with umap_functions() as umap:
        a, b = umap.find_ab_params(1.0, min_dist)
    everyone = coo_matrix(np.ones((n, n)) - np.eye(n))
    for start in (np.zeros((n, 3), np.float32), np.full((n, 3), 1e4, np.float32)):
        found = optimize(everyone, start, a=a, b=b, n_epochs=100, seed=0)
        assert np.isfinite(found).all()


def test_a_point_without_links_stays() -> None:
    _, graph, start = linked(clusters(99))
    links = graph.tocoo()
    lonely = coo_matrix((links.data, (links.row, links.col)), (100, 100))
    found = optimize(lonely, np.pad(start, ((0, 1), (0, 0))), **CURVE, n_epochs=50, seed=0)
    np.testing.assert_array_equal(found[-1], [0, 0])
    assert np.isfinite(found).all()


def test_without_rounds_points_stay_and_reports_are_one_a_round() -> None:
    _, graph, start = linked(clusters(50))
    np.testing.assert_array_equal(optimize(graph, start, **CURVE, n_epochs=0, seed=0), start)
    shares: list[float] = []
    optimize(graph, start, **CURVE, n_epochs=4, seed=0, report=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]
