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
from components.features.layers.reading.pooler import pooler_reading
from components.features.layers.reading.spaces import (
    alike_reading,
    alike_title,
    spread_reading,
    spread_titles,
)
from components.features.layers.reading.tokens import (
    layers_picture_title,
    layers_reading,
    nearest_reading,
    pairs_reading,
    pairs_title,
)

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
        "At layer 2, of the text's own tokens “cat” is still most like its own vector of layer 0 "
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


def test_a_model_whose_layers_change_nothing_is_said_to_end_where_it_began() -> None:
    still = made("start", [[1, 1, 1, 1]] * 3)
    assert "ends where it began" in layers_reading(still, LABELS, 2, None)[-1]


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
    assert "layer 2 changes the tokens most (**0.50**), layer 1 least (**0.85**)" in said
    assert "To the other tokens in the layer before the average is 0.20." in said
    assert layers_picture_title(steps, "[CLS]") == "Layer 2 changes tokens most (cosine 0.50)"


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


def neighbours(*indices: int) -> Neighbours:
    cosines = np.linspace(0.9, 0.5, len(indices), dtype=np.float32)[:, None]
    return Neighbours(np.array(indices)[:, None], cosines)


def test_the_nearest_token_is_followed_over_the_layers() -> None:
    names = [("cat", "A"), ("dog", "B")]
    same = nearest_reading("cat", names, neighbours(1, 1, 1), (0, 1, 2), MEAN)[0]
    assert "“dog” in B is nearest to “cat” at every layer: **0.90** at layer 0" in same
    assert "random pairs of words there: 0.30" in same
    there = nearest_reading("cat", names, neighbours(1, 0, 1), (0, 1, 2), None)[0]
    assert "at both ends, not between" in there
    other = nearest_reading("cat", names, neighbours(1, 1, 0), (0, 1, 2), None)[0]
    assert other.startswith("Nearest to “cat” is “dog” in B with **0.90** at layer 0, but “cat” in")


def test_nothing_is_nearest_where_there_is_nothing_else() -> None:
    found = Neighbours(np.zeros((3, 0), np.int64), np.zeros((3, 0), np.float32))
    assert "no other token" in nearest_reading("cat", [], found, (0, 1, 2), MEAN)[0]


def test_pairs_are_those_of_the_text() -> None:
    matrix = np.array([[1, 0.99, 0, 0], [0.99, 1, 0.3, 0], [0, 0.3, 1, 0], [0, 0, 0, 1]])
    said = pairs_reading(matrix, LABELS, OWN, 2, 0.3)[0]
    assert said == (
        r"At layer 2, “cat” and “\*sat\*” have a cosine of **0.30**; random pairs of words "
        "average 0.30."
    )
    assert pairs_title(matrix, LABELS, OWN) == "Most alike: cat and *sat* (0.30)"
    three = np.array([False, True, True, True])
    assert "all pairs average **0.10**" in pairs_reading(matrix, LABELS, three, 2, None)[0]
    assert "there are not two" in pairs_reading(matrix, LABELS, np.array([False] * 4), 2, None)[0]


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
    assert "nobody trained it: every bias of the pooler is exactly 0" in own
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
    return Alike(matrix, np.full_like(matrix, shuffled), n_words)


CKA = [[1, 0.9, 0.5], [0.9, 1, 0.6], [0.5, 0.6, 1]]


def test_layers_of_one_model_differ_most_at_their_widest_gap() -> None:
    found = found_alike(CKA, 0.2)
    said = " ".join(alike_reading(found, ("X", "X"), same=True))
    assert "between layers 1 and 2 (linear CKA **0.60**)" in said
    assert "still averages **0.20**: what lies above that is the layers' own" in said
    assert alike_title(found, same=True) == "Widest gap: layers 1 and 2 (0.60)"


def test_few_words_are_said_to_tell_nothing() -> None:
    said = " ".join(alike_reading(found_alike(CKA, 0.85, 3), ("X", "X"), same=True))
    assert "so few words tell nothing" in said


def test_two_models_layers_are_matched_and_their_names_escaped() -> None:
    found = found_alike([[0.3, 0.1], [0.2, 0.7], [0.1, 0.4]], 0.1)
    said = " ".join(alike_reading(found, ("*X*", "Y"), same=False))
    assert r"layer 1 of \*X\* and layer 1 of Y are most alike (linear CKA **0.70**)" in said
    assert "their last layers have **0.40**" in said


@pytest.mark.parametrize(("n", "words"), [(0, "are none"), (1, "is one"), (2, "are 2")])
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
    assert "average cosine of **0.70**: its vectors have a direction in common" in said
    assert (
        "first principal component holds **60%** of the variance, the first 2 hold **70%**" in said
    )
    even = spread_reading((0, 1, 2), 0, band(0.0, 0.7, 0.2), SHARES, 506)[0]
    assert "near 0" in even
    titles = spread_titles((0, 1, 2), band(0.0, 0.7, 0.2), SHARES)
    assert titles[0] == "Random words most alike: layer 1 (0.70)"
    assert titles[1] == "One direction holds most at layer 1 (60%)"


def test_the_spread_without_a_baseline_or_without_variance_says_less() -> None:
    assert len(spread_reading((0, 1, 2), 1, None, SHARES, 506)) == 1
    nothing = np.full_like(SHARES, np.nan)
    assert spread_reading((0, 1, 2), 1, None, nothing, 0) == []
    assert spread_titles((0, 1, 2), None, nothing)[1] == "No variance to share"
