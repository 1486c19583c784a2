"""Numbers behind Why alike?: alignment, texts without words, shares, effects; against oracles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.analysis.shares import is_word, shares_of, units_of
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import RequestError
from contextlens.core.words import split_words
from contextlens.features.why.measures import (
    FEWEST,
    Alignment,
    align,
    cosine,
    cut,
    fraction,
    interaction,
    is_way,
    order_of,
    pair_cosines,
    sense_gap,
    weights_of,
)
from tests.support.texts import TYPED

WORDS = st.lists(st.sampled_from(["cat", "dog", "a", "the", "bit"]), max_size=8)
PARTS = st.sampled_from(
    ["my", "pet", "python", ",", ".", " ", "  ", "\n", "don't", "3.5", "蛇", "(", "é"]
)
SEEDS = st.integers(0, 2**32 - 1)

# Alignment


def aligned(service: EncoderService, first: str, second: str, **how: int) -> Alignment:
    return align(*service.tokenize(BUNDLED_ID, [first, second], **how))


def test_of_equal_length_each_stands_for_the_one_at_its_place(service: EncoderService) -> None:
    texts = "I love my pet python", "I love coding in python"
    expected = Alignment(tuple((i, i) for i in range(7)), True, (), (), 5)
    assert aligned(service, *texts) == aligned(service, *texts, pad_to=20) == expected


def test_of_other_lengths_what_is_alone_is_named(service: EncoderService) -> None:
    found = aligned(service, "The food was good", "The food was not very good")
    pairs = ((0, 0), (1, 1), (2, 2), (3, 3), (4, 6), (5, 7))
    assert found == Alignment(pairs, False, (), (4, 5), 6)
    replaced = aligned(service, "A cat slept", "A dog slept so well")
    assert (2, 2) in replaced.pairs
    assert replaced.n_equal == len(replaced.pairs) - 1


@given(WORDS, WORDS)
def test_pairs_are_one_to_one_and_in_order(
    service: EncoderService, words: list[str], others: list[str]
) -> None:
    first, second = " ".join(words), " ".join(others)
    found = aligned(service, first, second)
    for side, alone in ((0, found.first_alone), (1, found.second_alone)):
        partners = [pair[side] for pair in found.pairs]
        assert partners == sorted(set(partners))
        assert sorted([*partners, *alone]) == list(range(len((words, others)[side]) + 2))
    assert found.turned.turned == found
    assert aligned(service, first, first).n_equal == len(words) + 2


# Texts without words


@pytest.mark.parametrize(
    ("text", "words", "left"),
    [
        ("I love my pet python", ["pet"], "I love my python"),
        ("I love my pet python", ["python"], "I love my pet"),
        ("I love my pet python", ["my", "pet"], "I love python"),
        ("I love my pet python", ["I", "love"], "my pet python"),
        ("my pet, and you", [","], "my pet and you"),
        ("rock/paper", ["/"], "rock paper"),
        ("(pet)", ["pet"], "()"),
        ("  pet ", ["pet"], "  "),
        ("love. Hate.", ["."], "love Hate."),
    ],
)
def test_what_is_left_reads_as_a_text(text: str, words: list[str], left: str) -> None:
    assert cut(text, [(text.index(w), text.index(w) + len(w)) for w in words]).text == left


@given(st.lists(PARTS, max_size=10), st.data())
def test_all_other_words_stay_and_are_found(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    words = split_words(text)
    gone = set(data.draw(st.lists(st.sampled_from(words), unique=True))) if words else set()
    left = cut(text, sorted(gone))
    assert len(left.places) == len(text)
    for span in words:
        moved = left.moved(span)
        if span in gone:
            assert moved is None
        else:
            assert left.text[slice(*moved)] == text[slice(*span)]
    kept = "".join(text[slice(*span)] for span in words if span not in gone)
    assert "".join(left.text.split()) == "".join(kept.split())


# Shares


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


def test_weights_say_what_is_compared(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["Its unbelievability is overrated"], pad_to=20)[0]
    n = int(tokens.attention_mask.sum())
    assert weights_of(tokens, "mean") == pytest.approx([1 / n] * n + [0] * (20 - n))
    assert weights_of(tokens, "cls").tolist() == [1.0, *[0.0] * 19]
    positions = np.flatnonzero((tokens.word_ids == 1) & (tokens.text_ids == 0))
    expected = np.zeros(20)
    expected[positions] = 1 / len(positions)
    assert len(positions) > 1
    assert weights_of(tokens, "word", (4, 19)) == pytest.approx(expected)
    with pytest.raises(RequestError, match="Choose one"):
        weights_of(tokens, "word")


# Effects


@given(SEEDS, st.floats(-1, 2))
def test_a_fraction_is_that_of_the_way_whatever_lies_beside_it(seed: int, share: float) -> None:
    start, end, aside = np.random.default_rng(seed).normal(size=(3, 6))
    way = end - start
    aside -= way * (aside @ way) / (way @ way)
    assert fraction(start + share * way + aside, start, end) == pytest.approx(share, abs=1e-9)
    assert is_way(start, end)
    assert not is_way(start, start + 1e-7)
    with pytest.raises(ValueError, match="no way"):
        fraction(end, start, start)


def test_pairs_are_in_the_order_of_combinations_and_their_effects_beyond_the_sum() -> None:
    vectors = np.random.default_rng(0).normal(size=(4, 5))
    expected = cosine_similarity(vectors)[np.triu_indices(4, 1)]
    np.testing.assert_allclose(pair_cosines(list(vectors)), expected, atol=1e-12)
    pairs = np.array([[0.1, 0.5], [0.5, 0.2]])
    np.testing.assert_allclose(interaction(pairs), [[0, 0.2], [0.2, 0]])


@given(SEEDS, st.integers(2, 40))
def test_orders_are_compared_as_scipy_does(seed: int, n: int) -> None:
    shares, changes = np.random.default_rng(seed).integers(0, 5, (2, n)) / 10
    found = order_of(shares, changes)
    if np.ptp(shares) == 0 or np.ptp(changes) == 0:
        assert (found.verdict, found.tau) == ("cannot tell", None)
    else:
        assert found.tau == pytest.approx(kendalltau(shares, -changes).statistic)
        assert found.verdict != "same" or found.tau > 0
        assert found.verdict != "opposite" or found.tau < 0
        assert n >= FEWEST or found.verdict == "cannot tell"


@pytest.mark.parametrize("n", [FEWEST, 60])
def test_random_orders_are_seldom_called_related(n: int) -> None:
    random = np.random.default_rng(n)
    verdicts = [order_of(*random.normal(size=(2, n))).verdict for _ in range(400)]
    assert sum(verdict in ("same", "opposite") for verdict in verdicts) <= 0.08 * 400


def test_the_same_order_and_the_reverse_are_told_and_few_words_tell_nothing() -> None:
    shares = np.arange(10) / 10
    assert order_of(shares, -shares).verdict == "same"
    assert order_of(shares, shares).verdict == "opposite"
    assert order_of(shares, shares[[0, 9, 1, 8, 2, 7, 3, 6, 4, 5]]).verdict == "unrelated"
    assert order_of(shares[:5], shares[:5]).verdict == "cannot tell"
    assert order_of(np.zeros(0), np.zeros(0)).verdict == "cannot tell"


def test_the_gap_of_senses_is_the_difference_of_two_mean_cosines() -> None:
    vectors = np.random.default_rng(0).normal(size=(5, 4))
    cosines = cosine_similarity(vectors)
    same = [cosines[i, j] for i, j in ((0, 1), (2, 3), (2, 4), (3, 4))]
    expected = np.mean(same) - cosines[:2, 2:].mean()
    assert sense_gap(vectors, [*"aabbb"]) == pytest.approx(expected)
    for senses in ("aa", "ab"):
        with pytest.raises(ValueError, match="pairs of one sense"):
            sense_gap(np.eye(2), [*senses])
