"""Shares: the cells add up to the cosine, and the claims name the words that stand out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.analysis.baseline import Band
from contextlens.analysis.shares import is_word, shares_of, units_of
from contextlens.content.language import Claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.why.score import Score, cosine
from contextlens.features.why.shares import SharesResult, shares_at
from tests.features.why.random_results import N, RandomResults, leads_alone, verdict, verdicts
from tests.features.why.scores import PAIR, score_on, sentence, view_on
from tests.support.texts import TYPED

SEEDS = st.integers(0, 2**32 - 1)
CODE = sentence("I love coding in python", "python")
BAND = Band(*(np.full(9, 0.1, np.float32) for _ in range(3)), "English sentences")


@given(SEEDS, st.integers(1, 9), st.integers(1, 9), st.floats(1e-3, 1e3))
def test_the_cells_add_up_to_the_cosine(seed: int, n: int, m: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    first = (random.normal(size=(n, 8)) * scale).astype(np.float32)
    second = random.normal(size=(m, 8)).astype(np.float32)
    ours, theirs = random.dirichlet(np.ones(n)), random.dirichlet(np.ones(m))
    shares = shares_of(first, second, ours, theirs)
    expected = cosine(ours @ first.astype(float), theirs @ second.astype(float))
    assert shares.cells.shape == (n, m)
    for total in (shares.total, shares.rows.sum(), shares.columns.sum()):
        assert total == pytest.approx(expected, abs=1e-9)
    turned = shares_of(second, first, theirs, ours)
    np.testing.assert_allclose(turned.cells, shares.cells.T, atol=1e-12)


def test_a_vector_of_no_length_has_no_shares() -> None:
    nothing, one = np.zeros((2, 4), np.float32), np.ones((3, 4), np.float32)
    assert not shares_of(nothing, one, np.full(2, 0.5), np.full(3, 1 / 3)).cells.any()
    assert cosine(np.zeros(4), np.ones(4)) == 0.0


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_units_hold_every_real_token_once(service: EncoderService, text: str) -> None:
    tokens = service.tokenize(BUNDLED_ID, [text], pad_to=512)[0]
    units = units_of(tokens)
    held = [i for unit in units for i in unit.positions]
    assert sorted(held) == np.flatnonzero(tokens.attention_mask).tolist()
    assert [unit.positions[0] for unit in units] == sorted(unit.positions[0] for unit in units)
    for unit in filter(is_word, units):
        assert text[slice(*(unit.span or (0, 0)))] == unit.label


def test_shares_are_those_of_the_layer(service: EncoderService) -> None:
    for kind in ("mean", "cls", "word"):
        score = score_on(service, PAIR, CODE, what=kind)
        n_units = tuple(len(side.units) for side in score.sides)
        for layer in range(7):
            result = shares_at(replace(score, layer=layer))
            for unit in ("words", "tokens"):
                shares = result.in_view(view_on(unit=unit)).shares
                assert shares.total == pytest.approx(score.cosines[layer], abs=1e-6)
        assert result.by_word.cells.shape == n_units


def test_shares_are_drawn_by_word_or_token_with_the_picked_one_marked(
    service: EncoderService,
) -> None:
    result = shares_at(score_on(service, PAIR, CODE))
    drawn = result.in_view(view_on(PAIR, CODE, unit="tokens", side="second", picked=3))
    rows = drawn.word_rows()
    assert rows.picked == ("second", 3)
    assert len(rows.first.words) == result.score.first.encoding.n_tokens
    assert drawn.figure().layout.shapes[0].x0 == 2.5
    np.testing.assert_array_equal(rows.cells, result.by_token.cells)
    by_word = result.in_view(view_on(PAIR, CODE, picked=2))
    (i,) = [i for i, unit in enumerate(result.score.first.units) if 2 in unit.positions]
    assert by_word.word_rows().picked == ("first", i)
    assert result.in_view(view_on(PAIR, CODE, picked=99)).picked is None


def test_rows_and_arrays_hold_the_shares(tiny_service: EncoderService) -> None:
    result = shares_at(score_on(tiny_service, PAIR, CODE, model="folder:bert"))
    rows, cosine = result.rows(), result.score.cosine
    assert len(rows) == result.by_word.cells.size
    assert sum(row["share"] for row in rows) == pytest.approx(cosine, abs=1e-9)
    assert result.arrays()["shares"].sum() == pytest.approx(cosine, abs=1e-6)


# Claims


def test_claims_name_the_largest_alone(scores: list[Score]) -> None:
    for seed in range(N):
        result = RandomResults(scores, seed).shares()
        score, title = result.score, verdict(result.title())
        if score.vector_kind != "mean":
            assert (verdicts(result.claims()), title) == ([score.vector_kind], "neither")
            continue
        assert_summary(result, result.claims()[0])
        claims = result.sure()
        leads = [
            leads_alone(*both)
            for both in zip(*zip(*result.word_sums, strict=True), claims, strict=False)
        ]
        assert title == ("both" if all(leads) else "neither")


def assert_summary(result: SharesResult, claim: Claim) -> None:
    """The one or two words that stand out: above an even split, and above the next word."""
    shares: dict[str, float] = {}
    evens: dict[str, float] = {}
    score = result.score
    for side, sums in zip(score.sides, (result.by_word.rows, result.by_word.columns), strict=True):
        for unit, share in zip(side.units, sums, strict=True):
            if unit.span is not None:
                word = unit.label.casefold()
                shares[word] = shares.get(word, 0) + share / 2
                evens[word] = evens.get(word, 0) + score.cosine / len(side.units) / 2
    order = sorted(shares, key=lambda word: -shares[word])
    leading = [
        n
        for n in (1, 2)
        if n <= len(order)
        and all(shares[w] >= 1.2 * evens[w] and two(shares[w]) > two(evens[w]) for w in order[:n])
        and shares[order[n - 1]] - max([shares[w] for w in order[n:]], default=-9.0) > 0.01
    ]
    if any(side.is_unread for side in score.sides):
        assert verdict(claim) == "unread"
        return
    if score.are_equal or two(score.cosine) <= 0:
        assert verdict(claim) == ("same" if score.are_equal else "unlike")
        return
    if not leading:
        assert verdict(claim) == "even"
        assert claim.numbers["share"] == pytest.approx(shares[order[0]])
        return
    n = leading[-1]
    together = sum(shares[word] for word in order[:n])
    beyond = "_beyond" if two(together) > two(score.cosine) else ""
    assert verdict(claim) == ("one", "two")[n - 1] + beyond
    assert claim.numbers["share"] == pytest.approx(together)
    assert claim.numbers["even"] == pytest.approx(sum(evens[word] for word in order[:n]))


def two(value: float) -> float:
    return round(float(value), 2)


def test_no_word_makes_sentences_alike_that_are_as_alike_as_random_ones(
    scores: list[Score],
) -> None:
    random = RandomResults(scores, 0)
    for value, expected in ((0.1, "usual"), (0.104, "usual"), (0.11, None), (-0.2, "usual")):
        score = replace(random.score, cosines=np.full(9, value))
        result = replace(random.shares(), score=score)
        claim = replace(result, band=BAND).claims()[0]
        alone = verdict(result.claims()[0])
        assert verdict(claim) == (expected or alone)
