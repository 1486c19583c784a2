"""Layer by layer in words: the usual story, and the cases in which it fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from components.analysis.baseline import Band
from components.core import BUNDLED_ID, EncoderService, ModelCard
from components.core.schema import PartState, Provenance
from components.features.layers.measures.spaces import Alike
from components.features.layers.measures.tokens import Measure, Neighbours, measure
from components.features.layers.reading.notes import shapes_note, text_notes
from components.features.layers.reading.pairs import nearest_reading, pairs_reading, pairs_title
from components.features.layers.reading.pooler import pooler_reading
from components.features.layers.reading.spaces import (
    alike_reading,
    alike_title,
    spread_reading,
    spread_titles,
)
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
        layers_picture_title(FALLING, "[CLS]") == "At layer 2, the cosine to layer 0 averages 0.35"
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


def test_the_shapes_name_what_the_pooler_gives() -> None:
    said = shapes_note((7, 9, 384), "untrained")
    assert "hidden states (7 layers, 9 tokens, 384 dimensions)" in said
    assert said.endswith("pooler output (384,), untrained")
    assert shapes_note((7, 9, 384), None).endswith("pooler output none")


def notes(**given: int) -> str:
    """What is told of a text of five tokens, unless something else is given."""
    usual = {"n_own": 5, "n_unknown": 0, "n_lost": 0, "has_pair": False, "has_segments": True}
    return " ".join(text_notes(**{**usual, **given}))


def test_what_of_a_text_is_unknown_or_left_out_is_told() -> None:
    assert notes() == ""
    assert notes(n_own=1, n_unknown=1).startswith(
        "The only token of this text is unknown to the model"
    )
    assert notes(n_unknown=1).startswith("1 of 5 tokens of this text is unknown")
    assert notes(n_unknown=5).startswith("5 of 5 tokens of this text are unknown")
    assert "its last 90 tokens are left out" in notes(n_lost=90)
    assert "its last token is left out" in notes(n_lost=1)
    assert "longer than the model takes: 2 tokens are left out." in notes(n_lost=2, has_pair=True)


def test_how_two_texts_go_together_depends_on_segments() -> None:
    assert notes(has_pair=True).endswith("every token can draw on either.")
    assert "This model has no segments" in notes(has_pair=True, has_segments=False)


def card_with(card: ModelCard, state: str, family: str = "bert") -> ModelCard:
    part = PartState(state, "Every bias of the pooler is exactly 0.")
    provenance = Provenance(*(replace(part, state="trained") for _ in "ab"), part)
    return replace(card, provenance=provenance, family=family)


def test_the_pooler_s_story_follows_its_provenance(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    assert card.provenance.pooler.state == "untrained"
    own = " ".join(pooler_reading(card, 6e-8))
    assert "largest difference is **6.0e-08**" in own
    assert "nothing shows that it was trained: every bias of the pooler is exactly 0" in own
    assert "next-sentence" not in own
    assert "next-sentence prediction" in " ".join(pooler_reading(card_with(card, "trained"), 0.0))
    albert = " ".join(pooler_reading(card_with(card, "trained", "albert"), 0.0))
    assert "sentence-order" in albert
    assert "no task for it" in " ".join(pooler_reading(card_with(card, "trained", "mpnet"), 0.0))
    absent = pooler_reading(card_with(card, "absent"), None)
    assert absent[0].startswith("This model has no pooler")
    assert len(absent) == 1


def test_a_pooler_that_is_not_what_we_think_is_told(service: EncoderService) -> None:
    said = pooler_reading(card_with(service.load(BUNDLED_ID), "trained"), 0.5)
    assert "**do not** give" in said[0]


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
