"""Planes rotated from layer to layer, beside scikit-learn's components."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA

from contextlens.analysis.separation import scaled
from contextlens.core import EncoderService
from contextlens.features.senses.layers import first_plane, next_plane, units_at
from tests.support.senses import SENSES, clouds, live, uses_of


def test_vectors_are_scaled(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, sense=SENSES)
    uses = uses_of(corpus, "  PYTHON ")
    np.testing.assert_allclose(
        units_at(uses, corpus, 2), scaled(corpus.vectors(uses.occurrences, 2))
    )


def test_the_first_plane_is_that_of_the_principal_components() -> None:
    units, _ = clouds((20, 15))
    positions = first_plane(units).positions
    expected = PCA(2).fit_transform(units)
    np.testing.assert_allclose(pdist(positions), pdist(expected), atol=1e-4)
    assert np.ptp(positions[:, 0]) > np.ptp(positions[:, 1])


def test_a_plane_is_rotated_onto_its_neighbour_and_keeps_its_distances() -> None:
    units, _ = clouds((20, 15))
    before = first_plane(units)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(24, 24)))[0]
    after = next_plane((units @ rotation).astype(np.float32), before)
    np.testing.assert_allclose(after.positions, before.positions, atol=1e-4)
    alone = first_plane(units[:, ::-1])
    np.testing.assert_allclose(pdist(after.positions), pdist(alone.positions), atol=1e-4)


def test_a_further_vector_lies_where_an_equal_one_does() -> None:
    units, _ = clouds((20, 15))
    plane = next_plane(units[:, ::-1], first_plane(units))
    for row in (0, 20, 34):
        np.testing.assert_allclose(plane.project(units[row, ::-1]), plane.positions[row], atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_vectors_and_equal_ones_have_positions_too(n: int) -> None:
    units = clouds((5,))[0][:n]
    plane = first_plane(units)
    assert plane.positions.shape == next_plane(units, plane).positions.shape == (n, 2)
    assert np.isfinite(plane.positions).all()
    assert np.isfinite(first_plane(np.repeat(clouds((1,))[0], 7, axis=0)).positions).all()
