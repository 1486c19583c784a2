"""From a view to what the Embedding layer shows: the model's numbers, for any text and family."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.features.embedding_layer.compute import (
    MAX_BARS,
    arrays,
    drawn_positions,
    layer_parameters,
    moved_tokens,
    near_rows,
    other_texts,
    parameter_rows,
    position_table,
    token_table,
    two_texts,
    value_table,
)
from components.features.embedding_layer.controls import (
    ALONE,
    CHANGE,
    FIRST_DIM,
    FIRST_TOKEN,
    MAX_ROWS,
    OTHER,
    PAIR,
    POSITIONS,
    SECTION,
    SEGMENT_ONLY,
    SENTENCE,
    TOKEN,
    WIDTH,
    near_in,
)
from components.ui.state.view import DEFAULT, Sentence
from tests.features.embedding_layer.shown import assert_the_model_s, drawn, on, shown, told
from tests.support.texts import LONG

PYTHON = 18_750  # the ID of "python"


# The sum


def test_the_opening_view_shows_the_model_s_numbers(service: EncoderService) -> None:
    embedding = assert_the_model_s(DEFAULT, service)
    assert "embedding_layer.agreement.close" in [each.key for each in told(embedding)]
    table = token_table(embedding)
    for name, share in embedding.shares.items():
        np.testing.assert_allclose(table[f"{name} share"], share, atol=1e-6)
        part = embedding.contributions[name]
        np.testing.assert_allclose(table[f"{name} norm"], part.norm, atol=1e-6)
        np.testing.assert_allclose(table[f"without {name}: moved"], part.moved, atol=1e-6)
        np.testing.assert_allclose(table[f"without {name}: 1 - cos"], part.turned, atol=1e-6)
    assert sum(embedding.shares.values()) == pytest.approx(1, abs=1e-4)


def test_the_values_of_the_chosen_word_are_all_there(service: EncoderService) -> None:
    table = value_table(shown(DEFAULT, service))
    parts = service.embedding_parts(BUNDLED_ID, DEFAULT.sentences[0].text)
    assert parts.tokens.tokens[5] == "python"
    np.testing.assert_array_equal(table["word"], parts.word[5])
    np.testing.assert_allclose(table["layer 0, ours"], parts.output[5], atol=1e-6)
    np.testing.assert_array_equal(table["layer 0, the model's"], parts.output[5])
    assert table["dimension"].tolist() == list(range(384))


def test_another_sentence_one_token_and_a_zoom_are_shown(service: EncoderService) -> None:
    view = SENTENCE.put(WIDTH.put(TOKEN.put(DEFAULT, "3"), "8"), "B")
    embedding = shown(FIRST_DIM.put(view, 100), service)
    parts = service.embedding_parts(BUNDLED_ID, DEFAULT.sentences[1].text)
    np.testing.assert_array_equal(drawn(embedding)["word"], parts.word[3:4, 100:108])
    np.testing.assert_array_equal(drawn(embedding)["layer 0"], parts.output[3:4, 100:108])
    assert told(embedding)[1].numbers["token"] == "“coding”"


def test_a_zoom_ends_where_narrower_tables_end(tiny_service: EncoderService) -> None:
    view = replace(on("the bank", width="8", first_dim=9999), model="folder:albert")
    embedding = shown(view, tiny_service)
    word, layer_0 = (embedding.panels()[i] for i in (0, -1))
    assert (word.first, word.rows.shape[1]) == (8, 8)
    assert (layer_0.first, layer_0.rows.shape[1]) == (24, 8)


@pytest.mark.parametrize(
    "controls",
    [
        {"token": "999", "width": "7", "first_dim": -5, "first_token": 10_000, "sentence": "Z"},
        {"token": "²", "width": "<b>", "first_dim": 10**9, "section": "No", "sentence": ""},
        {"token": 3, "width": 8, "first_dim": "x", "first_token": 1.5, "sentence": True},
        {"section": "Neighbours", "near": "77"},
        {"section": "Same word", "other": "Q"},
        {"section": "Segments", "change": "Everything"},
        {"section": "Positions", "positions": "First 9000"},
    ],
    ids=lambda controls: "-".join(controls),
)
def test_broken_controls_in_the_address_fall_back(
    controls: dict[str, Any], service: EncoderService
) -> None:
    view = on(**controls)
    embedding = assert_the_model_s(view, service)
    assert (embedding.picked, embedding.focus, embedding.window) == (None, 5, slice(0, 7))
    assert SECTION.of(view) in SECTION.options
    assert near_in(embedding.labels, embedding.focus).of(view) == ""
    assert OTHER.among(other_texts(view, embedding)).of(view) == "B"
    assert (CHANGE.of(view), POSITIONS.of(view)) == (PAIR, POSITIONS.default)


def test_a_long_text_is_drawn_in_part(service: EncoderService) -> None:
    embedding = shown(FIRST_TOKEN.put(on(LONG), 500), service)
    parts = service.embedding_parts(BUNDLED_ID, LONG)
    assert embedding.window == slice(488, 512)
    np.testing.assert_array_equal(drawn(embedding)["position"], parts.position[-MAX_ROWS:])
    assert len(token_table(embedding)) == 512


def test_eight_sentences_can_be_chosen_among(service: EncoderService) -> None:
    view = on(*[f"Sentence number {i}" for i in range(8)], sentence="H")
    assert assert_the_model_s(view, service, index=7).index == 7


def test_a_pair_shows_both_segments(service: EncoderService) -> None:
    embedding = assert_the_model_s(on("I love my pet python", pair="It is a snake"), service)
    assert set(token_table(embedding)["segment row"]) == {0, 1}


def test_what_is_downloaded_adds_up(service: EncoderService) -> None:
    embedding = shown(on("I love my pet python", pair="=1+1"), service)
    found = arrays(embedding)
    added = found["word"] + found["position"] + found["segment"]
    np.testing.assert_allclose(added, found["sum"], atol=1e-6)
    np.testing.assert_array_equal(found["layer_0"], embedding.layer_0)
    np.testing.assert_allclose(found["rebuilt"], found["layer_0"], atol=1e-6)
    for name, part in embedding.contributions.items():
        np.testing.assert_array_equal(found[f"{name}_share"], part.share)
        np.testing.assert_array_equal(found[f"{name}_left_out_moved"], part.moved)
    assert (found["text"], found["pair"]) == ("I love my pet python", "=1+1")
    assert embedding.passport.settings["layer_norm_epsilon"] == 1e-12


# Closer looks


def test_the_same_word_has_the_same_row_in_two_sentences(service: EncoderService) -> None:
    embedding = shown(DEFAULT, service)
    pair = two_texts(embedding, other_texts(DEFAULT, embedding)["B"], service)
    assert {row["ID"] for row in pair.rows()} >= {101, 102}
    assert {row["word rows differ by"] for row in pair.rows()} == {0}
    assert [embedding.labels[s.first] for s in pair.drawn_equal] == [
        "[CLS]", "i", "love", "python", "[SEP]",
    ]  # fmt: skip
    assert pair.drawn_cosines.shape == (7, 7)
    assert -0.2 < pair.band.low < pair.band.mean < pair.band.high < 0.6


def test_one_sentence_alone_is_compared_with_a_ready_one(service: EncoderService) -> None:
    view = on("I love coding in python")
    assert other_texts(view, shown(view, service)) == {"Example": Sentence("I love my pet python")}


def test_neighbours_are_those_of_the_whole_table(service: EncoderService) -> None:
    near = near_rows(shown(DEFAULT, service), 5, service)
    rows = service.word_rows(BUNDLED_ID, range(30_522)).astype(np.float64)
    units = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    cosines = units @ units[PYTHON]
    best = [i for i in np.argsort(-cosines) if i != PYTHON][:10]
    assert list(near.token_ids) == [row["ID"] for row in near.rows()] == best
    np.testing.assert_allclose(near.cosines, cosines[best], atol=1e-5)


def test_a_row_of_zeros_has_no_neighbours(tiny_service: EncoderService) -> None:
    view = replace(on("the [PAD] river"), model="folder:bert")
    embedding = shown(view, tiny_service)
    position = embedding.labels.index("[PAD]")
    assert near_rows(embedding, position, tiny_service) is None


def test_positions_are_compared_and_drawn_in_steps(service: EncoderService) -> None:
    look = position_table(shown(DEFAULT, service), service).statistics
    table = service.matrix(BUNDLED_ID, "embeddings.position_embeddings.weight")
    units = table / np.linalg.norm(table, axis=1, keepdims=True)
    np.testing.assert_allclose(look.cosines, units @ units.T, atol=2e-5)
    assert look.curve.shape == (512, 2)
    assert drawn_positions(DEFAULT, 512) == range(0, 512, 4)
    few = on(positions="First 64")
    assert drawn_positions(few, 512) == range(64)
    assert drawn_positions(few, 40) == drawn_positions(DEFAULT, 40) == range(40)


def test_a_second_text_moves_its_own_tokens_only(service: EncoderService) -> None:
    moved = moved_tokens(DEFAULT, shown(DEFAULT, service), service, PAIR)
    texts = [s.text for s in DEFAULT.sentences]
    both = service.embedding_parts(BUNDLED_ID, texts[0], pair=texts[1]).output[7:12]
    single = service.embedding_parts(BUNDLED_ID, texts[1]).output[1:6]
    expected = np.linalg.norm(both - single, axis=1) / np.linalg.norm(single, axis=1)
    assert (moved.shares[:5] == 0).all()
    assert (moved.shares[5:] > 0.1).all()
    np.testing.assert_allclose(moved.shares[5:], expected, atol=1e-6)
    assert moved.names == texts[0].lower().split() + texts[1].lower().split()


def test_without_a_second_text_nothing_moves_and_the_segment_alone_moves_less(
    service: EncoderService,
) -> None:
    embedding = shown(DEFAULT, service)
    assert not moved_tokens(DEFAULT, embedding, service, ALONE).shares.any()
    moved = moved_tokens(DEFAULT, embedding, service, SEGMENT_ONLY)
    assert moved.shares.shape == (7,)
    assert (moved.shares > 0).all()
    assert (moved.shares < 0.3).all()


def test_a_long_first_text_leaves_room_for_the_second(service: EncoderService) -> None:
    view = on("one two " * 40, "three four")
    moved = moved_tokens(view, shown(view, service), service, PAIR)
    assert [moved.text_ids[i] for i in moved.drawn] == [0] * MAX_BARS + [1, 1]
    assert moved.drawn_names[-2:] == ["three", "four"]


def test_the_parameters_are_the_layer_s_own_and_learned(service: EncoderService) -> None:
    rows = parameter_rows(layer_parameters(shown(DEFAULT, service), service))
    states = {row["parameter"]: row["state"] for row in rows}
    assert states["embeddings.position_embeddings.weight"] == "in a trained layer"
    assert states["embeddings.token_type_embeddings.weight"] == "in a trained layer"
    assert sum(row["numbers"] for row in rows) == 11_918_592
