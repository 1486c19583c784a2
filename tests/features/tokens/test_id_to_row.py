"""The row of an ID: among its neighbours, in words, and in two ways as a script."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.tokens.id_to_row import id_to_row, last_row, row_snippet
from contextlens.ui.state.view import DEFAULT
from tests.features.tokens.shown import shown
from tests.support.snippets import run
from tests.support.tokens import text_view


@pytest.mark.parametrize(
    ("position", "ids", "picked"),
    [(0, list(range(98, 105)), 3), (8, [0, 1, 2, 3], 0)],
)
def test_a_tokens_row_stands_among_its_neighbours(
    service: EncoderService, position: int, ids: list[int], picked: int
) -> None:
    tokenized = shown(text_view("I love my pet python", pad=9, token=position), service)
    rows = id_to_row(tokenized, service, service.load(BUNDLED_ID))
    assert rows is not None
    assert (rows.ids, rows.picked) == (ids, picked)
    np.testing.assert_array_equal(rows.values, service.word_rows(BUNDLED_ID, ids))
    (claim,) = rows.claims()
    numbers = claim.numbers["token_id"], claim.numbers["n_rows"], claim.numbers["n_dims"]
    assert numbers == (ids[picked], 30_522, 384)
    assert rows.names[picked] == f"{ids[picked]}  {tokenized.tokens.tokens[position]}"


def test_an_id_behind_the_table_has_no_row(service: EncoderService) -> None:
    tokenized = shown(DEFAULT, service)
    for size, has_row in ((18751, True), (18750, False)):
        card = replace(service.load(BUNDLED_ID), vocabulary_size=size)
        assert last_row(tokenized.vocabulary, card) == size - 1
        assert (id_to_row(tokenized, service, card) is not None) == has_row


@pytest.mark.parametrize("token_id", [0, 30521])
def test_one_hot_times_the_matrix_is_the_row_that_the_page_shows(
    service: EncoderService, token_id: int
) -> None:
    found = run(row_snippet(service.load(BUNDLED_ID), token_id))
    assert torch.equal(found["product"], found["row"])
    np.testing.assert_array_equal(found["row"], service.word_rows(BUNDLED_ID, [token_id])[0])


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_every_kinds_script_runs_once_its_path_is_filled_in(
    tiny_service: EncoderService, tiny_root: Path, family: str
) -> None:
    card = tiny_service.load(f"folder:{family}")
    code = row_snippet(card, 17)
    assert "contextlens" not in code
    row = run(code.replace(f"path/to/{family}", str(tiny_root / family)))["row"]
    np.testing.assert_array_equal(row, tiny_service.word_rows(card.id, [17])[0])
