"""The accuracy of a nearest neighbour, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from contextlens.analysis.separation import scaled
from contextlens.features.sentences.accuracy import accuracies

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
