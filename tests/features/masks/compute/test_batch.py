"""Padding & masks, from a view to its batch and files: the numbers are the model's."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.features.masks.compute import color_of_cells
from components.features.masks.controls import COLOR, MASK, PAD_TO, SENTENCE
from components.features.masks.measures import arrays, summary_rows, token_rows
from components.ui.state.view import DEFAULT
from components.ui.widgets import export
from tests.features.masks.compute.masked import assert_whole, notes, said, shown, view_of
from tests.support.oracle import Oracle

# What is computed


def test_the_opening_view_is_true_and_interesting(service: EncoderService) -> None:
    masks = assert_whole(DEFAULT, service)
    lab, row = masks.batch
    assert (lab.pad_to, lab.masked, masks.layer, row.label) == (32, False, 6, "A")
    assert said(masks).startswith("**78%** of the 64 positions are padding.")
    assert "sentence A at layer 6: similarity (cosine) **0.79** to itself unpadded" in said(masks)
    assert notes(masks) == []
    assert masks.key == "A: I love my pet python · B: I love coding in python"


@pytest.mark.slow
def test_the_summary_is_that_of_plain_transformers(
    service: EncoderService, bundled_folder: Path
) -> None:
    oracle = Oracle(bundled_folder, 512)
    lab, _ = shown(DEFAULT, service).batch
    for sentence, row in zip(DEFAULT.sentences, lab.rows, strict=True):
        a, b = oracle(sentence.text), oracle(sentence.text, pad_to=32, mask="ones")
        real, summary = a.hidden.shape[1], summary_rows(row, 6)
        assert a.pooler_output is not None
        assert b.pooler_output is not None
        pairs = {
            "[CLS]": (a.hidden[-1, 0], b.hidden[-1, 0]),
            "mean of real tokens": (a.hidden[-1].mean(0), b.hidden[-1, :real].mean(0)),
            "mean with padding": (a.hidden[-1].mean(0), b.hidden[-1].mean(0)),
            "pooler_output": (a.pooler_output, b.pooler_output),
        }
        for name, (u, v) in pairs.items():
            expected = float(u @ v / np.linalg.norm(u) / np.linalg.norm(v))
            assert summary[name] == pytest.approx(expected, abs=1e-5), name


def test_the_mask_heals_the_batch(service: EncoderService) -> None:
    masks = assert_whole(MASK.put(DEFAULT, True), service)
    lab, _ = masks.batch
    for row in lab.rows:
        np.testing.assert_allclose(row.damage.tokens, 1, atol=1e-5)
    assert masks.passport.settings["mask"] == "model"
    assert "With the mask, padding changes no token's direction" in said(masks)


@pytest.mark.parametrize(("size", "n"), [("Longest", 7), ("16", 16), ("512", 512)])
def test_the_batch_is_padded_as_asked(service: EncoderService, size: str, n: int) -> None:
    masks = assert_whole(PAD_TO.put(DEFAULT, size), service)
    lab, _ = masks.batch
    assert lab.pad_to == n
    assert (f"the {2 * n:,} positions" in said(masks)) == (n > 7)
    assert said(masks).startswith("All **14** positions") == (n == 7)


@pytest.mark.parametrize(("layer", "expected"), [(0, 0), (3, 3), (6, 6), (7, 6), (-1, 6)])
def test_a_layer_that_the_model_lacks_is_its_last(
    service: EncoderService, layer: int, expected: int
) -> None:
    assert shown(replace(DEFAULT, layer=layer), service).layer == expected


def test_another_sentence_is_chosen_for_lines_and_reading(service: EncoderService) -> None:
    masks = shown(SENTENCE.put(DEFAULT, "B"), service)
    assert masks.batch[1].label == "B"
    assert "padding changes sentence B at layer" in said(masks)


def test_a_second_text_makes_a_pair_and_a_blank_one_none(service: EncoderService) -> None:
    first, second = DEFAULT.sentences
    pairs = (replace(first, pair="A python, I think."), replace(second, pair="  "))
    masks = assert_whole(replace(DEFAULT, sentences=pairs), service)
    lab, row = masks.batch
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


@pytest.mark.parametrize(
    ("model", "asked", "color"),
    [
        (BUNDLED_ID, "Cosine", "cosine"),
        (BUNDLED_ID, "Mask", "mask"),
        (BUNDLED_ID, "Segment", "segment"),
        ("folder:distilbert", "Segment", "cosine"),
        ("folder:distilbert", "Mask", "mask"),
    ],
)
def test_the_batch_is_coloured_by_what_its_model_has(
    tiny_service: EncoderService, model: str, asked: str, color: str
) -> None:
    view = COLOR.put(replace(DEFAULT, model=model), asked)
    assert color_of_cells(view, tiny_service.load(model)) == color
    assert_whole(view, tiny_service)


@pytest.mark.parametrize("name", ["roberta", "mpnet", "electra", "bert-without-pooler"])
def test_a_model_without_segments_or_pooler_is_shown(
    tiny_service: EncoderService, name: str
) -> None:
    view = replace(view_of("A python slept", "Rain"), model=f"folder:{name}")
    masks = assert_whole(view, tiny_service)
    absent = tiny_service.load(view.model).provenance.pooler.state == "absent"
    assert (masks.batch[1].damage.pooled is None) == absent


# Downloads


def test_the_downloads_hold_the_numbers_and_the_passport(service: EncoderService) -> None:
    masks = shown(DEFAULT, service)
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
    assert passport["settings"]["mask"] == "ones"
    assert passport["settings"]["pad_to"] == 32
    assert passport["settings"]["compared_with"] == "the text alone"
    assert passport["model"] == BUNDLED_ID


def test_a_model_without_segments_or_pooler_has_none_in_its_arrays(
    tiny_service: EncoderService,
) -> None:
    masks = shown(replace(view_of("a python"), model="folder:distilbert"), tiny_service)
    found = arrays(masks.batch[0])
    assert "token_type_ids" not in found
    assert np.isnan(found["pooler_output_cosines"]).all()
    assert {row["segment"] for row in token_rows(masks.batch[1])} == {None}
