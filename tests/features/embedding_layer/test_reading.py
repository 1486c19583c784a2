"""What is said of the embedding layer, also where the expected story fails."""

from __future__ import annotations

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Parameter, PartState
from components.features.embedding_layer.controls import ALONE, PAIR, SEGMENT_ONLY
from components.features.embedding_layer.measures.parts import shares
from components.features.embedding_layer.measures.positions import look_at_positions, sinusoid
from components.features.embedding_layer.measures.words import Band, Shared
from components.features.embedding_layer.reading.parts import (
    embedding_reading,
    embedding_title,
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
    return " ".join(
        embedding_reading(
            found, labels, len(labels) - 1, difference=difference, largest=2.0, state=state
        )
    )


def test_agreement_the_exception_and_one_token_are_told() -> None:
    said = " ".join(
        embedding_reading(SHARES, LABELS, 1, difference=4.4e-7, largest=2.0, state=TRAINED)
    )
    assert "largest difference is **4e-7**, which is rounding" in said
    assert r"largest part of **2** of **3** tokens; not of “\[CLS\]” (position **60%**)" in said
    assert r"Of “py\*thon” they make up: word **80%**, position **10%**, segment **10%**." in said


def test_no_difference_at_all_is_not_called_rounding() -> None:
    assert "difference is **0**." in reading(difference=0.0)


def test_a_sum_that_does_not_agree_is_said_so() -> None:
    said = reading(difference=0.02)
    assert "does **not** give the model's layer 0" in said
    assert "rounding" not in said


def test_where_the_word_is_never_the_largest_part_the_position_is_named() -> None:
    found = {"word": np.array([0.2, 0.3]), "position": np.array([0.8, 0.7])}
    assert embedding_title(found) == "The position leads in every token"
    assert "The position row is the largest part of every token." in reading(found)
    assert "word and position" in reading(found)


def test_titles_count_tokens() -> None:
    assert embedding_title(SHARES) == "The word leads in 2 of 3 tokens"
    assert token_title(SHARES, 0, "[CLS]") == "[CLS]: word 30%, position 60%, segment 10%"


def test_an_untrained_embedding_layer_is_told() -> None:
    assert "This embedding layer is untrained: Every bias is exactly 0" in reading(state=UNTRAINED)
    assert "untrained" not in reading()


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (4.4e-7, "4e-7"), (1e-12, "1e-12"), (0.02, "2e-2")]
)
def test_tiny_numbers(value: float, said: str) -> None:
    assert tiny(value) == said


def test_the_bundled_model_s_story(service: EncoderService) -> None:
    parts = service.embedding_parts(BUNDLED_ID, "I love my pet python")
    assert embedding_title(shares(parts)) == "The word leads in 6 of 7 tokens"
    assert round(float(shares(parts)["position"][0]), 2) == 0.62


# Two texts


def shared(*rows: tuple[int, int, float, float]) -> list[Shared]:
    return [Shared(i, j, 100 + i, word, output) for i, j, word, output in rows]


def test_equal_rows_at_equal_places_are_equal_at_layer_0_too() -> None:
    rows = shared((0, 0, 0, 0), (1, 1, 0, 0))
    said = " ".join(same_rows_reading(rows, LABELS, [True, False, True]))
    assert "**2** tokens are in both texts" in said
    assert "same numbers (largest difference **0**)" in said
    assert "even their layer 0 is the same" in said
    assert same_rows_title(rows) == "2 tokens have the same word row in both"


def test_a_token_elsewhere_keeps_its_word_row_and_moves_at_layer_0() -> None:
    said = " ".join(
        same_rows_reading(shared((0, 0, 0, 0), (1, 4, 0, 1.234)), LABELS, [True, False, True])
    )
    assert "the same for **1** of them" in said
    assert "positions 1 and 4, so it differs by up to **1.23**" in said


def test_only_added_tokens_in_common_is_said() -> None:
    rows = shared((0, 0, 0, 0))
    said = " ".join(same_rows_reading(rows, LABELS, [True, False, True]))
    assert "**1** token is in both texts" in said
    assert "share no token of their own" in said
    assert same_rows_title(rows) == "1 token has the same word row in both"


def test_no_common_token_and_unequal_rows() -> None:
    assert same_rows_reading([], LABELS, []) == ["The two texts have no token in common."]
    assert same_rows_title([]) == "No token has the same word row in both"
    odd = same_rows_reading(shared((0, 0, 0.1, 0.1), (1, 1, 0, 0)), LABELS, [True, False, True])
    assert odd == ["**1** of **2** common tokens have equal word rows."]


# Neighbours


def test_neighbours_are_told_beside_random_rows() -> None:
    (first, second) = neighbours_reading("py*", [("<b>", 0.4), ("x", 0.3)], BAND, trained=True)
    assert first == r"Nearest to “py\*” in the word table: “\<b\>” (**0.40**), “x” (**0.30**)."
    assert second == "Random pairs of rows average 0.02."


def test_a_row_without_near_neighbours_is_said_to_have_none() -> None:
    said = " ".join(neighbours_reading("x", [("y", 0.12)], BAND, trained=True))
    assert "no nearer than many random pairs" in said


def test_neighbours_in_an_untrained_table_mean_nothing() -> None:
    assert "mean nothing" in " ".join(neighbours_reading("x", [("y", 0.5)], BAND, trained=False))
    assert neighbours_title("<x>", 10, 30_522) == "Of 30,522 rows, the 10 nearest to <x>"
    assert neighbours_reading("x", [], BAND, trained=True) == [
        "The table has no other row than that of “x”."
    ]


# Positions, segments, parameters


def test_near_positions_that_are_alike(service: EncoderService) -> None:
    table = service.matrix(BUNDLED_ID, "embeddings.position_embeddings.weight")
    look = look_at_positions(table, 0)
    assert positions_title(look) == "Near positions are alike (0.85)"
    said = " ".join(positions_reading(look, 512))
    assert "**0.85** on average, rows 50 apart **0.34**" in said
    assert "knows which positions are near" in said
    assert curve_title(look) == f"{sum(look.explained):.0%} of the variance, as a curve"


def test_random_positions_know_nothing_of_distance() -> None:
    rows = np.random.default_rng(0).normal(size=(66, 300)).astype(np.float32)
    look = look_at_positions(rows, 2)
    assert positions_title(look) == "Near positions are no more alike"
    said = " ".join(positions_reading(look, 66))
    assert "knows" not in said
    assert "A text begins at row **2**; rows 0 to 1 are never used by it." in said
    assert "row 0 is never used" in " ".join(positions_reading(look_at_positions(rows, 1), 66))
    assert "too few" in " ".join(positions_reading(look_at_positions(rows[:2], 0), 2))


def test_segment_rows_by_how_many_there_are() -> None:
    assert "no segment embeddings" in segment_rows_reading(None, "distilbert")[0]
    assert "**1** row" in segment_rows_reading(np.ones((1, 4)), "roberta")[0]
    two = segment_rows_reading(np.array([[3.0, 4.0], [0.0, 4.0]]), "bert")[0]
    assert "**5.00** and **4.00** and are **3.00** apart (cosine **0.80**)" in two


def test_what_moves_with_a_second_text() -> None:
    ids = [0, 0, 1, 1]
    said = " ".join(moved_reading(np.array([0, 0, 0.2, 0.4]), ids, PAIR))
    assert "first text's tokens do not move at all" in said
    assert "**30%** of their length" in said
    shifted = " ".join(moved_reading(np.array([0.1, 0, 0.2, 0.4]), ids, PAIR))
    assert "first text's tokens move by up to **10%**" in shifted
    assert "segment row 1 in place of 0" in moved_reading(np.array([0.1]), [0], SEGMENT_ONLY)[0]
    assert "nothing moves" in moved_reading(np.zeros(2), [0, 1], ALONE)[0]
    assert "nothing moves" in moved_reading(np.zeros(0), [], PAIR)[0]


def test_the_bars_title_says_how_far_the_farthest_moved() -> None:
    assert moved_title(np.array([0, 0.42, 0.1])) == "Layer 0 moves by up to 42% of its length"
    assert moved_title(np.zeros(2)) == moved_title(np.zeros(0)) == "Layer 0 stays as it is"


def test_learned_positions_are_told_from_fixed_ones() -> None:
    rows = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
    learned = " ".join(learned_reading(PARAMETERS, look_at_positions(rows, 0), TRAINED))
    assert "Word embeddings and position embeddings are tables of parameters" in learned
    assert "**1,320** numbers" in learned
    assert "they were learned" in learned
    fixed = " ".join(learned_reading(PARAMETERS, look_at_positions(sinusoid(64, 8), 0), TRAINED))
    assert "here they were set, not learned" in fixed
    assert "they were learned" not in fixed


def test_an_untrained_layer_was_not_learned() -> None:
    rows = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
    said = " ".join(learned_reading(PARAMETERS, look_at_positions(rows, 0), UNTRAINED))
    assert "they were learned" not in said
    assert "is untrained: Every bias" in said
    assert "position rows" not in " ".join(learned_reading(PARAMETERS, None, TRAINED))
