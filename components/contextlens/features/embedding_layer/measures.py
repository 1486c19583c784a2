"""The arithmetic of the embedding layer: shares, positions, neighbours of a token.

Numpy in, numpy out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.core.schema import EmbeddingParts, FloatArray, IntArray

# --- The embedding layer's arithmetic, recomputed


@dataclass(frozen=True, eq=False)
class Normalization:
    """The operations after the sum: LayerNorm and, in some families, a linear layer.

    Attributes:
        scale, shift: (n_embedding_dims,) LayerNorm's weight and bias.
        epsilon: the number added to the variance.
        projection: (n_dims, n_embedding_dims) weight and (n_dims,) bias, or None.
    """

    scale: FloatArray
    shift: FloatArray
    epsilon: float
    projection: tuple[FloatArray, FloatArray] | None = None


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
    """The rows that are added, by name; without the segment if the model has none."""
    rows = {"word": parts.word, "position": parts.position}
    return rows if parts.segment is None else {**rows, "segment": parts.segment}


def layer_norm(rows: NDArray[Any], normalization: Normalization) -> NDArray[np.float64]:
    """(n_rows, n_dims): each row with mean 0 and variance 1, scaled and shifted; in float64."""
    exact = rows.astype(np.float64)
    centred = exact - exact.mean(axis=1, keepdims=True)
    spread = np.sqrt(exact.var(axis=1, keepdims=True) + normalization.epsilon)
    normalized: NDArray[np.float64] = centred / spread * normalization.scale + normalization.shift
    return normalized


def rebuild(rows: Sequence[FloatArray], normalization: Normalization) -> FloatArray:
    """(n_tokens, n_dims) float32: layer 0 from its summands; a summand of one row broadcasts."""
    total: NDArray[np.float64] = reduce(np.add, [row.astype(np.float64) for row in rows])
    output = layer_norm(total, normalization)
    if normalization.projection is not None:
        weight, bias = normalization.projection
        output = output @ weight.astype(np.float64).T + bias
    return output.astype(np.float32)


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
        without = rebuild([other for part, other in rows.items() if part != name], normalization)
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


def part_rows(
    parts: EmbeddingParts, contributions: Mapping[str, Contribution], labels: Sequence[str]
) -> list[dict[str, Any]]:
    """The table of a text's tokens: the rows that were added, and the contribution of each."""
    segments = parts.tokens.token_type_ids
    total = np.linalg.norm(parts.total, axis=1)
    by_name = contributions.items()
    return [
        {
            "token": label,
            "word row (ID)": int(parts.tokens.token_ids[i]),
            "position row": int(parts.position_ids[i]),
            "segment row": None
            if parts.segment is None
            else (0 if segments is None else int(segments[i])),
            **{f"{name} norm": float(part.norm[i]) for name, part in by_name},
            "sum norm": float(total[i]),
            **{f"{name} share": float(part.share[i]) for name, part in by_name},
            **{f"without {name}: moved": float(part.moved[i]) for name, part in by_name},
            **{f"without {name}: 1 - cos": float(part.turned[i]) for name, part in by_name},
        }
        for i, label in enumerate(labels)
    ]


def _turned(before: FloatArray, after: FloatArray) -> FloatArray:
    """(n_rows,) 1 - cosine of each row with itself after a change; 1 for a row of zeros."""
    exact_before, exact_after = before.astype(np.float64), after.astype(np.float64)
    lengths = np.linalg.norm(exact_before, axis=1) * np.linalg.norm(exact_after, axis=1)
    cosines = (exact_before * exact_after).sum(axis=1) / np.maximum(lengths, 1e-24)
    turned: FloatArray = (1 - np.clip(cosines, -1, 1)).astype(np.float32)
    return turned


# --- Rows of the word table


@dataclass(frozen=True)
class SharedToken:
    """A token that two texts share, at its first position in each.

    Attributes:
        first, second: its position in the first text and in the second.
        token_id: its row of the word table.
        word: the largest difference between its word rows, 0 if they are identical.
        output: the largest difference between its vectors at layer 0.
    """

    first: int
    second: int
    token_id: int
    word: float
    output: float


@dataclass(frozen=True)
class RandomBand:
    """Cosines of random pairs of rows: 5th percentile, mean and 95th percentile."""

    low: float
    mean: float
    high: float


def shared_tokens(one: EmbeddingParts, other: EmbeddingParts) -> list[SharedToken]:
    """The tokens that two texts share, in the order of the first."""
    other_places = _first_places(other.tokens.token_ids)
    shared = []
    for token_id, i in _first_places(one.tokens.token_ids).items():
        j = other_places.get(token_id)
        if j is not None:
            word = float(np.abs(one.word[i] - other.word[j]).max())
            output = float(np.abs(one.output[i] - other.output[j]).max())
            shared.append(SharedToken(i, j, token_id, word, output))
    return shared


def row_cosines(one: FloatArray, other: FloatArray) -> FloatArray:
    """(n_one, n_other) cosines between the rows of two tables; 0 for a row of zeros."""
    cosines: FloatArray = np.clip(_units(one) @ _units(other).T, -1, 1).astype(np.float32)
    return cosines


def random_band(rows: FloatArray) -> RandomBand:
    """The band of cosines of rows drawn at random, each compared with the next."""
    units = _units(rows)
    cosines = (units[:-1] * units[1:]).sum(axis=1)
    if not cosines.size:
        return RandomBand(0.0, 0.0, 0.0)
    low, high = np.percentile(cosines, [5, 95])
    return RandomBand(float(low), float(cosines.mean()), float(high))


def _units(rows: FloatArray) -> FloatArray:
    exact = rows.astype(np.float64)
    units: FloatArray = exact / np.maximum(np.linalg.norm(exact, axis=1, keepdims=True), 1e-12)
    return units


def _first_places(ids: IntArray) -> dict[int, int]:
    """Each ID with its first position, in the order of the text."""
    places: dict[int, int] = {}
    for i, token_id in enumerate(ids.tolist()):
        places.setdefault(token_id, i)
    return places


# --- Position tables: their rows compared

_FIXED = 0.99
"""The least mean cosine with the fixed formula at which a table counts as following it."""


@dataclass(frozen=True, eq=False)
class PositionStatistics:
    """The measurements of a position table.

    Attributes:
        first: the first row that a text uses; the rows before it (RoBERTa, MPNet) are left out.
        cosines: (n_rows, n_rows) of the usable rows.
        curve: (n_rows, 2) the rows on their first two principal components.
        explained: the share of the variance on each of the two.
        fixed: mean cosine of the rows with those of the fixed sine and cosine formula.
    """

    first: int
    cosines: FloatArray
    curve: FloatArray
    explained: tuple[float, float]
    fixed: float

    @property
    def is_fixed(self) -> bool:
        """True if the table holds the fixed formula's rows, apart from their lengths."""
        return self.fixed >= _FIXED


def compare_positions(table: FloatArray, first: int) -> PositionStatistics:
    """Compare a table's rows, from `first` on, with each other and with the formula."""
    rows = table[first:]
    formula = sinusoid(*table.shape)[first:]
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(formula, axis=1)
    fixed = float(((rows * formula).sum(axis=1) / np.maximum(lengths, 1e-12)).mean())
    curve, explained = _principal(rows)
    return PositionStatistics(first, row_cosines(rows, rows), curve, explained, fixed)


def sinusoid(n_rows: int, n_dims: int) -> FloatArray:
    """(n_rows, n_dims) the fixed position vectors of Vaswani et al. 2017, section 3.5."""
    dims = np.arange(n_dims)
    angles = np.arange(n_rows)[:, None] / 10_000 ** (2 * (dims // 2) / n_dims)
    table: FloatArray = np.where(dims % 2 == 0, np.sin(angles), np.cos(angles)).astype(np.float32)
    return table


def distance_means(cosines: FloatArray) -> FloatArray:
    """(n_rows,) the mean cosine of rows that are 0, 1, 2, ... positions apart."""
    n = len(cosines)
    means: FloatArray = np.array([np.diagonal(cosines, k).mean() for k in range(n)], np.float32)
    return means


def _principal(rows: FloatArray) -> tuple[FloatArray, tuple[float, float]]:
    """Coordinates on the first two principal components, and their share of the variance.

    Uses the (n_rows, n_rows) matrix of inner products: same as PCA and faster for few rows.
    """
    centred = rows.astype(np.float64) - rows.mean(axis=0)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    top = np.maximum(values[::-1][:2], 0)
    curve = vectors[:, ::-1][:, :2] * np.sqrt(top)
    if curve.shape[1] < 2:
        curve = np.pad(curve, ((0, 0), (0, 2 - curve.shape[1])))
        top = np.pad(top, (0, 2 - len(top)))
    variance = max(float(np.maximum(values, 0).sum()), 1e-24)
    return curve.astype(np.float32), (float(top[0]) / variance, float(top[1]) / variance)
