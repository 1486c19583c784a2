"""Parts of a way, what two do together, and whether two orders agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics.pairwise import cosine_similarity

from components.features.why.measures import (
    FEWEST,
    fraction,
    interaction,
    is_way,
    order_of,
    pair_cosines,
)


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


@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_orders_are_compared_as_scipy_does(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    shares, changes = random.integers(0, 5, (2, n)) / 10
    found = order_of(shares, changes)
    if np.ptp(shares) == 0 or np.ptp(changes) == 0:
        assert (found.verdict, found.tau) == ("cannot tell", None)
    else:
        assert found.tau == pytest.approx(kendalltau(shares, -changes).statistic)
        assert found.verdict != "same" or found.tau > 0
        assert found.verdict != "opposite" or found.tau < 0
        assert n >= FEWEST or found.verdict == "cannot tell"


@pytest.mark.parametrize("n", [FEWEST, 20, 60])
def test_random_orders_are_seldom_called_related(n: int) -> None:
    random = np.random.default_rng(n)
    verdicts = [order_of(*random.normal(size=(2, n))).verdict for _ in range(400)]
    assert sum(verdict in ("same", "opposite") for verdict in verdicts) <= 0.08 * 400


def test_the_same_order_and_the_reverse_are_told_and_few_words_tell_nothing() -> None:
    shares = np.arange(10) / 10
    assert order_of(shares, -shares).verdict == "same"
    assert order_of(shares, shares).verdict == "opposite"
    assert order_of(shares, shares[[0, 9, 1, 8, 2, 7, 3, 6, 4, 5]]).verdict == "unrelated"
    assert order_of(shares[:5], shares[:5]).verdict == "cannot tell"
    assert order_of(np.zeros(0), np.zeros(0)).verdict == "cannot tell"
