"""Word vectors: the tokens that make up a word, and the pooling of their vectors into one."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from contextlens.core.errors import RequestError
from contextlens.core.schema import Encoding, FloatArray, IntArray, Tokens

__all__ = ["POOLINGS", "Pooling", "pool", "token_positions", "word_vectors"]

Pooling = Literal["mean", "first", "last"]
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


def token_positions(tokens: Tokens, span: tuple[int, int], *, text_id: int = 0) -> IntArray:
    """Return the positions of the tokens that overlap a span of a text (0) or of its pair (1).

    Raises:
        RequestError: no token overlaps it, as it was cut off or the tokenizer drops its characters.
    """
    start, end = span
    in_text = tokens.text_ids == text_id
    inside = in_text & (tokens.offsets[:, 0] < end) & (tokens.offsets[:, 1] > start)
    positions = np.flatnonzero(inside)
    if not positions.size:
        text = tokens.text if text_id == 0 else tokens.pair or ""
        last_offset = int(tokens.offsets[in_text, 1].max(initial=0))
        raise RequestError(
            _why_missing(text[start:end], tokens.n_truncated if start >= last_offset else 0)
        )
    return positions


def pool(vectors: FloatArray, pooling: Pooling) -> FloatArray:
    """(..., n_dims): the mean, first or last of (..., n_tokens, n_dims) token vectors."""
    if pooling == "first":
        return vectors[..., 0, :]
    if pooling == "last":
        return vectors[..., -1, :]
    mean: FloatArray = vectors.mean(axis=-2, dtype=np.float32)
    return mean


def word_vectors(
    encoding: Encoding, span: tuple[int, int], pooling: Pooling = "mean", *, text_id: int = 0
) -> FloatArray:
    """(len(encoding.layers), n_dims) float32: a word's vector at each layer of an encoding."""
    positions = token_positions(encoding, span, text_id=text_id)
    return pool(encoding.hidden[:, positions], pooling)


def _why_missing(word: str, n_truncated: int) -> str:
    name = word if len(word) <= 30 else word[:29] + "…"
    if not any(character.isprintable() for character in name):
        name = " ".join(f"U+{ord(character):04X}" for character in name)
    if n_truncated:
        return (
            f"“{name}” stands behind the part of the text that fits the model "
            f"({n_truncated} tokens were cut off). Choose an earlier word, or shorten it."
        )
    return f"The model's tokenizer drops “{name}”, so it has no vector. Choose another word."
