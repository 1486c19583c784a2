"""Padding & masks at its limits: any address, any text, sorting, and more than the model takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.core import BUNDLED_ID, EncoderService
from components.features.masks.compute import (
    color_of_cells,
    over_limit,
    own_savings,
    repetition,
    sample_saving,
)
from components.features.masks.reading import masks_sure
from components.ui.state.view import DEFAULT, Value
from tests.features.masks.compute.masked import assert_whole, notes, said, shown, view_of
from tests.support.texts import TYPED

# What an address holds


@pytest.mark.parametrize(
    "controls",
    [
        {"pad_to": "banana"},
        {"pad_to": "-5"},
        {"pad_to": 32},
        {"pad_to": "²"},
        {"sentence": "Z", "color": "<b>", "mask": "yes", "repeat": -3},
        {"sentence": 3, "color": True, "mask": 7.5, "repeat": "x"},
    ],
    ids=repr,
)
def test_a_broken_control_falls_back(service: EncoderService, controls: dict[str, Value]) -> None:
    masks, usual = shown(view_of(**controls), service), shown(DEFAULT, service)
    assert masks.key == usual.key
    assert (masks.batch[0].pad_to, masks.batch[0].masked) == (32, False)
    assert (masks.batch[1].label, masks.unfit) == ("A", "")
    card = service.load(BUNDLED_ID)
    assert color_of_cells(view_of(**controls), card) == "cosine"


@pytest.mark.parametrize("size", ["5", "99999999999"])
def test_a_length_that_cannot_be_is_said_and_not_done(service: EncoderService, size: str) -> None:
    masks = shown(view_of(pad_to=size), service)
    assert masks.batch[0].pad_to == 32
    assert notes(masks) == [
        f"Padding to {size} is impossible: the longest sentence has 7 tokens, and the model's "
        "limit is 512. The batch is padded to 32."
    ]


def test_the_usual_length_grows_with_the_text_and_ends_at_the_models(
    tiny_service: EncoderService,
) -> None:
    card = tiny_service.load("folder:bert")
    for text, size in (("python", "32"), ("python " * 40, str(card.max_length))):
        masks = shown(replace(view_of(text), model=card.id), tiny_service)
        assert masks.padding.default == size
        assert list(masks.padding.options)[-1] == str(card.max_length)
        assert (masks.batch[0].pad_to, masks.unfit) == (int(size), "")


# Every bad input


@pytest.mark.slow
@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_works_or_is_left_out(service: EncoderService, text: str) -> None:
    masks = assert_whole(view_of(text, "I love coding in python"), service)
    assert masks.left_out == (() if text.strip() else ("A",))
    assert [row.alone.text for row in masks.batch[0].rows][-1] == "I love coding in python"


@pytest.mark.parametrize("texts", [("",), ("   ",), ("", " \n ")])
def test_nothing_but_empty_sentences_is_no_batch(
    service: EncoderService, texts: tuple[str, ...]
) -> None:
    masks = shown(view_of(*texts), service)
    assert (masks.lab, masks.row, masks.key) == (None, None, "")
    assert masks.left_out == ("A", "B")[: len(texts)]
    with pytest.raises(ValueError, match="no batch"):
        _ = masks.passport


@pytest.mark.parametrize("n", [1, 8])
def test_identical_sentences_one_and_eight(service: EncoderService, n: int) -> None:
    masks = assert_whole(view_of(*["I love my pet python"] * n), service)
    assert len(masks.batch[0].rows) == n
    assert len(masks_sure(*masks.batch, masks.layer)) == 2  # none changes most


def test_a_chosen_sentence_that_is_empty_gives_way(service: EncoderService) -> None:
    masks = assert_whole(view_of("", "Rain", "I love my pet python", sentence="A"), service)
    assert masks.batch[1].label == "B"


@pytest.mark.slow
def test_texts_over_the_limit_are_cut_and_padded_no_further(service: EncoderService) -> None:
    masks = assert_whole(view_of(*[f"{'python ' * 600}{i}" for i in range(2)]), service)
    assert masks.batch[0].pad_to == 512
    assert said(masks).startswith("All **1,024** positions")
    assert len(notes(masks)) == 2


# Sorting and the limit


def test_what_sorting_saves_is_counted_from_the_samples_lengths(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    found = sample_saving(service, card)
    assert found == sample_saving(service, card)
    assert found.size == 32
    assert 0 < found.padding_sorted < found.padding_given < 1


def test_own_sentences_are_sorted_too(service: EncoderService) -> None:
    masks = shown(view_of("one two three", "x", "one two three", "x"), service)
    found = own_savings(masks)
    assert [each.size for each in found] == [1, 2, 4]
    assert [each.given for each in found] == [16, 20, 20]
    assert [each.by_length for each in found] == [16, 16, 20]
    assert [round(each.padding_sorted, 2) for each in found] == [0, 0, 0.2]
    assert own_savings(shown(view_of(""), service)) == []


def test_a_text_is_said_over_until_it_is_too_long(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    _, row = shown(DEFAULT, service).batch
    asked = repetition(row, card.max_length)
    assert asked.default == 123  # five tokens of its own, for a fifth more than 512
    assert asked.label == "Times to repeat sentence A"
    for times, lost in ((asked.default, 105), (102, 0), (103, 5)):
        found = over_limit(service, card, row.alone, times)
        assert found.tokens.n_truncated == lost
        assert (found.limit, found.n_positions) == (512, 512)


@pytest.mark.parametrize(
    ("text", "default", "most"),
    [("\x00", 600, 600), ("x" * 20_000, 9, 9), ("word " * 4000, 1, 9)],
)
def test_a_text_is_never_said_over_without_end(
    service: EncoderService, text: str, default: int, most: int
) -> None:
    _, row = shown(view_of(text), service).batch
    asked = repetition(row, 512)
    assert (asked.low, asked.default, asked.high) == (1, default, most)


def test_rows_for_no_place_in_a_text_are_not_counted(tiny_service: EncoderService) -> None:
    card = tiny_service.load("folder:roberta")
    (tokens,) = tiny_service.tokenize(card.id, ["a python"])
    assert over_limit(tiny_service, card, tokens, 1).n_positions == card.max_length
