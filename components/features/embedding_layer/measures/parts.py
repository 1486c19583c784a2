"""The embedding layer's arithmetic done again, and what each part of it contributes.

Independent of torch: the sum and LayerNorm are computed here in float64 from the model's rows, so
that agreement with the model's own layer 0 is a check and not a copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.schema import EmbeddingParts, FloatArray, IntArray

__all__ = [
    "Band",
    "Norm",
    "Shared",
    "layer_norm",
    "part_rows",
    "random_band",
    "rebuild",
    "row_cosines",
    "shared_tokens",
    "shares",
    "summands",
]


@dataclass(frozen=True, eq=False)
class Norm:
    """What follows the sum: LayerNorm and, in some families, a linear layer.

    Attributes:
        scale, shift: (n_embedding_dims,) LayerNorm's weight and bias.
        epsilon: what it adds to the variance.
        projection: (n_dims, n_embedding_dims) weight and (n_dims,) bias, or None.
    """

    scale: FloatArray
    shift: FloatArray
    epsilon: float
    projection: tuple[FloatArray, FloatArray] | None = None


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


def summands(parts: EmbeddingParts) -> Mapping[str, FloatArray]:
    """The rows that are added, by name; without the segment where the model has none."""
    found = {"word": parts.word, "position": parts.position}
    return found if parts.segment is None else {**found, "segment": parts.segment}


def layer_norm(rows: NDArray[Any], norm: Norm) -> NDArray[np.float64]:
    """(n_rows, n_dims): each row with mean 0 and variance 1, scaled and shifted; in float64."""
    wide = rows.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    spread = np.sqrt(wide.var(axis=1, keepdims=True) + norm.epsilon)
    found: NDArray[np.float64] = centred / spread * norm.scale + norm.shift
    return found


def rebuild(rows: Sequence[FloatArray], norm: Norm) -> FloatArray:
    """(n_tokens, n_dims) float32: layer 0 from what is added up; one row serves all tokens."""
    total: NDArray[np.float64] = reduce(np.add, [row.astype(np.float64) for row in rows])
    output = layer_norm(total, norm)
    if norm.projection is not None:
        weight, bias = norm.projection
        output = output @ weight.astype(np.float64).T + bias
    return output.astype(np.float32)


def shares(parts: EmbeddingParts) -> Mapping[str, FloatArray]:
    """(n_tokens,) for each part: its share of the sum's norm; the shares of a token add up to 1.

    A part counts with its length along the direction of the sum, so a part that points against the
    sum has a negative share.
    """
    total = parts.total.astype(np.float64)
    squares = np.maximum((total**2).sum(axis=1), 1e-24)
    return {
        name: ((rows * total).sum(axis=1) / squares).astype(np.float32)
        for name, rows in summands(parts).items()
    }


def part_rows(parts: EmbeddingParts, labels: Sequence[str]) -> list[dict[str, Any]]:
    """The table of a text's tokens: which rows were added, how long they are, what they share."""
    segments = parts.tokens.token_type_ids
    lengths = {name: np.linalg.norm(rows, axis=1) for name, rows in summands(parts).items()}
    total = np.linalg.norm(parts.total, axis=1)
    share = shares(parts)
    return [
        {
            "token": label,
            "word row (ID)": int(parts.tokens.token_ids[i]),
            "position row": int(parts.position_ids[i]),
            "segment row": None
            if parts.segment is None
            else (0 if segments is None else int(segments[i])),
            **{f"{name} norm": float(rows[i]) for name, rows in lengths.items()},
            "sum norm": float(total[i]),
            **{f"{name} share": float(rows[i]) for name, rows in share.items()},
        }
        for i, label in enumerate(labels)
    ]


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
