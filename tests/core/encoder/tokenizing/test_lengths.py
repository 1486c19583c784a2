"""Tokens that padding adds, and that truncation takes away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService, Tokens
from contextlens.core.errors import RequestError
from tests.core.encoder.tokenizing.cutting import by_kind


def test_padding_equals_that_of_transformers(
    model: str, cut: Callable[..., Tokens], reference: dict[str, Any]
) -> None:
    tokens = cut("a python slept", pad_to=30)
    expected = reference[model](
        "a python slept",
        padding="max_length",
        max_length=30,
        return_special_tokens_mask=True,
        return_offsets_mapping=True,
    )
    assert tokens.n_tokens == 30
    assert tokens.token_ids.tolist() == expected["input_ids"]
    assert tokens.attention_mask.tolist() == expected["attention_mask"]
    assert tokens.special_tokens_mask.tolist() == expected["special_tokens_mask"]
    assert [tuple(row) for row in tokens.offsets] == expected["offset_mapping"]
    padding = tokens.attention_mask == 0
    assert padding.any()
    assert {tokens.tokens[i] for i in np.flatnonzero(padding)} == {reference[model].pad_token}
    assert set(tokens.word_ids[padding].tolist()) == {-1}
    assert set(tokens.text_ids[padding].tolist()) == {-1}


@pytest.mark.parametrize("pad_to", [3, 0, 100_000])
def test_padding_that_does_not_fit_is_refused(pad_to: int, cut: Callable[..., Tokens]) -> None:
    with pytest.raises(RequestError, match=str(pad_to)):
        cut("a python slept", pad_to=pad_to)


def test_padding_beyond_the_models_length_is_refused(
    model: str, tiny_service: EncoderService
) -> None:
    limit = tiny_service.load(model).max_length
    assert limit == (512 if model == BUNDLED_ID else 64)
    assert tiny_service.tokenize(model, ["a"], pad_to=limit)[0].n_tokens == limit
    for call in (tiny_service.tokenize, tiny_service.encode):
        with pytest.raises(RequestError):
            call(model, ["a"], pad_to=limit + 1)


@by_kind
@pytest.mark.parametrize("pair", [None, "b " * 41])
def test_what_was_lost_is_the_difference_to_the_whole(
    pair: str | None, model: str, cut: Callable[..., Tokens], reference: dict[str, Any]
) -> None:
    whole = len(reference[model]("a " * 700, pair, verbose=False)["input_ids"])
    tokens = cut("a " * 700, pair)
    limit = 512 if model == BUNDLED_ID else 64
    assert (tokens.n_tokens, tokens.n_truncated) == (limit, whole - limit)


def test_a_text_that_fits_exactly_loses_nothing(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["python " * 510])[0]
    assert (tokens.n_tokens, tokens.n_truncated) == (512, 0)


def test_one_long_text_does_not_cut_its_neighbours(service: EncoderService) -> None:
    texts = ["short", "python " * 600, "also short"]
    found = service.tokenize(BUNDLED_ID, texts)
    assert [t.n_truncated for t in found] == [0, 90, 0]
    assert [t.n_tokens for t in found] == [3, 512, 4]
