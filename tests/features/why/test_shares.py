"""Shares: the cells add up to the cosine, and the claims name the words that stand out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.analysis.baseline import Band
from contextlens.analysis.shares import is_word, shares_of, units_of
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.why.score import Score, Side, cosine
from contextlens.features.why.shares import SharesResult, shares_at
from tests.features.why.random_results import N, RandomResults, verdict
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


# Claims, recomputed from what is drawn


def words_of(side: Side) -> list[tuple[Any, ...]]:
    """The token IDs of each word, or its text if unknown; special tokens have none."""
    ids, unknown = side.encoding.token_ids.tolist(), side.unknown
    return [
        () if unit.span is None
        else (unit.label,) if unknown.issuperset(unit.positions)
        else tuple(ids[i] for i in unit.positions)
        for unit in side.units
    ]  # fmt: skip


def assert_drawn(result: SharesResult) -> str:
    """Check the headline and its number against the matrix and the lines; return the verdict."""
    headline, *rest = result.claims()
    score, named = result.score, result.named
    ours, theirs = (words_of(side) for side in score.sides)
    cells: dict[tuple[Any, Any], float] = {}
    sizes: Counter[tuple[Any, Any]] = Counter()
    for i, j in product(range(len(ours)), range(len(theirs))):
        if ours[i] and theirs[j]:
            pair = ours[i], theirs[j]
            cells[pair] = cells.get(pair, 0.0) + float(result.by_word.cells[i, j])
            sizes[pair] += 1
    drawn = np.array(result.figure().data[0].z)
    for total in cells.values() if score.vector_kind == "mean" else ():
        assert np.isclose(drawn, total, atol=1e-6).any()
    linked = {(ours[i], theirs[j]) for i, j in result.word_rows().links}
    assert verdict(headline) in ("one", "several") or not linked
    if verdict(headline) not in ("one", "several", "special", "none"):
        return verdict(headline)

    top = max(cells.values())
    even = {pair: score.cosine * n / result.by_word.cells.size for pair, n in sizes.items()}
    stands_out = {
        pair
        for pair, share in cells.items()
        if share >= max(1.5 * even[pair], top / 2) and two(share) > two(even[pair])
    }
    assert named.of_words == pytest.approx(sum(cells.values()))
    assert verdict(headline) != "special" or sum(cells.values()) < score.cosine / 2
    if verdict(headline) == "none":
        assert not stands_out
        assert verdict(rest[0]) == ("strongest" if two(top) > 0 else "small")
    assert verdict(rest[-1]) == ("beyond" if two(named.of_words) > two(score.cosine) else "within")
    if verdict(headline) in ("one", "several"):
        assert linked <= stands_out
        assert len({first for first, _ in linked}) == len({second for _, second in linked})
        others = stands_out - linked  # each has a word of a pair that is as strong
        for first, second in others:
            taken = [cells[own] for own in linked if first == own[0] or second == own[1]]
            assert max(taken) >= cells[first, second]
        assert len(linked) == rest[0].numbers["n"]
        assert rest[0].numbers["share"] == pytest.approx(sum(cells[pair] for pair in linked))
    return verdict(headline)


def two(value: float) -> float:
    return round(float(value), 2)


def test_the_headline_names_the_strongest_pairs_that_are_drawn(scores: list[Score]) -> None:
    reached: set[str] = set()
    for seed in range(0, N, 2):
        result = RandomResults(scores, seed).shares()
        reached.add(assert_drawn(result))
        score = result.score
        usual = replace(result, band=BAND)
        if score.vector_kind == "mean" and not (score.are_equal or score.unread_letters):
            assert verdict(usual.claims()[0]) == "usual" or two(score.cosine) > 0.1
            assert verdict(result.claims()[0]) == "unlike" or two(score.cosine) > 0
    assert reached | {"none"} == {
        *("one", "several", "special", "none"),
        *("same", "unread", "unlike", "cls", "word"),
    }


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (
            "The cat chased the mouse in the garden",
            "A kitten ran after a rat",
            "“chased” with “ran”, “cat” with “kitten” and “mouse” with “rat” make them alike; "
            "none does it alone.",
        ),
        (
            "the bank of the river is green",
            "the bank lends money to the bank",
            "Of the words, “bank” does most to make them alike.",
        ),
        ("cat", "dog", "Mostly the special tokens make them alike, which the model adds to every "
         "text."),
        ("أحب القطط", "أحب الكلاب",
         "“\u2068القطط\u2069” with “\u2068الكلاب\u2069” and “\u2068أحب\u2069” "
         "make them alike; none does it alone."),
        ("🐍 🐍 likes a very old cat", "🐉 likes a very young cat",
         "“🐍” with “🐉” and “likes” make them alike; none does it alone."),
        ("Cat", "cat", "To the model, A and B are the same: similarity **1.00**."),
        ("🐍", "a cat", "The model cannot read A: it sees only unknown or special tokens "
         "there, so no word makes them alike."),
        (" ".join(f"w{i} bank" for i in range(60)), " ".join(f"river {i}" for i in range(60)),
         "No pair of words stands out: only many of them together make A and B alike."),
    ],
)  # fmt: skip
def test_words_and_picture_tell_the_same(
    service: EncoderService, first: str, second: str, expected: str
) -> None:
    result = shares_at(score_on(service, sentence(first), sentence(second)))
    assert_drawn(result)
    assert str(result.claims()[0]) == expected


def test_a_sentence_without_words_has_no_strongest_one(service: EncoderService) -> None:
    score = score_on(service, sentence("A cat"), sentence("a dog"))
    specials = tuple(unit for unit in score.first.units if unit.span is None)
    result = shares_at(replace(score, first=replace(score.first, units=specials)))
    assert str(result.claims()[0]) == (
        "A has no words, only special tokens, so no word makes them alike."
    )
