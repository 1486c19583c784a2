"""What is read fast, and what it costs, beside exact reading."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.core.schema import FastPrecision
from contextlens.corpus.bundled import sentiment_corpus
from contextlens.maps.precision import reading_precision, with_cosine_errors

TEXTS = sentiment_corpus().texts[:60]


@pytest.fixture(scope="module")
def card(fast_service: EncoderService) -> ModelCard:
    return fast_service.load(BUNDLED_ID)


@pytest.mark.parametrize(
    ("changes", "n_texts", "exact", "precision"),
    [
        ({}, 10_000, False, "fast"),
        ({}, 10_000, True, "exact"),
        ({}, 688, False, "exact"),  # no ready collection, whose numbers are the same everywhere
        ({"n_layers": 24, "n_dims": 1024}, 688, False, "fast"),
        ({"fast": FastPrecision("float32", "So the test says.")}, 10_000, False, "exact"),
        ({"device": "cuda:0"}, 10_000, False, "exact"),  # where nothing is measured
    ],
)
def test_many_texts_are_read_fast_where_that_is_measured_faster(
    card: ModelCard, changes: dict[str, Any], n_texts: int, exact: bool, precision: str
) -> None:
    assert reading_precision(replace(card, **changes), n_texts, exact=exact) == precision


def test_the_errors_are_those_of_cosines_of_evenly_spaced_texts(
    fast_service: EncoderService, card: ModelCard
) -> None:
    passports, cosines = [], []
    for precision in ("exact", "fast"):
        encodings = fast_service.encode(BUNDLED_ID, TEXTS, precision=precision)  # type: ignore[arg-type]
        passports.append(encodings[0].passport)
        cosines.append(cosine_similarity([e.hidden[-1].mean(axis=0) for e in encodings]))
    exact, fast = passports
    assert with_cosine_errors(exact, TEXTS, card, fast_service) is exact
    errors = with_cosine_errors(fast, TEXTS, card, fast_service).cosine_errors
    assert errors is not None
    rows = [59 * i // 47 for i in range(48)]
    expected = np.abs(cosines[1] - cosines[0])[np.ix_(rows, rows)][np.triu_indices(48, 1)]
    assert errors["texts"] == 48
    # Which sums are rounded how depends on the batch.
    assert errors["median"] == pytest.approx(np.median(expected), rel=0.5)
    assert 0 < errors["median"] < errors["greatest"] < 0.02
    assert errors["greatest"] == pytest.approx(expected.max(), rel=0.8)
