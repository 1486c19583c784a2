"""Rows of the word table: their cosines, and those of random rows as a yardstick."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contextlens.content.language import Claim, claim
from contextlens.core import EncoderService, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.schema import FloatArray

_N_RANDOM = 2000
_SEED = 0


@dataclass(frozen=True)
class RandomBand:
    """Cosines of random pairs of rows: 5th percentile, mean and 95th percentile."""

    low: float
    mean: float
    high: float

    def claim(self) -> Claim:
        """The band in words."""
        return claim("embedding_layer.random", mean=self.mean, low=self.low, high=self.high)


def random_rows(service: EncoderService, card: ModelCard) -> RandomBand:
    """The similarity of unrelated rows in a model's word table."""

    def compute() -> RandomBand:
        ids = np.random.default_rng(_SEED).integers(card.vocabulary_size, size=_N_RANDOM)
        return random_band(service.word_rows(card.id, ids))

    return remembered("random word rows", card.checksum, compute=compute)


def random_band(rows: FloatArray) -> RandomBand:
    """The band of cosines of rows drawn at random, each compared with the next."""
    units = unit_rows(rows)
    cosines = (units[:-1] * units[1:]).sum(axis=1)
    if not cosines.size:
        return RandomBand(0.0, 0.0, 0.0)
    low, high = np.percentile(cosines, [5, 95])
    return RandomBand(float(low), float(cosines.mean()), float(high))


def row_cosines(one: FloatArray, other: FloatArray) -> FloatArray:
    """(n_one, n_other) cosines between the rows of two tables; 0 for a row of zeros."""
    cosines: FloatArray = np.clip(unit_rows(one) @ unit_rows(other).T, -1, 1).astype(np.float32)
    return cosines


def unit_rows(rows: FloatArray) -> FloatArray:
    """Return rows of length one, float64; a row of zeros stays zero."""
    exact = rows.astype(np.float64)
    units: FloatArray = exact / np.maximum(np.linalg.norm(exact, axis=1, keepdims=True), 1e-12)
    return units
