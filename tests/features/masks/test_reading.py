"""Padding & masks in words: right where the expected story holds, and where it does not."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.features.masks.measures.laboratory import Lab, saving
from components.features.masks.reading.batch import (
    batch_title,
    layers_title,
    masks_reading,
    padding_note,
    share_title,
)
from components.features.masks.reading.limits import (
    cut_title,
    limit_reading,
    limit_title,
    problems,
    saving_reading,
    saving_title,
)
from tests.support.masks import lab_of

A, B = "I love my pet python", "I love coding in python"


def said(lab: Lab, layer: int = 6, row: int = 0) -> str:
    return " ".join(masks_reading(lab, lab.rows[row], layer))


def numbers(text: str) -> list[float]:
    return [float(n) for n in re.findall(r"\*\*(-?\d+\.\d\d)\*\*", text)]


def with_means(lab: Lab, *means: float) -> Lab:
    """The batch as if its texts' means had these cosines at every layer."""
    rows = [
        replace(
            row,
            damage=replace(
                row.damage,
                mean=np.full_like(row.damage.mean, mean),
                tokens=np.full_like(row.damage.tokens, mean),
            ),
        )
        for row, mean in zip(lab.rows, means, strict=True)
    ]
    return replace(lab, rows=tuple(rows))


# The laboratory


def test_without_the_mask_the_damage_is_said_in_numbers(service: EncoderService) -> None:
    lab = lab_of(service, A, B)
    damage = lab.rows[0].damage
    text = said(lab)
    assert text.startswith("**78%** of the 64 positions in this batch are padding.")
    assert "sentence A padded to 32 is only **0.79** like itself at layer 6" in text
    assert numbers(text) == [
        round(float(v), 2)
        for v in (damage.mean[6], damage.tokens[6].min(), damage.first[6], damage.mean_all[6])
    ]
    assert batch_title(lab, lab.rows[0], 6) == "Without the mask, A is only 0.79 like itself"


def test_the_token_that_moves_most_is_named(service: EncoderService) -> None:
    lab = lab_of(service, "x")
    tokens = lab.rows[0].damage.tokens[6]
    names = [r"\[CLS\]", "x", r"\[SEP\]"]
    assert f"“{names[int(tokens.argmin())]}” moves most (**{tokens.min():.2f}**)" in said(lab)


def test_with_the_mask_nothing_is_lost_but_a_mean_with_padding(service: EncoderService) -> None:
    lab = lab_of(service, A, B, masked=True)
    text = said(lab)
    assert "every real token of A points where it points alone (cosine **1.00**)" in text
    assert r"But a mean that counts the \[PAD\] vectors too is only **0.60** like" in text
    assert batch_title(lab, lab.rows[0], 6) == "With the mask, padding changes no token's direction"
    assert layers_title(lab.rows[0]) == "A's mean stays at 1.00"


@pytest.mark.parametrize("masked", [True, False])
def test_no_padding_at_all_has_nothing_to_hide(service: EncoderService, masked: bool) -> None:
    lab = lab_of(service, A, B, pad_to=7, masked=masked)
    assert said(lab).startswith("All **14** positions of this batch hold real tokens")
    assert batch_title(lab, lab.rows[0], 6) == "No padding: the mask has nothing to hide"
    assert layers_title(lab.rows[0]) == "A has no padding"
    assert padding_note(lab, lab.rows[0], 6) == ""


def test_a_chosen_text_without_padding_lets_the_other_be_told(service: EncoderService) -> None:
    lab = lab_of(service, "one two three four five six", "x", pad_to=8)
    text = said(lab)
    assert "are padding. A has none, so this tells of B." in text
    assert "sentence B padded to 8" in text
    assert batch_title(lab, lab.rows[0], 6).startswith("Without the mask, B is ")


def test_at_layer_0_nothing_has_moved(service: EncoderService) -> None:
    lab = lab_of(service, A)
    text = said(lab, layer=0)
    assert "every real token of A is **1.00** like itself at layer 0: the embedding layer" in text
    assert batch_title(lab, lab.rows[0], 0) == "Without the mask, A is 1.00 like itself"


def test_hardly_any_damage_is_not_called_only(service: EncoderService) -> None:
    lab = with_means(lab_of(service, A), 0.97)
    assert "is still **0.97** like itself" in said(lab)
    assert "Without the mask, A is 0.97 like itself" in batch_title(lab, lab.rows[0], 6)
    assert layers_title(lab.rows[0]) == "A's mean never falls below 0.97"
    none = with_means(lab, 0.9999)
    assert "every real token of A is **1.00** like itself at layer 6." in said(none)
    assert layers_title(none.rows[0]) == "A's mean stays at 1.00"


def test_a_mask_that_fails_is_not_praised(service: EncoderService) -> None:
    lab = with_means(lab_of(service, A, masked=True), 0.5)
    assert "Even with the mask, a token of A is at **0.50** only." in said(lab)
    assert batch_title(lab, lab.rows[0], 6) == "With the mask, A is only 0.50 like itself"


def test_texts_that_are_hit_harder_by_a_margin_are_named(service: EncoderService) -> None:
    lab = lab_of(service, A, B, "x")
    assert "Hit harder: B (**0.50**)." in said(with_means(lab, 0.8, 0.5, 0.9))
    assert "Hit harder: C (**0.40**), B (**0.50**)." in said(with_means(lab, 0.8, 0.5, 0.4))
    assert "Hit harder" not in said(with_means(lab, 0.5, 0.8, 0.5))
    assert "Hit harder" not in said(with_means(lab, 0.505, 0.496, 0.6))


def with_tokens(lab: Lab, *tokens: float) -> Lab:
    row = with_means(lab, 0.5).rows[0]
    each = np.repeat(np.array([tokens], np.float32), len(row.damage.layers), axis=0)
    return replace(lab, rows=(replace(row, damage=replace(row.damage, tokens=each)),))


def test_a_token_moves_most_by_a_margin_only_and_has_its_place(service: EncoderService) -> None:
    lab = lab_of(service, "the the")
    told = said(with_tokens(lab, 0.9, 0.3, 0.8, 0.7))
    assert r"“the” at position 1 moves most (**0.30**), \[CLS\] keeps **0.90**." in told
    told = said(with_tokens(lab, 0.9, 0.3, 0.309, 0.7))
    assert "its tokens lie between **0.30** and **0.90**." in told
    assert "each of its tokens is at **0.30**." in said(with_tokens(lab, 0.3, 0.3, 0.301, 0.3))


def test_one_token_too_many_is_read_without_a_word(service: EncoderService) -> None:
    lab = lab_of(service, "")
    assert lab.lengths == [2]
    assert len(numbers(said(lab))) >= 3


def test_padding_is_said_to_have_vectors_that_mean_nothing(service: EncoderService) -> None:
    lab = lab_of(service, A)
    row = lab.rows[0]
    note = padding_note(lab, row, 6)
    assert share_title(lab) == "78% of this batch is padding"
    lengths = row.damage.lengths[6]
    assert (
        f"of length {lengths[7:].mean():.2f} on average in A, real tokens {lengths[:7].mean():.2f}"
        in note
    )
    assert note.startswith(r"Hatched, not always to scale: \[PAD\], mask 1, as if it were a token")
    assert note.endswith("represent no word: leave them out.")
    lab = lab_of(service, A, masked=True)
    note = padding_note(lab, lab.rows[0], 6)
    assert r"\[PAD\], mask 0, so that nothing attends to it." in note


def test_what_was_typed_is_escaped(service: EncoderService) -> None:
    lab = with_means(lab_of(service, "*"), 0.5)
    tokens = lab.rows[0].damage.tokens.copy()
    tokens[:, 1] = 0.1
    damage = replace(lab.rows[0].damage, tokens=tokens)
    lab = replace(lab, rows=(replace(lab.rows[0], damage=damage),))
    assert r"“\*” moves most" in said(lab)


def test_the_layer_of_the_steepest_fall_is_named(service: EncoderService) -> None:
    row = lab_of(service, A).rows[0]
    mean = np.array([1, 0.9, 0.85, 0.4, 0.4, 0.5, 0.3], dtype=np.float32)
    assert layers_title(replace(row, damage=replace(row.damage, mean=mean))) == (
        "A's mean loses most at layer 3"
    )
    even = np.array([1, 0.8, 0.6, 0.4, 0.4, 0.5, 0.5], dtype=np.float32)
    assert layers_title(replace(row, damage=replace(row.damage, mean=even))) == (
        "A's mean falls to 0.40"
    )


# What is not possible


def test_what_was_left_out_cut_or_not_possible_is_said(service: EncoderService) -> None:
    lab = lab_of(service, "python " * 600, A, pad_to=512)
    assert problems(lab, left_out=(), unfit="", limit="512") == [
        "A: the text is longer than the model takes; 90 tokens are cut off at its end."
    ]
    lab = lab_of(service, A, B, pad_to=64)
    assert problems(lab, left_out=(), unfit="", limit="512") == []
    assert problems(lab, left_out=("C",), unfit="5", limit="512") == [
        "The text of C is blank, so it is left out of the batch.",
        "Padding to 5 is not on offer here: the longest sentence has 7 tokens and the model takes "
        "512. Padded to 64 instead.",
    ]
    assert problems(None, left_out=("A", "B"), unfit="5", limit="512") == [
        "The texts of A, B are blank, so they are left out of the batch."
    ]


# Shares and sorting


def test_sorting_is_told_with_its_numbers() -> None:
    found = saving([9, 1, 9, 1], 2)
    assert saving_title(found) == "Sorting by length cuts padding from 44% to 0%"
    text = saving_reading(found, 4)
    assert "in the order given, **44%**" in text
    assert text.endswith("Sorting saves **44%** of the positions.")


@pytest.mark.parametrize("lengths", [[4, 4, 4, 4], [1, 1, 9]])
def test_sorting_that_saves_nothing_is_not_praised(lengths: list[int]) -> None:
    found = saving(lengths, 2)
    assert "saves nothing" in saving_title(found)
    assert saving_reading(found, len(lengths)).endswith("Sorting saves nothing here.")


# The limit


def test_over_the_limit_the_cut_is_counted_and_quoted(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["python " * 600])[0]
    text = " ".join(limit_reading(tokens, 512, 512))
    assert "This text has **602** tokens. The model takes 512, the 2 special ones included" in text
    assert "its last **90** are cut off, from “python python" in text
    assert text.endswith("no position 513: its table of position vectors has 512 rows.")
    assert limit_title(512) == "What happens to token 513?"
    assert cut_title(tokens) == "602 tokens: 512 fit, 90 are cut off"


def test_under_and_at_the_limit_nothing_is_cut(service: EncoderService) -> None:
    short, full = service.tokenize(BUNDLED_ID, ["python", "python " * 510])
    assert limit_reading(short, 512, 512) == [
        "This text has **3** tokens. The model takes 512, so 509 positions stay free."
    ]
    assert limit_reading(full, 512, 512)[0].endswith("The model takes 512: exactly full.")
    assert cut_title(full) == "All 512 tokens fit"


def test_rows_that_no_token_uses_are_told(tiny_service: EncoderService) -> None:
    tokens = tiny_service.tokenize("folder:roberta", ["a python slept " * 40])[0]
    text = " ".join(limit_reading(tokens, 64, 66, 2))
    assert text.endswith("no position 65: its table of position vectors has 66 rows, 2 of them for "
                         "no place in a text.")  # fmt: skip
    assert " ".join(limit_reading(tokens, 64, None)).endswith("and no vector knows of them.")
    assert "Its tokenizer stops there" in limit_reading(tokens, 64, 128)[1]


def test_what_is_cut_is_escaped(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["python " * 510 + "<b>*x*</b>"])[0]
    text = " ".join(limit_reading(tokens, 512, 512))
    assert r"from “\<b\>\*x\*\</b\>” on" in text
