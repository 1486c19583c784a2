"""What is nearest to a typed text, said in words."""

from __future__ import annotations

import pytest

from components.features.map.reading.near import near_reading, not_one_reading


def test_the_range_of_cosines_is_told_with_the_layer() -> None:
    assert near_reading("words", "py*thon", [0.9, 0.5], 6) == (
        "Nearest to “py\\*thon” in the full space at layer 6: 2 words, with cosines from **0.90** "
        "down to **0.50**."
    )
    assert "layer" not in near_reading("sentences", "a", [0.9, 0.5], -1)


def test_a_map_of_one_point_has_no_nearest_of_several() -> None:
    said = near_reading("tokens", "a", [0.25], 0)
    assert said == (
        "The only token here has a cosine of **0.25** with “a” in the full space at layer 0."
    )


@pytest.mark.parametrize(
    ("names", "only", "said"),
    [
        ((), (), "There is no word in “x”. Type a word, or a sentence that has one."),
        (("a", "b"), ("bank",), "Type one word, or a sentence that has “bank”."),
        (("a", "b"), (), "or a sentence that has a single word of this map."),
        (tuple("abcdefg"), (), "this is 7: “a”, “b”, “c”, “d”, “e” and more."),
    ],
)
def test_why_a_text_is_no_point_is_said(
    names: tuple[str, ...], only: tuple[str, ...], said: str
) -> None:
    assert said in not_one_reading("words", "x", names, only)
