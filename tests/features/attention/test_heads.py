"""All heads reduced: against transformers itself, plain loops, and their own laws."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from contextlens.core import BUNDLED_ID, EncoderService, Encoding
from contextlens.features.attention.heads import (
    HABITS,
    block_means,
    habits,
    ranked,
    reduce_heads,
    separators,
)
from tests.features.attention.examples import PADDING, SECOND_TEXT, TEXT, encoded
from tests.support.oracle import read_plain
from tests.support.tiny_models import FAMILIES

by_case = pytest.mark.parametrize(
    ("pair", "pad_to"), [(None, None), (SECOND_TEXT, PADDING)], ids=["text", "padded pair"]
)


@cache
def direct(folder: Path, text: str, pair: str | None, pad_to: int | None) -> np.ndarray:
    """(n_layers, n_heads, n, n) from transformers alone."""
    tokenizer, model = read_plain(folder, attn_implementation="eager")
    batch = tokenizer(
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
    alone = encoded(tiny_service, "folder:bert", SECOND_TEXT)
    padded = encoded(tiny_service, "folder:bert", SECOND_TEXT, PADDING)
    ours, theirs = (reduce_heads(e.attentions, e) for e in (alone, padded))
    np.testing.assert_allclose(ours.habits, theirs.habits, atol=1e-5)
    np.testing.assert_allclose(ours.even, theirs.even, atol=1e-6)
    assert padded.attentions[..., : alone.n_tokens, alone.n_tokens :].max() == 0


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


def test_even_attention_has_the_habits_that_are_told_as_even(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, SECOND_TEXT)
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
    order = ranked(values)
    by_rank = [values[layer - 1, head] for layer, head in order]
    assert by_rank == sorted(by_rank, reverse=True)
    assert len(set(order)) == 72


def test_of_a_long_text_little_is_kept(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, text="the bank of the river " * 120)
    assert encoding.n_tokens == 512
    heads = reduce_heads(encoding.attentions, encoding)
    arrays = [heads.habits, heads.even, heads.pictures, heads.layer_means, heads.full]
    assert sum(array.nbytes for array in arrays) < 16_000_000
    assert heads.pictures.shape[-1] <= 32
    orders = [ranked(heads.habits[..., i]) for i in range(len(HABITS))]
    for layer, head in [*(order[0] for order in orders), orders[-1][-1]]:
        own = encoding.attentions[layer - 1, head]
        np.testing.assert_array_equal(heads.whole(layer, head), own)
    layer, head = next(p for p in orders[-1] if p not in heads.full_at)
    assert heads.whole(layer, head) is None
    assert heads.everything() is None


def test_one_token_has_no_neighbours(service: EncoderService) -> None:
    encoding = encoded(service, BUNDLED_ID, text="")
    names = ("attention_mask", "special_tokens_mask", "word_ids", "text_ids", "tokens", "token_ids")
    first = replace(encoding, **{name: getattr(encoding, name)[:1] for name in names})
    assert habits(np.eye(1, dtype=np.float32), first).tolist() == [0, 0, 1, 0, 1, 0]
