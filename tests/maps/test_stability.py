"""Maps from three seeds beside each other, against making each of them from scratch."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial import procrustes
from sklearn.neighbors import NearestNeighbors

from contextlens.core.errors import RequestError
from contextlens.maps.projection import project
from contextlens.maps.request import MapSettings
from contextlens.maps.stability import stability

RANDOM = np.random.default_rng(0)
VECTORS = RANDOM.normal(size=(8, 10))[RANDOM.integers(0, 8, 150)] * 4 + RANDOM.normal(
    size=(150, 10)
)


def test_stability_is_that_of_three_maps_made_one_by_one() -> None:
    settings = MapSettings(seed=2**31 - 2)
    first = project(VECTORS, settings)
    shares: list[float] = []
    found = stability(VECTORS, settings, first=first, on_progress=lambda _, s: shares.append(s))
    assert found.seeds == (2**31 - 2, 2**31 - 1, 0)
    assert found.reason == ""
    maps = [project(VECTORS, replace(settings, seed=s)).coordinates[0] for s in found.seeds]
    expected = [procrustes(*pair)[2] for pair in combinations(maps, 2)]
    np.testing.assert_allclose(found.disparities, expected, rtol=1e-12)
    near = [NearestNeighbors().fit(m).kneighbors(None, 15)[1] for m in maps]
    shared = [
        len(set(x) & set(y)) / 15
        for a, b in combinations(near, 2)
        for x, y in zip(a, b, strict=True)
    ]
    assert found.shared_neighbors == pytest.approx(np.mean(shared))
    assert 0.3 < found.shared_neighbors < 1.0
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert stability(VECTORS, settings, first=first) == found


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_what_draws_nothing_at_random_is_stable_and_says_so(method: str) -> None:
    settings = MapSettings.from_dict({"method": method})
    found = stability(VECTORS[:40], settings, first=project(VECTORS[:40], settings))
    assert found.disparities == (0.0, 0.0, 0.0)
    assert found.shared_neighbors == 1.0
    assert "draws nothing at random" in found.reason


def test_stability_can_be_ended_in_the_second_run() -> None:
    settings = MapSettings()
    first = project(VECTORS, settings)

    def stop(stage: str, share: float) -> None:
        if "third" in stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stability(VECTORS, settings, first=first, on_progress=stop)


def test_another_maps_vectors_or_settings_are_refused() -> None:
    settings = MapSettings()
    first = project(VECTORS, settings)
    for vectors, other in ((VECTORS[:50], settings), (VECTORS, MapSettings(seed=1))):
        with pytest.raises(RequestError, match="Give what the map was made of"):
            stability(vectors, other, first=first)
