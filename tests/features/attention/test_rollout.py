"""Attention rollout: the product of mixed layers, with nothing for padding."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from contextlens.core import EncoderService
from contextlens.features.attention.heads import reduce_heads
from contextlens.features.attention.rollout import rollout
from tests.features.attention.examples import PADDING, SECOND_TEXT, encoded


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_rollout_is_the_product_of_mixed_layers(n: int, seed: int) -> None:
    means = np.random.default_rng(seed).dirichlet(np.ones(n), size=(3, n)).astype(np.float32)
    expected = np.eye(n)
    for mean in means:
        mixed = 0.5 * mean + 0.5 * np.eye(n)
        expected = (mixed / mixed.sum(-1, keepdims=True)) @ expected
    result = rollout(means)
    np.testing.assert_allclose(result, expected, atol=1e-6)
    np.testing.assert_allclose(result.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(rollout(means[:0]), np.eye(n))


def test_padding_changes_nothing_and_gets_nothing(tiny_service: EncoderService) -> None:
    alone = encoded(tiny_service, "folder:bert", SECOND_TEXT)
    padded = encoded(tiny_service, "folder:bert", SECOND_TEXT, PADDING)
    ours, theirs = (rollout(reduce_heads(e.attentions, e).layer_means) for e in (alone, padded))
    n = alone.n_tokens
    assert theirs[:n, n:].max() == 0
    np.testing.assert_allclose(theirs[:n, :n], ours, atol=1e-5)
