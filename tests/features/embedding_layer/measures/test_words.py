"""Rows of the word table beside sklearn: cosines, what texts share, and random rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from components.core import BUNDLED_ID, EncoderService
from components.features.embedding_layer.measures import (
    random_band,
    row_cosines,
    shared_tokens,
)

RANDOM = np.random.default_rng(0)
SENTENCES = (
    "I love my pet python",
    "Programming in python is fun",
    "",
    "🐍",
    "The [SEP] and the [CLS] were typed",
    "word " * 600,
)


@pytest.mark.parametrize("one", SENTENCES, ids=range(len(SENTENCES)))
@pytest.mark.parametrize("other", SENTENCES, ids=range(len(SENTENCES)))
def test_the_ends_have_the_same_word_row_in_every_sentence(
    one: str, other: str, service: EncoderService
) -> None:
    first, second = (service.embedding_parts(BUNDLED_ID, text) for text in (one, other))
    shared = {each.token_id: each for each in shared_tokens(first, second)}
    assert {101, 102} <= set(shared)
    assert {each.word for each in shared.values()} == {0}


def test_a_common_token_elsewhere_differs_at_layer_0_only(service: EncoderService) -> None:
    one = service.embedding_parts(BUNDLED_ID, "python is a language")
    other = service.embedding_parts(BUNDLED_ID, "a language is python")
    shared = shared_tokens(one, other)
    assert len(shared) == 6
    for each in shared:
        assert each.word == 0
        assert (each.output == 0) == (each.first == each.second)


def test_texts_without_a_common_token_share_nothing(service: EncoderService) -> None:
    one = service.embedding_parts(BUNDLED_ID, "python")
    bare = replace(one, tokens=replace(one.tokens, token_ids=np.array([1, 2, 3])))
    assert shared_tokens(one, bare) == []


def test_row_cosines_are_sklearn_s() -> None:
    one, other = RANDOM.normal(size=(4, 9)), RANDOM.normal(size=(7, 9))
    one[2] = 0
    np.testing.assert_allclose(row_cosines(one, other), cosine_similarity(one, other), atol=1e-6)


def test_the_random_band_is_that_of_neighbouring_rows() -> None:
    rows = RANDOM.normal(size=(400, 20)).astype(np.float32)
    cosines = np.diag(cosine_similarity(rows[:-1], rows[1:]))
    band = random_band(rows)
    assert (band.low, band.high) == pytest.approx(tuple(np.percentile(cosines, [5, 95])), abs=1e-5)
    assert band.mean == pytest.approx(cosines.mean(), abs=1e-6)
    assert random_band(rows[:1]).mean == 0
