"""Made-up words for baselines, and baselines that must be the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from components.analysis.baseline import Baseline, SampleWords
from components.analysis.words import POOLINGS

__all__ = ["assert_same", "normal", "words_of"]


def words_of(
    vectors: np.ndarray, sentences: Sequence[int], n_pieces: Sequence[int] | None = None
) -> SampleWords:
    """(n_words, n_layers, n_dims) vectors as a sample, the same for every pooling."""
    whole = np.stack([vectors.astype(np.float32)] * len(POOLINGS))
    pieces = np.ones(len(vectors), np.int64) if n_pieces is None else np.array(n_pieces)
    return SampleWords(whole, whole[:, :, 0], np.array(sentences, np.int64), pieces)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def assert_same(first: Baseline | None, second: Baseline | None) -> None:
    assert first is not None
    assert second is not None
    for field in fields(Baseline):
        np.testing.assert_array_equal(getattr(first, field.name), getattr(second, field.name))
