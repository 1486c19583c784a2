"""Groups as scikit-learn finds them, and planes turned from layer to layer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from contextlens.analysis.separation import cosines_to
from contextlens.core.errors import RequestError
from contextlens.features.senses.measures import (
    agreement,
    best_k,
    central,
    components_of,
    dense_groups,
    first_placed,
    k_groups,
    next_placed,
    shuffled_agreement,
)
from tests.support.senses import clouds


@pytest.mark.parametrize("sizes", [(30, 20), (40, 25, 12), (200, 100, 60, 30)])
def test_clouds_that_lie_apart_are_the_groups(sizes: tuple[int, ...]) -> None:
    units, codes = clouds(sizes)
    assert adjusted_rand_score(codes, dense_groups(units)) > 0.95
    own = k_groups(units, len(sizes))
    assert own.tolist() == codes.tolist()
    assert best_k(units) == len(sizes)


def test_one_cloud_has_no_dense_groups() -> None:
    """A finding that chance gives one time in twenty or less is one."""
    found = [dense_groups(clouds((60,), seed=seed)[0]).max() >= 0 for seed in range(20)]
    assert sum(found) <= 2


def test_groups_are_the_same_each_time_and_for_any_order() -> None:
    units, _ = clouds((12, 11, 10), apart=1.0)
    order = np.random.default_rng(3).permutation(len(units))
    assert k_groups(units, 3).tolist() == k_groups(units, 3).tolist()
    assert adjusted_rand_score(k_groups(units, 3)[order], k_groups(units[order], 3)) > 0.9
    assert np.bincount(k_groups(units, 4)).tolist() == sorted(
        np.bincount(k_groups(units, 4)).tolist(), reverse=True
    )


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_few_vectors_have_no_groups(n: int) -> None:
    units = clouds((9,))[0][:n]
    assert dense_groups(units).tolist() == [-1] * n
    assert best_k(units) == 0


def test_equal_vectors_have_no_groups() -> None:
    units = np.repeat(clouds((1,))[0], 30, axis=0)
    assert best_k(units) == 0
    assert components_of(units).tolist() == [[0]] * 30
    with pytest.raises(RequestError, match="1 different vectors cannot make 2 groups"):
        k_groups(units, 2)


def test_agreement_is_scikit_learns_over_the_labelled_with_none_as_a_group() -> None:
    random = np.random.default_rng(0)
    groups, codes = random.integers(-1, 3, 80), random.integers(-1, 4, 80)
    own = codes >= 0
    assert agreement(groups, codes) == pytest.approx(adjusted_rand_score(codes[own], groups[own]))
    assert agreement(codes, codes) == 1
    assert math.isnan(agreement(groups, np.full(80, -1)))
    assert math.isnan(shuffled_agreement(groups, np.full(80, -1)))


def test_shuffled_labels_reach_a_little_above_nothing() -> None:
    random = np.random.default_rng(0)
    groups, codes = random.integers(0, 2, 60), random.integers(0, 2, 60)
    assert 0 < shuffled_agreement(groups, codes) < 0.15
    assert agreement(codes, codes) > shuffled_agreement(codes, codes)


def test_central_examples_are_those_with_the_highest_cosine_to_the_middle() -> None:
    units, codes = clouds((20, 10))
    middle = units[codes == 1].mean(axis=0)
    cosines = cosines_to(units, middle)
    expected = [i for i in np.argsort(-cosines, kind="stable") if codes[i] == 1][:3]
    assert central(units, codes, 1) == expected
    assert len(central(units, codes, 1, 99)) == 10


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_best_number_of_many_is_that_of_a_sample(k: int) -> None:
    units, _ = clouds([400] * k, apart=8.0)
    assert best_k(units) == k


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
