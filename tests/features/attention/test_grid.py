"""The grid of an attention matrix: hidden tokens, merged words, separated texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from contextlens.analysis.tokens import kinds, labels
from contextlens.core import BUNDLED_ID, EncoderService, Encoding
from contextlens.features.attention.grid import Arrangement, Grid, arrange
from tests.features.attention.examples import (
    PADDING,
    PAIR,
    SECOND_TEXT,
    attention_on,
    encoded,
)


def gridded(service: EncoderService, encoding: Encoding, weights: np.ndarray, **how: Any) -> Grid:
    vocabulary = service.vocabulary(encoding.passport.model)
    names = labels(encoding, vocabulary)
    return arrange(weights, encoding, kinds(encoding, vocabulary), names, Arrangement(**how))


@pytest.fixture
def padded_pair(service: EncoderService) -> Encoding:
    return encoded(service, BUNDLED_ID, SECOND_TEXT, PADDING)


def test_all_tokens_are_the_matrix_itself(service: EncoderService, padded_pair: Encoding) -> None:
    weights = padded_pair.attentions[0, 0]
    grid = gridded(service, padded_pair, weights)
    np.testing.assert_array_equal(grid.weights, weights)
    assert grid.is_square
    assert [item.label for item in grid.rows] == list(padded_pair.tokens)


def test_hiding_drops_special_tokens_and_renormalising_gives_rows_of_one(
    service: EncoderService, padded_pair: Encoding
) -> None:
    weights = padded_pair.attentions[3, 4]
    text = np.flatnonzero(padded_pair.text_ids >= 0)
    part = weights[np.ix_(text, text)]
    hidden = gridded(service, padded_pair, weights, special="hide")
    np.testing.assert_allclose(hidden.weights, part, atol=1e-7)
    grid = gridded(service, padded_pair, weights, special="renormalise")
    np.testing.assert_allclose(grid.weights, part / part.sum(-1, keepdims=True), atol=1e-6)
    assert (hidden.renormalised, grid.renormalised) == (False, True)
    assert set(grid.hidden) == set(range(padded_pair.n_tokens)) - set(text.tolist())


@pytest.mark.parametrize("special", ["show", "hide", "renormalise"])
def test_words_get_sums_and_give_means(
    service: EncoderService, padded_pair: Encoding, special: str
) -> None:
    weights = padded_pair.attentions[2, 3]
    single = gridded(service, padded_pair, weights, special=special)
    merged = gridded(service, padded_pair, weights, special=special, words=True)
    assert "teacher's" in [item.label for item in merged.rows]
    at = {item.positions[0]: i for i, item in enumerate(single.rows)}
    for i, row in enumerate(merged.rows):
        for j, column in enumerate(merged.columns):
            cells = np.ix_([at[p] for p in row.positions], [at[p] for p in column.positions])
            mean = single.weights[cells].sum(axis=1).mean()
            assert merged.weights[i, j] == pytest.approx(mean, abs=1e-6)


def test_a_direction_keeps_one_texts_rows_and_the_others_columns(
    service: EncoderService, padded_pair: Encoding
) -> None:
    weights = padded_pair.attentions[5, 0]
    first, second = (np.flatnonzero(padded_pair.text_ids == which) for which in (0, 1))
    for direction, cells in (("forth", (first, second)), ("back", (second, first))):
        grid = gridded(service, padded_pair, weights, direction=direction)
        np.testing.assert_array_equal(grid.weights, weights[np.ix_(*cells)])
        assert not grid.is_square


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


@pytest.mark.parametrize("side", ["from", "to"])
def test_the_picked_tokens_table_has_its_row_or_column(service: EncoderService, side: str) -> None:
    attention = attention_on(service, PAIR, side=side, token=3, show="All")
    weights, names = attention.grid.weights, [item.label for item in attention.grid.rows]
    table = attention.grid.picked_table(side, attention.pick.index)
    expected = weights[3] if side == "from" else weights[:, 3]
    np.testing.assert_array_equal(table.iloc[:, 2], expected)
    assert list(table.columns[:2]) == ["position", "token"]
    assert table.columns[2] == f"{side} {names[3]}"
    assert list(table["token"]) == names
