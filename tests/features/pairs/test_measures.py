"""Thresholds, accuracy and ROC curves of pairs, against scikit-learn, SciPy and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, auc, roc_auc_score

from contextlens.analysis.separation import wilson
from contextlens.features.pairs.measures import (
    DIFFERENT,
    NEITHER,
    SAME,
    TEST,
    TRAIN,
    UNKNOWN,
    Scores,
    best_threshold,
    judged,
    roc,
)

pairs_of_both = st.lists(
    st.tuples(st.sampled_from([-0.5, -0.1, 0.0, 0.2, 0.2000001, 0.5, 0.9]), st.booleans()),
    min_size=1,
    max_size=20,
)


def made(n: int = 60, n_layers: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Cosines that tell more of the labels at each layer, and the labels."""
    random = np.random.default_rng(0)
    gold = random.permutation(np.arange(n) % 2)
    noise = random.normal(size=(n_layers, n))
    strength = np.arange(n_layers)[:, None] * gold
    return np.tanh((noise + strength) / 4).astype(np.float32), gold


def scores_of(cosines: np.ndarray, gold: np.ndarray, split: object = None) -> Scores:
    found = judged(cosines, gold, None if split is None else np.array(split))
    assert isinstance(found, Scores), found
    return found


# Thresholds


@pytest.mark.slow
@given(pairs_of_both, st.permutations(range(20)))
def test_no_threshold_gets_more_right_in_any_order(
    pairs: list[tuple[float, bool]], order: list[int]
) -> None:
    cosines, same = (np.array(column) for column in zip(*pairs, strict=True))
    cut = best_threshold(cosines, same)
    right = accuracy_score(same, cosines >= cut)
    others = [*cosines, cosines.max() + 1]
    assert right == max(accuracy_score(same, cosines >= other) for other in others)
    shuffled = [i for i in order if i < len(pairs)]
    assert best_threshold(cosines[shuffled], same[shuffled]) == cut


def test_a_threshold_lies_midway_between_neighbours_and_in_the_middle_of_those_alike() -> None:
    cosines = np.array([0.1, 0.3, 0.5, 0.9])
    assert best_threshold(cosines, np.array([0, 0, 1, 1], bool)) == pytest.approx(0.4)
    assert best_threshold(cosines, np.ones(4, bool)) == pytest.approx(0.1)
    assert best_threshold(cosines, np.zeros(4, bool)) == math.nextafter(0.9, 1)
    neighbours = np.array([0.5, np.nextafter(0.5, 1)])
    cut = best_threshold(neighbours, np.array([False, True]))
    assert (neighbours >= cut).tolist() == [False, True]


# Judging on a split


def test_a_split_is_held_out() -> None:
    cosines, gold = made()
    split = np.arange(60) % 3 - 1  # neither, train, test
    found = scores_of(cosines, gold, split)
    train, test = split == TRAIN, split == TEST
    assert (found.how, found.n_train, found.n, found.n_left_out) == ("split", 20, 20, 20)
    assert found.rows.tolist() == np.flatnonzero(test).tolist()
    for i, own in enumerate(cosines):
        cut = best_threshold(own[train], gold[train] == SAME)
        assert found.thresholds[i] == cut
        assert found.accuracy[i] == accuracy_score(gold[test] == SAME, own[test] >= cut)
        assert found.train_accuracy[i] == accuracy_score(gold[train] == SAME, own[train] >= cut)
        assert found.auc[i] == pytest.approx(roc_auc_score(gold[test], own[test]))
        bounds = wilson(round(found.accuracy[i] * 20), 20)
        assert (found.low[i], found.high[i]) == pytest.approx(bounds)
        wrong = found.rows[(own[test] >= cut) != (gold[test] == SAME)]
        assert found.wrong(i).tolist() == wrong.tolist()
    assert found.majority == max(np.mean(gold[test]), 1 - np.mean(gold[test]))
    assert found.best == int(np.argmax(found.train_accuracy))


def test_test_labels_have_no_part_in_thresholds_nor_in_the_choice_of_a_layer() -> None:
    cosines, gold = made()
    split = np.arange(60) % 2
    first = scores_of(cosines, gold, split)
    second = scores_of(cosines, np.where(split == TEST, 1 - gold, gold), split)
    np.testing.assert_array_equal(first.thresholds, second.thresholds)
    np.testing.assert_array_equal(first.called_same, second.called_same)
    assert first.best == second.best
    np.testing.assert_allclose(first.accuracy + second.accuracy, 1)


def test_pairs_without_label_or_cosine_are_not_judged() -> None:
    cosines, gold = made()
    gold[:5] = UNKNOWN
    cosines[:, 5:9] = np.nan
    found = scores_of(cosines, gold)
    assert found.rows.tolist() == list(range(9, 60))
    assert not np.isnan(found.accuracy).any()


@pytest.mark.parametrize(
    ("split", "note"),
    [
        ([TRAIN] * 60, "no labelled pair to test on"),
        ([TEST] * 60, "no labelled training pairs of both kinds"),
        ([TRAIN] * 30 + [NEITHER] * 30, "no labelled pair to test on"),
        (np.where(made()[1] == SAME, TRAIN, TEST), "no labelled training pairs of both kinds"),
    ],
    ids=["only train", "only test", "train and neither", "train of one kind"],
)
def test_half_a_split_gives_way_to_cross_validation(split: object, note: str) -> None:
    found = scores_of(*made(), split)
    assert (found.how, found.n) == ("folds", 60)
    assert note in found.note
    np.testing.assert_array_equal(found.accuracy, scores_of(*made()).accuracy)


def test_a_test_part_of_one_kind_has_accuracy_and_no_auc() -> None:
    cosines, gold = made()
    split = np.full(60, TRAIN)
    split[np.flatnonzero(gold == SAME)[:9]] = TEST
    found = scores_of(cosines, gold, split)
    assert (found.how, found.n, found.majority) == ("split", 9, 1.0)
    assert np.isnan(found.auc).all()
    assert not np.isnan(found.accuracy).any()


# Cross-validation


def test_in_cross_validation_each_pair_is_judged_by_a_threshold_of_others() -> None:
    cosines, gold = made(40, 1)
    found = scores_of(cosines, gold)
    assert (found.how, found.n_folds, found.n, found.n_train) == ("folds", 5, 40, 40)
    assert found.thresholds[0] == best_threshold(cosines[0], gold == SAME)
    noise = np.random.default_rng(1).normal(size=(1, 400)).astype(np.float32)
    labels = np.random.default_rng(2).integers(0, 2, 400)
    honest = scores_of(noise, labels)
    assert honest.low[0] < 0.5 < honest.high[0] + 0.05
    assert honest.train_accuracy[0] > honest.accuracy[0]
    np.testing.assert_array_equal(honest.called_same, scores_of(noise, labels).called_same)


@pytest.mark.parametrize("n", [2, 3])
def test_folds_are_no_more_than_the_rarer_kind_has_pairs(n: int) -> None:
    gold = np.full(30, DIFFERENT)
    gold[:n] = SAME
    assert scores_of(made(30)[0], gold).n_folds == n


# What cannot be judged, and the ROC curve


@pytest.mark.parametrize(
    ("gold", "reason"),
    [
        ([UNKNOWN] * 4, ""),
        ([SAME] * 4, "Every labelled pair is “same”"),
        ([DIFFERENT, UNKNOWN, DIFFERENT, DIFFERENT], "Every labelled pair is “different”"),
        ([SAME, DIFFERENT, DIFFERENT, DIFFERENT], "Only one labelled pair is “same”"),
    ],
    ids=["none", "all same", "all different", "one"],
)
def test_what_cannot_be_judged_is_said(gold: list[int], reason: str) -> None:
    cosines = np.linspace(0, 1, len(gold), dtype=np.float32)[None]
    found = judged(cosines, np.array(gold), None)
    assert isinstance(found, str)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


def test_the_curve_is_under_its_area() -> None:
    cosines, gold = made()
    curve = roc(cosines[2], gold == SAME)
    assert curve is not None
    false, true, cuts = curve
    assert auc(false, true) == pytest.approx(roc_auc_score(gold, cosines[2]))
    assert (np.diff(cuts) < 0).all()
    assert roc(cosines[2], np.ones(60, bool)) is None
