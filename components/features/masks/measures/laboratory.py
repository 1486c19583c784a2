"""What padding and the attention mask do to a batch: shares, savings, and how far vectors move.

The yardstick is each text run alone, without any padding. Must not import torch or streamlit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.core.errors import RequestError
from components.core.schema import Encoding, FloatArray, IntArray, Tokens

__all__ = [
    "SIZES",
    "Damage",
    "Lab",
    "LabRow",
    "Saving",
    "damage",
    "pad_sizes",
    "padding_share",
    "saving",
    "token_labels",
]

SIZES = (16, 32, 64, 128, 512)


@dataclass(frozen=True, eq=False)
class Damage:
    """What padding does to a text: cosines with the same text run alone.

    Attributes:
        layers: the layer of each row.
        tokens: (n_layers, n_real) of each real token.
        mean: (n_layers,) of the mean over real tokens.
        mean_all: (n_layers,) of the mean over all positions, padding included, with the mean over
            the tokens of the text alone.
        pooled: of `pooler_output`, or None where the model has none.
        lengths: (n_layers, n_tokens) Euclidean lengths of the padded run's vectors.
    """

    layers: tuple[int, ...]
    tokens: FloatArray
    mean: FloatArray
    mean_all: FloatArray
    pooled: float | None
    lengths: FloatArray

    @property
    def first(self) -> FloatArray:
        """(n_layers,) of the first token, [CLS] or its like."""
        row: FloatArray = self.tokens[:, 0]
        return row


@dataclass(frozen=True, eq=False)
class LabRow:
    """One text of the batch: alone, padded, and what came of it."""

    label: str
    alone: Encoding
    padded: Encoding
    damage: Damage

    @property
    def n_real(self) -> int:
        """How many of the positions are tokens of the text."""
        return self.alone.n_tokens

    @property
    def n_padding(self) -> int:
        """How many of the positions are padding."""
        return self.padded.n_tokens - self.alone.n_tokens

    @property
    def mask(self) -> IntArray:
        """(n_tokens,) the mask that the model was given: all ones where it was switched off."""
        own = self.padded.attention_mask
        switched_off = self.padded.passport.settings.get("mask") == "ones"
        return np.ones_like(own) if switched_off else own

    @property
    def pad_token(self) -> str:
        """The padding token's name; "[PAD]" where there is none to look at."""
        return self.padded.tokens[-1] if self.n_padding else "[PAD]"


@dataclass(frozen=True, eq=False)
class Lab:
    """A batch in the laboratory: padded to one length, with the mask or without."""

    rows: tuple[LabRow, ...]
    pad_to: int
    masked: bool

    @property
    def lengths(self) -> list[int]:
        """Real tokens of each text."""
        return [row.n_real for row in self.rows]

    @property
    def share(self) -> float:
        """The share of all positions that is padding, 0 to 1."""
        return padding_share(self.lengths, self.pad_to)

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that were compared."""
        return self.rows[0].damage.layers


@dataclass(frozen=True)
class Saving:
    """What sorting by length saves, counted in positions, each batch padded to its longest."""

    size: int  # texts in a batch
    real: int  # tokens that are not padding
    given: int  # positions computed in the order given
    by_length: int  # positions computed after sorting

    @property
    def padding_given(self) -> float:
        """The share of padding in the order given, 0 to 1."""
        return 1 - self.real / self.given

    @property
    def padding_sorted(self) -> float:
        """The share of padding after sorting, 0 to 1."""
        return 1 - self.real / self.by_length

    @property
    def saved(self) -> float:
        """The share of the positions that need not be computed, below 1.

        Below 0 where a last, smaller batch happened to hold the longest text before.
        """
        return 1 - self.by_length / self.given


def damage(alone: Encoding, padded: Encoding) -> Damage:
    """The cosines between a text run alone and the same text padded, layer by layer.

    Raises:
        RequestError: they are not the same text with padding behind it, in the same layers.
    """
    n = alone.n_tokens
    if padded.layers != alone.layers or padded.tokens[:n] != alone.tokens:
        raise RequestError("The padded text is not the text alone with padding behind it.")
    mean = alone.hidden.mean(axis=1)
    pooled = None
    if alone.pooler_output is not None and padded.pooler_output is not None:
        pooled = float(_cosines(alone.pooler_output, padded.pooler_output))
    return Damage(
        layers=alone.layers,
        tokens=_cosines(alone.hidden, padded.hidden[:, :n]),
        mean=_cosines(mean, padded.hidden[:, :n].mean(axis=1)),
        mean_all=_cosines(mean, padded.hidden.mean(axis=1)),
        pooled=pooled,
        lengths=_lengths(padded.hidden),
    )


def padding_share(lengths: Sequence[int], pad_to: int) -> float:
    """The share of positions that is padding when texts of these lengths get one length, 0 to 1."""
    return 1 - sum(lengths) / (len(lengths) * pad_to) if lengths else 0.0


def saving(lengths: Sequence[int], size: int) -> Saving:
    """What sorting texts of these lengths saves in batches of `size`.

    Raises:
        RequestError: there is no text, or a batch of none.
    """
    if not lengths or size < 1:
        raise RequestError(f"{len(lengths)} texts in batches of {size}: both must be at least 1.")
    return Saving(
        size, sum(lengths), _positions(lengths, size), _positions(sorted(lengths)[::-1], size)
    )


def pad_sizes(longest: int, limit: int) -> list[int]:
    """Round lengths that a batch can be padded to: at least its longest text, at most the limit."""
    return [n for n in sorted({*SIZES, limit}) if longest <= n <= limit]


def token_labels(tokens: Tokens) -> list[str]:
    """How each token reads: the piece itself, or its slice of the text where pieces are codes."""
    return [_label(tokens, i) for i in range(tokens.n_tokens)]


def _label(tokens: Tokens, i: int) -> str:
    piece, which = tokens.tokens[i], int(tokens.text_ids[i])
    text = (tokens.pair or "") if which == 1 else tokens.text
    if which < 0 or piece.removeprefix("##").casefold() in text.casefold():
        return piece
    start, end = tokens.offsets[i]
    return text[start:end].strip() or "␣"


def _positions(lengths: Sequence[int], size: int) -> int:
    batches = [lengths[start : start + size] for start in range(0, len(lengths), size)]
    return sum(len(batch) * max(batch) for batch in batches)


def _cosines(a: FloatArray, b: FloatArray) -> NDArray[Any]:
    """(...,) float32 cosines of the vectors in the last axis; 0 with a vector of length zero."""
    products = np.einsum("...d,...d->...", a, b)
    lengths = _lengths(a) * _lengths(b)
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    clipped: NDArray[Any] = np.clip(cosines, -1.0, 1.0)
    return clipped


def _lengths(vectors: FloatArray) -> FloatArray:
    lengths: FloatArray = np.sqrt(np.einsum("...d,...d->...", vectors, vectors))
    return lengths
