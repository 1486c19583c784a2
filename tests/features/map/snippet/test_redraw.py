"""The snippet that draws a map again: run as a reader would, it gives the very same coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Passport
from components.features.map.snippet import redraw_snippet
from components.maps.projection import Map, MapSettings, project
from components.ui.widgets.export import to_npz
from tests.support.snippets import run

PASSPORT = Passport("model", "1", "abc", "exact", {})
SENTENCES = (
    "The river bank was muddy after the rain.",
    "She opened an account at the bank on Monday.",
    "A bank of clouds rolled over the hills.",
    "My pet python sleeps under a warm lamp.",
    "He wrote the whole program in Python.",
)


@pytest.fixture(scope="module")
def vectors(service: EncoderService) -> np.ndarray:
    """Own tokens of a few sentences at the last layer."""
    encodings = service.encode(BUNDLED_ID, SENTENCES, layers=[6])
    return np.concatenate([e.hidden[0][e.special_tokens_mask == 0] for e in encodings])


def redrawn(vectors: np.ndarray, settings: MapSettings, folder: Path) -> tuple[Map, dict[str, Any]]:
    shown = project(vectors, settings)
    arrays = {
        "vectors": vectors,
        "coordinates": shown.coordinates,
        "neighbor_indices": shown.neighbors.indices,
        "neighbor_distances": shown.neighbors.distances,
    }
    (folder / "map.npz").write_bytes(to_npz(arrays, PASSPORT))
    code = redraw_snippet(shown, file=str(folder / "map.npz"))
    ours = "components.maps.layouts"
    assert code.count(ours) == (shown.method == "umap")  # nothing else of ours is needed
    assert "components." not in code.replace(ours, "").replace("n_components", "")
    assert ours not in code.split("# Optional: ")[0]  # umap-learn alone leads
    return shown, run(code)


@pytest.mark.parametrize("method", ["umap", "pca", "tsne"])
@pytest.mark.parametrize(("metric", "n_components"), [("cosine", 2), ("euclidean", 3)])
def test_the_very_same_map_is_drawn(
    vectors: np.ndarray, tmp_path: Path, method: str, metric: str, n_components: int
) -> None:
    settings = MapSettings(
        method=method, metric=metric, n_components=n_components, n_neighbors=10, seed=3
    )
    shown, found = redrawn(vectors, settings, tmp_path)
    assert shown.method == method
    assert found["same"]
    if method == "umap":  # umap-learn alone
        assert found["plain"].shape == shown.coordinates.shape
        assert np.isfinite(found["plain"]).all()
    np.testing.assert_array_equal(found["coordinates"], shown.coordinates)
    assert shown.honesty is not None
    assert found["trusted"] == pytest.approx(shown.honesty.trustworthiness, abs=1e-6)
    assert found["continuity"] == pytest.approx(shown.honesty.continuity, abs=1e-6)


def test_other_settings_reach_the_drawing(vectors: np.ndarray, tmp_path: Path) -> None:
    usual = project(vectors, MapSettings()).coordinates
    for change in ({"min_dist": 0.8, "seed": 7}, {"n_neighbors": 200, "effort": "full"}):
        shown, found = redrawn(vectors, MapSettings(**change), tmp_path)
        assert found["same"], change
        assert not np.array_equal(shown.coordinates, usual)


def test_equal_and_zero_vectors_are_drawn_alike(vectors: np.ndarray, tmp_path: Path) -> None:
    awkward = vectors.copy()
    awkward[5:9] = awkward[4]
    awkward[10] = 0
    assert redrawn(awkward, MapSettings(), tmp_path)[1]["same"]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 14])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_few_points_are_drawn_by_pca(
    vectors: np.ndarray, tmp_path: Path, n: int, metric: str
) -> None:
    shown, found = redrawn(vectors[:n], MapSettings(metric=metric), tmp_path)
    assert shown.method == "pca"
    assert found["same"]
    assert ("trusted" in found) == (n >= 4)


def test_vectors_that_are_all_the_same_are_drawn_alike(tmp_path: Path) -> None:
    for metric in ("cosine", "euclidean"):
        same = np.ones((20, 5), np.float32)
        assert redrawn(same, MapSettings(metric=metric), tmp_path)[1]["same"]


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_a_sample_is_measured_as_the_page_did(tmp_path: Path, metric: str) -> None:
    random = np.random.default_rng(0)
    many = random.normal(size=(3001, 8)).astype(np.float32)
    shown, found = redrawn(many, MapSettings(method="pca", metric=metric), tmp_path)
    assert shown.honesty is not None
    assert len(found["points"]) == shown.honesty.n_measured == 2000
    assert found["trusted"] == pytest.approx(shown.honesty.trustworthiness, abs=1e-5)
    assert found["continuity"] == pytest.approx(shown.honesty.continuity, abs=1e-5)
