"""Attention reduced and arranged: against transformers itself, plain loops, and its own laws."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy
from transformers import AutoModel, AutoTokenizer

from contextlens.analysis.tokens import kinds, labels
from contextlens.core import BUNDLED_ID, EncoderService, Encoding
from contextlens.features.attention.measures import (
    HABITS,
    Arrangement,
    Grid,
    arrange,
    block_means,
    habits,
    ranked,
    reduce_heads,
    rollout,
    separators,
)
from tests.support.tiny_models import FAMILIES

TEXT, PAIR = "The teacher's unbelievable python", "Seventeen umbrellas"
PADDING = 48
by_case = pytest.mark.parametrize(
    ("pair", "pad_to"), [(None, None), (PAIR, PADDING)], ids=["text", "padded pair"]
)


def encoded(
    service: EncoderService,
    model: str,
    pair: str | None = None,
    pad_to: int | None = None,
    text: str = TEXT,
) -> Encoding:
    pairs = None if pair is None else [pair]
    return service.encode(model, [text], pairs=pairs, pad_to=pad_to, attentions=True)[0]


@cache
def direct(folder: Path, text: str, pair: str | None, pad_to: int | None) -> np.ndarray:
    """(n_layers, n_heads, n, n) from transformers alone."""
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    batch = AutoTokenizer.from_pretrained(folder)(
        *[t for t in (text, pair) if t is not None],
        return_tensors="pt",
        # ALBERT's tokenizer knows its segments but hands them out only when asked.
        return_token_type_ids=getattr(model.config, "type_vocab_size", 0) > 1,
        **({"padding": "max_length", "max_length": pad_to} if pad_to else {}),
    )
    with torch.inference_mode():
        layers = model(**batch, output_attentions=True).attentions
    return torch.stack(layers)[:, 0].numpy()


def naive_habits(attention: np.ndarray, encoding: Encoding) -> list[float]:
    """One head's habits, token by token."""
    real = [i for i in range(encoding.n_tokens) if encoding.attention_mask[i]]
    others = [i for i in real[1:] if encoding.special_tokens_mask[i]]
    key = list(zip(encoding.text_ids.tolist(), encoding.word_ids.tolist(), strict=True))

    def together(i: int) -> list[int]:
        return [j for j in real if j == i or (key[i] == key[j] and key[i][1] >= 0)]

    def mean(values: list[float]) -> float:
        return float(np.mean(values)) if values else 0.0

    return [
        mean([attention[i, i - 1] for i in real[1:]]),
        mean([attention[i, i + 1] for i in real[:-1]]),
        mean([attention[i, 0] for i in real]),
        mean([sum(attention[i, j] for j in others) for i in real]),
        mean([sum(attention[i, j] for j in together(i)) for i in real]),
        mean([entropy(attention[i, real], base=2) for i in real]),
    ]


# Against transformers itself


@pytest.mark.slow
@by_case
@pytest.mark.parametrize("family", FAMILIES)
def test_reductions_are_those_of_transformers_own_attention(
    tiny_service: EncoderService, tiny_root: Path, family: str, pair: str | None, pad_to: int | None
) -> None:
    expected = direct(tiny_root / family, TEXT, pair, pad_to)
    encoding = encoded(tiny_service, f"folder:{family}", pair, pad_to)
    heads = reduce_heads(encoding.attentions, encoding)
    np.testing.assert_allclose(heads.layer_means, expected.mean(axis=1), atol=1e-5)
    for layer in range(3):
        for head in range(4):
            weights, measured = heads.whole(layer + 1, head), heads.habits[layer, head]
            np.testing.assert_allclose(weights, expected[layer, head], atol=1e-5)
            habits = naive_habits(expected[layer, head], encoding)
            np.testing.assert_allclose(measured, habits, atol=2e-5)


def test_padding_changes_nothing_and_gets_nothing(tiny_service: EncoderService) -> None:
    alone = encoded(tiny_service, "folder:bert", PAIR)
    padded = encoded(tiny_service, "folder:bert", PAIR, PADDING)
    ours, theirs = (reduce_heads(e.attentions, e) for e in (alone, padded))
    np.testing.assert_allclose(ours.habits, theirs.habits, atol=1e-5)
    np.testing.assert_allclose(ours.even, theirs.even, atol=1e-6)
    n, rolled = alone.n_tokens, rollout(theirs.layer_means)
    assert padded.attentions[..., :n, n:].max() == rolled[:n, n:].max() == 0
    np.testing.assert_allclose(rolled[:n, :n], rollout(ours.layer_means), atol=1e-5)


# Laws


weights = st.integers(1, 40).flatmap(
    lambda n: st.integers(0, 2**32 - 1).map(
        lambda seed: (
            np.random.default_rng(seed).dirichlet(np.ones(n), size=(2, 3, n)).astype(np.float32)
        )
    )
)


@given(weights, st.integers(1, 12))
def test_blocks_are_means_and_small_matrices_stay(attention: np.ndarray, most: int) -> None:
    found = block_means(attention, most)
    n = attention.shape[-1]
    m = min(n, most)
    assert found.shape == (2, 3, m, m)
    edges = [i * n // m for i in range(m)] + [n]
    for i in range(m):
        for j in range(m):
            block = attention[..., edges[i] : edges[i + 1], edges[j] : edges[j + 1]]
            np.testing.assert_allclose(found[..., i, j], block.mean(axis=(-2, -1)), atol=1e-5)
    if n <= most:
        np.testing.assert_array_equal(found, attention)


@given(weights)
def test_rollout_is_the_product_of_mixed_layers(attention: np.ndarray) -> None:
    n = attention.shape[-1]
    means = attention.mean(axis=1)
    expected = np.eye(n)
    for mean in means:
        mixed = 0.5 * mean + 0.5 * np.eye(n)
        expected = (mixed / mixed.sum(-1, keepdims=True)) @ expected
    found = rollout(means)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(rollout(means[:0]), np.eye(n))


def test_even_attention_has_the_habits_that_are_told_as_even(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, PAIR)
    n = encoding.n_tokens
    heads = reduce_heads(encoding.attentions, encoding)
    even = habits(np.full((n, n), 1 / n, np.float32), encoding)
    np.testing.assert_allclose(heads.even, even, atol=1e-6)
    assert even[HABITS.index("entropy")] == pytest.approx(np.log2(n), abs=1e-4)
    assert even[HABITS.index("separators")] == pytest.approx(2 / n, abs=1e-6)
    assert [encoding.tokens[i] for i in separators(encoding)] == ["[SEP]", "[SEP]"]


@pytest.mark.parametrize("habit", HABITS)
def test_heads_are_sorted_by_any_habit(service: EncoderService, habit: str) -> None:
    encoding = encoded(service, BUNDLED_ID)
    heads = reduce_heads(encoding.attentions, encoding)
    values = heads.habits[..., HABITS.index(habit)]
    orders = [ranked(heads, habit), ranked(heads, habit, least=True)[::-1]]
    for order in orders:
        by_rank = [values[layer - 1, head] for layer, head in order]
        assert by_rank == sorted(by_rank, reverse=True)
        assert len(set(order)) == 72


@pytest.mark.slow
def test_of_a_long_text_little_is_kept(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, text="the bank of the river " * 120)
    assert encoding.n_tokens == 512
    heads = reduce_heads(encoding.attentions, encoding)
    arrays = [heads.habits, heads.even, heads.pictures, heads.layer_means, heads.full]
    assert sum(array.nbytes for array in arrays) < 16_000_000
    assert heads.pictures.shape[-1] <= 32
    first = [ranked(heads, habit)[0] for habit in HABITS]
    for layer, head in [*first, ranked(heads, "entropy", least=True)[0]]:
        own = encoding.attentions[layer - 1, head]
        np.testing.assert_array_equal(heads.whole(layer, head), own)
    layer, head = next(p for p in ranked(heads, "entropy") if p not in heads.full_at)
    assert heads.whole(layer, head) is None


def test_one_token_has_no_neighbours(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, text="")
    names = ("attention_mask", "special_tokens_mask", "word_ids", "text_ids", "tokens", "token_ids")
    first = replace(encoding, **{name: getattr(encoding, name)[:1] for name in names})
    assert habits(np.eye(1, dtype=np.float32), first).tolist() == [0, 0, 1, 0, 1, 0]


# The grid


def gridded(service: EncoderService, encoding: Encoding, weights: np.ndarray, **how: Any) -> Grid:
    vocabulary = service.vocabulary(encoding.passport.model)
    names = labels(encoding, vocabulary)
    return arrange(weights, encoding, kinds(encoding, vocabulary), names, Arrangement(**how))


@pytest.fixture
def padded_pair(service: EncoderService) -> Encoding:
    return encoded(service, BUNDLED_ID, PAIR, PADDING)


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
