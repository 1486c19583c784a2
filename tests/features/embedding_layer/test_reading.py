"""What is said of the embedding layer, also where the expected story fails."""

from __future__ import annotations

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Parameter, PartState
from components.features.embedding_layer.controls import ALONE, PAIR, SEGMENT_ONLY
from components.features.embedding_layer.measures.parts import Contribution, shares
from components.features.embedding_layer.measures.positions import look_at_positions, sinusoid
from components.features.embedding_layer.measures.words import Band, Shared
from components.features.embedding_layer.reading.parts import (
    agreement_said,
    cut_note,
    embedding_reading,
    embedding_title,
    share_note,
    share_said,
    tiny,
    token_title,
)
from components.features.embedding_layer.reading.tables import (
    curve_title,
    learned_reading,
    moved_reading,
    moved_title,
    positions_reading,
    positions_title,
    segment_rows_reading,
)
from components.features.embedding_layer.reading.words import (
    neighbours_reading,
    neighbours_title,
    same_rows_reading,
    same_rows_title,
)

TRAINED = PartState("trained", "The checkpoint has weights.")
UNTRAINED = PartState("untrained", "Every bias is exactly 0.")
BAND = Band(-0.1, 0.02, 0.15)
SHARES = {
    "word": np.array([0.3, 0.8, 0.7]),
    "position": np.array([0.6, 0.1, 0.2]),
    "segment": np.array([0.1, 0.1, 0.1]),
}
LABELS = ("[CLS]", "py*thon", "[SEP]")
PARAMETERS = [
    Parameter("embeddings.word_embeddings.weight", (100, 8), "float32", 3200, None, True),
    Parameter("embeddings.position_embeddings.weight", (64, 8), "float32", 2048, None, True),
    Parameter("embeddings.LayerNorm.weight", (8,), "float32", 32, None, True),
]


def reading(
    found: dict[str, np.ndarray] = SHARES, difference: float = 4e-7, state: PartState = TRAINED
) -> str:
    labels = LABELS[: len(found["word"])]
    agreement = agreement_said(list(found), difference, 2.0, projected=False)
    parts = {
        name: Contribution(share, share, moved=2 * share, turned=share)
        for name, share in found.items()
    }
    return " ".join(
        embedding_reading(parts, labels, len(labels) - 2, agreement=agreement, state=state)
    )


def test_agreement_the_exception_and_one_token_are_told() -> None:
    said = reading(difference=4.4e-7)
    assert "Adding word, position and segment rows, then normalising, gives" in said
    assert "largest difference is **4e-7**, within rounding" in said
    assert "The word row has the largest share of the sum's length, along its own dir" in said
    assert r"in **2** of **3** tokens; not in “\[CLS\]” (position **60%**)" in said
    assert r"The shares of “py\*thon”: word **80%**, position **10%**, segment **10%**." in said
    assert "by this much of its length: word **160%**, position **20%**, segment **20%**." in said


def test_a_layer_that_projects_is_told_to() -> None:
    said = agreement_said(["word", "position"], 0.0, 2.0, projected=True)
    assert said.startswith("Adding word and position rows, then normalising and projecting, gives")


def test_no_difference_at_all_is_not_called_rounding() -> None:
    assert "difference is **0**." in reading(difference=0.0)


def test_a_sum_that_does_not_agree_is_said_so() -> None:
    said = reading(difference=0.02)
    assert "does **not** give the model's own layer 0" in said
    assert "rounding" not in said


def test_where_the_word_is_never_the_largest_part_the_position_is_named() -> None:
    found = {"word": np.array([0.2, 0.3]), "position": np.array([0.8, 0.7])}
    assert embedding_title(found) == "The position's share leads in every token"
    assert "along its own direction, in every token." in reading(found)
    assert "word and position" in reading(found)


def test_titles_count_tokens() -> None:
    assert embedding_title(SHARES) == "The word's share leads in 2 of 3 tokens"
    said = "word 30%, position 60%, segment 10%"
    assert token_title(SHARES, 0, LABELS) == f"Shares of [CLS]: {said}"
    assert token_title(SHARES, 0, ("a", "b", "a")) == f"Shares of a at position 0: {said}"


def test_shares_that_cannot_be_told_apart_lead_nowhere() -> None:
    found = {"word": np.array([0.504, 0.6]), "position": np.array([0.496, 0.4])}
    assert embedding_title(found) == "The word's share leads in 1 of 2 tokens"
    assert r"not in “\[CLS\]” (word **50%**, position **50%**)" in reading(found)
    even = {name: share[:1] for name, share in found.items()}
    assert embedding_title(even) == "No part's share leads in any token"
    both = {"word": np.array([0.9, 0.1]), "position": np.array([0.1, 0.9])}
    assert embedding_title(both) == "By share, word and position lead in 1 of 2 tokens each"


def test_a_constant_row_is_said_to_have_a_share_all_the_same() -> None:
    said = share_note(SHARES, ["segment"])
    assert said.startswith("A share is not how much a part matters to what the model does later.")
    assert "The segment row is the same for all 3 tokens and has a share of 10%, though" in said
    assert "a share of 10% to 60%" in share_note(SHARES, ["position"])
    assert "row" not in share_note(SHARES, [])


def test_a_sum_of_zeros_has_no_shares() -> None:
    nothing = {"word": np.zeros(2), "position": np.zeros(2)}
    assert r"The rows of “\[CLS\]” add up to zeros, so no part has a share." in reading(nothing)
    assert "No part has a clearly largest share" in reading(nothing)
    assert share_said(-0.001) == "just below 0%"


def test_what_did_not_fit_is_said_of_one_text_and_of_two(service: EncoderService) -> None:
    one, two, whole = (
        service.tokenize(BUNDLED_ID, ["python " * 600], pairs=[pair])[0]
        for pair in (None, "snake " * 600, None)
    )
    assert "The text is longer" in cut_note(one)
    assert "90 tokens are left out at its end" in cut_note(whole)
    assert "The two texts are longer than the model takes: 691 tokens are" in cut_note(two)
    assert cut_note(service.tokenize(BUNDLED_ID, ["python"])[0]) == ""


def test_an_untrained_embedding_layer_is_told() -> None:
    assert "This embedding layer looks untrained: Every bias is exactly 0" in reading(
        state=UNTRAINED
    )
    assert "untrained" not in reading()


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (4.4e-7, "4e-7"), (1e-12, "1e-12"), (0.02, "2e-2"), (2.4, "2.40")]
)
def test_tiny_numbers(value: float, said: str) -> None:
    assert tiny(value) == said


def test_the_bundled_model_s_story(service: EncoderService) -> None:
    parts = service.embedding_parts(BUNDLED_ID, "I love my pet python")
    assert embedding_title(shares(parts)) == "The word's share leads in 6 of 7 tokens"
    assert round(float(shares(parts)["position"][0]), 2) == 0.62


# Two texts


def shared(*rows: tuple[int, int, float, float]) -> list[Shared]:
    return [Shared(i, j, 100 + i, word, output) for i, j, word, output in rows]


def test_equal_rows_at_equal_places_are_equal_at_layer_0_too() -> None:
    rows = shared((0, 0, 0, 0), (1, 1, 0, 0))
    said = " ".join(same_rows_reading(rows, LABELS, own=True))
    assert "**2** different tokens are in both texts" in said
    assert "same numbers in both (largest difference **0**)" in said
    assert "even its layer 0 is the same" in said
    assert same_rows_title(rows) == "2 tokens have the same word row in both"


def test_a_token_elsewhere_keeps_its_word_row_and_moves_at_layer_0() -> None:
    said = " ".join(same_rows_reading(shared((0, 0, 0, 0), (1, 4, 0, 1.234)), LABELS, own=True))
    assert "layer 0 is the same for **1** of **2**" in said
    assert "stands at position 1 here and 4 there, and differs by up to **1.23**, as" in said


def test_only_added_tokens_in_common_is_said() -> None:
    rows = shared((0, 0, 0, 0))
    said = " ".join(same_rows_reading(rows, LABELS, own=False))
    assert "**1** token is in both texts" in said
    assert "share no token of their own" in said
    assert same_rows_title(rows) == "1 token has the same word row in both"


def test_no_common_token_and_unequal_rows() -> None:
    assert same_rows_reading([], LABELS, own=False) == ["The two texts have no token in common."]
    assert same_rows_title([]) == "No token has the same word row in both"
    odd = same_rows_reading(shared((0, 0, 0.1, 0.1), (1, 1, 0, 0)), LABELS, own=True)
    assert odd == ["**1** of **2** common tokens has an equal word row."]


# Neighbours


def test_neighbours_are_told_beside_random_rows() -> None:
    (first, second) = neighbours_reading("py*", [("<b>", 0.4), ("x", 0.3)], BAND, TRAINED)
    assert (
        first
        == r"Nearest to “py\*” in the word table, by cosine: “\<b\>” (**0.40**), “x” (**0.30**)."
    )
    assert second == "Random pairs of rows average 0.02."


def test_a_row_without_near_neighbours_is_said_to_have_none() -> None:
    said = " ".join(neighbours_reading("x", [("y", 0.12)], BAND, TRAINED))
    assert "no nearer than one in twenty random pairs" in said


def test_neighbours_in_an_untrained_table_mean_nothing() -> None:
    assert "may mean nothing" in " ".join(neighbours_reading("x", [("y", 0.5)], BAND, UNTRAINED))
    assert neighbours_title("<x>", 10, 30_522) == "Of 30,522 rows, the 10 nearest to <x>"
    assert neighbours_reading("x", [], BAND, TRAINED) == [
        "The table has no other row than that of “x”."
    ]


# Positions, segments, parameters


def test_near_positions_that_are_alike(service: EncoderService) -> None:
    table = service.matrix(BUNDLED_ID, "embeddings.position_embeddings.weight")
    look = look_at_positions(table, 0)
    assert positions_title(look) == "Near positions more alike: 0.85, far 0.34"
    said = " ".join(positions_reading(look, 512))
    assert "**0.85** on average, rows 50 apart **0.34**" in said
    assert "those that are nearer are more alike" in said
    assert curve_title(look) == f"{sum(look.explained):.0%} of the variance, as a curve"


def test_random_positions_know_nothing_of_distance() -> None:
    rows = np.random.default_rng(0).normal(size=(66, 300)).astype(np.float32)
    look = look_at_positions(rows, 2)
    assert positions_title(look).startswith("Near and far about as alike: ")
    said = " ".join(positions_reading(look, 66))
    assert "nearer" not in said
    assert "A text begins at row **2**; rows 0 to 1 stand for no place in a text." in said
    assert "row 0 stands for no place" in " ".join(
        positions_reading(look_at_positions(rows, 1), 66)
    )
    assert "too few" in " ".join(positions_reading(look_at_positions(rows[:2], 0), 2))


def test_segment_rows_by_how_many_there_are() -> None:
    assert "no segment embeddings" in segment_rows_reading(None, "distilbert")[0]
    assert "**1** row" in segment_rows_reading(np.ones((1, 4)), "roberta")[0]
    two = segment_rows_reading(np.array([[3.0, 4.0], [0.0, 4.0]]), "bert")[0]
    assert "**5.00** and **4.00** and are **3.00** apart (cosine **0.80**)" in two


def test_what_moves_with_a_second_text() -> None:
    ids = [0, 0, 1, 1]
    said = " ".join(moved_reading(np.array([0, 0, 0.2, 0.4]), ids, PAIR))
    assert "first text's tokens do not move at layer 0" in said
    assert "**30%** of their length" in said
    shifted = " ".join(moved_reading(np.array([0.1, 0, 0.2, 0.4]), ids, PAIR))
    assert "first text's tokens move by up to **10%**" in shifted
    assert "segment row 1 in place of 0" in moved_reading(np.array([0.1]), [0], SEGMENT_ONLY)[0]
    assert "nothing moves" in moved_reading(np.zeros(2), [0, 1], ALONE)[0]
    assert "nothing to move" in moved_reading(np.zeros(0), [], PAIR)[0]


def test_the_bars_title_says_how_far_the_farthest_moved() -> None:
    assert moved_title(np.array([0, 0.42, 0.1])) == "Layer 0 moves by up to 42% of its length"
    assert moved_title(np.zeros(2)) == moved_title(np.zeros(0)) == "Layer 0 stays as it is"


def test_learned_positions_are_told_from_fixed_ones() -> None:
    rows = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
    learned = " ".join(learned_reading(PARAMETERS, look_at_positions(rows, 0), TRAINED))
    assert "Word embeddings and position embeddings are tables of parameters" in learned
    assert "**1,320** numbers" in learned
    assert "are not the fixed sine and cosine formula's" in learned
    fixed = " ".join(learned_reading(PARAMETERS, look_at_positions(sinusoid(64, 8), 0), TRAINED))
    assert "they look set, not learned" in fixed
    assert "are not" not in fixed


def test_an_untrained_layer_was_not_learned() -> None:
    rows = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
    said = " ".join(learned_reading(PARAMETERS, look_at_positions(rows, 0), UNTRAINED))
    assert "looks untrained: Every bias" in said
    assert "position rows" not in " ".join(learned_reading(PARAMETERS, None, TRAINED))
