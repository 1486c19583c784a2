"""Labels of nearest neighbours: intervals, chance, and what must not count as agreement.

Shares, chance and observations are checked point by point where the page's sentences are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.neighbors import NearestNeighbors

from contextlens.maps.agreement import Agreement, LabelShare, agreement, share_interval

RANDOM = np.random.default_rng(7)


def listed(vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    found = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute").fit(vectors)
    distances, indices = found.kneighbors(vectors)
    return indices, distances.astype(np.float32)


def from_all(labels: list[str], sentence: np.ndarray, vectors: np.ndarray) -> Agreement | None:
    return agreement(labels, sentence, *listed(vectors, len(vectors)))


def test_points_of_one_sentence_are_compared_with_each_other() -> None:
    vectors = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32)
    found = agreement(["a", "a", "b", "b"], np.zeros(4, np.int64), *listed(vectors, 4))
    assert found == Agreement(1.0, pytest.approx(1 / 3), 4, found.labels, 2, found.commonest, 0.5)


def test_identical_vectors_agree_by_chance_alone_in_any_order() -> None:
    """Sorted by label, the first of many tied neighbours would always seem to agree."""
    vectors = np.ones((20, 4), np.float32)
    labels = ["a"] * 10 + ["b"] * 10
    found = from_all(labels, np.arange(20), vectors)
    assert found is not None
    assert found.share == pytest.approx(found.chance) == pytest.approx(9 / 19)
    assert not found.is_clear


def test_labels_that_follow_the_vectors_are_clear_and_shuffled_ones_are_not() -> None:
    labels = np.repeat(["a", "b", "c"], 40)
    vectors = np.repeat(np.eye(3, 12), 40, axis=0) + RANDOM.normal(size=(120, 12)) * 0.2
    lists = listed(vectors.astype(np.float32), 120)
    said = agreement(list(labels), np.arange(120), *lists)
    assert said is not None
    assert said.is_clear
    clear = 0
    for seed in range(60):
        mixed = np.random.default_rng(seed).permutation(labels)
        shuffled = agreement(list(mixed), np.arange(120), *lists)
        assert shuffled is not None
        clear += shuffled.is_clear
    assert clear <= 3  # one-sided, two standard errors: about one in forty


def test_labels_are_ordered_by_what_lies_above_chance() -> None:
    """Nine of ten points carry "big": that it meets itself often says nothing."""
    vectors = RANDOM.normal(size=(100, 6)).astype(np.float32)
    vectors[90:] = [9, 9, 9, 9, 9, 9] + RANDOM.normal(size=(10, 6)) * 0.1
    found = agreement(["big"] * 90 + ["small"] * 10, np.arange(100), *listed(vectors, 20))
    assert found is not None
    assert [kind.name for kind in found.labels] == ["small", "big"]
    assert found.labels[0].n == 10
    assert found.ends() is None  # 100% of so few and 98% are not told apart
    assert found.ends(11) is None


@pytest.mark.parametrize("labels", [[""] * 6, ["a", *[""] * 5]])
def test_nothing_to_compare_is_none(labels: list[str]) -> None:
    vectors = RANDOM.normal(size=(6, 4)).astype(np.float32)
    assert agreement(labels, np.arange(6), *listed(vectors, 6)) is None


@pytest.mark.parametrize(("n", "hits"), [(16, 16), (24, 17), (30, 0), (1, 1), (200, 101)])
def test_the_interval_is_the_exact_binomial_one(n: int, hits: int) -> None:
    expected = binomtest(hits, n).proportion_ci(0.95, "exact")
    assert share_interval(hits / n, n) == pytest.approx((expected.low, expected.high))


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 1), st.floats(0.01, 0.99), st.integers(1, 400))
def test_what_is_told_is_so_in_the_digits_shown(share: float, chance: float, n: int) -> None:
    found = Agreement(share, chance, n, (), n)
    low, high = found.interval
    assert low <= share <= high
    assert not found.is_clear or round(100 * share) > round(100 * chance)


def test_labels_are_told_apart_where_their_intervals_are() -> None:
    kinds = (LabelShare("a", 60, 0.95, 0.5, 60), LabelShare("b", 60, 0.6, 0.5, 60))
    assert Agreement(0.7, 0.5, 120, kinds, 120).ends() == kinds
    few = tuple(replace(kind, n_apart=10) for kind in kinds)
    assert Agreement(0.7, 0.5, 120, few, 20).ends() is None
    assert Agreement(0.7, 0.5, 120, kinds, 120).ends(least=61) is None
    likely = (LabelShare("rare", 60, 0.8, 0.1, 60), LabelShare("common", 60, 0.95, 0.9, 60))
    assert Agreement(0.9, 0.5, 120, likely, 120).ends() is None  # better beyond chance, not as such


def test_a_vector_of_length_zero_is_no_error() -> None:
    vectors = np.zeros((4, 3), np.float32)
    found = from_all(["a", "a", "b", "b"], np.arange(4), vectors)
    assert found is not None
    assert found.share == pytest.approx(1 / 3)
