"""From a view to what the Embedding layer shows: the model's numbers, for any text and family."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.embedding_layer import compute, controls
from contextlens.features.embedding_layer.reading import (
    moved_claim,
    same_rows_reading,
    segment_rows_claim,
)
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.features.embedding_layer.shown import assert_the_model_s, claims_of, drawn, on, shown
from tests.support.texts import LONG, TYPED
from tests.support.tiny_models import ALL

PYTHON = 18_750  # the ID of "python"


# The sum


def test_the_opening_view_shows_the_model_s_numbers(service: EncoderService) -> None:
    embedding = assert_the_model_s(DEFAULT, service)
    assert "embedding_layer.agreement.close" in [each.key for each in claims_of(embedding)]
    table = compute.token_table(embedding)
    for name, part in embedding.contributions.items():
        np.testing.assert_allclose(table[f"{name} share"], part.share, atol=1e-6)
        np.testing.assert_allclose(table[f"{name} norm"], part.norm, atol=1e-6)
        np.testing.assert_allclose(table[f"without {name}: moved"], part.moved, atol=1e-6)
        np.testing.assert_allclose(table[f"without {name}: 1 - cos"], part.turned, atol=1e-6)
    total = sum(part.share for part in embedding.contributions.values())
    np.testing.assert_allclose(total, 1, atol=1e-4)


def test_the_values_of_the_chosen_word_are_all_there(service: EncoderService) -> None:
    table = compute.value_table(shown(DEFAULT, service))
    parts = service.embedding_parts(BUNDLED_ID, DEFAULT.sentences[0].text)
    assert parts.tokens.tokens[5] == "python"
    np.testing.assert_array_equal(table["word"], parts.word[5])
    np.testing.assert_allclose(table["layer 0, ours"], parts.output[5], atol=1e-6)
    np.testing.assert_array_equal(table["layer 0, the model's"], parts.output[5])
    assert table["dimension"].tolist() == list(range(384))


def test_a_token_of_another_sentence_is_followed(service: EncoderService) -> None:
    embedding = shown(controls.SENTENCE.put(controls.TOKEN.put(DEFAULT, "3"), "B"), service)
    assert (embedding.focus, embedding.segment) == (3, 0)
    assert claims_of(embedding)[0].numbers["token"] == "“coding”"
    share = float(embedding.contributions["word"].share[3])
    assert claims_of(embedding)[0].numbers["share"] == pytest.approx(share)


@pytest.mark.parametrize(
    "broken",
    [
        {"token": "999", "sentence": "Z", "near": "77", "other": "Q"},
        {"token": "²", "section": "No", "sentence": "", "change": "Everything",
         "positions": "First 9000"},
        {"token": 3, "sentence": True},
    ],
    ids=range(3),
)  # fmt: skip
def test_broken_controls_in_the_address_fall_back(
    broken: dict[str, Any], service: EncoderService
) -> None:
    view = on(**broken)
    embedding = assert_the_model_s(view, service)
    assert (embedding.focus, embedding.window) == (5, slice(0, 7))
    assert controls.SECTION.of(view) in controls.SECTION.options
    assert controls.near_in(embedding.labels, embedding.focus).of(view) == ""
    assert controls.OTHER.among(compute.other_texts(view, embedding)).of(view) == "B"
    assert controls.CHANGE.of(view) == controls.PAIR
    assert controls.POSITIONS.of(view) == controls.POSITIONS.default


@pytest.mark.parametrize(("token", "first"), [(0, 0), (7, 0), (300, 293), (511, 498)])
def test_a_long_text_is_drawn_around_the_followed_token(
    token: int, first: int, service: EncoderService
) -> None:
    embedding = shown(controls.TOKEN.put(on(LONG), str(token)), service)
    parts = service.embedding_parts(BUNDLED_ID, LONG)
    window = slice(first, first + controls.MAX_ROWS)
    assert embedding.window == window
    np.testing.assert_array_equal(drawn(embedding)["position"], parts.position[window])
    assert len(compute.token_table(embedding)) == 512


def test_the_last_sentence_and_a_pair_are_taken_apart(service: EncoderService) -> None:
    view = on(*[f"Sentence number {i}" for i in range(8)], sentence="H")
    assert assert_the_model_s(view, service, index=7).index == 7
    embedding = assert_the_model_s(on("I love my pet python", pair="It is a snake"), service)
    assert set(compute.token_table(embedding)["segment row"]) == {0, 1}


@pytest.mark.slow
@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_is_taken_apart_and_looked_at(text: str, service: EncoderService) -> None:
    assert_looks_work(on(text, "another text"), service)


@pytest.mark.slow
@pytest.mark.parametrize("family", ALL)
def test_every_family_has_what_it_says(family: str, tiny_service: EncoderService) -> None:
    sentences = (Sentence("the <pad> river", "a bank"), Sentence("the bank"))
    view = replace(DEFAULT, model=f"folder:{family}", sentences=sentences)
    embedding = assert_looks_work(view, tiny_service)
    steps, segments = drawn(embedding), compute.segment_rows(embedding, tiny_service)
    assert (embedding.segment is None) == ("segment" not in steps)
    assert ("segment" in steps) == (segments is not None) == (family not in {"distilbert", "mpnet"})
    assert ("LayerNorm" in steps) == (family in {"albert", "electra"})
    n_segments = 0 if segments is None else len(segments)
    assert (controls.SEGMENT_ONLY in controls.change_in(n_segments).options) == (n_segments > 1)
    if n_segments == 1:
        assert set(compute.token_table(embedding)["segment row"]) == {0}
    first = 2 if family in {"roberta", "xlm-roberta", "mpnet"} else 0
    assert compute.position_table(embedding, tiny_service).statistics.first == first
    names = " ".join(p.name for p in compute.layer_parameters(embedding, tiny_service))
    assert ("project" in names or "mapping_in" in names) == ("LayerNorm" in steps)


def assert_looks_work(view: ViewState, service: EncoderService) -> compute.EmbeddingView:
    """All that is computed and said of a text; the numbers of the sum are the model's."""
    embedding = assert_the_model_s(view, service)
    claims = claims_of(embedding)
    for other in compute.other_texts(view, embedding).values():
        pair = compute.two_texts(embedding, other, service)
        claims += same_rows_reading(pair.shared, in_text=pair.share_text_token)
        assert pair.is_cut == (max(map(len, pair.labels)) > compute.MAX_TOKENS)
    near = compute.near_rows(embedding, embedding.focus, service)
    assert near is None or len(near.rows()) == 10
    segments = compute.segment_rows(embedding, service)
    claims += [segment_rows_claim(segments)]
    for change in controls.change_in(0 if segments is None else len(segments)).options:
        moved = compute.moved_tokens(view, embedding, service, change)
        claims += [moved_claim(moved.shares, moved.text_ids, change)]
        assert len(moved.drawn_names) == len(moved.shares[moved.drawn])
    assert not [claim for claim in map(str, claims) if "<b>" in claim.replace(r"\<b\>", "")]
    return embedding


def test_what_is_downloaded_adds_up(service: EncoderService) -> None:
    embedding = shown(on("I love my pet python", pair="=1+1"), service)
    found = compute.arrays(embedding)
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
    pair = compute.two_texts(embedding, compute.other_texts(DEFAULT, embedding)["B"], service)
    assert {row["ID"] for row in pair.rows()} >= {101, 102}
    assert {row["word rows differ by"] for row in pair.rows()} == {0}
    assert [embedding.labels[s.first] for s in pair.drawn_equal] == [
        "[CLS]", "i", "love", "python", "[SEP]",
    ]  # fmt: skip
    assert pair.drawn_cosines.shape == (7, 7)
    assert -0.2 < pair.band.low < pair.band.mean < pair.band.high < 0.6


def test_one_sentence_alone_is_compared_with_a_ready_one(service: EncoderService) -> None:
    view = on("I love coding in python")
    assert compute.other_texts(view, shown(view, service)) == {
        "Example": Sentence("I love my pet python")
    }


def test_neighbours_are_those_of_the_whole_table(service: EncoderService) -> None:
    near = compute.near_rows(shown(DEFAULT, service), 5, service)
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
    assert compute.near_rows(embedding, position, tiny_service) is None


def test_positions_are_drawn_in_steps() -> None:
    assert compute.drawn_positions(DEFAULT, 512) == range(0, 512, 4)
    few = on(positions="First 64")
    assert compute.drawn_positions(few, 512) == range(64)
    assert compute.drawn_positions(few, 40) == compute.drawn_positions(DEFAULT, 40) == range(40)


def test_a_second_text_moves_its_own_tokens_only(service: EncoderService) -> None:
    moved = compute.moved_tokens(DEFAULT, shown(DEFAULT, service), service, controls.PAIR)
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
    assert not compute.moved_tokens(DEFAULT, embedding, service, controls.ALONE).shares.any()
    moved = compute.moved_tokens(DEFAULT, embedding, service, controls.SEGMENT_ONLY)
    assert moved.shares.shape == (7,)
    assert (moved.shares > 0).all()
    assert (moved.shares < 0.3).all()


def test_a_long_first_text_leaves_room_for_the_second(service: EncoderService) -> None:
    view = on("one two " * 40, "three four")
    moved = compute.moved_tokens(view, shown(view, service), service, controls.PAIR)
    assert [moved.text_ids[i] for i in moved.drawn] == [0] * compute.MAX_BARS + [1, 1]
    assert moved.drawn_names[-2:] == ["three", "four"]


def test_the_parameters_are_the_layer_s_own_and_learned(service: EncoderService) -> None:
    rows = compute.parameter_rows(compute.layer_parameters(shown(DEFAULT, service), service))
    states = {row["parameter"]: row["state"] for row in rows}
    assert states["embeddings.position_embeddings.weight"] == "in a trained layer"
    assert states["embeddings.token_type_embeddings.weight"] == "in a trained layer"
    assert sum(row["numbers"] for row in rows) == 11_918_592
