"""The gap between senses, against scikit-learn's cosines."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from components.features.why.measures import sense_gap


def test_it_is_the_difference_of_two_mean_cosines() -> None:
    vectors = np.random.default_rng(0).normal(size=(5, 4))
    cosines = cosine_similarity(vectors)
    same = [cosines[0, 1], cosines[2, 3], cosines[2, 4], cosines[3, 4]]
    other = [cosines[i, j] for i in (0, 1) for j in (2, 3, 4)]
    expected = np.mean(same) - np.mean(other)
    assert sense_gap(vectors, ["a", "a", "b", "b", "b"]) == pytest.approx(expected)


@pytest.mark.parametrize("senses", [["a", "a"], ["a", "b"]])
def test_without_both_kinds_of_pairs_there_is_none(senses: list[str]) -> None:
    with pytest.raises(ValueError, match="pairs of one sense"):
        sense_gap(np.eye(2), senses)
