"""The accuracy of a nearest neighbour, against scikit-learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from contextlens.analysis.separation import scaled
from contextlens.features.sentences.accuracy import (
    CorpusAccuracy,
    Twins,
    accuracies,
    twins_of,
)

RANDOM = np.random.default_rng(0)


def test_a_nearest_neighbour_is_as_right_as_scikit_learns_leave_one_out() -> None:
    labels = RANDOM.integers(0, 4, 60)
    vectors = scaled(RANDOM.normal(size=(60, 8)) + 2 * np.eye(8)[labels])
    noise = scaled(RANDOM.normal(size=(60, 8)))
    found, baseline = accuracies({"a": noise, "b": vectors}, [str(label) for label in labels])
    nearest = KNeighborsClassifier(1, metric="cosine")
    expected = cross_val_score(nearest, vectors, labels, cv=LeaveOneOut()).mean()
    assert [each.pooling for each in found] == ["b", "a"]
    assert found[0].share == pytest.approx(expected)
    assert [each.is_worse for each in found] == [False, True]
    assert found[0].interval[0] < found[0].share < found[0].interval[1]
    assert baseline == np.bincount(labels).max() / 60


def test_equal_vectors_are_not_worse_and_a_label_of_its_own_is_not_tested() -> None:
    vectors = scaled(RANDOM.normal(size=(5, 3)))
    found, baseline = accuracies({"a": vectors, "b": vectors}, ["x", "x", "y", "y", "alone"])
    assert [len(each.right) for each in found] == [4, 4]
    assert not any(each.is_worse for each in found)
    assert baseline == 0.5


def test_texts_with_an_opposite_twin_are_below_guessing_and_the_reason_is_said() -> None:
    topics = RANDOM.normal(size=(40, 8))
    twins = scaled(np.repeat(topics, 2, axis=0) + RANDOM.normal(size=(80, 8)) / 50)
    noise, alike = ["up", "down"] * 40, ["up"] * 2 + ["down"] * 2
    assert (found := twins_of(twins, noise)).n == found.n_different == 40
    assert found.expected == pytest.approx(40 / 79)
    assert found.are_opposite
    assert twins_of(twins, alike * 20).n_different == 0
    keys = []
    shuffled = [RANDOM.permutation(noise).tolist() for _ in range(200)]
    for labels in (noise, alike * 20, *shuffled):
        by_way = accuracies({"cls": twins, "mean": twins}, labels)
        result = CorpusAccuracy("mine", "sentiment", *by_way, twins_of(twins, labels))
        keys.append([claim.key.removeprefix("sentences.accuracy.") for claim in result.claims()])
    assert keys[:2] == [["below_twins", "best", "twins"], ["better", "equal"]]
    assert keys[2:].count(["unclear"]) >= 186  # 5% of shuffled labels, by design


def test_texts_below_guessing_without_twins_have_no_reason() -> None:
    measured, baseline = accuracies({"mean": scaled(np.eye(20))}, ["a"] + ["b"] * 19)
    below = replace(measured[0], right=np.zeros(20, bool), interval=(0.0, 0.16))
    result = CorpusAccuracy("mine", "sentiment", [below], baseline, Twins(0, 0, 0.5))
    assert [claim.key for claim in result.claims()] == [
        "sentences.accuracy.below", "sentences.accuracy.best"
    ]  # fmt: skip
