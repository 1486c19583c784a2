"""The reading holds cosines against random pairs, and nothing within noise is an order."""

from __future__ import annotations

import numpy as np
import pytest

from components.analysis.baseline import Band
from components.analysis.similarity import Comparison, Pair
from components.ui.widgets.comparison.reading import against, meaning_in_context
from tests.ui.widgets.comparison.reading.comparisons import band_of, made, no_band

# Against random pairs


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (0.61, "more alike than 95 of 100 random pairs of English words"),
        (0.59, "as alike as random pairs of English words often are"),
        (0.21, "as alike as random pairs of English words often are"),
        (0.19, "less alike than 95 of 100 random pairs of English words"),
    ],
)
def test_a_cosine_stands_above_in_or_below_the_band(value: float, place: str) -> None:
    (said,) = meaning_in_context(made({"AB": [1.0, value]}), 1, band_of(0.2, 0.4, 0.6, 2))
    assert said.endswith(f", {place} (average 0.40).")


def test_a_narrow_band_is_not_read_against_its_own_digits() -> None:
    """A cosine of 0.40 is not "more alike" than pairs that average 0.40."""
    (said,) = meaning_in_context(made({"AB": [1.0, 0.4035]}), 1, band_of(0.399, 0.401, 0.402, 2))
    assert said.endswith(" often are (average 0.40).")


def test_the_bands_own_layer_counts() -> None:
    own = Band(*(np.array(row, np.float32) for row in ([0.0, 0.6], [0.1, 0.7], [0.2, 0.8])))

    def band(_: Pair) -> Band:
        return own

    pair = made({"AB": [0.5, 0.5]})
    assert "more alike" in meaning_in_context(pair, 0, band)[0]
    assert "less alike" in meaning_in_context(pair, 1, band)[0]
    assert "0.70" in meaning_in_context(pair, 1, band)[0]


def test_without_a_baseline_nothing_is_said_of_random_pairs(story: Comparison) -> None:
    for layer in story.layers:
        assert "random" not in " ".join(meaning_in_context(story, layer, no_band))


def test_of_several_pairs_the_average_stands_beside() -> None:
    three = made({"AB": [0.9], "AC": [0.2], "BC": [0.5]}, sentences=["bank"] * 3)
    (said,) = meaning_in_context(three, 0, band_of(0.0, 0.15, 0.3, 1))
    assert said.endswith("; random pairs of English words average 0.15.")


# Within noise, and kinds of random pairs


def test_a_reference_that_is_close_to_neither_is_not_closer_to_one() -> None:
    """−0.02 and −0.04 are both what random pairs get."""
    far = made({"AB": [0.9], "A0": [-0.02], "B0": [-0.04]}, references=("snake",))
    said = meaning_in_context(far, 0, band_of(-0.1, 0.0, 0.1, 1))[1]
    assert said == (
        "“snake” is close to neither (**−0.02** and **−0.04**): no closer than random pairs of "
        "words often are."
    )


def test_a_difference_within_noise_is_no_order() -> None:
    near = made({"AB": [0.9], "A0": [0.364], "B0": [0.351]}, references=("snake",))
    said = meaning_in_context(near, 0, no_band)[1]
    assert said == "“snake” is about equally close to both (**0.36** and **0.35**)."


def test_each_pair_is_held_against_its_own_random_pairs() -> None:
    def band(pair: Pair) -> Band | None:
        ends = {1: (0.0, 0.1, 0.2), 2: (0.5, 0.6, 0.7)}.get(pair.second)
        return None if ends is None else Band(*(np.array([end], np.float32) for end in ends))

    one = made({"A0": [0.3], "A1": [0.4]}, sentences=("python",), references=("snake", "serpent"))
    said = meaning_in_context(one, 0, band)
    assert ["more alike" in sentence for sentence in said] == [True, False]
    assert ["less alike" in sentence for sentence in said] == [False, True]


def test_words_in_another_script_are_held_against_nothing() -> None:
    pair = made({"AB": [1.0, 0.9]}, sentences=("שלום", "سلام"))
    (said,) = meaning_in_context(pair, 1, no_band)
    assert "random" not in said
    assert against(0.9, None, 1) == "."


def test_equal_vectors_need_no_yardstick() -> None:
    (said,) = meaning_in_context(made({"AB": [1.0, 0.8]}), 0, band_of(-0.1, 0.05, 0.2, 2))
    assert "random" not in said
