"""What the reading says of the sentences' words among themselves."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from components.ui.widgets.comparison.reading import meaning_in_context, meaning_title
from tests.ui.widgets.comparison.reading.comparisons import (
    BOLD,
    LETTERS,
    MOST,
    band_of,
    comparison_of,
    made,
    no_band,
    symmetric,
)


def test_an_equal_pair_is_called_equal_at_every_layer() -> None:
    same = made({"AB": [1.0, 1.0, 1.0]})
    for layer in same.layers:
        (said,) = meaning_in_context(same, layer, no_band)
        assert BOLD.findall(said) == ["1.00"]
        assert f"layer {layer}" in said
        assert "start" not in said


def test_nearly_one_is_not_called_the_same_vector() -> None:
    (said,) = meaning_in_context(made({"AB": [1.0, 0.9996]}), 1, no_band)
    assert "the same vector" not in said


def test_other_words_with_the_same_vector_are_not_called_the_same_word() -> None:
    """An uncased model reads "US" and "us" as one token; first sub-tokens agree more often."""
    (said,) = meaning_in_context(made({"AB": [1.0, 0.8]}, sentences=("US", "us")), 0, no_band)
    assert "same word" not in said


def test_a_pair_that_differs_from_the_start_is_said_so() -> None:
    (said,) = meaning_in_context(made({"AB": [0.34, 0.5]}, sentences=("good", "bad")), 1, no_band)
    assert said == (
        "“good” in A and “bad” in B start at **0.34** at layer 0 and have a cosine of **0.50** "
        "at layer 1."
    )
    (at_start,) = meaning_in_context(made({"AB": [0.34, 0.5]}), 0, no_band)
    assert BOLD.findall(at_start) == ["0.34"]
    assert "start" not in at_start


def test_of_several_pairs_the_highest_and_the_lowest_are_named() -> None:
    three = made({"AB": [0.9], "AC": [0.2], "BC": [0.5]}, sentences=("river", "money", "cash"))
    (said,) = meaning_in_context(three, 0, no_band)
    match = MOST.search(said)
    assert match is not None
    assert match.groups() == ("river", "money", "0.90", "river", "cash", "0.20")


def test_eight_times_the_same_sentence_is_all_alike() -> None:
    pairs = {a + b: [1.0, 1.0] for a, b in combinations(LETTERS, 2)}
    same = made(pairs, sentences=["python"] * 8)
    for layer in (0, 1):
        (said,) = meaning_in_context(same, layer, band_of(-0.1, 0.05, 0.2, 2))
        assert "all pairs" in said
        assert set(BOLD.findall(said)) == {"1.00"}
        assert "least" not in said
    assert "part most" not in meaning_title(same)


def test_eight_sentences_and_eight_references_still_fit_in_three_sentences() -> None:
    random = np.random.default_rng(0)
    cosines = symmetric(random.uniform(-1, 1, (13, 16, 16)))
    many = comparison_of(cosines, ["python"] * 8, [f"reference{i}" for i in range(8)])
    for layer in many.layers:
        said = meaning_in_context(many, layer, band_of(-0.1, 0.05, 0.2, 13))
        assert len(said) == 3
        assert len(" ".join(said)) < 700


def test_one_sentence_with_references_has_its_cosines_said() -> None:
    one = made(
        {"A0": [0.3, 0.51], "A1": [0.2, 0.26]},
        sentences=("python",),
        references=("snake", "programming"),
    )
    said = meaning_in_context(one, 1, band_of(-0.1, 0.05, 0.2, 2))
    assert 1 <= len(said) <= 3
    assert [BOLD.findall(sentence) for sentence in said] == [["0.51"], ["0.26"]]
    assert not any("closer" in sentence for sentence in said)
    assert all("cosine" in sentence for sentence in said)  # "at 0.51 from" reads as a distance
    assert meaning_title(one) == "Cosine at every layer"


def test_references_alone_can_differ() -> None:
    only = made({"AB": [1.0, 1.0], "A0": [0.3, 0.6], "B0": [0.3, 0.2]}, references=("snake",))
    said = meaning_in_context(only, 1, no_band)
    assert BOLD.findall(said[0]) == ["1.00"]
    assert BOLD.findall(said[1]) == ["0.60", "0.20"]


def test_an_order_shows_in_the_numbers_beside_it() -> None:
    """ "closer to A (0.51) than to B (0.51)" reads as a mistake."""
    near = made({"AB": [0.9], "A0": [0.5149], "B0": [0.5051]}, references=("snake",))
    for sentence in meaning_in_context(near, 0, no_band):
        numbers = BOLD.findall(sentence)
        assert "closer" not in sentence or len(set(numbers)) == 2
    three = made({"AB": [0.5149], "AC": [0.5051], "BC": [0.51]}, sentences=["bank"] * 3)
    (said,) = meaning_in_context(three, 0, no_band)
    assert "least" not in said or len(set(BOLD.findall(said))) == 2


def test_a_tiny_negative_number_is_no_minus_zero() -> None:
    flat = made({"AB": [0.5, -0.001], "A0": [0.3, -0.004], "B0": [0.3, 0.2]}, references=("x",))
    said = " ".join(meaning_in_context(flat, 1, band_of(-0.1, -0.002, 0.1, 2)))
    assert "-0.00" not in said
    assert "0.00" in said


def test_a_centred_cosine_is_called_that() -> None:
    centred = made({"AB": [0.3, -0.4]}, centred=True)
    (said,) = meaning_in_context(centred, 0, no_band)
    assert "centred cosine" in said
