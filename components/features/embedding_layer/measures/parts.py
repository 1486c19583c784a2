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

__all__ = [
    "Contribution",
    "Norm",
    "constant_parts",
    "contributions",
    "layer_norm",
    "moved_by",
    "part_rows",
    "rebuild",
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


@dataclass(frozen=True, eq=False)
class Contribution:
    """What one part of the sum does to each token, measured three ways.

    Attributes:
        share: (n_tokens,) its projection share, see `shares`.
        norm: (n_tokens,) the length of its row.
        moved: (n_tokens,) how far layer 0 moves where this part is left out of the sum before
            LayerNorm, in shares of layer 0's length.
        turned: (n_tokens,) the same as 1 - cosine.
    """

    share: FloatArray
    norm: FloatArray
    moved: FloatArray
    turned: FloatArray

    def of(self, tokens: slice) -> Contribution:
        """The same of some of the tokens."""
        return Contribution(
            self.share[tokens], self.norm[tokens], self.moved[tokens], self.turned[tokens]
        )


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
    """(n_tokens,) for each part: its projection share of the sum; those of a token add up to 1.

    That is the part's length along the sum's own direction over the sum's length: negative for a
    part that points against the sum, and 0 for all where the sum is all zeros.
    """
    total = parts.total.astype(np.float64)
    squares = np.maximum((total**2).sum(axis=1), 1e-24)
    return {
        name: ((rows * total).sum(axis=1) / squares).astype(np.float32)
        for name, rows in summands(parts).items()
    }


def contributions(parts: EmbeddingParts, norm: Norm) -> Mapping[str, Contribution]:
    """What each part does to each token: its share, its norm, and layer 0 without it."""
    rows = summands(parts)
    whole, share = rebuild(list(rows.values()), norm), shares(parts)
    found = {}
    for name, own in rows.items():
        without = rebuild([other for part, other in rows.items() if part != name], norm)
        found[name] = Contribution(
            share=share[name],
            norm=np.linalg.norm(own, axis=1),
            moved=moved_by(whole, without),
            turned=_turned(whole, without),
        )
    return found


def constant_parts(parts: EmbeddingParts) -> list[str]:
    """The parts that add one and the same row to every token of a text of several."""
    rows = summands(parts).items()
    return [name for name, own in rows if len(own) > 1 and (own == own[0]).all()]


def moved_by(before: FloatArray, after: FloatArray) -> FloatArray:
    """(n_rows,) how far each row moved, in shares of its length before."""
    lengths = np.maximum(np.linalg.norm(before, axis=1), 1e-12)
    moved: FloatArray = np.linalg.norm(after - before, axis=1) / lengths
    return moved


def part_rows(
    parts: EmbeddingParts, found: Mapping[str, Contribution], labels: Sequence[str]
) -> list[dict[str, Any]]:
    """The table of a text's tokens: which rows were added, and what each of them does."""
    segments = parts.tokens.token_type_ids
    total = np.linalg.norm(parts.total, axis=1)
    return [
        {
            "token": label,
            "word row (ID)": int(parts.tokens.token_ids[i]),
            "position row": int(parts.position_ids[i]),
            "segment row": None
            if parts.segment is None
            else (0 if segments is None else int(segments[i])),
            **{f"{name} norm": float(part.norm[i]) for name, part in found.items()},
            "sum norm": float(total[i]),
            **{f"{name} share": float(part.share[i]) for name, part in found.items()},
            **{f"without {name}: moved": float(part.moved[i]) for name, part in found.items()},
            **{f"without {name}: 1 - cos": float(part.turned[i]) for name, part in found.items()},
        }
        for i, label in enumerate(labels)
    ]


def _turned(before: FloatArray, after: FloatArray) -> FloatArray:
    """(n_rows,) 1 - cosine of each row with itself after a change; 1 with a row of zeros."""
    one, other = before.astype(np.float64), after.astype(np.float64)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    cosines = (one * other).sum(axis=1) / np.maximum(lengths, 1e-24)
    turned: FloatArray = (1 - np.clip(cosines, -1, 1)).astype(np.float32)
    return turned
