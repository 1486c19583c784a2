"""Maps through the layers: one picture, ways that do not jump, each layer measured in its space."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.errors import RequestError
from components.maps.layer_maps import How, project_layers
from components.maps.map_quality import measure
from components.maps.neighbors import map_neighbors, nearest
from components.maps.projection import project
from components.maps.request import METHODS, MapSettings, Method
from components.maps.vector_space import METRICS, Metric

N_LAYERS = 4


def layers(n: int, *, drift: float = 0.5, d: int = 16) -> np.ndarray:
    """Clusters that drift from layer to layer, each layer far from the others and longer."""
    random = np.random.default_rng(0)
    first = 2 * random.normal(size=(6, d))[random.integers(0, 6, n)] + random.normal(size=(n, d))
    steps = drift * random.normal(size=(N_LAYERS, n, d)).cumsum(axis=0)
    places = 30 * random.normal(size=(N_LAYERS, 1, d))
    sizes = np.arange(1, N_LAYERS + 1)[:, None, None]
    return (sizes * (first + steps) + places).astype(np.float32)


def self_rank(coordinates: np.ndarray) -> float:
    """The mean share of the next layer's points that are nearer to a point than itself there."""
    shares = []
    for here, there in pairwise(coordinates):
        distances = np.linalg.norm(here[:, None] - there[None], axis=-1)
        shares.append((distances < np.diagonal(distances)[:, None]).mean())
    return float(np.mean(shares))


def same_layer(coordinates: np.ndarray) -> float:
    """The share of map neighbours that are of the same layer."""
    n_layers, n, n_components = coordinates.shape
    own = np.repeat(np.arange(n_layers), n)
    found = map_neighbors(coordinates.reshape(-1, n_components), 15).indices
    return float((own[found] == own[:, None]).mean())


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metric", METRICS)
def test_joint_maps_are_one_picture_without_an_island_for_each_layer(
    method: Method, metric: Metric
) -> None:
    vectors = layers(80)
    settings = MapSettings(method=method, metric=metric)
    found = project_layers(vectors, settings)
    assert found.coordinates.shape == (N_LAYERS, 80, 2)
    assert found.coordinates.dtype == np.float32
    assert (found.method, found.how, found.reason) == (method, "joint", "")
    assert self_rank(found.coordinates) < 0.2  # 0.5 by chance
    assert same_layer(found.coordinates) < 0.8
    again = project_layers(vectors, settings)
    np.testing.assert_array_equal(found.coordinates, again.coordinates)


@pytest.mark.slow
def test_layers_of_the_model_share_one_map(service: EncoderService) -> None:
    from components.content.bundled_texts import baseline_sentences

    encoded = service.encode(BUNDLED_ID, list(baseline_sentences())[:25])
    vectors = np.concatenate([one.hidden for one in encoded], axis=1)
    found = project_layers(vectors, MapSettings())
    assert self_rank(found.coordinates) < 0.1
    assert same_layer(found.coordinates) < 0.6
    for measured in found.honesty:
        assert measured is not None
        assert measured.trustworthiness > 0.75


def test_each_layer_is_measured_in_its_own_full_space() -> None:
    vectors = layers(60)
    found = project_layers(vectors, MapSettings(metric="euclidean"))
    for i, layer in enumerate(vectors):
        expected = nearest(layer, 15, "euclidean")
        np.testing.assert_array_equal(found.neighbors[i].indices, expected.indices)
        np.testing.assert_array_equal(found.neighbors[i].distances, expected.distances)
        assert found.honesty[i] == measure(layer, found.coordinates[i], "euclidean")


def test_a_point_that_does_not_change_stays_in_its_place() -> None:
    """All layers alike: the ways are short beside the map."""
    vectors = np.repeat(layers(60, drift=0)[:1], N_LAYERS, axis=0)
    places = project_layers(vectors, MapSettings()).coordinates
    steps = np.linalg.norm(np.diff(places, axis=0), axis=-1)
    assert np.median(steps) < 0.1 * places.std()


def test_where_layers_are_does_not_matter_for_a_joint_map() -> None:
    vectors = layers(50)
    settings = MapSettings(method="pca", metric="euclidean")
    moved = project_layers(vectors * 7 + np.arange(N_LAYERS)[:, None, None], settings)
    plain = project_layers(vectors, settings)
    np.testing.assert_allclose(moved.coordinates, plain.coordinates, atol=1e-3)


@pytest.mark.slow
def test_aligned_maps_hold_the_layers_together_and_are_the_same_again() -> None:
    vectors = layers(60)
    first = project_layers(vectors, MapSettings(), how="aligned")
    project(vectors[0], MapSettings(seed=4))
    second = project_layers(vectors, MapSettings(), how="aligned")
    np.testing.assert_array_equal(first.coordinates, second.coordinates)
    assert first.how == "aligned"
    assert first.coordinates.shape == (N_LAYERS, 60, 2)
    assert self_rank(first.coordinates) < 0.2
    other = project_layers(vectors, MapSettings(seed=1), how="aligned")
    assert not np.array_equal(first.coordinates, other.coordinates)
    for measured in first.honesty:
        assert measured is not None
        assert measured.trustworthiness > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 40, 5), (2, 40, 5), (3, 14, 5), (3, 3, 2), (1, 1, 1)])
@pytest.mark.parametrize("how", ["joint", "aligned"])
def test_few_layers_and_few_points_have_maps(shape: tuple[int, int, int], how: How) -> None:
    vectors = np.random.default_rng(0).normal(size=shape)
    found = project_layers(vectors, MapSettings(), how=how)
    assert found.coordinates.shape == (*shape[:2], 2)
    assert np.isfinite(found.coordinates).all()
    assert (found.method == "pca") == (shape[1] < 15)
    assert bool(found.reason) == (shape[1] < 15)
    assert found.how == (how if shape[1] >= 15 and shape[0] > 1 else "joint")
    assert all((one is None) == (shape[1] < 4) for one in found.honesty)


@pytest.mark.parametrize("metric", METRICS)
def test_a_layer_of_equal_or_zero_vectors_does_no_harm(metric: Metric) -> None:
    vectors = layers(40)
    vectors[1] = 3.0
    vectors[2] = 0.0
    found = project_layers(vectors, MapSettings(metric=metric))
    assert np.isfinite(found.coordinates).all()
    assert found.method == "umap"
    same = project_layers(np.ones((3, 20, 4)), MapSettings(metric=metric))
    assert same.method == "pca"
    assert "the same" in same.reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "method"), [("joint", "umap"), ("joint", "tsne"), ("joint", "pca"), ("aligned", "umap")]
)
def test_progress_rises_to_one_and_every_stage_can_end_the_work(how: How, method: Method) -> None:
    vectors, settings = layers(30), MapSettings(method=method)
    calls: list[tuple[str, float]] = []
    project_layers(vectors, settings, how=how, on_progress=lambda *call: calls.append(call))
    shares = [share for _, share in calls]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0

    def stop(stage: str, share: float, wanted: str) -> None:
        if stage == wanted:
            raise KeyboardInterrupt

    for stage in dict.fromkeys(stage for stage, _ in calls):
        with pytest.raises(KeyboardInterrupt):
            project_layers(
                vectors, settings, how=how, on_progress=lambda *call, s=stage: stop(*call, s)
            )


@pytest.mark.parametrize(
    ("vectors", "changes", "told"),
    [
        (np.zeros((3, 4)), {}, r"\(n_layers, n, d\)"),
        (np.zeros((0, 4, 4)), {}, "at least one vector"),
        (np.full((2, 20, 3), np.nan), {}, "40 of 40 vectors"),
        (np.zeros((2, 20, 3)), {"how": "side by side"}, "no way to map layers"),
        (np.zeros((2, 20, 3)), {"how": "aligned", "method": "pca"}, "UMAP alone"),
    ],
)
def test_bad_requests_are_refused(vectors: Any, changes: dict[str, Any], told: str) -> None:
    settings = MapSettings(method=changes.pop("method", "umap"))
    with pytest.raises(RequestError, match=told):
        project_layers(vectors, settings, **changes)
