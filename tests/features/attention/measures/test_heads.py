"""Attention reduced to its heads: against transformers itself, plain loops, and its own laws."""

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

from components.core import BUNDLED_ID, EncoderService, Encoding
from components.features.attention.measures import (
    HABITS,
    block_means,
    habits,
    ranked,
    reduce_heads,
    rollout,
    separators,
)
from tests.features.attention.measures.attended import PADDING, PAIR, TEXT, encoded
from tests.support.tiny_models import FAMILIES

CASES = [(None, None), (PAIR, None), (None, PADDING), (PAIR, PADDING)]
by_case = pytest.mark.parametrize(
    ("pair", "pad_to"), CASES, ids=["text", "pair", "padded", "padded pair"]
)


@cache
def _read(folder: Path) -> tuple[Any, Any]:
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    return AutoTokenizer.from_pretrained(folder), model


def direct(folder: Path, text: str, pair: str | None, pad_to: int | None) -> np.ndarray:
    """(n_layers, n_heads, n, n) from transformers alone."""
    tokenizer, model = _read(folder)
    padding = {"padding": "max_length", "max_length": pad_to} if pad_to else {}
    batch = tokenizer(
        *[t for t in (text, pair) if t is not None],
        return_tensors="pt",
        # ALBERT's tokenizer knows its segments but hands them out only when asked.
        return_token_type_ids=getattr(model.config, "type_vocab_size", 0) > 1,
        **padding,
    )
    with torch.inference_mode():
        found = model(**batch, output_attentions=True).attentions
    return torch.stack(found)[:, 0].numpy()


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
            own = heads.whole(layer + 1, head)
            np.testing.assert_allclose(own, expected[layer, head], atol=1e-5)
            np.testing.assert_allclose(
                heads.habits[layer, head],
                naive_habits(expected[layer, head], encoding),
                atol=2e-5,
            )


def test_the_bundled_models_reductions_are_those_of_transformers(
    service: EncoderService, bundled_folder: Path
) -> None:
    expected = direct(bundled_folder, TEXT, PAIR, None)
    encoding = encoded(service, BUNDLED_ID, PAIR)
    heads = reduce_heads(encoding.attentions, encoding)
    np.testing.assert_allclose(heads.layer_means, expected.mean(axis=1), atol=1e-5)
    for layer, head in [(0, 2), (2, 7), (5, 11)]:
        np.testing.assert_allclose(
            heads.habits[layer, head], naive_habits(expected[layer, head], encoding), atol=1e-5
        )


def test_a_head_of_the_bundled_model_looks_at_the_token_before(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, text="I love my pet python")
    heads = reduce_heads(encoding.attentions, encoding)
    assert ranked(heads, "previous")[0] == (1, 2)
    assert heads.habits[0, 2, 0] > 0.99


@pytest.mark.parametrize("family", FAMILIES)
def test_padding_changes_no_habit_and_gets_nothing(
    tiny_service: EncoderService, family: str
) -> None:
    alone = encoded(tiny_service, f"folder:{family}", PAIR)
    padded = encoded(tiny_service, f"folder:{family}", PAIR, PADDING)
    ours, theirs = (reduce_heads(e.attentions, e) for e in (alone, padded))
    np.testing.assert_allclose(ours.habits, theirs.habits, atol=1e-5)
    np.testing.assert_allclose(ours.even, theirs.even, atol=1e-6)
    n = alone.n_tokens
    assert padded.n_tokens > n
    assert padded.attentions[..., :n, n:].max() == 0
    whole = rollout(theirs.layer_means)
    assert whole[:n, n:].max() == 0
    np.testing.assert_allclose(whole[:n, :n], rollout(ours.layer_means), atol=1e-5)


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


def test_rollout_of_attention_to_oneself_is_the_identity() -> None:
    np.testing.assert_array_equal(rollout(np.stack([np.eye(4, dtype=np.float32)] * 3)), np.eye(4))


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
    values = [
        heads.habits[layer - 1, head, HABITS.index(habit)] for layer, head in ranked(heads, habit)
    ]
    assert values == sorted(values, reverse=True)
    assert len(set(ranked(heads, habit))) == 72
    least = [
        heads.habits[a - 1, b, HABITS.index(habit)] for a, b in ranked(heads, habit, least=True)
    ]
    assert least == sorted(values)


@pytest.mark.slow
def test_of_a_long_text_little_is_kept(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, text="the bank of the river " * 120)
    assert encoding.n_tokens == 512
    heads = reduce_heads(encoding.attentions, encoding)
    kept = [heads.habits, heads.even, heads.pictures, heads.layer_means, heads.full]
    assert encoding.attentions.nbytes == 6 * 12 * 512 * 512 * 4
    assert sum(array.nbytes for array in kept) < 16_000_000
    assert heads.pictures.shape[-1] <= 32
    for habit in HABITS:
        layer, head = ranked(heads, habit)[0]
        np.testing.assert_array_equal(
            heads.whole(layer, head), encoding.attentions[layer - 1, head]
        )
    layer, head = next(p for p in ranked(heads, "entropy") if p not in heads.full_at)
    assert heads.whole(layer, head) is None


def test_one_token_has_no_neighbours(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, text="")
    assert encoding.n_tokens == 2
    assert habits(np.eye(1, dtype=np.float32), _first(encoding)).tolist() == [0, 0, 1, 0, 1, 0]


def _first(encoding: Encoding) -> Encoding:
    names = (
        "token_ids",
        "attention_mask",
        "special_tokens_mask",
        "offsets",
        "word_ids",
        "text_ids",
    )
    return replace(
        encoding,
        tokens=encoding.tokens[:1],
        **{name: getattr(encoding, name)[:1] for name in names},
    )
