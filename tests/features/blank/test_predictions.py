"""What the model expects at blanks: numbers against transformers, and the sentences about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM

from contextlens.core import EncoderService
from contextlens.features.blank.controls import CANDIDATES, CUT, PIECES, READ, WORD
from contextlens.features.blank.predictions import Predictions, predictions, share_text
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.oracle import read_plain
from tests.support.snippets import run_alone
from tests.support.tiny_models import MASKED

ODD = (
    Sentence("The [MASK] sat, <mask> unbelievable!", "and [MASK]"),
    Sentence("مرحبا بالعالم 你好 world"),
    Sentence(""),
    Sentence("bank"),
)


def view_of(family: str, *sentences: Sentence, layer: int | None = None) -> ViewState:
    own = sentences or DEFAULT.sentences
    return replace(DEFAULT, model=f"folder:{family}", sentences=own, layer=layer)


def found(view: ViewState, service: EncoderService) -> Predictions:
    return predictions(view, service, service.load(view.model))


@pytest.mark.parametrize("family", MASKED)
def test_probabilities_are_those_of_transformers(
    family: str, masked_service: EncoderService, masked_root: Path
) -> None:
    tokenizer, model = read_plain(masked_root / family, AutoModelForMaskedLM)
    shown = found(view_of(family), masked_service)
    for sentence, answer in zip(DEFAULT.sentences, shown.answers(), strict=True):
        masked = sentence.text.replace("python", tokenizer.mask_token)
        batch = tokenizer(masked, return_tensors="pt")
        (place,) = (batch["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0]
        with torch.inference_mode():
            expected = model(**batch).logits[0, place].softmax(-1)
        best = expected.topk(10)
        assert [bar.token_id for bar in answer.guesses] == best.indices.tolist()
        shares = [bar.share for bar in answer.guesses]
        np.testing.assert_allclose(shares, best.values.numpy(), atol=1e-5)


@pytest.mark.parametrize("family", ["bert", "roberta", "albert", "distilbert"])
@pytest.mark.parametrize("read", ["hidden", "written", "replaced"])
@pytest.mark.parametrize("layer", [None, 1])
def test_the_script_computes_the_same_numbers(
    family: str, read: str, layer: int | None, masked_service: EncoderService, masked_root: Path
) -> None:
    view = CUT.put(WORD.put(READ.put(view_of(family, *ODD, layer=layer), read), "snakes"), PIECES)
    shown = found(view, masked_service)
    left = run_alone(shown.snippet(), masked_root)["logs"]
    with_blanks = [s for s in shown.sentences if s.blanks]
    assert len(left) == len(with_blanks) > 1
    for sentence, logs in zip(with_blanks, left, strict=True):
        result = shown.results[sentence.index]
        best = result.best[result.layers.index(shown.layer)]
        expected = logs.topk(best.shape[1]).values.numpy()
        np.testing.assert_allclose(best, expected, atol=2e-5)


def test_the_headline_names_the_first_guess_and_where_the_written_word_comes(
    masked_service: EncoderService,
) -> None:
    shown = found(view_of("bert"), masked_service)
    a, b = shown.answers()
    first, second = (answer.guesses[0] for answer in (a, b))
    assert str(shown.title()) == (
        f"Here the model expects **“{first.name}”** ({share_text(first.share)}) in A and "
        f"**“{second.name}”** ({share_text(second.share)}) in B."
    )
    assert a.written is not None
    assert b.written is not None
    assert [str(claim) for claim in shown.claims()] == [
        f"The written word “python” is guess number {a.written.rank} "
        f"({share_text(a.written.share)}) in A and {b.written.rank} "
        f"({share_text(b.written.share)}) in B."
    ]
    (alone,) = found(view_of("bert", DEFAULT.sentences[0]), masked_service).answers()
    assert alone.place == ""
    assert alone.written == a.written


def test_another_layer_has_one_caution(masked_service: EncoderService) -> None:
    shown = found(view_of("bert", layer=1), masked_service)
    assert str(shown.title()).startswith("Read from layer 1, the answer is")
    assert [str(one) for one in shown.cautions()] == [
        "The head was trained for the last layer alone."
    ]


def test_a_word_of_several_pieces_has_no_number_as_one_blank(
    masked_service: EncoderService,
) -> None:
    view = view_of("bert", Sentence("It was unbelievable", None, (7, 19)))
    shown = found(view, masked_service)
    assert shown.claims() == []
    assert "so it has no probability here" in str(shown.notes()[0])
    pieces = found(CUT.put(view, PIECES), masked_service)
    assert len(list(pieces.answers())) > 1
    assert all(answer.written is not None for answer in pieces.answers())
    assert {answer.place for answer in pieces.answers()} >= {"blank 1", "blank 2"}


def test_without_words_nothing_is_claimed(masked_service: EncoderService) -> None:
    shown = found(view_of("bert", Sentence(""), Sentence("  ")), masked_service)
    assert str(shown.title()) == "Click a word of a sentence to hide it."
    assert (shown.claims(), shown.rows(), shown.passport) == ([], [], None)


def test_candidates_have_probabilities_ranks_and_odds(masked_service: EncoderService) -> None:
    view = CANDIDATES.put(view_of("bert"), "he, She, unbelievable, 🐍🐍, he,, ")
    shown = found(view, masked_service)
    a, b = shown.answers()
    assert [bar.name for bar in a.candidates] == ["he", "she"]
    result = shown.results[0]
    logs = dict(zip(shown.ids, result.candidates[-1, 0], strict=True))
    ids = shown.vocabulary.ids
    assert [bar.log for bar in a.candidates] == pytest.approx([logs[ids["he"]], logs[ids["she"]]])
    ratio = a.candidates[0].share / a.candidates[1].share
    high, low = ("he", "She") if ratio > 1 else ("She", "he")
    assert str(shown.odds()[0]) == (
        f"In A, “{high}” is **{max(ratio, 1 / ratio):.1f} times** as probable as “{low}”."
    )
    assert len(b.candidates) == 2
    notes = " ".join(map(str, shown.notes()))
    assert "“unbelievable” is not one token here (" in notes
    assert "does not know “🐍🐍”" in notes


@pytest.mark.parametrize("family", ["roberta", "xlm-roberta", "albert"])
def test_candidates_are_cut_in_the_place_of_the_blank(
    family: str, masked_service: EncoderService
) -> None:
    sentences = (Sentence("the river", None, (0, 3)), Sentence("by the river", None, (3, 6)))
    view = CANDIDATES.put(view_of(family, *sentences), "the")
    shown = found(view, masked_service)
    for answer in shown.answers():
        written, own = answer.written, answer.candidates
        assert not own or written is None or own[0].token_id == written.token_id


def test_a_text_that_is_cut_off_is_said(masked_service: EncoderService) -> None:
    shown = found(view_of("bert", Sentence("river bank " * 300)), masked_service)
    assert any("The end of A is too long" in str(note) for note in shown.notes())
    assert len(list(shown.answers())) == 1


def test_the_sign_of_another_model_for_a_blank_is_said(masked_service: EncoderService) -> None:
    shown = found(view_of("roberta", Sentence("the [MASK] sat")), masked_service)
    assert any("reads \\[MASK\\] in A as letters" in str(note) for note in shown.notes())


def test_rows_and_arrays_hold_what_is_drawn(masked_service: EncoderService) -> None:
    shown = found(view_of("bert"), masked_service)
    rows, arrays = shown.rows(), shown.arrays()
    assert {row["kind"] for row in rows} == {"guess", "written"}
    assert [row["rank"] for row in rows[:10]] == list(range(1, 11))
    assert arrays["A_best_log_probabilities"].shape == (4, 1, 10)
    assert arrays["layers"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.314, "31%"), (0.0314, "3.1%"), (0.00012, "0.012%"), (1e-6, "under 0.01%"), (1.0, "100%")],
)
def test_shares_have_two_digits(share: float, text: str) -> None:
    assert share_text(share) == text
