"""What a map can be made of and asked for: odd vectors and settings, or a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from components.core.errors import RequestError
from components.maps.projection import project
from components.maps.request import MapSettings, Method
from components.maps.vector_space import METRICS, Metric
from tests.maps.projection.projections import assert_same, blobs, by_method

# Small, equal and odd vectors


@by_method
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 14, 15, 16])
def test_few_points_have_a_map(method: Method, n: int) -> None:
    found = project(blobs(n), MapSettings(method=method, n_neighbors=2))
    assert found.coordinates.shape == (n, 2)
    assert np.isfinite(found.coordinates).all()
    assert found.method == (method if n >= 15 else "pca")
    assert bool(found.reason) == (n < 15 and method != "pca")
    assert (found.honesty is None) == (n < 4)
    if n == 1:
        assert not found.coordinates.any()


def test_the_reason_says_how_many_points_there_are() -> None:
    reason = project(blobs(7), MapSettings(method="tsne")).reason
    assert reason == "PCA was drawn: t-SNE needs at least 15 points, and there are 7."
    assert "there is 1." in project(blobs(1), MapSettings()).reason


@pytest.mark.parametrize(("method", "most"), [("umap", 39), ("tsne", 13)])
def test_too_many_neighbors_are_brought_down_and_said(method: Method, most: int) -> None:
    found = project(blobs(40), MapSettings(method=method, n_neighbors=200))
    assert found.method == method
    assert f"used {most} neighbours" in found.reason
    assert "not the 200" in found.reason


@by_method
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_equal_vectors_are_one_place(method: Method, metric: Metric, value: float) -> None:
    vectors = np.full((50, 7), value, np.float32)
    found = project(vectors, MapSettings(method=method, metric=metric))
    assert found.method == "pca"
    assert method == "pca" or "all 50 vectors are the same" in found.reason
    assert not found.coordinates.any()
    assert found.honesty is not None
    assert np.isfinite(found.honesty.trustworthiness)


@pytest.mark.parametrize("method", ["umap", "tsne"])
@pytest.mark.parametrize("metric", METRICS)
def test_zeros_and_copies_among_others_do_no_harm(method: Method, metric: Metric) -> None:
    vectors = np.concatenate([blobs(80), np.zeros((5, 12)), np.tile(blobs(2), (40, 1))])
    found = project(vectors, MapSettings(method=method, metric=metric))
    assert found.method == method
    assert np.isfinite(found.coordinates).all()
    assert np.isfinite(found.neighbors.distances).all()
    spread = found.coordinates.std(axis=0)
    assert (spread > 0.1).all()


@pytest.mark.parametrize("method", ["umap", "tsne"])
def test_vectors_on_a_line_or_of_one_dimension_work(method: Method) -> None:
    line = np.outer(np.linspace(1, 9, 40), np.arange(1, 6))
    for vectors in (line, line[:, :1]):
        found = project(vectors, MapSettings(method=method, metric="euclidean"))
        assert found.method == method
        assert np.isfinite(found.coordinates).all()


def test_whole_numbers_and_doubles_are_vectors_too() -> None:
    numbers = np.random.default_rng(0).integers(-9, 9, size=(40, 6))
    settings = MapSettings()
    assert_same(project(numbers, settings), project(numbers.astype(np.float64), settings))


@pytest.mark.parametrize(
    ("vectors", "told"),
    [
        (np.where(np.arange(40)[:, None] < 3, np.nan, np.ones((40, 4))), "3 of 40 vectors"),
        (np.full((20, 4), np.inf), "20 of 20 vectors"),
        (np.zeros((0, 4)), "at least one vector"),
        (np.zeros(4), r"\(n, d\)"),
        ([["a"]], "numbers"),
    ],
)
def test_bad_vectors_are_refused(vectors: Any, told: str) -> None:
    with pytest.raises(RequestError, match=told):
        project(vectors, MapSettings())


# Settings


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("method", ["isomap", "", None, 3, ["umap"], "UMAP"]),
        ("metric", ["manhattan", None, 1.0]),
        ("effort", ["slow", None, True]),
        ("n_components", [1, 4, 2.0, "2", True, None, float("nan")]),
        ("n_neighbors", [1, 201, 10**30, 15.0, False, None, float("inf")]),
        ("min_dist", [-0.01, 0.991, float("nan"), float("inf"), True, "0.1", None, 10**5000]),
        ("seed", [-1, 2**31, 0.0, None, True, 10**5000]),
    ],
)
def test_settings_that_are_not_allowed_are_refused(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(RequestError, match=f"^{name} of a map was .* must be"):
            MapSettings(**{name: value})


@pytest.mark.parametrize(
    "given",
    [
        {"method": "tsne", "n_components": 3, "metric": "euclidean", "effort": "full"},
        {"n_neighbors": np.int64(200), "min_dist": 0, "seed": 2**31 - 1},
        {"n_neighbors": 2, "min_dist": np.float32(0.5), "seed": 0},
        {},
    ],
)
def test_settings_are_told_and_read_back(given: dict[str, Any]) -> None:
    import json

    settings = MapSettings(**given)
    told = json.loads(json.dumps(settings.as_dict()))
    assert MapSettings.from_dict(told) == settings


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(RequestError, match="perplexity: no such setting"):
        MapSettings.from_dict({"perplexity": 30})
