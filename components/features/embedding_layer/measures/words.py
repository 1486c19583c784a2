"""Rows of the word table: those that two texts share, their cosines, and what random rows have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.core.schema import EmbeddingParts, FloatArray, IntArray

__all__ = ["Band", "Shared", "random_band", "row_cosines", "shared_tokens"]


@dataclass(frozen=True)
class Shared:
    """A token that two texts have in common, at its first place in each.

    Attributes:
        first, second: its position in the one and the other.
        token_id: its row of the word table.
        word: the largest difference of its word rows, 0 where they are the same numbers.
        output: the largest difference of its vectors at layer 0.
    """

    first: int
    second: int
    token_id: int
    word: float
    output: float


@dataclass(frozen=True)
class Band:
    """Cosines of random pairs of rows: 5th percentile, mean and 95th percentile."""

    low: float
    mean: float
    high: float


def shared_tokens(one: EmbeddingParts, other: EmbeddingParts) -> list[Shared]:
    """The tokens that two texts have in common, in the order of the one."""
    theirs = _first_places(other.tokens.token_ids)
    found = []
    for token_id, i in _first_places(one.tokens.token_ids).items():
        j = theirs.get(token_id)
        if j is not None:
            word = float(np.abs(one.word[i] - other.word[j]).max())
            output = float(np.abs(one.output[i] - other.output[j]).max())
            found.append(Shared(i, j, token_id, word, output))
    return found


def row_cosines(one: FloatArray, other: FloatArray) -> FloatArray:
    """(n_one, n_other) cosines between the rows of two tables; 0 with a row of zeros."""
    cosines: FloatArray = np.clip(_units(one) @ _units(other).T, -1, 1).astype(np.float32)
    return cosines


def random_band(rows: FloatArray) -> Band:
    """How alike rows drawn at random are: each with the next one."""
    units = _units(rows)
    cosines = (units[:-1] * units[1:]).sum(axis=1)
    if not cosines.size:
        return Band(0.0, 0.0, 0.0)
    low, high = np.percentile(cosines, [5, 95])
    return Band(float(low), float(cosines.mean()), float(high))


def _units(rows: FloatArray) -> FloatArray:
    wide = rows.astype(np.float64)
    units: FloatArray = wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12)
    return units


def _first_places(ids: IntArray) -> dict[int, int]:
    """Each ID with its first position, in the order of the text."""
    places: dict[int, int] = {}
    for i, token_id in enumerate(ids.tolist()):
        places.setdefault(token_id, i)
    return places
