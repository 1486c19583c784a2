"""Attention arranged: against its own matrix, plain sums, and its own laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from components.analysis.tokens import kinds, labels
from components.core import BUNDLED_ID, EncoderService, Encoding
from components.features.attention.measures import Arrangement, Grid, arrange
from tests.features.attention.measures.attended import PADDING, PAIR, encoded


def gridded(service: EncoderService, encoding: Encoding, weights: np.ndarray, **how: Any) -> Grid:
    vocabulary = service.vocabulary(encoding.passport.model)
    own, written = kinds(encoding, vocabulary), labels(encoding, vocabulary)
    return arrange(weights, encoding, own, written, Arrangement(**how))


def test_all_tokens_are_the_matrix_itself(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, PAIR)
    own = encoding.attentions[0, 0]
    grid = gridded(service, encoding, own)
    np.testing.assert_array_equal(grid.weights, own)
    assert grid.is_square
    assert [item.label for item in grid.rows] == list(encoding.tokens)


def test_hiding_drops_special_tokens_and_renormalising_gives_rows_of_one(
    service: EncoderService,
) -> None:
    encoding = encoded(service, BUNDLED_ID, PAIR, PADDING)
    own = encoding.attentions[3, 4]
    keep = [i for i in range(encoding.n_tokens) if encoding.text_ids[i] >= 0]
    hidden = gridded(service, encoding, own, special="hide")
    np.testing.assert_allclose(hidden.weights, own[np.ix_(keep, keep)], atol=1e-7)
    again = gridded(service, encoding, own, special="renormalise")
    part = own[np.ix_(keep, keep)]
    np.testing.assert_allclose(again.weights, part / part.sum(-1, keepdims=True), atol=1e-6)
    assert again.renormalised
    assert not hidden.renormalised
    assert set(again.hidden) == set(range(encoding.n_tokens)) - set(keep)


@pytest.mark.parametrize("special", ["show", "hide", "renormalise"])
def test_words_get_sums_and_give_means(service: EncoderService, special: str) -> None:
    encoding = encoded(service, BUNDLED_ID, PAIR)
    own = encoding.attentions[2, 3]
    single = gridded(service, encoding, own, special=special)
    merged = gridded(service, encoding, own, special=special, words=True)
    assert "teacher's" in [item.label for item in merged.rows]
    at = {item.positions[0]: i for i, item in enumerate(single.rows)}
    for i, row in enumerate(merged.rows):
        for j, column in enumerate(merged.columns):
            block = single.weights[
                np.ix_([at[p] for p in row.positions], [at[p] for p in column.positions])
            ]
            assert merged.weights[i, j] == pytest.approx(block.sum(axis=1).mean(), abs=1e-6)
    if special != "hide":
        np.testing.assert_allclose(merged.weights.sum(axis=1), 1, atol=1e-5)


def test_a_direction_keeps_one_texts_rows_and_the_others_columns(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, PAIR)
    own = encoding.attentions[5, 0]
    first, second = (np.flatnonzero(encoding.text_ids == which) for which in (0, 1))
    forth = gridded(service, encoding, own, direction="forth")
    np.testing.assert_array_equal(forth.weights, own[np.ix_(first, second)])
    back = gridded(service, encoding, own, direction="back")
    np.testing.assert_array_equal(back.weights, own[np.ix_(second, first)])
    assert not back.is_square


def test_what_would_leave_nothing_is_not_done(service: EncoderService) -> None:
    empty = encoded(service, BUNDLED_ID, text="")
    grid = gridded(service, empty, empty.attentions[0, 0], special="renormalise", direction="forth")
    assert [item.label for item in grid.rows] == ["[CLS]", "[SEP]"]
    assert grid.hidden == ()


def test_a_row_of_zeros_stays_zero(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, text="a python")
    weights = np.zeros((4, 4), np.float32)
    weights[:, 0] = 1
    grid = gridded(service, encoding, weights, special="renormalise")
    assert grid.weights.tolist() == [[0, 0], [0, 0]]
