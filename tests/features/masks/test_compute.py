"""From a view to the batch of Padding & masks, its files and limits: the model's numbers."""

from __future__ import annotations

import ast
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.masks.compute import (
    EXAMPLE,
    Masks,
    masks_of,
    over_limit,
    own_savings,
    repetition,
    sample_saving,
)
from contextlens.features.masks.controls import AVERAGE, MASK, PAD_TO, PAGE, SENTENCE
from contextlens.features.masks.figures import (
    batch_grid,
    cases_grid,
    layer_lines,
    mask_range,
    token_heatmap,
)
from contextlens.features.masks.measures import arrays, summary_rows, token_rows
from contextlens.features.masks.reading import (
    batch_title,
    case_of,
    cases_title,
    layers_title,
    masks_reading,
    padding_note,
    problems,
)
from contextlens.features.masks.snippet import masks_snippet
from contextlens.ui.state.view import DEFAULT, Sentence, Value, ViewState
from contextlens.ui.widgets import export
from tests.support.texts import TYPED

CAT = "The cat sat on the mat."


def view_of(*texts: str, **controls: Value) -> ViewState:
    sentences = tuple(map(Sentence, texts)) if texts else DEFAULT.sentences
    return replace(DEFAULT, sentences=sentences, controls={PAGE: controls} if controls else {})


def shown(view: ViewState, service: EncoderService) -> Masks:
    return masks_of(view, service, service.load(view.model))


def case(view: ViewState) -> str:
    return case_of(masked=MASK.of(view), average=AVERAGE.of(view))


def said(masks: Masks, case: str = "on_real") -> str:
    return " ".join(map(str, masks_reading(masks.batch[0], masks.cases, case)))


PADDED = PAD_TO.put(MASK.put(DEFAULT, False), "32")
"""Both sentences of the opening view with 25 positions of padding each, and the mask off."""


def notes(masks: Masks) -> list[str]:
    limit = int(list(masks.padding.options)[-1])
    labels = (masks.chosen, masks.batch[1].label) if masks.lab else ("", "")
    left_out, unfit = masks.left_out, masks.unfit
    claims = problems(masks.lab, left_out=left_out, unfit=unfit, limit=limit, labels=labels)
    return list(map(str, claims))


def assert_whole(view: ViewState, service: EncoderService) -> Masks:
    """Everything that the page shows of a view can be made, and holds together."""
    card = service.load(view.model)
    masks = masks_of(view, service, card)
    lab, row = masks.batch
    scale, title = mask_range(*masks.batches), str(batch_title(lab))
    grid = batch_grid(lab, masks.layer, scale=scale, averaged=False, title=title).to_plotly_json()
    cells = grid["data"][0]["z"]
    for column, each in enumerate(lab.rows):
        real = [line[column] for line in cells if line[column] is not None]
        assert len(real) == each.n_real
        np.testing.assert_allclose(real, each.damage.tokens[masks.layer], atol=1e-5)
        assert len(token_rows(each)) == lab.pad_to == each.padded.n_tokens
    for figure in (
        layer_lines(row, masks.layer, scale=scale, pooler="p", title=str(layers_title(row))),
        token_heatmap(row, scale=scale, title=title),
    ):
        assert json.loads(figure.to_json())["data"]
    assert said(masks, case(view))
    assert (masks.cases is None) == (lab.share == 0)
    if masks.cases is not None:
        title = str(cases_title(masks.cases, case(view)))
        four = cases_grid(masks.cases, masked=True, averaged=False, scale=scale, title=title)
        assert json.loads(four.to_json())["data"]
    assert (padding_note(lab, row, masks.layer) is None) == (lab.share == 0)
    texts = [(r.label, r.alone.text, r.alone.pair) for r in lab.rows]
    ast.parse(masks_snippet(card, texts, pad_to=lab.pad_to, masked=lab.masked))
    return masks


def test_the_opening_view_has_two_sentences_of_different_length(service: EncoderService) -> None:
    masks = assert_whole(DEFAULT, service)
    lab, row = masks.batch
    assert (lab.pad_to, lab.masked, masks.layer, row.label) == (22, True, 6, "A")
    assert [(each.label, each.n_real) for each in lab.rows] == [("A", 7), ("C", 22)]
    assert [each.alone.text for each in lab.rows] == [DEFAULT.sentences[0].text, EXAMPLE]
    assert "similarity (cosine) of **1.000** to A read alone. Forget the mask: **0.8" in said(masks)
    assert (masks.example, notes(masks)) == ("C", [])


def test_the_example_stands_only_beside_sentences_of_one_length(service: EncoderService) -> None:
    other = shown(SENTENCE.put(DEFAULT, "B"), service)
    assert [row.label for row in other.batch[0].rows] == ["B", "C"]
    assert other.batch[1].label == "B"
    alone = shown(view_of("Rain."), service)
    assert [row.label for row in alone.batch[0].rows] == ["A", "B"]
    assert alone.example == "B"
    for view in (view_of("Rain.", "I love coding in python"), PADDED):
        masks = assert_whole(view, service)
        assert [row.label for row in masks.batch[0].rows] == ["A", "B"]
        assert masks.example == ""


def test_the_numbers_and_the_lit_sentence_are_of_a_padded_one(service: EncoderService) -> None:
    longest = "one two three four five six"
    for masked in (True, False):
        masks = assert_whole(view_of(longest, "x", "y z", mask=masked), service)
        assert (masks.chosen, masks.batch[1].label, masks.cases.label) == ("A", "B", "B")
        note = "Sentence A has no padding, so the numbers are for sentence B."
        assert notes(masks) == [note]
    chosen = assert_whole(view_of(longest, "x", "y z", sentence="C"), service)
    assert (chosen.batch[1].label, notes(chosen)) == ("C", [])
    alike = assert_whole(view_of(longest, longest, pad_to="Longest"), service)
    assert alike.batch[1].label == "A"


def test_the_four_cases_are_those_of_transformers(
    service: EncoderService, bundled_folder: Path
) -> None:
    """Mask on or off, padding averaged in or not: 13 positions of padding behind 9 tokens."""
    tokenizer = AutoTokenizer.from_pretrained(bundled_folder)
    model = AutoModel.from_pretrained(bundled_folder).eval()

    def mean(*, pad_to: int, masked: bool, averaged: bool) -> Any:
        batch = tokenizer(CAT, padding="max_length", max_length=pad_to, return_tensors="pt")
        mask = batch["attention_mask"]
        given = mask if masked else torch.ones_like(mask)
        with torch.inference_mode():
            rows = model(**{**batch, "attention_mask": given}).last_hidden_state[0]
        return rows.mean(0) if averaged else rows[mask[0].bool()].mean(0)

    alone = mean(pad_to=9, masked=True, averaged=False)
    expected = {
        masked: [
            float(
                torch.cosine_similarity(
                    alone, mean(pad_to=22, masked=masked, averaged=averaged), dim=0
                )
            )
            for averaged in (False, True)
        ]
        for masked in (True, False)
    }
    masks = shown(view_of(CAT), service)  # beside the example of 22 tokens
    assert masks.cases is not None
    np.testing.assert_allclose(masks.cases.on, expected[True], atol=2e-5)
    np.testing.assert_allclose(masks.cases.off, expected[False], atol=2e-5)
    four = [f"{value:.3f}" for value in (*masks.cases.on, *masks.cases.off)]
    assert four == ["1.000", "0.795", "0.860", "0.499"]
    assert shown(MASK.put(view_of(CAT), False), service).cases == masks.cases


def test_the_summary_has_the_numbers_of_its_layer(service: EncoderService) -> None:
    row = shown(PADDED, service).batch[0].rows[1]
    assert summary_rows(row, 3) == {
        "sentence": "B",
        "tokens": 7,
        "padding": 25,
        "[CLS]": row.damage.tokens[3, 0],
        "mean of real tokens": row.damage.mean[3],
        "mean with padding": row.damage.mean_all[3],
        "most changed token": row.damage.tokens[3].min(),
        "pooler_output": row.damage.pooled,
    }


def test_the_mask_heals_the_batch(service: EncoderService) -> None:
    masks = assert_whole(MASK.put(PADDED, True), service)
    lab, _ = masks.batch
    for row in lab.rows:
        np.testing.assert_allclose(row.damage.tokens, 1, atol=1e-5)
    assert masks.passport.settings["mask"] == "model"
    assert masks.other is not None
    assert not masks.other.masked


@pytest.mark.parametrize(("size", "n"), [("Longest", 22), ("16", 16), ("512", 512)])
def test_the_batch_is_padded_as_asked(service: EncoderService, size: str, n: int) -> None:
    masks = assert_whole(PAD_TO.put(DEFAULT, size), service)
    assert masks.batch[0].pad_to == n


def test_without_padding_there_are_no_cases(service: EncoderService) -> None:
    text = " ".join(["the"] * 14)
    masks = assert_whole(PAD_TO.put(view_of(text, text), "16"), service)
    assert masks.cases is None
    assert said(masks).startswith("All **32** positions hold real tokens")


def test_a_second_text_makes_a_pair_and_a_blank_one_none(service: EncoderService) -> None:
    first, second = DEFAULT.sentences
    pairs = (replace(first, pair="A python, I think."), replace(second, pair="  "))
    masks = assert_whole(replace(DEFAULT, sentences=pairs), service)
    lab, row = masks.batch[0], masks.chosen_row
    assert row.padded.token_type_ids is not None
    assert row.padded.token_type_ids.sum() == 7
    assert lab.rows[1].alone.pair is None
    assert masks.key.startswith("A: I love my pet python | A python, I think. · B: ")


def test_the_texts_of_the_key_are_cut_short(service: EncoderService) -> None:
    line = shown(view_of("word " * 40, "x"), service).key
    first, second = line.split(" · ")
    assert first.endswith("…")
    assert len(first) == len("A: ") + 60
    assert second == "B: x"


@pytest.mark.parametrize("model", [BUNDLED_ID, "folder:distilbert"])
def test_a_model_without_segments_and_pooler_has_its_batch(
    tiny_service: EncoderService, model: str
) -> None:
    masks = assert_whole(replace(PADDED, model=model), tiny_service)
    lab, row = masks.batch
    bare = model != BUNDLED_ID
    assert (row.damage.pooled is None) == bare
    assert np.isnan(arrays(lab)["pooler_output_cosines"]).all() == bare
    assert ("token_type_ids" in arrays(lab)) != bare
    assert {row["segment"] for row in token_rows(row)} == {None if bare else 0}


def test_the_downloads_hold_the_numbers_and_the_passport(service: EncoderService) -> None:
    masks = shown(PADDED, service)
    lab, row = masks.batch
    rows = [r for each in lab.rows for r in token_rows(each)]
    found = pd.read_csv(io.BytesIO(export.to_csv(rows, masks.passport)), comment="#")
    assert len(found) == 64
    assert found["mask"].sum() == 64  # the mask is off
    assert found["layer 6"].notna().sum() == 14
    assert found["layer 6"][6] == pytest.approx(row.damage.tokens[6, 6])
    with np.load(io.BytesIO(export.to_npz(arrays(lab), masks.passport))) as data:
        passport: dict[str, Any] = json.loads(str(data["passport"]))
        assert data["token_cosines"].shape == (2, 7, 32)
        assert np.isnan(data["token_cosines"]).sum() == 2 * 7 * 25
        np.testing.assert_array_equal(data["attention_mask"].sum(axis=1), [32, 32])
        for name in ("mean_cosines", "mean_with_padding_cosines"):
            assert data[name].shape == (2, 7)
    expected = {"mask": "ones", "pad_to": 32, "compared_with": "the text alone"}
    assert expected.items() <= passport["settings"].items()
    assert passport["model"] == BUNDLED_ID


@pytest.mark.parametrize(
    "controls",
    [
        {"pad_to": "-5"},
        {"pad_to": 32},
        {"pad_to": "²"},
        {"sentence": "Z", "average": "<b>", "mask": "yes", "repeat": -3},
        {"sentence": 3, "average": True, "mask": 7.5, "repeat": "x"},
    ],
    ids=repr,
)
def test_a_broken_control_falls_back(service: EncoderService, controls: dict[str, Value]) -> None:
    masks, usual = shown(view_of(**controls), service), shown(DEFAULT, service)
    assert masks.key == usual.key
    assert (masks.batch[0].pad_to, masks.batch[0].masked) == (22, True)
    assert (masks.batch[1].label, masks.unfit) == ("A", "")


@pytest.mark.parametrize("size", ["5", "99999999999"])
def test_a_length_that_cannot_be_is_said_and_not_done(service: EncoderService, size: str) -> None:
    masks = shown(view_of("Rain.", "I love coding in python", pad_to=size), service)
    assert masks.batch[0].pad_to == 7
    assert notes(masks) == [
        f"Padding to {size} is impossible: the longest sentence has 7 tokens, and the model's "
        "limit is 512. The batch is padded to 7."
    ]


def test_the_lengths_end_at_the_models(tiny_service: EncoderService) -> None:
    card = tiny_service.load("folder:bert")
    for text in ("python", "python " * 40):
        masks = assert_whole(replace(view_of(text), model=card.id), tiny_service)
        assert masks.padding.default == "Longest"
        assert list(masks.padding.options)[-1] == str(card.max_length)


@pytest.mark.parametrize("texts", [("",), ("", " \n ")])
def test_nothing_but_empty_sentences_is_no_batch(
    service: EncoderService, texts: tuple[str, ...]
) -> None:
    masks = shown(view_of(*texts), service)
    assert (masks.lab, masks.other, masks.row, masks.key) == (None, None, None, "")
    assert masks.left_out == ("A", "B")[: len(texts)]
    assert own_savings(masks) == []
    with pytest.raises(ValueError, match="no batch"):
        _ = masks.passport


@pytest.mark.slow
@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_works_or_is_left_out(service: EncoderService, text: str) -> None:
    masks = assert_whole(view_of(text, "I love coding in python"), service)
    assert masks.left_out == (() if text.strip() else ("A",))
    texts = [row.alone.text for row in masks.batch[0].rows]
    assert text.strip() == "" or texts[0] == text


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
    row = shown(view_of(text), service).chosen_row
    asked = repetition(row, 512)
    assert (asked.low, asked.default, asked.high) == (1, default, most)


def test_rows_for_no_place_in_a_text_are_not_counted(tiny_service: EncoderService) -> None:
    card = tiny_service.load("folder:roberta")
    (tokens,) = tiny_service.tokenize(card.id, ["a python"])
    assert over_limit(tiny_service, card, tokens, 1).n_positions == card.max_length
