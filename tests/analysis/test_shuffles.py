"""The shuffles of a permutation test: within folds, and a bounded number of them."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.analysis.shuffles import MAX_SHUFFLES, MIN_SHUFFLES, n_shuffles, shuffled


def test_labels_are_shuffled_within_their_folds() -> None:
    folds, labels = np.repeat([-1, 0, 1], 20), np.arange(60)
    columns = shuffled(labels, folds, 39)
    assert (columns[:, 0] == labels).all()
    assert (np.sort(columns.reshape(3, 20, 40), axis=1) == labels.reshape(3, 20, 1)).all()
    assert len({tuple(column) for column in columns.T.tolist()}) == 40


@pytest.mark.parametrize("products", [1e4, 1e7, 3e7, 1e12])
def test_the_number_of_shuffles_is_bounded_and_exact_at_one_in_forty(products: float) -> None:
    n = n_shuffles(products, 1e9)
    assert MIN_SHUFFLES <= n <= MAX_SHUFFLES
    assert (n + 1) % 40 == 0
