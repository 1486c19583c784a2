"""Parts of a way, what two do together, and whether two orders agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata
from sklearn.metrics.pairwise import cosine_similarity

from components.features.why.measures.effects import fraction, interaction, is_way, pair_cosines
from components.features.why.measures.order import FEWEST, order_of, places


@given(st.integers(0, 2**32 - 1), st.floats(-1, 2))
def test_a_fraction_is_that_of_the_way_whatever_lies_beside_it(seed: int, share: float) -> None:
    random = np.random.default_rng(seed)
    start, end, aside = random.normal(size=(3, 6))
    way = end - start
    aside -= way * (aside @ way) / (way @ way)
    assert fraction(start + share * way + aside, start, end) == pytest.approx(share, abs=1e-9)
    assert fraction(start, start, end) == 0
    assert fraction(end, start, end) == pytest.approx(1)
    assert is_way(start, end)


def test_there_is_no_way_between_equal_vectors() -> None:
    one = np.array([3.0, 4.0])
    assert not is_way(one, one + 1e-7)
    with pytest.raises(ValueError, match="no way"):
        fraction(one, one, one)


def test_pairs_of_vectors_are_in_the_order_of_combinations() -> None:
    vectors = np.random.default_rng(0).normal(size=(4, 5))
    expected = cosine_similarity(vectors)[np.triu_indices(4, 1)]
    np.testing.assert_allclose(pair_cosines(list(vectors)), expected, atol=1e-12)


def test_what_two_do_together_is_beyond_the_sum() -> None:
    pairs = np.array([[0.1, 0.5], [0.5, 0.2]])
    np.testing.assert_allclose(interaction(pairs), [[0, 0.2], [0.2, 0]])


@given(st.integers(0, 2**32 - 1), st.integers(FEWEST, 12))
def test_orders_are_compared_as_scipy_does(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    shares, changes = random.integers(0, 5, (2, n)) / 10
    found = order_of(shares, changes)
    assert found is not None
    expected = kendalltau(shares, -changes).statistic
    if np.ptp(shares) == 0 or np.ptp(changes) == 0:
        assert found.tau is None
    else:
        assert found.tau == pytest.approx(expected)
    ranks = rankdata(changes, method="min")
    assert found.place_left_out == ranks[found.by_share]
    assert shares[found.by_share] == shares.max()
    assert changes[found.by_leaving_out] == changes.min()


def test_few_words_have_no_order() -> None:
    assert order_of(np.ones(2), np.ones(2)) is None


def test_what_is_near_shares_the_better_place() -> None:
    assert places(np.array([0.5, 0.499, 0.3]), 0.01) == [1, 1, 3]
