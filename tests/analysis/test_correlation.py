"""Cosines against graded scores: coefficients by definition, intervals by SciPy and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap, percentileofscore, spearmanr

from contextlens.analysis.correlation import (
    FEWEST,
    Correlation,
    correlated,
    percentiles,
    shared_words,
    spearman_interval,
)

COEFFICIENTS = ("spearman", "spearman_low", "spearman_high", "pearson", "pearson_low",
                "pearson_high")  # fmt: skip


def made(n: int = 80, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Cosines that tell more of the scores at each of three layers; scores with many ties."""
    random = np.random.default_rng(seed)
    grades = random.integers(0, 6, n).astype(float)
    noise = random.normal(size=(3, n))
    return np.tanh((noise + np.arange(3)[:, None] * grades / 2) / 6).astype(np.float32), grades


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks by definition: the mean of the places that equal values share."""
    return np.array([(values < v).sum() + ((values == v).sum() + 1) / 2 for v in values])


def coefficients(found: Correlation) -> np.ndarray:
    return np.stack([getattr(found, name) for name in COEFFICIENTS])


def test_coefficients_are_those_of_the_definition_with_ties() -> None:
    cosines, grades = made()
    found = correlated(cosines, grades)
    assert found.n == 80
    half = 1.959964 / math.sqrt(80 - 3)
    for i, layer in enumerate(cosines.astype(float)):
        expected = np.corrcoef(ranks(layer), ranks(grades))[0, 1]
        assert found.spearman[i] == pytest.approx(expected)
        r = np.corrcoef(layer, grades)[0, 1]
        assert found.pearson[i] == pytest.approx(r)
        ends = [math.tanh(math.atanh(r) + sign * half) for sign in (-1, 1)]
        assert [found.pearson_low[i], found.pearson_high[i]] == pytest.approx(ends, abs=1e-6)
    assert found.best == int(np.argmax(found.spearman))


@given(
    st.lists(
        st.tuples(st.integers(-20, 20), st.integers(0, 5)), min_size=4, max_size=30, unique=True
    ),
    st.randoms(use_true_random=False),
)
def test_orders_alone_count_and_all_are_within_bounds(
    pairs: list[tuple[int, int]], chance: object
) -> None:
    cosines, grades = (np.array(column, float) for column in zip(*pairs, strict=True))
    found = correlated(np.stack([cosines / 20, np.exp(cosines / 20), -cosines / 20]), grades)
    same, stretched, turned = found.spearman
    if np.isnan(same):
        assert len(set(cosines)) == 1 or len(set(grades)) == 1
        assert np.isnan(coefficients(found)).all()
        return
    assert same == pytest.approx(stretched)
    assert same == pytest.approx(-turned)
    order = list(range(len(grades)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    again = correlated(cosines[None, order] / 20, 3 * grades[order] - 7)
    assert again.spearman[0] == pytest.approx(same)
    assert (np.abs(coefficients(found)) <= 1).all()
    assert (found.spearman_low <= found.spearman + 1e-9).all()
    assert (found.spearman <= found.spearman_high + 1e-9).all()


def test_the_interval_is_near_that_of_a_bootstrap() -> None:
    cosines, grades = made(400)
    found = correlated(cosines, grades)
    for i, layer in enumerate(cosines):
        ends = bootstrap(
            (layer, grades),
            lambda a, b: spearmanr(a, b).statistic,
            paired=True,
            vectorized=False,
            n_resamples=600,
            rng=np.random.default_rng(0),
        ).confidence_interval
        assert found.spearman_low[i] == pytest.approx(ends.low, abs=0.03)
        assert found.spearman_high[i] == pytest.approx(ends.high, abs=0.03)


@pytest.mark.parametrize("correlation", [0.0, 0.6, 0.9])
def test_the_interval_holds_the_truth_in_95_of_100_cases(correlation: float) -> None:
    random, truth = np.random.default_rng(1), 6 / math.pi * math.asin(correlation / 2)
    draws = random.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], (600, 50))
    found = [spearman_interval(spearmanr(*draw.T).statistic, 50) for draw in draws]
    share = np.mean([low <= truth <= high for low, high in found])
    assert 0.93 <= share <= 0.98


def test_pairs_without_score_or_cosine_do_not_count() -> None:
    cosines, grades = made()
    grades[:5] = np.nan
    cosines[:, 5:9] = np.nan
    found = correlated(cosines, grades)
    assert found.rows.tolist() == list(range(9, 80))
    rest = correlated(cosines[:, 9:], grades[9:])
    np.testing.assert_array_equal(coefficients(found), coefficients(rest))


@pytest.mark.parametrize(
    ("cosines", "grades"),
    [
        ([], []),
        ([0.5], [1.0]),
        ([0.5, 0.7, 0.9], [1.0, 2.0, 3.0]),
        ([0.5] * 20, range(20)),
        (1 - 1e-7 * np.arange(20), range(20)),  # the same but for rounding
        (np.linspace(0, 1, 20), [2.5] * 20),
        (np.linspace(0, 1, 20), [np.nan] * 20),
        ([np.nan] * 20, range(20)),
    ],
    ids=["none", "one", "three", "equal", "nearly equal", "one score", "no score", "no cosine"],
)
def test_what_has_no_order_has_no_correlation(cosines: object, grades: object) -> None:
    found = correlated(np.array([cosines], np.float32), np.array(grades, float))
    assert np.isnan(coefficients(found)).all()
    assert (found.best, found.is_clear) == (None, False)
    assert found.has_equal_scores == (len(set(np.array(grades, float)[found.rows])) == 1)


def test_scores_of_any_size_have_a_correlation() -> None:
    cosines, grades = made()
    for factor in (1e-9, 1e12, -1e11):
        found = correlated(cosines, grades * factor)
        assert found.pearson * np.sign(factor) == pytest.approx(correlated(cosines, grades).pearson)


def test_shuffled_scores_seldom_make_the_best_of_many_layers_clear() -> None:
    random = np.random.default_rng(5)
    n_clear = sum(
        correlated(random.normal(size=(13, 40)), random.permutation(40).astype(float)).is_clear
        for _ in range(120)
    )
    assert n_clear <= 8
    assert correlated(*made()).is_clear
    few = np.arange(FEWEST - 1) / 10
    assert not correlated(few[None], few).is_clear


def test_percentiles_are_shares_below_and_equal_values_span_several() -> None:
    values = np.array([3.0, 1.0, 3.0, 7.0, 3.0, 1.0])
    expected = [percentileofscore(values, value, kind="mean") / 100 for value in values]
    low, high = percentiles(values)
    assert ((low + high) / 2).tolist() == pytest.approx(expected)
    assert (high - low).tolist() == pytest.approx([2 / 6, 1 / 6, 2 / 6, 0, 2 / 6, 1 / 6])
    assert percentiles(np.array([])).shape == (2, 0)


def test_shared_words_are_counted_once_without_case_and_punctuation() -> None:
    texts = ["The cat, the hat", "the CAT!", "a dog", "?!", "東京に行く", "東京"]
    sides = np.array([[0, 1], [0, 2], [0, 0], [3, 3], [4, 5]])
    found = shared_words(texts, sides)
    assert found[:4].tolist() == pytest.approx([2 / math.sqrt(3 * 2), 0, 1, 0])
    assert 0 < found[4] < 1
    known = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    by_words = correlated(np.linspace(0, 1, 5)[None], known, shared=found).shared_words
    assert by_words == pytest.approx(spearmanr(found, known).statistic)
