"""Attention reduced to what a page can show: each head's habits, small pictures, means, rollout.

Attention weights are (..., n_tokens, n_tokens) with queries in rows. All heads of a long text are
tens of megabytes; what is kept of them here is a few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.core.schema import FloatArray, IntArray, Tokens

__all__ = [
    "HABITS",
    "Heads",
    "block_means",
    "habits",
    "ranked",
    "reduce_heads",
    "rollout",
    "separators",
]

HABITS = ("previous", "next", "first", "separators", "word", "entropy")
"""What `habits` tells of a head, in its order: five shares of attention, and the entropy in bits.

previous, next: on the neighbour; first: on the first token ([CLS]); separators: on the other
special tokens ([SEP]); word: on the token itself and the other sub-tokens of its word.
"""
_MOST_CELLS = 32  # along each side of a head's small picture
_PICTURE_CELLS = 80_000  # of all heads together
_KEPT_BYTES = 8_000_000  # of whole heads


@dataclass(frozen=True, eq=False)
class Heads:
    """All heads on one text, reduced.

    Attributes:
        habits: (n_layers, n_heads, 6) float32, as in `HABITS`.
        even: (6,) float32, the same for attention that is spread evenly.
        pictures: (n_layers, n_heads, n_cells, n_cells) float32 means of blocks of weights.
        layer_means: (n_layers, n_tokens, n_tokens) float32, over each layer's heads.
        kept: (n_kept, n_tokens, n_tokens) float32, heads that are at hand whole.
        kept_at: the (layer, head) of each, layers counted from 1.
    """

    habits: FloatArray
    even: FloatArray
    pictures: FloatArray
    layer_means: FloatArray
    kept: FloatArray
    kept_at: tuple[tuple[int, int], ...]

    def whole(self, layer: int, head: int) -> FloatArray | None:
        """(n_tokens, n_tokens) weights of a head; None where only its reduction was kept."""
        if (layer, head) not in self.kept_at:
            return None
        weights: FloatArray = self.kept[self.kept_at.index((layer, head))]
        return weights


def reduce_heads(attentions: FloatArray, tokens: Tokens) -> Heads:
    """What is kept of (n_layers, n_heads, n_tokens, n_tokens) attention weights."""
    n_layers, n_heads, n_tokens, _ = attentions.shape
    cells = max(4, min(_MOST_CELLS, int((_PICTURE_CELLS / (n_layers * n_heads)) ** 0.5)))
    even = np.full((n_tokens, n_tokens), 1 / max(1, _n_real(tokens)), np.float32)
    own = np.stack([habits(layer, tokens) for layer in attentions])
    kept_at = _to_keep(own, attentions.nbytes)
    return Heads(
        habits=own,
        even=habits(even * (tokens.attention_mask == 1), tokens),
        pictures=block_means(attentions, cells),
        layer_means=attentions.mean(axis=1, dtype=np.float32),
        kept=np.stack([attentions[layer - 1, head] for layer, head in kept_at]),
        kept_at=kept_at,
    )


def habits(attention: FloatArray, tokens: Tokens) -> FloatArray:
    """(..., 6) float32 of (..., n_tokens, n_tokens) weights: means over real tokens, see `HABITS`.

    Padding is left out. The neighbours' shares leave out the token that has no such neighbour; for
    a text of one token they are 0.
    """
    real = np.flatnonzero(tokens.attention_mask)
    padded = len(real) < tokens.n_tokens
    shown = attention[..., real[:, None], real] if padded else attention
    same = _same_word(tokens)[np.ix_(real, real)]
    others = np.isin(real, separators(tokens))
    found = [
        _mean(np.diagonal(shown, -1, -2, -1)),
        _mean(np.diagonal(shown, 1, -2, -1)),
        _mean(shown[..., 0]),
        _mean(shown[..., others].sum(axis=-1)),
        _mean(np.einsum("...ij,ij->...i", shown, same)),
        _mean(_entropy(shown)),
    ]
    return np.stack(found, axis=-1).astype(np.float32)


def separators(tokens: Tokens) -> IntArray:
    """Positions of the added tokens after the first one: [SEP] and its like, without padding."""
    added = (tokens.special_tokens_mask == 1) & (tokens.attention_mask == 1)
    return np.flatnonzero(added & (np.arange(tokens.n_tokens) > 0))


def ranked(heads: Heads, habit: str, *, least: bool = False) -> list[tuple[int, int]]:
    """(layer, head) of every head, the one with most of a habit first; equal ones in order."""
    values = heads.habits[..., HABITS.index(habit)]
    order = np.argsort(values.ravel() if least else -values.ravel(), kind="stable")
    n_heads = values.shape[1]
    return [(int(i) // n_heads + 1, int(i) % n_heads) for i in order]


def block_means(attention: FloatArray, most: int) -> FloatArray:
    """(..., n, n) as (..., m, m) with m = min(n, most): means over blocks of nearly equal sizes."""
    n = attention.shape[-1]
    m = min(n, most)
    edges = np.arange(m) * n // m
    sizes = np.diff([*edges, n])
    sums = np.add.reduceat(np.add.reduceat(attention, edges, axis=-2), edges, axis=-1)
    means: FloatArray = (sums / (sizes[:, None] * sizes)).astype(np.float32)
    return means


def rollout(layer_means: FloatArray) -> FloatArray:
    """(n_tokens, n_tokens) float32: attention rollout through (n_layers, n_tokens, n_tokens).

    Abnar and Zuidema (2020): half of each layer's mean attention, half the token itself (the
    residual connection), rows renormalised, multiplied from the first layer to the last.
    """
    n_tokens = layer_means.shape[-1]
    through = np.eye(n_tokens)
    for mean in layer_means:
        mixed = 0.5 * mean.astype(float) + 0.5 * np.eye(n_tokens)
        through = mixed / mixed.sum(axis=-1, keepdims=True) @ through
    return through.astype(np.float32)


def _n_real(tokens: Tokens) -> int:
    return int(tokens.attention_mask.sum())


def _to_keep(own: FloatArray, n_bytes: int) -> tuple[tuple[int, int], ...]:
    """Every head of a short text; of a long one, those first and last in each habit."""
    n_layers, n_heads, _ = own.shape
    if n_bytes <= _KEPT_BYTES:
        return tuple((layer + 1, head) for layer in range(n_layers) for head in range(n_heads))
    flat = own.reshape(-1, len(HABITS))
    chosen = dict.fromkeys([*flat.argmax(axis=0).tolist(), int(flat[:, -1].argmin())])
    return tuple((i // n_heads + 1, i % n_heads) for i in chosen)


def _same_word(tokens: Tokens) -> FloatArray:
    """(n_tokens, n_tokens) 1 where two tokens are the same one or of one word."""
    words, texts = tokens.word_ids, tokens.text_ids
    alike = (words[:, None] == words) & (texts[:, None] == texts) & (words >= 0)
    together: FloatArray = (alike | np.eye(len(words), dtype=bool)).astype(np.float32)
    return together


def _mean(values: FloatArray) -> FloatArray:
    if not values.shape[-1]:
        return np.zeros(values.shape[:-1], np.float32)
    mean: FloatArray = values.mean(axis=-1, dtype=np.float32)
    return mean


def _entropy(weights: FloatArray) -> FloatArray:
    """(..., n) bits of each row; 0 log 0 is 0."""
    logs = np.log2(np.maximum(weights, np.float32(1e-30)))
    bits: FloatArray = -np.einsum("...ij,...ij->...i", weights, logs)
    return np.maximum(bits, 0)
