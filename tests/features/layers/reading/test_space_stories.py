"""Whole layers in words: the usual story, and the cases in which it fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from components.analysis.baseline import Band
from components.features.layers.measures.spaces import Alike
from components.features.layers.reading.spaces import (
    alike_reading,
    alike_title,
    spread_reading,
    spread_titles,
)


def found_alike(cka: list[list[float]], shuffled: float, n_words: int = 30) -> Alike:
    matrix = np.array(cka, np.float32)
    debiased = matrix - 0.1 if n_words >= 4 else np.full_like(matrix, np.nan)
    return Alike(matrix, debiased, np.full_like(matrix, shuffled), n_words)


CKA = [[1, 0.9, 0.5], [0.9, 1, 0.6], [0.5, 0.6, 1]]


def test_layers_of_one_model_differ_most_at_their_widest_gap() -> None:
    found = found_alike(CKA, 0.2)
    said = " ".join(alike_reading(found, ("X", "X"), same=True))
    assert "between layers 1 and 2 (linear CKA **0.60**, debiased **0.50**)" in said
    assert "the first and the last have linear CKA **0.50**, debiased **0.40**" in said
    assert "shuffled, linear CKA averages **0.20**; debiased CKA averages 0 over all orders" in said
    assert alike_title(found, same=True) == "Widest gap: layers 1 and 2 (0.60)"


def test_too_few_words_have_no_debiased_cka() -> None:
    said = " ".join(alike_reading(found_alike(CKA, 0.85, 3), ("X", "X"), same=True))
    assert "(linear CKA **0.60**)" in said
    assert "averages **0.85**; debiased CKA, which has no such bias, needs 4 words" in said
    nothing = replace(found_alike(CKA, 0.85), debiased=np.full((3, 3), np.nan, np.float32))
    assert "not defined for these words" in alike_reading(nothing, ("X", "X"), same=True)[1]


def test_layers_that_are_about_equally_alike_have_no_widest_gap() -> None:
    found = found_alike([[1, 0.9, 0.7], [0.9, 1, 0.91], [0.7, 0.91, 1]], 0.2)
    assert (
        alike_title(found, same=True)
        == "Neighbouring layers are about equally alike (0.90 to 0.91)"
    )
    assert (
        "about equally alike (linear CKA **0.90** to **0.91**); the first"
        in (alike_reading(found, ("X", "X"), same=True)[0])
    )
    assert alike_title(found_alike([[0.5, 0.51], [0.5, 0.5]], 0), same=False) == (
        "All layers of both are about equally alike (0.50 to 0.51)"
    )


def test_layers_without_a_number_are_left_out() -> None:
    cka = [[1, np.nan, np.nan], [np.nan, 1, 0.6], [np.nan, 0.6, 1]]
    said = " ".join(alike_reading(found_alike(cka, 0.2), ("X", "X"), same=True))
    assert "layers 1 and 2 have linear CKA **0.60**" in said
    assert "nan" not in said
    assert "nan" not in " ".join(alike_reading(found_alike(cka, 0.2), ("X", "Y"), same=False))


def test_two_models_layers_are_matched_and_their_names_escaped() -> None:
    found = found_alike([[0.3, 0.1], [0.2, 0.7], [0.1, 0.4]], 0.1)
    said = " ".join(alike_reading(found, ("*X*", "Y"), same=False))
    assert (
        r"layer 1 of \*X\* and layer 1 of Y are most alike (linear CKA **0.70**, debiased **0.60**)"
        in said
    )
    assert "their last layers have linear CKA **0.40**, debiased **0.30**" in said


@pytest.mark.parametrize(
    ("n", "words"), [(0, "is no word"), (1, "is one word"), (2, "all 2 have the same")]
)
def test_what_cannot_be_compared_is_said(n: int, words: str) -> None:
    found = found_alike([[np.nan]], np.nan, n)
    assert words in alike_reading(found, ("X", "X"), same=True)[0]
    assert alike_title(found, same=True) == "Too little text to compare layers"


def band(*mean: float) -> Band:
    values = np.array(mean, np.float32)
    return Band(values - 0.1, values, values + 0.1)


SHARES = np.array([[0.1, 0.2], [0.6, 0.7], [0.2, 0.4]], np.float32)


def test_the_spread_is_told_of_the_chosen_layer() -> None:
    said = " ".join(spread_reading((0, 1, 2), 1, band(0.0, 0.7, 0.2), SHARES, 506))
    assert "average cosine of **0.70**: on average its vectors lean one way" in said
    assert (
        "first principal component holds **60%** of the variance, the first 2 hold **70%**" in said
    )
    even = spread_reading((0, 1, 2), 0, band(0.0, 0.7, 0.2), SHARES, 506)[0]
    assert "near 0" in even
    apart = spread_reading((0, 1, 2), 0, band(-0.2, 0.7, 0.2), SHARES, 506)[0]
    assert "point away from each other more than" in apart
    titles = spread_titles((0, 1, 2), band(0.0, 0.7, 0.2), SHARES)
    assert titles[0] == "Random words most alike: layer 1 (0.70)"
    assert titles[1] == "One direction holds most at layer 1 (60%)"
    even = spread_titles((0, 1, 2), band(0.3, 0.31, 0.3), np.full_like(SHARES, 0.4))
    assert even[0] == "Random words are about as alike at every layer (0.30 to 0.31)"
    assert even[1] == "One direction holds about as much at every layer (40%)"


def test_the_spread_without_a_baseline_or_without_variance_says_less() -> None:
    assert len(spread_reading((0, 1, 2), 1, None, SHARES, 506)) == 1
    nothing = np.full_like(SHARES, np.nan)
    assert spread_reading((0, 1, 2), 1, None, nothing, 0) == []
    assert spread_titles((0, 1, 2), None, nothing)[1] == "No variance to share"
