"""The snippet of a map of all layers: first a library alone, then the very same map."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Passport
from components.features.map.snippet import redraw_layers_snippet
from components.maps.layer_maps import project_layers
from components.maps.request import MapSettings
from components.ui.widgets.export import to_npz
from tests.support.snippets import run

PASSPORT = Passport("model", "1", "abc", "exact", {})
SENTENCES = (
    "The river bank was muddy after the rain.",
    "She opened an account at the bank on Monday.",
    "My pet python sleeps under a warm lamp.",
)
OURS = "from components."


@pytest.fixture(scope="module")
def vectors(service: EncoderService) -> np.ndarray:
    """(3, n, dims): own tokens of a few sentences at three layers."""
    encodings = service.encode(BUNDLED_ID, SENTENCES, layers=[0, 3, 6])
    return np.concatenate([e.hidden[:, e.special_tokens_mask == 0] for e in encodings], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "chosen"),
    [
        ("joint", {"n_neighbors": 10, "seed": 3}),
        ("joint", {"metric": "euclidean", "n_components": 3, "effort": "full", "min_dist": 0.5}),
        ("joint", {"method": "pca"}),
        ("joint", {"method": "tsne", "n_neighbors": 40}),
        ("aligned", {"n_neighbors": 8}),
    ],
)
def test_a_library_alone_leads_and_the_very_same_map_follows(
    vectors: np.ndarray, tmp_path: Path, how: str, chosen: dict[str, object]
) -> None:
    settings = MapSettings.from_dict(chosen)
    shown = project_layers(vectors, settings, how=how)
    arrays = {"all_vectors": vectors, "all_coordinates": shown.coordinates}
    (tmp_path / "map.npz").write_bytes(to_npz(arrays, PASSPORT))
    code = redraw_layers_snippet(
        settings, shown.method, how, n_points=vectors.shape[1], file=str(tmp_path / "map.npz")
    )
    lead, optional = code.split("# Optional: ")
    assert OURS not in lead
    assert optional.count(OURS) == 2
    alone = run(lead)
    assert alone["plain"].shape == shown.coordinates.shape
    assert np.isfinite(alone["plain"]).all()
    found = run(f"# Optional: {optional}", alone)
    assert found["same"]
    np.testing.assert_array_equal(found["coordinates"], shown.coordinates)


def test_few_points_are_drawn_by_pca(vectors: np.ndarray, tmp_path: Path) -> None:
    settings = MapSettings()
    for few in (vectors[:, :1], vectors[:, :3], np.ones((3, 20, 5), np.float32)):
        shown = project_layers(few, settings)
        arrays = {"all_vectors": few, "all_coordinates": shown.coordinates}
        (tmp_path / "map.npz").write_bytes(to_npz(arrays, PASSPORT))
        n = few.shape[1]
        found = run(
            redraw_layers_snippet(
                settings, shown.method, "joint", n_points=n, file=str(tmp_path / "map.npz")
            )
        )
        assert shown.method == "pca"
        assert found["same"]
        assert np.isfinite(found["plain"]).all()
