"""Tokens layer by layer in words: the usual story, and the cases in which it fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.features.layers.measures.tokens import Measure, Neighbours, measure
from components.features.layers.reading.pairs import nearest_reading, pairs_reading, pairs_title
from components.features.layers.reading.tokens import layers_picture_title, layers_reading

LABELS = ("[CLS]", "cat", "*sat*", "[SEP]")
OWN = np.array([False, True, True, False])
MEAN = np.array([0.1, 0.2, 0.3], np.float32)


def made(kind: str, rows: list[list[float]], chance: list[float] | None = None) -> Measure:
    first = 3 - len(rows)
    return Measure(
        kind,
        tuple(range(first, 3)),
        np.array(rows, np.float32),
        OWN,
        None if chance is None else np.array(chance, np.float32),
    )


FALLING = made(
    "start", [[1, 1, 1, 1], [0.9, 0.8, 0.6, 0.9], [0.9, 0.5, 0.2, 0.9]], [0.05, 0.04, 0.03]
)


def test_the_start_is_told_from_the_text_s_own_tokens() -> None:
    said = " ".join(layers_reading(FALLING, LABELS, 2, MEAN))
    assert (
        "At layer 2, of the text's own tokens “cat” is most like its own vector of layer 0 "
        "(**0.50**)" in said
    )
    assert r"“\*sat\*” least (**0.20**)" in said
    assert "To the other tokens at layer 0 the average is 0.03." in said
    assert "falls at every layer, from **1.00** at layer 0 to **0.35** at layer 2" in said
    assert (
        layers_picture_title(FALLING, "[CLS]") == "At layer 2, average similarity to layer 0: 0.35"
    )


def test_at_layer_0_the_start_is_itself() -> None:
    assert "its cosine to itself is 1" in layers_reading(FALLING, LABELS, 0, MEAN)[0]


def test_a_cosine_that_comes_back_up_is_not_said_to_fall_at_every_layer() -> None:
    back = made("start", [[1, 1, 1, 1], [0.9, 0.1, 0.1, 0.9], [0.9, 0.5, 0.5, 0.9]])
    assert "though not at each" in layers_reading(back, LABELS, 2, None)[-1]


def test_a_model_whose_layers_change_nothing_has_the_same_at_both_ends() -> None:
    still = made("start", [[1, 1, 1, 1]] * 3)
    said = layers_reading(still, LABELS, 2, None)
    assert "all of the text's own tokens are about as like their own vectors" in said[0]
    assert (
        said[-1]
        == "The average cosine is about the same at both ends: **1.00** at layer 0 and **1.00** at "
        "layer 2."
    )


def test_what_is_within_the_margin_shares_the_place() -> None:
    close = made("start", [[1, 1, 1, 1], [1, 0.9, 0.895, 1], [1, 0.5, 0.515, 1]])
    assert "all of the text's own tokens" in layers_reading(close, LABELS, 1, None)[0]
    assert "(**0.50** to **0.51**)" in layers_reading(close, LABELS, 2, None)[0]
    four = replace(close, values=np.array([[1] * 4, [1] * 4, [0.6, 0.5, 0.595, 0.2]], np.float32))
    own = replace(four, own=np.ones(4, bool))
    assert (
        "“\\[CLS\\]” and “\\*sat\\*” are most like their own vectors of layer 0 (**0.60**)"
        in (layers_reading(own, LABELS, 2, None)[0])
    )


def test_a_step_that_is_only_noise_is_neither_a_fall_nor_a_turn() -> None:
    flat = made("start", [[1, 1, 1, 1], [1, 0.6, 0.6, 1], [1, 0.599, 0.599, 1]])
    assert "falls over the layers, from" in layers_reading(flat, LABELS, 2, None)[-1]


def test_a_repeated_word_is_told_by_its_position() -> None:
    said = layers_reading(FALLING, ("[CLS]", "the", "the", "[SEP]"), 2, MEAN)[0]
    assert "“the” at position 1 is most like" in said
    assert "“the” at position 2 least" in said


def test_rising_lengths_rise() -> None:
    longer = made("length", [[1, 1, 1, 1], [1, 2, 2.5, 1], [1, 3, 4, 1]])
    said = " ".join(layers_reading(longer, LABELS, 1, MEAN))
    assert "has the longest vector" in said
    assert "The average length rises at every layer" in said
    assert layers_picture_title(longer, "[CLS]") == "Longest vectors: layer 2 (average 3.50)"


def test_the_step_before_has_no_layer_0() -> None:
    steps = made("before", [[0.9, 0.8, 0.9, 1], [0.9, 0.4, 0.6, 1]], [0.1, 0.2])
    assert "no layer before it" in layers_reading(steps, LABELS, 0, MEAN)[0]
    said = " ".join(layers_reading(steps, LABELS, 2, MEAN))
    assert "layer 2 turns the tokens' vectors most (**0.50**), layer 1 least (**0.85**)" in said
    assert "To the other tokens in the layer before the average is 0.20." in said
    title = layers_picture_title(steps, "[CLS]")
    assert title == "Layer 2 turns the tokens' vectors most (cosine 0.50)"
    even = made("before", [[0.9, 0.8, 0.9, 1], [0.9, 0.84, 0.84, 1]])
    assert layers_picture_title(even, "[CLS]") == (
        "All layers turn the tokens' vectors about alike (0.84 to 0.85)"
    )


def test_the_first_token_is_called_by_its_name_beside_random_pairs() -> None:
    first = made("first", [[1, 0.1, 0.2, 0], [1, 0.3, 0.2, 0], [1, 0.6, 0.5, 0]])
    said = " ".join(layers_reading(first, ("<s>", *LABELS[1:]), 2, MEAN))
    assert r"“cat” is most like “\<s\>” (**0.60**)" in said
    assert "Random pairs of words average 0.30 there." in said
    assert layers_picture_title(first, "<s>") == "Tokens are most like <s> at layer 2 (0.55)"
    assert "Random pairs" not in " ".join(layers_reading(first, LABELS, 2, None))


@pytest.mark.parametrize("kind", ["start", "before", "first", "length"])
def test_one_token_is_not_compared_with_itself(service: EncoderService, kind: str) -> None:
    encoding = service.encode(BUNDLED_ID, ["hello"])[0]
    said = " ".join(layers_reading(measure(encoding, kind), encoding.tokens, 3, None))
    assert said.startswith("At layer 3, “hello” has ")
    assert "; " not in said.split(". ")[0]
    assert ", “" not in said.split(". ")[0].removeprefix("At layer 3, “hello”")
    assert "shortest" not in said
    assert "other tokens" not in said


def test_a_text_without_tokens_says_what_is_seen(service: EncoderService) -> None:
    encoding = service.encode(BUNDLED_ID, [" "])[0]
    said = layers_reading(measure(encoding, "start"), encoding.tokens, 6, None)
    assert (
        said[0] == r"This text has no token of its own: what you see is only “\[CLS\]”, “\[SEP\]”."
    )
    assert "own tokens" not in " ".join(said)
    assert "text's" not in " ".join(said)


NAMES = [("cat", "A"), ("dog", "B"), ("the", "B"), ("dog", "B")]


def neighbours(*tied: set[int]) -> Neighbours:
    cosines = np.linspace(0.9, 0.5, len(tied), dtype=np.float32)[:, None]
    indices = np.array([[min(places)] for places in tied])
    return Neighbours(indices, cosines, tuple(map(frozenset, tied)))


def nearest_said(*tied: set[int], baseline: np.ndarray | None = None) -> str:
    return nearest_reading(0, NAMES, neighbours(*tied), range(len(tied)), baseline)[0]


def test_the_nearest_token_is_followed_over_the_layers() -> None:
    same = nearest_said({2}, {2}, {2}, baseline=MEAN)
    assert "“the” in B is nearest to “cat” at every layer: **0.90** at layer 0" in same
    assert "random pairs of words there: 0.30" in same
    assert "at both ends, but at no layer between" in nearest_said({2}, {1}, {2})
    assert "at both ends, but not at every layer between" in nearest_said({2}, {2}, {1}, {2})
    other = nearest_said({2}, {2}, {1})
    assert other.startswith(
        "Nearest to “cat” is “the” in B with **0.90** at layer 0, but “dog” at position 0 in B with"
    )


def test_another_occurrence_of_the_same_word_is_another_token() -> None:
    said = nearest_said({1}, {3}, {1})
    assert "“dog” at position 0 in B is nearest to “cat” at both ends, but at no layer" in said


def test_tokens_that_are_equally_near_are_named_together() -> None:
    assert "“dog” at position 0 in B and “the” in B are both nearest to “cat” at every layer" in (
        nearest_said({1, 2}, {1, 2}, {1, 2})
    )
    assert "“dog” at position 0 in B and 2 others are all nearest" in nearest_said({1, 2, 3})
    assert "at every layer, though others are as near at some:" in nearest_said({2}, {1, 2}, {2})


def test_nothing_is_nearest_where_there_is_nothing_else() -> None:
    empty = frozenset()
    found = Neighbours(np.zeros((3, 0), np.int64), np.zeros((3, 0), np.float32), (empty,) * 3)
    assert "no other token" in nearest_reading(0, NAMES, found, (0, 1, 2), MEAN)[0]


def test_pairs_are_those_of_the_text() -> None:
    matrix = np.array([[1, 0.99, 0, 0], [0.99, 1, 0.3, 0], [0, 0.3, 1, 0], [0, 0, 0, 1]])
    said = pairs_reading(matrix, LABELS, OWN, 2, 0.3)[0]
    assert said == (
        r"At layer 2, “cat” and “\*sat\*” have a cosine of **0.30**; random pairs of words "
        "average 0.30."
    )
    assert pairs_title(matrix, LABELS, OWN) == "Cosine of cat and *sat*: 0.30"
    three = np.array([False, True, True, True])
    assert "all pairs average **0.10**" in pairs_reading(matrix, LABELS, three, 2, None)[0]
    assert "there are not two" in pairs_reading(matrix, LABELS, np.array([False] * 4), 2, None)[0]


def test_pairs_of_repeated_words_have_positions_and_equal_ones_share_the_place() -> None:
    labels, own = ("the", "the", "the", "cat"), np.ones(4, bool)
    matrix = np.full((4, 4), 0.5)
    assert (
        "all pairs of the text's tokens are about alike (**0.50**)"
        in (pairs_reading(matrix, labels, own, 2, None)[0])
    )
    assert pairs_title(matrix, labels, own) == "All pairs are about alike (0.50)"
    matrix[0, 1], matrix[2, 3] = 0.9, 0.1
    assert pairs_reading(matrix, labels, own, 2, None)[0].startswith(
        "At layer 2, “the” at position 0 and “the” at position 1 are most alike (**0.90**), "
        "“the” at position 2 and “cat” least (**0.10**)"
    )
    assert (
        pairs_title(matrix, labels, own)
        == "Most alike: the at position 0 and the at position 1 (0.90)"
    )
    matrix[0, 3] = 0.895
    assert (
        "and one other pair are most alike (**0.90**)"
        in (pairs_reading(matrix, labels, own, 2, None)[0])
    )
