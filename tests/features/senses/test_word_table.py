"""The word in the word table, beside its vectors at layer 0."""

from __future__ import annotations

import random

import numpy as np
import pytest

from contextlens.analysis.separation import scaled
from contextlens.content.wording import quoted
from contextlens.core import EncoderService
from contextlens.features.senses.word_table import WordTable, word_table
from tests.support.odd import Said, assert_said, odd_names
from tests.support.senses import MODEL, live, uses_of

TEXTS = ("my python and my snake", "the python slept")


def test_the_average_is_that_of_the_row_and_all_uses(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, TEXTS)
    table = word_table(uses_of(corpus), corpus, tiny_service)
    (tokens,) = tiny_service.tokenize(MODEL, ["python"])
    ids = tokens.token_ids[tokens.special_tokens_mask == 0]
    row = tiny_service.word_rows(MODEL, ids).mean(axis=0)
    layer0 = scaled(corpus.vectors(corpus.occurrences("python"), 0))
    assert table.average == pytest.approx(float((layer0 @ scaled(row)).mean()), abs=1e-5)
    assert "".join(table.pieces).replace("##", "") == "python"
    assert table.rows() == []


def test_a_word_table_of_another_width_is_a_problem(tiny_service: EncoderService) -> None:
    corpus = live(tiny_service, ["a python"], "folder:albert")
    table = word_table(uses_of(corpus), corpus, tiny_service)
    assert table.problem.startswith(
        "The rows of this model's word table have 16 numbers, but its layer 0"
    )
    assert table.claims() == table.rows() == []


def test_the_claims_on_the_word_table_are_true() -> None:
    said = Said()
    for seed in range(300):
        chance = random.Random(seed)
        n, pieces = chance.choice((0, 1, 2, 5)), ("py",) * chance.choice((1, 2))
        spread = chance.choice((0.0, 0.01, 0.5))
        cosines = np.array([0.4 + chance.random() * spread for _ in range(n)])
        average = chance.uniform(-1, 1)
        senses = tuple(odd_names(chance, n, few=min(n, 5) or 1))
        table = WordTable("python", pieces, senses, cosines, np.eye(n), average)
        claims = said(table.claims())
        assert_said(claims, "senses.table.rows", n=len(pieces), average=average)
        if n < 2:
            assert len(claims) == 1
        elif np.ptp(cosines) <= 0.02:
            assert_said(claims, "senses.table.alike", low=cosines.min(), high=cosines.max())
        else:
            best, worst = (quoted(senses[i]) for i in (cosines.argmax(), cosines.argmin()))
            assert_said(claims, "senses.table.apart", best=best, worst=worst)
            assert_said(claims, "senses.table.apart", high=cosines.max(), low=cosines.min())
        assert [row["the word's row"] for row in table.rows()] == (
            cosines.tolist() if n > 1 else []
        )
        said(table.notes())
    said.assert_all("senses.table")
