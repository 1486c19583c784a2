"""The reading of the opening example, and over which layers an order holds."""

from __future__ import annotations

import pytest

from components.analysis.similarity import Comparison
from components.ui.widgets.comparison.reading import meaning_in_context
from tests.ui.widgets.comparison.reading.comparisons import BOLD, CLOSER, made, no_band

# The opening example


def test_the_expected_story(story: Comparison) -> None:
    assert meaning_in_context(story, 3, no_band) == [
        "“python” in A and “python” in B start equal at layer 0 and have a cosine of **0.78** "
        "at layer 3.",
        "“snake” is closer to “python” in A (**0.51**) than to “python” in B (**0.28**), "
        "at every layer from 1 on.",
        "“programming” is closer to “python” in B (**0.41**) than to “python” in A (**0.26**) "
        "here, but not at layers 0 to 2.",
    ]


def test_at_layer_0_the_story_has_not_begun(story: Comparison) -> None:
    said = meaning_in_context(story, 0, no_band)
    assert "(**1.00**)" in said[0]
    assert said[1].startswith("“snake” is equally close to ")
    assert said[2].startswith("“programming” is equally close to ")
    assert not any("closer" in sentence for sentence in said)


def test_sentences_are_compared_and_references_never(story: Comparison) -> None:
    """B's python is closer to snake than to programming at layers 1 and 2: no one says so."""
    for layer in story.layers:
        for sentence in meaning_in_context(story, layer, no_band):
            assert not ("snake" in sentence and "programming" in sentence)


def test_where_the_story_fails_the_reading_says_the_opposite() -> None:
    failing = made(
        {"AB": [1.0, 0.9], "A0": [0.34, 0.28], "B0": [0.34, 0.51]}, references=("snake",)
    )
    assert meaning_in_context(failing, 1, no_band)[1].startswith(
        "“snake” is closer to “python” in B (**0.51**) than to “python” in A (**0.28**)"
    )


def test_the_widest_difference_comes_first_and_two_references_are_enough() -> None:
    wide = {"AB": [0.5], "A0": [0.2], "B0": [0.3], "A1": [0.1], "B1": [0.9], "A2": [0.5]}
    said = meaning_in_context(made(wide, references=("one", "two", "three")), 0, no_band)
    assert [BOLD.findall(s) for s in said[1:]] == [["0.90", "0.10"], ["0.50", "0.00"]]
    assert said[1].startswith("“two”")
    assert said[2].startswith("“three”")


# Over which layers the order holds


@pytest.mark.parametrize(
    ("gaps", "layer", "rest"),
    [
        ([0.2, 0.2, 0.2, 0.2], 3, ", at every layer"),
        ([0.2, 0.2, 0.2, 0.2], 0, ", at every layer"),
        ([0.0, 0.2, 0.2, 0.2], 3, ", at every layer from 1 on"),
        ([0.0, 0.2, 0.2, 0.2], 1, ", at every layer from 1 on"),
        ([-0.2, 0.2, -0.2, 0.2, 0.2], 4, ", at every layer from 3 on"),
        ([0.2, -0.2, 0.2, 0.2], 2, ", at every layer from 2 on"),
        ([-0.2, -0.2, -0.2, 0.2], 3, " here, but not at layers 0 to 2"),
        ([0.2, 0.2, -0.2, 0.2], 0, " here, but not at layer 2"),
        ([0.2, 0.2, 0.2, -0.2], 1, " here, but not at layer 3"),
        ([0.2, -0.2], 0, " here, but not at layer 1"),
        ([0.2], 0, ""),
    ],
)
def test_it_is_said_over_which_layers_an_order_holds(
    gaps: list[float], layer: int, rest: str
) -> None:
    values = {
        "AB": [0.5] * len(gaps),
        "A0": [0.4 + gap / 2 for gap in gaps],
        "B0": [0.4 - gap / 2 for gap in gaps],
    }
    said = meaning_in_context(made(values, references=("snake",)), layer, no_band)
    match = CLOSER.match(said[1])
    assert match is not None
    assert match["rest"] == rest


def test_rounding_noise_is_no_order() -> None:
    """The same vector from two batches differs in the last bits: at layer 0 nothing is closer."""
    noisy = made(
        {"AB": [1.0, 0.9, 0.9], "A0": [0.3400001, 0.53, 0.53], "B0": [0.34, 0.47, 0.47]},
        references=("snake",),
    )
    assert meaning_in_context(noisy, 0, no_band)[1].startswith("“snake” is equally close")
    assert meaning_in_context(noisy, 2, no_band)[1].endswith(" from 1 on.")


def test_what_is_called_equal_at_one_layer_is_not_called_closer_from_another() -> None:
    close = made(
        {"AB": [0.9, 0.9, 0.9], "A0": [0.342, 0.5, 0.5], "B0": [0.34, 0.4, 0.4]},
        references=("snake",),
    )
    here, later = (meaning_in_context(close, layer, no_band)[1] for layer in (0, 2))
    assert "equally close" in here
    assert not later.endswith(", at every layer.")
