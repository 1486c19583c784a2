"""The four cases of a padded text: beside transformers, in words, and as cells."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from contextlens.core import EncoderService
from contextlens.features.masks.controls import MASK
from contextlens.features.masks.four_cases import FourCases, four_cases
from tests.features.masks.odd import PADDED, batch_of, described, odd_batches, view_of
from tests.support.claims import read, unreached

CAT = "The cat sat on the mat."


def test_they_are_those_of_transformers(service: EncoderService, bundled_folder: Path) -> None:
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
    cases = four_cases(batch_of(view_of(CAT), service))  # beside the example of 22 tokens
    assert cases is not None
    np.testing.assert_allclose(cases.on, expected[True], atol=2e-5)
    np.testing.assert_allclose(cases.off, expected[False], atol=2e-5)
    four = [f"{value:.3f}" for value in (*cases.on, *cases.off)]
    assert four == ["1.000", "0.795", "0.860", "0.499"]
    switched = four_cases(batch_of(MASK.put(view_of(CAT), False), service))
    assert switched == replace(cases, masked=False)


@pytest.mark.slow
def test_every_claim_is_what_the_numbers_show_and_none_is_dead() -> None:
    keys = set()
    for masks in odd_batches():
        cases, row, at = four_cases(masks), described(masks), masks.layer
        assert (cases is None) == (not row.n_padding)
        if cases is None:
            continue
        numbers = {}
        for name, masked in (("on", True), ("off", False)):
            (text,) = (each for each in masks.batches[masked].rows if each.label == row.label)
            numbers[f"{name}_real"] = text.damage.mean[at]
            numbers[f"{name}_all"] = text.damage.mean_all[at]
        case = f"{'on' if masks.masked else 'off'}_{'all' if masks.averaged else 'real'}"
        headline, (number,), (mistakes,) = cases.headline(), cases.claims(), cases.sure()
        changed = {
            name: "unchanged" if f"{value:.2f}" == "1.00" else "changed"
            for name, value in numbers.items()
        }
        assert headline.key == f"masks.headline.{case}.{changed[case]}"
        if (case, changed[case]) == ("on_real", "unchanged"):
            assert number.key == f"masks.case.forgotten.{changed['off_real']}"
        else:
            assert number.key == "masks.case.now"
            assert number.numbers == {"label": row.label, "similarity": numbers[case]}
        assert mistakes.numbers == {"label": row.label, **numbers}
        keys |= read([cases.title(), headline, number, mistakes])
    assert not [key for name in ("case", "headline") for key in unreached(f"masks.{name}", keys)]


def test_they_are_read_whole(service: EncoderService) -> None:
    cases = four_cases(batch_of(PADDED, service))
    assert cases is not None

    def text(cases: FourCases) -> str:
        return " ".join(map(str, [cases.headline(), *cases.claims()])).replace("**", "")

    assert text(replace(cases, masked=True)) == (
        "The mask lets the model skip the padding: nothing changes. Without the mask, the "
        "padding would change A: similarity to before 0.79 (1: unchanged)."
    )
    assert text(cases) == (
        "Forget the mask, and padding changes the words. The similarity of A to "
        "before is 0.79 (1: unchanged)."
    )


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("averaged", [True, False])
def test_the_present_one_is_strong(masked: bool, averaged: bool) -> None:
    cases = FourCases("<b>", (1.0, 0.795), (0.86, -0.1), masked, averaged, scale=(-0.2, 1.0))
    figure = cases.figure().to_plotly_json()
    faint, strong, points = figure["data"]
    y, x = int(not masked), int(averaged)
    expected = np.array([cases.on, cases.off])
    assert strong["z"][y][x] == expected[y, x]
    assert np.isnan(np.array(strong["z"])).sum() == 3
    assert np.isnan(faint["z"][y][x])
    assert faint["opacity"] < 0.5
    numbers = [re.sub("<[^>]*>", " ", note["text"]) for note in figure["layout"]["annotations"]]
    assert [text.split()[0] for text in numbers] == ["1.00", "0.80", "0.86", "−0.10"]
    for j, i, (is_on, with_padding, value) in zip(
        points["x"], points["y"], points["customdata"], strict=True
    ):
        assert (is_on, with_padding) == (i == 0, j == 1)
        assert value == expected[i, j]
    assert "&lt;b&gt;" in points["hovertemplate"]
