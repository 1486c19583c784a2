"""Whether B would follow A: beside BertForNextSentencePrediction, and where it cannot be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contextlens.core import EncoderService
from contextlens.features.blank.next_sentence import N_UNRELATED, NextSentence, next_sentence
from contextlens.ui.state.view import DEFAULT, ViewState
from tests.features.blank.conftest import BOTH
from tests.support.claims import read, unreached
from tests.support.snippets import run_alone
from tests.support.texts import AWKWARD, TYPED

ViewOf = Callable[..., ViewState]
TWO = ("A python slept under the lamp.", "Its owner wrote a program.")


def answered(view: ViewState, service: EncoderService) -> NextSentence:
    return next_sentence(view, service, service.load(view.model))


@pytest.mark.parametrize("second", [TWO[1], *AWKWARD.values(), "the bank " * 100])
def test_the_numbers_are_those_of_transformers_alone(
    second: str, masked_service: EncoderService, masked_root: Path, view_of: ViewOf
) -> None:
    result = answered(view_of(TWO[0], second), masked_service)
    expected = run_alone(result.snippet(), masked_root)["follows"]
    np.testing.assert_allclose(result.probabilities, expected, rtol=1e-5, atol=1e-6)
    assert [row["probability"] for row in result.rows()] == [*result.probabilities]


def test_the_picture_has_both_orders_and_unrelated_pairs(
    masked_service: EncoderService, view_of: ViewOf
) -> None:
    result = answered(view_of(*TWO, "a third"), masked_service)
    (bars,) = result.figure().data
    assert [*bars.y] == ["A, then B", "B, then A", "unrelated, on average"]
    np.testing.assert_allclose(bars.x, [*result.probabilities, result.usual], atol=1e-5)
    assert len(result.unrelated) == N_UNRELATED
    assert result.arrays()["unrelated_follow"].shape == (N_UNRELATED,)


def test_every_verdict_is_what_the_numbers_show_and_no_sentence_is_dead(
    masked_service: EncoderService, service: EncoderService, view_of: ViewOf
) -> None:
    result = answered(view_of(*TWO), masked_service)
    keys = set()
    for forward in (0.001, 0.5, 0.51, 0.999):
        for unrelated in ((0.1, 0.2, 0.9), (0.9, 0.6, 0.1)):
            other = replace(result, probabilities=(forward, 0.3), unrelated=unrelated)
            keys |= read([*other.claims(), *other.sure(), *other.notes()])
            verdict, _, caution = other.claims()
            assert verdict.key.endswith("yes" if forward > 0.5 else "no")
            assert caution.numbers["n"] == sum(value > 0.5 for value in unrelated)
            assert caution.key.endswith("often" if unrelated[1] > 0.5 else "seldom")
    for view in (view_of(TWO[0]), view_of(TWO[0], " ")):
        keys |= read(answered(view, masked_service).claims())
    keys |= read(answered(DEFAULT, service).claims())
    for second in ("🐍", "the bank " * 70):
        keys |= read(answered(view_of(*TWO[:1], second, pairs=["pair"]), masked_service).notes())
    texts = {f"blank.next_sentence.{name}" for name in ("alt", "axis", "order", "usual")}
    assert not unreached("blank.next_sentence", keys | texts)


def test_sentences_are_read_whole(masked_service: EncoderService, view_of: ViewOf) -> None:
    result = answered(view_of(*TWO), masked_service)
    result = replace(result, probabilities=(0.987, 0.999), unrelated=(0.9,) * 36 + (0.1,) * 4)
    assert [*map(str, result.claims())] == [
        "Yes: to the model, B could follow A, with a probability of **99%**.",
        "The other way round, A after B: over 99%.",
        "Like published BERT models, it says yes to most pairs, also to 36 of 40 unrelated pairs: "
        "a high number alone says little.",
    ]


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_a_model_without_the_head_is_refused_in_words(
    family: str, masked_service: EncoderService, view_of: ViewOf
) -> None:
    result = answered(view_of(*TWO, family=family), masked_service)
    assert [claim.key for claim in result.claims()] == ["blank.next_sentence.absent"]
    assert result.figure() is None
    assert not result.rows()
    assert not result.arrays()
    assert not result.snippet()
    assert "a head for the next sentence" in str(result.claims()[0])


@pytest.mark.parametrize("texts", [("",), ("python",), ("", "python"), ("python", "  ")])
def test_two_sentences_are_needed(
    texts: tuple[str, ...], masked_service: EncoderService, view_of: ViewOf
) -> None:
    result = answered(view_of(*texts), masked_service)
    (claim,) = result.claims()
    assert claim.key == f"blank.next_sentence.{'empty' if len(texts) > 1 else 'alone'}"
    assert result.title() == ""


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED)
def test_any_text_is_judged(text: str, masked_service: EncoderService, view_of: ViewOf) -> None:
    result = answered(view_of(text, TWO[1], family=BOTH), masked_service)
    assert read([*result.claims(), *result.sure(), *result.notes()])
    is_blank = text in (TYPED["only NUL"], TYPED["zero width"]) or not text.strip()
    assert (result.figure() is None) == is_blank
