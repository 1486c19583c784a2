"""The effects of padding and the mask: vectors compared, shapes, and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contextlens.content.language import say
from contextlens.core.errors import RequestError
from contextlens.core.schema import Encoding, FloatArray, IntArray, ModelCard, Tokens

# --- The effect of padding and the attention mask on a batch

SIZES = (16, 32, 64, 128, 512)


@dataclass(frozen=True, eq=False)
class Damage:
    """The effect of padding on a text: cosines with the same text run alone.

    Attributes:
        layers: the layer of each row.
        tokens: (n_layers, n_real) for each real token.
        mean: (n_layers,) for the mean over real tokens.
        mean_all: (n_layers,) for the mean over all positions, padding included, with the mean
            over the tokens of the text alone.
        pooled: for `pooler_output`, or None if the model has none.
        lengths: (n_layers, n_tokens) Euclidean lengths of the padded run's vectors.
    """

    layers: tuple[int, ...]
    tokens: FloatArray
    mean: FloatArray
    mean_all: FloatArray
    pooled: float | None
    lengths: FloatArray

    def means(self, layer: int) -> tuple[float, float]:
        """The mean's cosine at a layer, over the real tokens and over all positions."""
        at = self.layers.index(layer)
        return float(self.mean[at]), float(self.mean_all[at])

    @property
    def first(self) -> FloatArray:
        """(n_layers,) for the first token, [CLS] or similar."""
        row: FloatArray = self.tokens[:, 0]
        return row


@dataclass(frozen=True, eq=False)
class PaddedText:
    """One text of the batch: alone, padded, and the comparison of both."""

    label: str
    alone: Encoding
    padded: Encoding
    damage: Damage

    @property
    def n_real(self) -> int:
        """The number of positions that are tokens of the text."""
        return self.alone.n_tokens

    @property
    def n_padding(self) -> int:
        """The number of positions that are padding."""
        return self.padded.n_tokens - self.alone.n_tokens

    @property
    def mask(self) -> IntArray:
        """(n_tokens,) the mask given to the model: all ones if masking is off."""
        mask = self.padded.attention_mask
        switched_off = self.padded.passport.settings.get("mask") == "ones"
        return np.ones_like(mask) if switched_off else mask

    @property
    def pad_token(self) -> str:
        """The padding token's name; "[PAD]" if the text has no padding."""
        return self.padded.tokens[-1] if self.n_padding else "[PAD]"


@dataclass(frozen=True, eq=False)
class PaddedBatch:
    """A batch padded to one length, with the mask or without."""

    rows: tuple[PaddedText, ...]
    pad_to: int
    masked: bool

    @property
    def lengths(self) -> list[int]:
        """The number of real tokens of each text."""
        return [row.n_real for row in self.rows]

    @property
    def share(self) -> float:
        """The share of padding among all positions, 0 to 1."""
        return padding_share(self.lengths, self.pad_to)

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that were compared."""
        return self.rows[0].damage.layers


@dataclass(frozen=True)
class FourCases:
    """A padded text's mean against the text alone: mask on or off, padding averaged in or not.

    Attributes:
        label: the text's name.
        on, off: with the mask on and off, the cosine of the mean over real tokens, and of the mean
            over all positions.
    """

    label: str
    on: tuple[float, float]
    off: tuple[float, float]


@dataclass(frozen=True)
class Saving:
    """The saving by sorting by length, in positions, with each batch padded to its longest text."""

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

        Negative if a smaller last batch happened to hold the longest text before sorting.
        """
        return 1 - self.by_length / self.given


def damage(alone: Encoding, padded: Encoding) -> Damage:
    """The cosines between a text run alone and the same text padded, layer by layer.

    Raises:
        RequestError: they are not the same text followed by padding, in the same layers.
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


def four_cases(batches: Sequence[PaddedBatch], row: PaddedText, layer: int) -> FourCases | None:
    """The four cases of the text to describe; None if no text has padding.

    Args:
        batches: the same texts, padded alike, with the mask and without.
        row: the chosen text, from the first of them.
        layer: the layer whose vectors are averaged.
    """
    described = text_to_describe(batches[0], row, layer)
    if described is None:
        return None
    means = {
        batch.masked: text.damage.means(layer)
        for batch in batches
        for text in batch.rows
        if text.label == described.label
    }
    return FourCases(described.label, on=means[True], off=means[False])


def text_to_describe(lab: PaddedBatch, row: PaddedText, layer: int) -> PaddedText | None:
    """The text to describe: the chosen one, or the most changed one if that has no padding."""
    return row if row.n_padding else most_changed(lab, layer)


def most_changed(lab: PaddedBatch, layer: int) -> PaddedText | None:
    """The padded text whose mean moved furthest at a layer; None without padding."""
    padded = [row for row in lab.rows if row.n_padding]
    return min(padded, key=lambda row: row.damage.means(layer)[0], default=None)


def padding_share(lengths: Sequence[int], pad_to: int) -> float:
    """The share of padding if texts of these lengths are padded to one length, 0 to 1."""
    return 1 - sum(lengths) / (len(lengths) * pad_to) if lengths else 0.0


def saving(lengths: Sequence[int], size: int) -> Saving:
    """The saving by sorting texts of these lengths, in batches of `size`.

    Raises:
        RequestError: there is no text, or the batch size is 0.
    """
    if not lengths or size < 1:
        raise RequestError(f"{len(lengths)} texts in batches of {size}: both must be at least 1.")
    return Saving(
        size, sum(lengths), _positions(lengths, size), _positions(sorted(lengths)[::-1], size)
    )


def pad_sizes(longest: int, limit: int) -> list[int]:
    """Round lengths for padding a batch: at least its longest text, at most the limit."""
    return [n for n in sorted({*SIZES, limit}) if longest <= n <= limit]


def token_labels(tokens: Tokens) -> list[str]:
    """The text of each token: its piece, or its slice of the text if the piece is not in it."""
    return [_label(tokens, i) for i in range(tokens.n_tokens)]


def _label(tokens: Tokens, i: int) -> str:
    piece, text_id = tokens.tokens[i], int(tokens.text_ids[i])
    text = (tokens.pair or "") if text_id == 1 else tokens.text
    if text_id < 0 or piece.removeprefix("##").casefold() in text.casefold():
        return piece
    start, end = tokens.offsets[i]
    return text[start:end].strip() or "␣"


def _positions(lengths: Sequence[int], size: int) -> int:
    batches = [lengths[start : start + size] for start in range(0, len(lengths), size)]
    return sum(len(batch) * max(batch) for batch in batches)


def _cosines(a: FloatArray, b: FloatArray) -> NDArray[Any]:
    """(...,) float32 cosines of the vectors in the last axis; 0 for a vector of length zero."""
    products = np.einsum("...d,...d->...", a, b)
    lengths = _lengths(a) * _lengths(b)
    cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    clipped: NDArray[Any] = np.clip(cosines, -1.0, 1.0)
    return clipped


def _lengths(vectors: FloatArray) -> FloatArray:
    lengths: FloatArray = np.sqrt(np.einsum("...d,...d->...", vectors, vectors))
    return lengths


# --- The shapes at each step from texts to one vector each


@dataclass(frozen=True)
class ShapeStep:
    """One step: its code, the axes and shape of its output, and a description in one sentence."""

    code: str
    axes: str
    shape: tuple[int, ...] | None  # None: this model has no such output
    meaning: str


def shape_steps(card: ModelCard, n_texts: int, n_tokens: int) -> list[ShapeStep]:
    """Every step for a batch of `n_texts` padded to `n_tokens`."""
    ids, vectors, pooled = (
        (n_texts, n_tokens),
        (n_texts, n_tokens, card.n_dims),
        (n_texts, card.n_dims),
    )
    return [
        _ids('batch["input_ids"]', ids, say("masks.shape.ids")),
        _ids('batch["attention_mask"]', ids, say("masks.shape.mask")),
        _segments(card, ids),
        ShapeStep("output.hidden_states[0]", _TOKENS, vectors, say("masks.shape.layer_0")),
        ShapeStep(
            f"output.hidden_states[{card.n_layers}]",
            _TOKENS,
            vectors,
            say("masks.shape.last_layer", n=card.n_layers),
        ),
        ShapeStep(
            "output[0]",
            _TOKENS,
            vectors,
            say("masks.shape.output"),
        ),
        _pooler(card, pooled),
        ShapeStep("output[0][:, 0]", _TEXTS, pooled, say("masks.shape.first")),
        ShapeStep(
            "(output[0] * mask).sum(1) / mask.sum(1)",
            _TEXTS,
            pooled,
            say("masks.shape.mean"),
        ),
    ]


_TOKENS = "[batch, tokens, dims]"
_TEXTS = "[batch, dims]"


def _ids(code: str, shape: tuple[int, int], meaning: str) -> ShapeStep:
    return ShapeStep(code, "[batch, tokens]", shape, meaning)


def _segments(card: ModelCard, shape: tuple[int, int]) -> ShapeStep:
    code = 'batch["token_type_ids"]'
    if card.has_segments:
        return _ids(code, shape, say("masks.shape.segments"))
    return ShapeStep(code, "none", None, say("masks.shape.no_segments"))


def _pooler(card: ModelCard, shape: tuple[int, int]) -> ShapeStep:
    part = card.provenance.pooler
    if part.state == "absent":
        meaning = say("masks.shape.no_pooler", reason=part.reason)
        return ShapeStep("output[1]", "none", None, meaning)
    meaning = say("masks.shape.pooler")
    if part.state == "untrained":
        meaning = say("masks.shape.pooler_untrained", reason=part.reason)
    return ShapeStep("output[1]", _TEXTS, shape, meaning)


# --- The numbers of Padding & masks as rows and arrays


def summary_rows(row: PaddedText, layer: int) -> dict[str, Any]:
    """One text at one layer: its amount of padding, and its similarity to its unpadded self."""
    damage = row.damage
    at = damage.layers.index(layer)
    return {
        "sentence": row.label,
        "tokens": row.n_real,
        "padding": row.n_padding,
        row.alone.tokens[0]: float(damage.first[at]),
        "mean of real tokens": float(damage.mean[at]),
        "mean with padding": float(damage.mean_all[at]),
        "most changed token": float(damage.tokens[at].min()),
        "pooler_output": damage.pooled,
    }


def token_rows(row: PaddedText) -> list[dict[str, Any]]:
    """One row for each position: token, ID, mask, segment, cosine at each layer, vector length.

    Padding has no counterpart in the text alone, so it has a length but no cosine.
    """
    padded, damage, mask = row.padded, row.damage, row.mask
    return [
        {
            "sentence": row.label,
            "position": i,
            "token": padded.tokens[i],
            "token ID": int(padded.token_ids[i]),
            "mask": int(mask[i]),
            "segment": None if padded.token_type_ids is None else int(padded.token_type_ids[i]),
            **{
                f"layer {layer}": float(damage.tokens[at, i]) if i < row.n_real else None
                for at, layer in enumerate(damage.layers)
            },
            "length at the last layer": float(damage.lengths[-1, i]),
        }
        for i in range(padded.n_tokens)
    ]


def arrays(lab: PaddedBatch) -> dict[str, NDArray[Any]]:
    """The batch as arrays, one row for each text; the cosines of padding are NaN."""
    rows = lab.rows
    cosines = np.full((len(rows), len(lab.layers), lab.pad_to), np.nan, dtype=np.float32)
    for i, row in enumerate(rows):
        cosines[i, :, : row.n_real] = row.damage.tokens
    texts = [{"label": r.label, "text": r.alone.text, "pair": r.alone.pair} for r in rows]
    kinds = [r.padded.token_type_ids for r in rows]
    pooled = [np.nan if r.damage.pooled is None else r.damage.pooled for r in rows]
    return {
        "token_ids": np.stack([r.padded.token_ids for r in rows]),
        "attention_mask": np.stack([r.mask for r in rows]),
        **(
            {"token_type_ids": np.stack([k for k in kinds if k is not None])}
            if all(k is not None for k in kinds)
            else {}
        ),
        "token_cosines": cosines,
        "mean_cosines": np.stack([r.damage.mean for r in rows]),
        "mean_with_padding_cosines": np.stack([r.damage.mean_all for r in rows]),
        "pooler_output_cosines": np.array(pooled, dtype=np.float32),
        "vector_lengths": np.stack([r.damage.lengths for r in rows]),
        "layers": np.array(lab.layers),
        "texts": np.array(json.dumps(texts)),
    }
