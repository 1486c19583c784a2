"""The arithmetic of the embedding layer: the rows that are added, LayerNorm, and their effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from contextlens.core import EncoderService
from contextlens.core.families import FAMILIES, PROJECTIONS
from contextlens.core.schema import EmbeddingParts, FloatArray


@dataclass(frozen=True, eq=False)
class Normalization:
    """The operations after the sum: LayerNorm and a linear layer, as far as a family has them.

    Attributes:
        scale, shift: (n_embedding_dims,) LayerNorm's weight and bias; 1 and 0 where it has none.
        epsilon: the number added to the variance; None without LayerNorm.
        projection: (n_dims, n_embedding_dims) weight and (n_dims,) bias, or None.
    """

    scale: FloatArray
    shift: FloatArray
    epsilon: float | None
    projection: tuple[FloatArray, FloatArray] | None = None


def normalization_of(model: str, service: EncoderService, parts: EmbeddingParts) -> Normalization:
    """The operations after the sum in a model, read from its parameters."""
    projection = None
    names = {parameter.name for parameter in service.parameters(model)}
    if parts.projected:
        name = next(name for name in PROJECTIONS.values() if f"{name}.weight" in names)
        projection = (
            service.matrix(model, f"{name}.weight"),
            service.matrix(model, f"{name}.bias"),
        )
    family = FAMILIES[service.load(model).family]
    layer_norm = f"{family.tables}.{family.norm}"
    scale, shift = np.ones(1, np.float32), np.zeros(1, np.float32)
    if f"{layer_norm}.weight" in names:
        scale = service.matrix(model, f"{layer_norm}.weight")
    if f"{layer_norm}.bias" in names:
        shift = service.matrix(model, f"{layer_norm}.bias")
    return Normalization(scale, shift, parts.epsilon, projection)


@dataclass(frozen=True, eq=False)
class Contribution:
    """The contribution of one part of the sum to each token, measured in three ways.

    Attributes:
        share: (n_tokens,) its projection share, see `shares`.
        norm: (n_tokens,) the length of its row.
        moved: (n_tokens,) the distance layer 0 moves if this part is left out of the sum before
            LayerNorm, relative to layer 0's length.
        turned: (n_tokens,) 1 - cosine of layer 0 with and without this part.
    """

    share: FloatArray
    norm: FloatArray
    moved: FloatArray
    turned: FloatArray

    def of(self, tokens: slice) -> Contribution:
        """The contribution to some of the tokens."""
        return Contribution(
            self.share[tokens], self.norm[tokens], self.moved[tokens], self.turned[tokens]
        )

    def numbers(self, token: int) -> list[float]:
        """One token's share, and the effect on its layer 0 as `moved` and `turned`."""
        return [round(float(array[token]), 5) for array in (self.share, self.moved, self.turned)]


def summands(parts: EmbeddingParts) -> Mapping[str, FloatArray]:
    """The rows that are added, by name; without position or segment if the model has none."""
    rows = {"word": parts.word, "position": parts.position, "segment": parts.segment}
    return {name: array for name, array in rows.items() if array is not None}


class Sum(StrEnum):
    """The rows that a model adds up."""

    WORD = "word"
    WORD_POSITION = "word-position"
    WORD_SEGMENT = "word-segment"
    WORD_POSITION_SEGMENT = "word-position-segment"


def sum_of(parts: EmbeddingParts) -> Sum:
    """Which rows are added in a text."""
    return Sum("-".join(summands(parts)))


def rebuild(rows: Sequence[FloatArray], normalization: Normalization) -> FloatArray:
    """(n_tokens, n_dims) float32: layer 0 from its summands; a summand of one row broadcasts."""
    total: NDArray[np.float64] = reduce(np.add, [row.astype(np.float64) for row in rows])
    output = total
    if normalization.epsilon is not None:
        centred = total - total.mean(axis=1, keepdims=True)
        spread = np.sqrt(total.var(axis=1, keepdims=True) + normalization.epsilon)
        output = centred / spread * normalization.scale + normalization.shift
    if normalization.projection is not None:
        weight, bias = normalization.projection
        output = output @ weight.astype(np.float64).T + bias
    layer_0: FloatArray = output.astype(np.float32)
    return layer_0


def shares(parts: EmbeddingParts) -> Mapping[str, FloatArray]:
    """(n_tokens,) for each part: its projection share of the sum; those of a token add up to 1.

    The share is the part's length along the sum's direction divided by the sum's length. It is
    negative if the part points against the sum. If the sum is all zeros, every share is 0.
    """
    total = parts.total.astype(np.float64)
    squares = np.maximum((total**2).sum(axis=1), 1e-24)
    return {
        name: ((rows * total).sum(axis=1) / squares).astype(np.float32)
        for name, rows in summands(parts).items()
    }


def contributions(
    parts: EmbeddingParts, normalization: Normalization
) -> Mapping[str, Contribution]:
    """The contribution of each part to each token: share, norm and effect on layer 0."""
    rows = summands(parts)
    layer_0, projection_shares = rebuild(list(rows.values()), normalization), shares(parts)
    by_part = {}
    for name, summand in rows.items():
        others = [other for part, other in rows.items() if part != name]
        without = rebuild(others or [np.zeros_like(summand)], normalization)
        by_part[name] = Contribution(
            share=projection_shares[name],
            norm=np.linalg.norm(summand, axis=1),
            moved=moved_by(layer_0, without),
            turned=_turned(layer_0, without),
        )
    return by_part


def constant_parts(parts: EmbeddingParts) -> list[str]:
    """The parts that add the same row to every token; none for a text of one token."""
    rows = summands(parts).items()
    return [name for name, summand in rows if len(summand) > 1 and (summand == summand[0]).all()]


def moved_by(before: FloatArray, after: FloatArray) -> FloatArray:
    """(n_rows,) the distance that each row moved, relative to its length before."""
    lengths = np.maximum(np.linalg.norm(before, axis=1), 1e-12)
    moved: FloatArray = np.linalg.norm(after - before, axis=1) / lengths
    return moved


def _turned(before: FloatArray, after: FloatArray) -> FloatArray:
    """(n_rows,) 1 - cosine of each row with itself after a change; 1 for a row of zeros."""
    exact_before, exact_after = before.astype(np.float64), after.astype(np.float64)
    lengths = np.linalg.norm(exact_before, axis=1) * np.linalg.norm(exact_after, axis=1)
    cosines = (exact_before * exact_after).sum(axis=1) / np.maximum(lengths, 1e-24)
    turned: FloatArray = (1 - np.clip(cosines, -1, 1)).astype(np.float32)
    return turned
