"""Measures of each attention head, selections of heads, and the grid that shows one.

Numpy in, numpy out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.tokens import TokenKind
from contextlens.core.schema import FloatArray, IntArray, Tokens

# --- The visible part of an attention matrix

_Exact = NDArray[np.float64]  # used for merging and dividing, so that sums stay exact
Special = Literal["show", "hide", "renormalise"]
Direction = Literal["all", "forth", "back"]


@dataclass(frozen=True)
class Arrangement:
    """The options of a grid: special tokens, words or tokens, and the texts of rows and columns."""

    special: Special = "show"
    words: bool = False
    direction: Direction = "all"


@dataclass(frozen=True)
class GridItem:
    """A token, or a word of several tokens, as a row or column.

    Attributes:
        label: the text written on it.
        positions: the tokens that it covers.
        kind: the kind of its (first) token.
        text_id: 0 for the text, 1 for the pair, -1 for added tokens.
    """

    label: str
    positions: tuple[int, ...]
    kind: TokenKind
    text_id: int


@dataclass(frozen=True, eq=False)
class Grid:
    """Attention as shown.

    Attributes:
        rows, columns: the attending and the attended items.
        weights: (n_rows, n_columns) float32.
        hidden: the positions of the hidden tokens.
        renormalised: True if each row was divided by its sum after hiding.
    """

    rows: tuple[GridItem, ...]
    columns: tuple[GridItem, ...]
    weights: FloatArray
    hidden: tuple[int, ...]
    renormalised: bool

    @property
    def is_square(self) -> bool:
        """True if rows and columns are the same."""
        return self.rows == self.columns


def arrange(
    attention: FloatArray,
    tokens: Tokens,
    kinds: Sequence[TokenKind],
    labels: Sequence[str],
    arrangement: Arrangement,
) -> Grid:
    """Arrange (n_tokens, n_tokens) weights as a grid.

    A word's column is the sum of its tokens' columns; its row is the mean of their rows.
    Tokens are not hidden, and texts not separated, if that would leave no row or column.
    """
    hidden = [] if arrangement.special == "show" else _hidden_positions(kinds)
    renormalised = bool(hidden) and arrangement.special == "renormalise"
    weights: _Exact = attention.astype(np.float64)
    weights[:, hidden] = 0
    if renormalised:
        weights = _renormalised(weights)
    rows, columns = _sides(
        _items(tokens, kinds, labels, hidden, words=arrangement.words), arrangement.direction
    )
    return Grid(rows, columns, _merge(weights, rows, columns), tuple(hidden), renormalised)


def _hidden_positions(kinds: Sequence[TokenKind]) -> list[int]:
    """Special tokens and padding; none if nothing else would be left."""
    hidden = [i for i, kind in enumerate(kinds) if kind in ("special", "padding")]
    return hidden if len(hidden) < len(kinds) else []


def _renormalised(weights: _Exact) -> _Exact:
    """Rows divided by their sums; a row of zeros is unchanged."""
    sums = weights.sum(axis=1, keepdims=True)
    divided: _Exact = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    return divided


def _items(
    tokens: Tokens,
    kinds: Sequence[TokenKind],
    labels: Sequence[str],
    hidden: Sequence[int],
    *,
    words: bool,
) -> list[GridItem]:
    groups: dict[tuple[int, int], list[int]] = {}
    left_out = set(hidden)
    for i in range(tokens.n_tokens):
        word = int(tokens.word_ids[i])
        key = (int(tokens.text_ids[i]), word) if words and word >= 0 else (-2, i)
        if i not in left_out:
            groups.setdefault(key, []).append(i)
    return [
        GridItem(
            label=_label(tokens, labels, positions),
            positions=tuple(positions),
            kind=kinds[positions[0]],
            text_id=int(tokens.text_ids[positions[0]]),
        )
        for positions in groups.values()
    ]


def _label(tokens: Tokens, labels: Sequence[str], positions: Sequence[int]) -> str:
    """A token's own label; for several tokens, the characters that they cover together."""
    if len(positions) == 1:
        return labels[positions[0]]
    text = tokens.text if tokens.text_ids[positions[0]] == 0 else tokens.pair or ""
    return text[int(tokens.offsets[positions, 0].min()) : int(tokens.offsets[positions, 1].max())]


def _sides(
    items: Sequence[GridItem], direction: Direction
) -> tuple[tuple[GridItem, ...], tuple[GridItem, ...]]:
    first = tuple(item for item in items if item.text_id == 0)
    second = tuple(item for item in items if item.text_id == 1)
    if direction == "all" or not first or not second:
        return tuple(items), tuple(items)
    return (first, second) if direction == "forth" else (second, first)


def _merge(weights: _Exact, rows: Sequence[GridItem], columns: Sequence[GridItem]) -> FloatArray:
    """Sum over each column's tokens, then average over each row's."""
    if all(len(item.positions) == 1 for item in (*rows, *columns)):
        down, across = ([item.positions[0] for item in side] for side in (rows, columns))
        unmerged: FloatArray = weights[np.ix_(down, across)].astype(np.float32)
        return unmerged
    sums = _membership(columns, len(weights))
    means = _membership(rows, len(weights))
    means = means / means.sum(axis=1, keepdims=True)
    merged: FloatArray = (means @ weights @ sums.T).astype(np.float32)
    return merged


def _membership(items: Sequence[GridItem], n_tokens: int) -> _Exact:
    members = np.zeros((len(items), n_tokens))
    for i, item in enumerate(items):
        members[i, list(item.positions)] = 1
    return members


# --- Attention reduced for display

HABITS = ("previous", "next", "first", "separators", "word", "entropy")
"""The values of `habits`, in their order: five shares of attention, and the entropy in bits.

previous, next: on that neighbour; first: on the first token ([CLS]); separators: on the other
special tokens ([SEP]); word: on the token itself and the other sub-tokens of its word.
"""
_MOST_CELLS = 32  # along each side of a head's small picture
_PICTURE_CELLS = 80_000  # in the pictures of all heads together
_FULL_BYTES = 8_000_000  # of weights: up to this size, every head is kept in full


@dataclass(frozen=True, eq=False)
class Heads:
    """All heads on one text, reduced.

    Attributes:
        habits: (n_layers, n_heads, 6) float32, as in `HABITS`.
        even: (6,) float32, the habits of evenly spread attention.
        pictures: (n_layers, n_heads, n_cells, n_cells) float32 means of blocks of weights.
        layer_means: (n_layers, n_tokens, n_tokens) float32, over each layer's heads.
        full: (n_full, n_tokens, n_tokens) float32, the heads kept in full.
        full_at: the (layer, head) of each head in `full`, layers counted from 1.
    """

    habits: FloatArray
    even: FloatArray
    pictures: FloatArray
    layer_means: FloatArray
    full: FloatArray
    full_at: tuple[tuple[int, int], ...]

    def whole(self, layer: int, head: int) -> FloatArray | None:
        """(n_tokens, n_tokens) weights of a head; None if only its reduction was kept."""
        if (layer, head) not in self.full_at:
            return None
        weights: FloatArray = self.full[self.full_at.index((layer, head))]
        return weights


def reduce_heads(attentions: FloatArray, tokens: Tokens) -> Heads:
    """Reduce (n_layers, n_heads, n_tokens, n_tokens) attention weights to what a page shows."""
    n_layers, n_heads, n_tokens, _ = attentions.shape
    cells = max(4, min(_MOST_CELLS, int((_PICTURE_CELLS / (n_layers * n_heads)) ** 0.5)))
    n_real = int(tokens.attention_mask.sum())
    even = np.full((n_tokens, n_tokens), 1 / max(1, n_real), np.float32)
    measured = np.stack([habits(layer, tokens) for layer in attentions])
    full_at = _heads_in_full(measured, attentions.nbytes)
    return Heads(
        habits=measured,
        even=habits(even * (tokens.attention_mask == 1), tokens),
        pictures=block_means(attentions, cells),
        layer_means=attentions.mean(axis=1, dtype=np.float32),
        full=np.stack([attentions[layer - 1, head] for layer, head in full_at]),
        full_at=full_at,
    )


def habits(attention: FloatArray, tokens: Tokens) -> FloatArray:
    """(..., 6) float32 of (..., n_tokens, n_tokens) weights: means over real tokens, see `HABITS`.

    Padding is left out. "previous" leaves out the first token, and "next" the last; in a text of
    one token both are 0.
    """
    real = np.flatnonzero(tokens.attention_mask)
    padded = len(real) < tokens.n_tokens
    weights = attention[..., real[:, None], real] if padded else attention
    same_word = _same_word(tokens)[np.ix_(real, real)]
    is_separator = np.isin(real, separators(tokens))
    means = [
        _mean(np.diagonal(weights, -1, -2, -1)),
        _mean(np.diagonal(weights, 1, -2, -1)),
        _mean(weights[..., 0]),
        _mean(weights[..., is_separator].sum(axis=-1)),
        _mean(np.einsum("...ij,ij->...i", weights, same_word)),
        _mean(_entropy(weights)),
    ]
    return np.stack(means, axis=-1).astype(np.float32)


def separators(tokens: Tokens) -> IntArray:
    """Positions of the added tokens after the first one: [SEP] and similar, without padding."""
    added = (tokens.special_tokens_mask == 1) & (tokens.attention_mask == 1)
    return np.flatnonzero(added & (np.arange(tokens.n_tokens) > 0))


def ranked(heads: Heads, habit: str, *, least: bool = False) -> list[tuple[int, int]]:
    """(layer, head) of every head by a habit, highest first (lowest if `least`), ties in order."""
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
    rolled = np.eye(n_tokens)
    for mean in layer_means:
        mixed = 0.5 * mean.astype(float) + 0.5 * np.eye(n_tokens)
        rolled = mixed / mixed.sum(axis=-1, keepdims=True) @ rolled
    return rolled.astype(np.float32)


def _heads_in_full(measured: FloatArray, n_bytes: int) -> tuple[tuple[int, int], ...]:
    """The heads to keep in full: all for a short text, the first by each sort key for a long one.

    Args:
        measured: (n_layers, n_heads, 6), as in `HABITS`.
        n_bytes: the size of all heads' weights.
    """
    n_layers, n_heads, _ = measured.shape
    if n_bytes <= _FULL_BYTES:
        return tuple((layer + 1, head) for layer in range(n_layers) for head in range(n_heads))
    flat = measured.reshape(-1, len(HABITS))
    chosen = dict.fromkeys([*flat.argmax(axis=0).tolist(), int(flat[:, -1].argmin())])
    return tuple((i // n_heads + 1, i % n_heads) for i in chosen)


def _same_word(tokens: Tokens) -> FloatArray:
    """(n_tokens, n_tokens) 1 where two tokens are the same token or belong to one word."""
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
    """(..., n) entropy of each row in bits; 0 log 0 is 0."""
    logs = np.log2(np.maximum(weights, np.float32(1e-30)))
    bits: FloatArray = -np.einsum("...ij,...ij->...i", weights, logs)
    return np.maximum(bits, 0)


# --- The selected heads

Scope = Literal["head", "layer", "all", "rollout"]


@dataclass(frozen=True, eq=False)
class HeadSelection:
    """A selection of heads, with the numbers that its sentences need.

    Attributes:
        scope: one head, a layer's mean, the mean of all, or rollout.
        layer: the layer of the head or mean, or the last of the rollout or of all heads.
        head: counted from 0; meaningful only for one head.
        shares: the head's shares of attention by habit, without the entropy.
        even: the shares of evenly spread attention.
        names: the first and the separating special tokens: "[CLS]", "[SEP]"; the second is empty if
            there is none.
        trained: True if the encoder is trained.
    """

    scope: Scope
    layer: int
    head: int
    shares: Mapping[str, float]
    even: Mapping[str, float]
    names: Mapping[str, str]
    trained: bool = True


def select(
    heads: Heads, tokens: Tokens, scope: Scope, place: tuple[int, int], *, trained: bool
) -> HeadSelection:
    """The selection of a scope at `place`, a (layer, head); "all" takes the last layer."""
    layer, head = place
    return HeadSelection(
        scope=scope,
        layer=len(heads.habits) if scope == "all" else layer,
        head=head,
        shares=dict(zip(HABITS[:-1], map(float, heads.habits[layer - 1, head]), strict=False)),
        even=dict(zip(HABITS[:-1], map(float, heads.even), strict=False)),
        names=_names(tokens),
        trained=trained,
    )


def reduced_weights(heads: Heads, selection: HeadSelection) -> FloatArray | None:
    """(n_tokens, n_tokens) float32 of a selection; None for a head that was not kept in full."""
    if selection.scope == "head":
        return heads.whole(selection.layer, selection.head)
    if selection.scope == "rollout":
        return rollout(heads.layer_means[: selection.layer])
    if selection.scope == "layer":
        layer_mean: FloatArray = heads.layer_means[selection.layer - 1]
        return layer_mean
    mean: FloatArray = heads.layer_means.mean(axis=0, dtype=np.float32)
    return mean


def selected_heads(heads: Heads, selection: HeadSelection) -> list[tuple[int, int]]:
    """The (layer, head) pairs in a selection."""
    if selection.scope == "head":
        return [(selection.layer, selection.head)]
    n_layers, n_heads, _ = heads.habits.shape
    layers = {"layer": [selection.layer], "rollout": range(1, selection.layer + 1)}
    selected = layers.get(selection.scope, range(1, n_layers + 1))
    return [(layer, head) for layer in selected for head in range(n_heads)]


def _names(tokens: Tokens) -> dict[str, str]:
    """The names of this model's special tokens."""
    rest = [tokens.tokens[i] for i in separators(tokens)]
    return {"first": tokens.tokens[0], "separators": rest[0] if rest else ""}
