"""The sentence vectors against plain arithmetic and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import percentileofscore
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from contextlens.analysis.separation import scaled
from contextlens.analysis.similarity import cosine_matrix
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.sentences.measures import (
    LAST_FOUR,
    POOLINGS,
    accuracies,
    disagreement,
    layers_of,
    poolings_of,
    shares_below,
    vectors_of,
)

RANDOM = np.random.default_rng(0)


def test_the_vectors_are_those_of_the_last_layers_states(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    text = "Is it going to rain?"
    whole = service.encode(BUNDLED_ID, [text])[0]
    encoding = service.encode(BUNDLED_ID, [text], layers=layers_of(card))[0]
    last, own = whole.hidden[-1], whole.special_tokens_mask == 0
    expected = {
        "cls": last[0],
        "mean": last.mean(axis=0),
        "own": last[own].mean(axis=0),
        "max": last.max(axis=0),
        "pooler": whole.pooler_output,
        LAST_FOUR: whole.hidden[-4:].mean(axis=(0, 1)),
    }
    found = vectors_of(encoding, POOLINGS)
    assert found.keys() == expected.keys()
    for name, vector in expected.items():
        np.testing.assert_allclose(found[name], vector, atol=1e-5)


def test_an_untrained_pooler_is_not_offered(service: EncoderService) -> None:
    assert poolings_of(service.load(BUNDLED_ID)) == (
        *("cls", "mean", "own", "max"),
        *(LAST_FOUR, "recipe"),
    )


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


def test_the_share_of_random_pairs_is_scipys_percentile() -> None:
    random = cosine_matrix(RANDOM.normal(size=(12, 5)))
    known = random[np.triu_indices(12, 1)]
    cosines = np.array([[-1.0, known[3]], [0.1, 1.0]])
    expected = [[percentileofscore(known, c, "mean") / 100 for c in row] for row in cosines]
    np.testing.assert_allclose(shares_below(cosines, random), expected, atol=1e-6)


def test_ways_disagree_about_the_pair_whose_rank_differs_most() -> None:
    one = np.array([[1, 0.9, 0.5], [0.9, 1, 0.1], [0.5, 0.1, 1]])
    other = np.array([[1, 0.2, 0.3], [0.2, 1, 0.25], [0.3, 0.25, 1]])
    found = disagreement(np.stack([one, other]))
    assert found.pair == (0, 1)
    assert (found.ranks, found.best, found.worst, found.n_pairs) == ((1, 3), 1, 3, 3)
    same = disagreement(np.stack([one, 2 * one]))
    assert same.best == same.worst
