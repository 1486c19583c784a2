"""Shares add up to the cosine, whatever is compared, and are merged by word without a loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core import BUNDLED_ID, EncoderService
from components.core.errors import RequestError
from components.features.why.measures import (
    VECTOR_KINDS,
    VectorKind,
    cosine,
    is_word,
    merged,
    shares_of,
    units_of,
    vector_of,
    weights_of,
)
from tests.support.texts import TYPED
from tests.support.tiny_models import FAMILIES


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9), st.floats(1e-3, 1e3))
def test_the_cells_add_up_to_the_cosine(seed: int, n: int, m: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    first = (random.normal(size=(n, 8)) * scale).astype(np.float32)
    second = random.normal(size=(m, 8)).astype(np.float32)
    ours, theirs = random.dirichlet(np.ones(n)), random.dirichlet(np.ones(m))
    shares = shares_of(first, second, ours, theirs)
    expected = cosine(ours @ first.astype(float), theirs @ second.astype(float))
    assert shares.cells.shape == (n, m)
    assert shares.total == pytest.approx(expected, abs=1e-9)
    assert shares.rows.sum() == pytest.approx(expected, abs=1e-9)
    assert shares.columns.sum() == pytest.approx(expected, abs=1e-9)
    turned = shares_of(second, first, theirs, ours)
    np.testing.assert_allclose(turned.cells, shares.cells.T, atol=1e-12)


def test_a_vector_of_no_length_has_no_shares() -> None:
    nothing, one = np.zeros((2, 4), np.float32), np.ones((3, 4), np.float32)
    shares = shares_of(nothing, one, np.full(2, 0.5), np.full(3, 1 / 3))
    assert not shares.cells.any()
    assert cosine(np.zeros(4), np.ones(4)) == 0.0


@pytest.mark.parametrize("what", VECTOR_KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_shares_of_a_model_add_up_at_every_layer(
    tiny_service: EncoderService, family: str, what: VectorKind
) -> None:
    texts = ("The teacher's unbelievable python", "Seventeen umbrellas slept")
    both = tiny_service.encode(f"folder:{family}", texts, pairs=["A cat", None])
    weights = [
        weights_of(own, what, span) for own, span in zip(both, [(14, 26), (0, 9)], strict=True)
    ]
    units = [units_of(own) for own in both]
    for layer in both[0].layers:
        states = [own.layer(layer) for own in both]
        shares = shares_of(*states, *weights)
        vectors = [vector_of(h, w) for h, w in zip(states, weights, strict=True)]
        assert shares.total == pytest.approx(cosine(*vectors), abs=1e-6)
        by_word = merged(shares, *units)
        assert by_word.cells.shape == tuple(map(len, units))
        assert by_word.total == pytest.approx(shares.total, abs=1e-9)


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
    mean = weights_of(tokens, "mean")
    assert mean[:n] == pytest.approx(np.full(n, 1 / n))
    assert not mean[n:].any()
    assert weights_of(tokens, "cls").tolist() == [1.0, *[0.0] * 19]
    word = weights_of(tokens, "word", (4, 19))
    assert word.sum() == pytest.approx(1)
    assert set(np.flatnonzero(word)) == {
        i for i in range(n) if tokens.word_ids[i] == 1 and tokens.text_ids[i] == 0
    }
    assert np.count_nonzero(word) > 1


def test_without_a_word_it_says_what_to_do(service: EncoderService) -> None:
    tokens = service.tokenize(BUNDLED_ID, ["My python"])[0]
    with pytest.raises(RequestError, match="Choose one"):
        weights_of(tokens, "word")
