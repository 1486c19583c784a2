"""Senses part: the nearest centroid by hand, Wilson's interval, folds and splits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, silhouette_score
from sklearn.model_selection import StratifiedKFold

import contextlens.analysis.separation as module
from contextlens.analysis.separation import (
    MAX_SHUFFLED,
    MAX_TABLE,
    best_of,
    centroids,
    cosine_table,
    cosines_to,
    scaled,
    separation,
    silhouette,
    trial_of,
    two_nearest,
    wilson,
)
from contextlens.analysis.shuffles import shuffled
from contextlens.core.errors import RequestError
from tests.support.senses import clouds


def named(codes: np.ndarray) -> list[str]:
    return ["abcdefgh"[code] for code in codes]


def by_hand(units: np.ndarray, train: list[int], labels: list[str], row: int) -> str:
    """The sense with the highest cosine to its scaled mean, one vector at a time."""
    found = {}
    for sense in {labels[i] for i in train}:
        mean = np.mean([units[i].astype(float) for i in train if labels[i] == sense], axis=0)
        found[sense] = float(units[row] @ (mean / np.linalg.norm(mean)))
    return max(found, key=lambda sense: found[sense])


@pytest.mark.parametrize("apart", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("sizes", [(15, 15), (16, 9, 4), (40, 3)])
def test_cross_validation_is_the_nearest_centroid_by_hand(
    sizes: tuple[int, ...], apart: float
) -> None:
    units, codes = clouds(sizes, apart=apart)
    order = np.random.default_rng(1).permutation(len(codes))
    units, labels = units[order], named(codes[order])
    trial = trial_of(labels)
    own = separation(units, trial, 3)
    k = min(5, *sizes)
    assert trial.n_folds == k
    right = 0
    said: dict[int, str] = {}
    for train, test in StratifiedKFold(k).split(units, labels):
        for row in test:
            said[row] = by_hand(units, list(train), labels, row)
            right += said[row] == labels[row]
    assert (own.right, own.n, own.layer) == (right, len(codes), 3)
    assert [trial.senses[i] for i in own.predicted] == [said[i] for i in range(len(codes))]
    expected = confusion_matrix(labels, [said[i] for i in range(len(codes))], labels=trial.senses)
    assert own.confusion.tolist() == expected.tolist()
    assert trial.chance == max(sizes) / sum(sizes)


def test_a_split_is_held_out_and_dev_takes_no_part() -> None:
    units, codes = clouds((20, 20), apart=0.5)
    labels = named(codes)
    split = [("train", "Test", "dev", " training ", "TESTING")[i % 5] for i in range(len(codes))]
    trial = trial_of(labels, split)
    own = separation(units, trial, 0)
    train = [i for i in range(40) if i % 5 in (0, 3)]
    test = [i for i in range(40) if i % 5 in (1, 4)]
    assert trial.how == "split"
    assert own.n == len(test)
    assert own.right == sum(by_hand(units, train, labels, i) == labels[i] for i in test)
    changed = units.copy()
    changed[[i for i in range(40) if i % 5 == 2]] = scaled(np.ones((1, units.shape[1])))
    assert separation(changed, trial, 0).right == own.right


def test_a_sense_that_is_tested_and_was_never_learned_counts_as_wrong() -> None:
    units, codes = clouds((6, 6, 4), apart=5)
    split = ["train", "test"] * 6 + ["test"] * 4
    own = separation(units, trial_of(named(codes), split), 0)
    assert (own.right, own.n) == (6, 10)


def test_a_split_that_leaves_nothing_to_do_is_cross_validated() -> None:
    labels = ["a", "a", "b", "b"]
    half = ["train", "train", "test", "test"]
    for split in (["train"] * 4, ["test"] * 4, half, ["dev"] * 4):
        trial = trial_of(labels, split)
        assert (trial.how, trial.n_folds, trial.problem) == ("folds", 2, "")
        assert trial.has_split


def test_a_split_that_tests_one_sense_alone_is_cross_validated() -> None:
    """Always guessing it would be right in 100%: a test of one use said "100% right" of it."""
    trial = trial_of(["a", "a", "a", "b", "b"], ["train", "train", "test", "train", "train"])
    assert (trial.how, trial.n_folds) == ("folds", 2)
    assert trial.chance < 1


def test_what_cannot_be_tested_says_why() -> None:
    assert trial_of([""] * 4).problem == "none"
    assert trial_of([]).problem == "none"
    assert trial_of(["a", "a", ""]).problem == "one"
    assert trial_of(["a", "b", "c"]).problem == "single"
    assert trial_of(["a", "a", "b"]).problem == "single"
    own = trial_of(["a", "a", "b", "b", "c", ""])
    assert own.problem == ""
    assert own.left_out == ("c",)
    assert own.folds.tolist() == [0, 1, 0, 1, -1, -1]
    assert trial_of(["a", "a"]).tested.size == 0


def test_centroids_are_scaled_means_of_scaled_vectors() -> None:
    units, codes = clouds((7, 3))
    own = centroids(units, codes, 3)
    np.testing.assert_allclose(np.linalg.norm(own, axis=1), [1, 1, 0], atol=1e-6)
    mean = units[codes == 1].mean(axis=0)
    np.testing.assert_allclose(own[1], mean / np.linalg.norm(mean), atol=1e-6)
    first, second, best, next_best = two_nearest(units, own)
    assert 2 not in {*first.tolist(), *second.tolist()}
    assert (best >= next_best).all()
    alone = two_nearest(units, own[[0, 2]])
    assert alone[1].tolist() == [-1] * 10


def test_lengths_do_not_matter() -> None:
    units, codes = clouds((12, 12), apart=0.4)
    longer = units * np.random.default_rng(0).uniform(0.1, 9, size=(24, 1))
    trial = trial_of(named(codes))
    one, other = separation(units, trial, 0), separation(scaled(longer), trial, 0)
    assert one.predicted.tolist() == other.predicted.tolist()


def test_margins_belong_to_the_tested_and_their_low_tenth_is_told() -> None:
    units, codes = clouds((30, 30), apart=0.6)
    own = separation(units, trial_of(named(codes)), 0)
    assert own.margins.shape == (60,)
    assert (own.margins >= 0).all()
    assert np.mean(own.margins < own.low_margin) == pytest.approx(0.1, abs=0.02)


@given(st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilsons_ends_are_where_the_score_test_turns(case: tuple[int, int]) -> None:
    right, n = case
    low, high = wilson(right, n)
    share, z = right / n, 1.959963984540054
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            score = abs(share - end) / math.sqrt(end * (1 - end) / n)
            assert score == pytest.approx(z, rel=1e-6)
    mirrored = wilson(n - right, n)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-12)
    wider = wilson(right, n, risk=0.01)
    assert wider[0] <= low
    assert high <= wider[1]


def test_wilson_of_known_cases() -> None:
    assert wilson(9, 10) == pytest.approx((0.5958, 0.9821), abs=1e-4)  # Brown, Cai, DasGupta 2001
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)


def test_silhouettes_are_scikit_learns() -> None:
    units, codes = clouds((9, 7, 5), apart=0.5)
    expected = silhouette_score(units, codes, metric="cosine")
    assert silhouette(units, codes) == pytest.approx(expected)
    some = np.where(np.arange(21) % 4 == 0, -1, codes)
    expected = silhouette_score(units[some >= 0], some[some >= 0], metric="cosine")
    assert silhouette(units, some) == pytest.approx(expected)
    assert math.isnan(silhouette(units, np.zeros(21, int)))
    assert math.isnan(silhouette(units, np.arange(21)))
    assert math.isnan(silhouette(units[:0], codes[:0]))


def test_layers_within_the_bests_interval_are_named() -> None:
    trial = trial_of(named(np.repeat([0, 1], 15)))
    curve = [
        separation(clouds((15, 15), apart=apart)[0], trial, layer)
        for layer, apart in enumerate((0.0, 0.35, 5.0, 5.0))
    ]
    best, near = best_of(curve)
    assert best == [2, 3]
    assert set(near) == {c.layer for c in curve[:2] if c.accuracy >= curve[2].interval[0]}


def test_cosines_are_those_of_scaled_vectors() -> None:
    vectors = np.random.default_rng(0).normal(size=(9, 5)).astype(np.float32)
    vectors[4] = 0
    units = scaled(vectors)
    assert units[4].tolist() == [0] * 5
    table = cosine_table(units)
    np.testing.assert_allclose(table, table.T)
    np.testing.assert_allclose(table[0], cosines_to(units, 7 * vectors[0]), atol=1e-6)
    assert np.abs(table).max() <= 1
    with pytest.raises(RequestError, match=r"at most 2,000"):
        cosine_table(np.zeros((MAX_TABLE + 1, 2), np.float32))


@pytest.mark.parametrize("split", [[], ["train"] * 30 + ["test"] * 30 + ["dev"] * 5])
def test_shuffled_labels_are_tested_like_labels(
    split: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every shuffle's number right is that of `separation` with these labels."""
    monkeypatch.setattr(module, "_MAX_NUMBERS", 1_000)  # few shuffles at a time
    units, _ = clouds((65,), apart=0.0)
    labels = np.random.default_rng(0).permutation(["a"] * 35 + ["b"] * 20 + ["c"] * 10)
    trial = trial_of(labels.tolist(), split)
    own = separation(units, trial, 0)
    rows = np.flatnonzero(trial.codes >= 0)
    parts = trial.folds[rows] if split else np.zeros(65, np.int64)
    columns = shuffled(trial.codes[rows], parts, len(own.rights) - 1)
    assert own.rights[0] == own.right
    for i in (1, 7, 50, len(own.rights) - 1):
        labels[rows] = [trial.senses[code] for code in columns[:, i]]
        assert own.rights[i] == separation(units, trial_of(labels.tolist(), split), 0).right


def test_of_many_uses_a_sample_is_shuffled() -> None:
    units, codes = clouds((1_500, 700), apart=0.0)
    own = separation(units, trial_of(named(codes)), 0)
    assert own.n == 2_200
    assert 0 < own.rights.max() <= MAX_SHUFFLED
