"""The plane: principal components, turned from layer to layer without changing a distance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA

from components.features.senses.measures import first_placed, next_placed
from tests.support.senses import clouds


def test_the_first_layer_is_its_principal_components() -> None:
    units, _ = clouds((20, 15))
    own = first_placed(units)
    expected = PCA(2).fit(units)
    np.testing.assert_allclose(pdist(own.places), pdist(expected.transform(units)), atol=1e-4)
    assert own.held == pytest.approx(expected.explained_variance_ratio_.sum(), abs=1e-5)
    assert np.ptp(own.places[:, 0]) > np.ptp(own.places[:, 1])


def test_a_later_layer_is_turned_onto_the_one_before_and_keeps_its_distances() -> None:
    units, _ = clouds((20, 15))
    before = first_placed(units)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(24, 24)))[0]
    after = next_placed((units @ turn).astype(np.float32), before)
    np.testing.assert_allclose(after.places, before.places, atol=1e-4)
    alone = first_placed(units[:, ::-1])
    np.testing.assert_allclose(pdist(after.places), pdist(alone.places), atol=1e-4)


def test_a_further_vector_is_put_where_an_equal_one_lies() -> None:
    units, _ = clouds((20, 15))
    own = next_placed(units[:, ::-1], first_placed(units))
    for row in (0, 20, 34):
        np.testing.assert_allclose(own.put(units[row, ::-1]), own.places[row], atol=1e-5)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_vectors_and_equal_ones_have_places_too(n: int) -> None:
    units = clouds((5,))[0][:n]
    own = first_placed(units)
    assert own.places.shape == next_placed(units, own).places.shape == (n, 2)
    assert np.isfinite(own.places).all()
    same = first_placed(np.repeat(clouds((1,))[0], 7, axis=0))
    assert np.isfinite(same.places).all()
    assert np.isnan(same.held)
