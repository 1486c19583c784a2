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

from components.core.schema import EmbeddingParts, FloatArray

__all__ = ["Norm", "layer_norm", "moved_by", "part_rows", "rebuild", "shares", "summands"]


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


def moved_by(before: FloatArray, after: FloatArray) -> FloatArray:
    """(n_rows,) how far each row moved, in shares of its length before."""
    lengths = np.maximum(np.linalg.norm(before, axis=1), 1e-12)
    moved: FloatArray = np.linalg.norm(after - before, axis=1) / lengths
    return moved


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
