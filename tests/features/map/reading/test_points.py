"""A point, two pinned ones and a selection in words, and only what is clear is said."""

from __future__ import annotations

import numpy as np
import pytest

from components.analysis.baseline import Band
from components.features.map.reading.points import (
    map_neighbours_reading,
    pinned_reading,
    selection_reading,
)
from tests.features.map.points import LABELS, made

BAND = Band(*(np.array([value] * 7, np.float32) for value in (0.1, 0.2, 0.4)))


def test_a_point_s_neighbours_are_counted_and_the_difference_is_named() -> None:
    names = [f"w{i}" for i in range(20)]
    true, near = list(range(10)), [*range(7), 11, 12, 13]
    said = map_neighbours_reading("bank", true, near, names)
    assert said[0] == (
        "Of “bank”, **7** of its 10 nearest in the full space are among its 10 nearest here."
    )
    assert said[1] == (
        "Truly near but drawn further off: “w7”, “w8”, “w9”. "
        "Drawn near but not among its 10 nearest: “w11”, “w12”, “w13”."
    )
    assert len(map_neighbours_reading("bank", true, true[::-1], names)) == 1
    none = map_neighbours_reading("bank", true[:5], list(range(10, 15)), names)
    assert "**0** of its 5" in none[0]
    assert "“w0”, “w1”, “w2” and 2 more" in none[1]
    assert "is the nearest here" in map_neighbours_reading("bank", [3], [3], names)[0]
    assert "is not the nearest here" in map_neighbours_reading("bank", [3], [4], names)[0]
    assert "no other point" in map_neighbours_reading("bank", [], [], names)[0]


@pytest.mark.parametrize(
    ("cosine", "end"),
    [
        (0.71, "layer 6, more alike than 95 of 100 random pairs of English words (average 0.20)."),
        (0.3, "layer 6, as alike as random pairs of English words often are (average 0.20)."),
        (-0.5, "layer 6, less alike than 95 of 100 random pairs of English words (average 0.20)."),
    ],
)
def test_two_pinned_points_have_their_exact_cosine(cosine: float, end: str) -> None:
    said = pinned_reading("bank", "*shore*", cosine, layer=6, band=BAND)
    assert said.startswith(r"However they are drawn, “bank” and “\*shore\*” have a cosine of **")
    assert said.endswith(end)


def test_words_of_another_script_are_held_against_no_english_pairs() -> None:
    for word in ("банк", "銀行", "بنك"):
        said = pinned_reading("bank", word, 0.7, layer=6, band=BAND)
        assert said.endswith("**0.70** in the full space at layer 6.")


def test_cosines_that_are_not_those_of_equal_directions_do_not_read_so() -> None:
    assert "a cosine of over **0.99**" in pinned_reading("a", "b", 0.9979, layer=6)
    assert "same direction" in pinned_reading("a", "b", 0.999999, layer=6)


def test_pinned_points_without_a_yardstick_have_none() -> None:
    assert pinned_reading("a", "b", 0.5, layer=2).endswith("**0.50** in the full space at layer 2.")
    assert pinned_reading("a", "b", 0.5, layer=None, band=BAND).endswith("in the full space.")
    assert "same direction" in pinned_reading("a", "a", 1.0, layer=2, band=BAND)


def test_a_selection_is_counted_beside_the_whole() -> None:
    points = made(LABELS, 60, "words", np.arange(60) // 4)
    said = selection_reading(points, range(18), column="topic", typical=("goal", "ball"))
    assert said == [
        "**18** of 60 words are selected (30%), from **5** sentences.",
        "“sport” is **100%** of them, 33% of the whole map.",
        "Typical words: “goal”, “ball”.",
    ]


def test_a_selection_in_which_no_label_stands_out_says_so() -> None:
    said = selection_reading(made(LABELS, 60), range(0, 60, 3), column="topic")
    none = "No label in “topic” clearly stands out among them."
    assert said[1] == none
    assert selection_reading(made(LABELS, 60), [3, 4], column="topic")[1] == none
    one_sentence = made(LABELS, 60, "words", np.repeat([0, 1, 2], 20))
    assert selection_reading(one_sentence, range(18), column="topic")[1] == none
    some = made([*LABELS[:50], *[""] * 10], 60)
    assert selection_reading(some, [*range(18), 55], column="topic")[1] == (
        "“sport” is **100%** of those with a label, 40% of all that have one."
    )
    assert selection_reading(made(LABELS, 60), [], column="topic") == ["Nothing is selected."]
    assert selection_reading(made(LABELS, 60), range(60), column="topic") == [
        "All **60** sentences are selected."
    ]
    one = selection_reading(made(None, 60, "words"), [5, 5], column="topic")
    assert one == ["**1** of 60 words is selected (2%), from **1** sentence."]
    bare = selection_reading(made(["a", "b", "", ""], 4), [2], column="topic")
    assert bare[1] == "None of them has a label in “topic”."
