"""One text layer by layer: how its tokens' vectors move, which are alike, what the pooler does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from components.core.schema import Encoding, FloatArray, IntArray

__all__ = [
    "KINDS",
    "MEASURE_NAMES",
    "TIE",
    "Kind",
    "Measure",
    "Neighbours",
    "layer_rows",
    "lowest_cosine",
    "measure",
    "measures",
    "nearest",
    "own_tokens",
    "pool_by_hand",
    "token_pairs",
]

Kind = Literal["start", "before", "first", "length"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MEASURE_NAMES: dict[Kind, str] = {
    "start": "cosine to layer 0",
    "before": "cosine to layer before",
    "first": "cosine to first token",
    "length": "vector length",
}

TIE = 1e-4
"""Cosines this close are told as equal: the same sentence twice differs by rounding."""


@dataclass(frozen=True, eq=False)
class Measure:
    """One number for each token at each layer.

    Attributes:
        kind: cosine to the same token at layer 0 ("start") or at the layer before ("before"),
            cosine to the text's first token at the same layer ("first"), or the vector's length.
        layers: the layer of each row of `values`; "before" has no row for layer 0.
        values: (len(layers), n_tokens).
        own: (n_tokens,) which tokens are the text's own.
        chance: (len(layers),) of "start" and "before", the average cosine to *another* own token
            there; None where there is no other one, or for the other kinds.
    """

    kind: Kind
    layers: tuple[int, ...]
    values: FloatArray
    own: np.ndarray
    chance: FloatArray | None

    @property
    def counted(self) -> IntArray:
        """Positions that averages, highest and lowest are taken from: the text's own tokens.

        All where there are none. The first token does not count as like itself where others do.
        """
        own = self.own if self.own.any() else np.ones_like(self.own)
        found = np.flatnonzero(own)
        others = found[found > 0]
        return others if self.kind == "first" and others.size else found

    @property
    def averages(self) -> FloatArray:
        """(len(layers),) average over the tokens that count."""
        mean: FloatArray = self.values[:, self.counted].mean(axis=1)
        return mean

    def row(self, layer: int) -> int:
        """The row of a layer, the nearest one where the measure has none for it."""
        return int(np.abs(np.array(self.layers) - layer).argmin())


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest of some candidates at each layer, nearest first.

    Attributes:
        indices: (n_layers, n), the candidates' places.
        cosines: (n_layers, n).
        tied: for each layer, the places of all that are as near as the nearest, to within `TIE`.
    """

    indices: IntArray
    cosines: FloatArray
    tied: tuple[frozenset[int], ...]


def own_tokens(encoding: Encoding) -> np.ndarray:
    """(n_tokens,) bool: tokens that stand for text, not added by the tokenizer."""
    own: np.ndarray = encoding.text_ids >= 0
    return own


def measure(encoding: Encoding, kind: Kind) -> Measure:
    """One measure of an encoding that holds all layers."""
    own, hidden, layers = own_tokens(encoding), encoding.hidden, encoding.layers
    if kind == "length":
        return Measure(kind, layers, _lengths(hidden)[..., 0], own, None)
    units = _units(hidden)
    if kind == "first":
        values = np.einsum("lnd,ld->ln", units, units[:, 0])
        return Measure(kind, layers, _cosines(values), own, None)
    later, earlier = (units[1:], units[:-1]) if kind == "before" else (units, units[:1])
    values = np.einsum("lnd,lnd->ln", later, np.broadcast_to(earlier, later.shape))
    compared = layers[1:] if kind == "before" else layers
    return Measure(kind, compared, _cosines(values), own, _chance(later, earlier, values, own))


def measures(encoding: Encoding) -> dict[Kind, Measure]:
    """Every measure of an encoding."""
    return {kind: measure(encoding, kind) for kind in KINDS}


def token_pairs(hidden: FloatArray) -> FloatArray:
    """(..., n, n) float32 cosines between the rows of (..., n, n_dims) hidden states."""
    units = _units(hidden)
    return _cosines(units @ np.swapaxes(units, -1, -2))


def lowest_cosine(hidden: FloatArray) -> float:
    """The lowest cosine between any two tokens at any layer; one layer at a time, for memory."""
    return min(float(token_pairs(rows).min()) for rows in hidden)


def nearest(
    vector: FloatArray, texts: Sequence[FloatArray], candidates: IntArray, n: int
) -> Neighbours:
    """The n candidates with the highest cosine to a vector at each layer.

    Args:
        vector: (n_layers, n_dims).
        texts: for each text, its (n_layers, n_tokens, n_dims) hidden states.
        candidates: places in the row of all texts' tokens that count.
        n: how many at most.
    """
    indices, cosines, tied = [], [], []
    for row, own in enumerate(vector):  # layer by layer: all at once would take gigabytes
        unit = _units(own)
        values = np.concatenate([_units(text[row]) @ unit for text in texts])[candidates]
        order = np.argsort(-values, kind="stable")[:n]
        indices.append(candidates[order])
        cosines.append(_cosines(values[order]))
        near = values >= values.max(initial=-1.0) - TIE
        tied.append(frozenset(candidates[near].tolist()))
    return Neighbours(np.stack(indices), np.stack(cosines), tuple(tied))


def pool_by_hand(
    vector: FloatArray, weight: FloatArray, bias: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """A BERT pooler's arithmetic: (n_dims,) W x + b, and its tanh."""
    linear: FloatArray = weight @ vector + bias
    return linear, np.tanh(linear)


def layer_rows(
    encoding: Encoding, labels: Sequence[str], sentence: str
) -> list[dict[str, str | int | float | None]]:
    """One row for each token and layer, with every measure."""
    found = measures(encoding)
    rows: list[dict[str, str | int | float | None]] = []
    for position, label in enumerate(labels):
        for layer in encoding.layers:
            numbers = {
                MEASURE_NAMES[kind]: _value(each, layer, position) for kind, each in found.items()
            }
            place: dict[str, str | int | float | None]
            place = {"sentence": sentence, "position": position, "token": label, "layer": layer}
            rows.append({**place, **numbers})
    return rows


def _value(of: Measure, layer: int, position: int) -> float | None:
    return float(of.values[of.layers.index(layer), position]) if layer in of.layers else None


def _lengths(vectors: FloatArray) -> FloatArray:
    lengths: FloatArray = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return lengths


def _units(vectors: FloatArray) -> FloatArray:
    """Vectors of length one; a vector of length zero stays zero, and so does its cosine."""
    lengths = _lengths(vectors)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _cosines(values: FloatArray) -> FloatArray:
    """What rounding put beyond -1 and 1 brought back."""
    return np.clip(values, -1.0, 1.0).astype(np.float32)


def _chance(
    later: FloatArray, earlier: FloatArray, same: FloatArray, own: np.ndarray
) -> FloatArray | None:
    """(n_layers,) the average cosine of an own token with the other own tokens, one layer back.

    The sum over all pairs is the product of the sums; the pairs of a token with itself come off.
    """
    n = int(own.sum())
    if n < 2:
        return None
    sums = later[:, own].sum(axis=1, dtype=np.float64), earlier[:, own].sum(axis=1)
    total = np.einsum("ld,ld->l", sums[0], np.broadcast_to(sums[1], sums[0].shape))
    chance: FloatArray = ((total - same[:, own].sum(axis=1)) / (n * (n - 1))).astype(np.float32)
    return chance
