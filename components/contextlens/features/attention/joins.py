"""Joins: what a head takes in for one word from another one that is no neighbour of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.content_words import content_words
from contextlens.core.schema import FloatArray, Tokens
from contextlens.core.words import Span, folded, split_words

_PRONOUNS = frozenset(
    re.findall(
        r"\w+",
        """
        i me my mine myself you your yours yourself he him his himself she her hers herself
        it its itself we us our ours ourselves they them their theirs themselves
        """,
    )
)
_Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Joins:
    """The strongest join of every head.

    Attributes:
        weights: (n_layers, n_heads) float32.
        positions: (n_layers, n_heads, 2) the tokens that attend and are attended to.
    """

    weights: FloatArray
    positions: NDArray[np.int64]

    def strongest(self) -> tuple[int, int]:
        """The (layer, head) with the strongest join, layers from 1 and heads from 0."""
        layer, head = divmod(int(self.weights.argmax()), self.weights.shape[1])
        return layer + 1, head

    def at(self, layer: int, head: int) -> tuple[int, int]:
        """The positions that a head joins most."""
        row, column = self.positions[layer - 1, head].tolist()
        return row, column


def strongest_joins(attentions: FloatArray, tokens: Tokens, word: Span | None) -> Joins:
    """The strongest join of each head of (n_layers, n_heads, n_tokens, n_tokens) weights.

    A join leads from one content word or pronoun to another that is no neighbour, and one of the
    two is a content word. A text without such words has the next best: any two words, any two
    tokens.

    Args:
        attentions: the weights.
        tokens: the tokens of the text.
        word: the chosen word of the first text, which is one of the two if it can be.
    """
    rows, columns = np.nonzero(_joinable(tokens, word))
    found = attentions[:, :, rows, columns]
    best = found.argmax(axis=-1)
    weights: FloatArray = np.take_along_axis(found, best[..., None], axis=-1)[..., 0]
    return Joins(weights, np.stack([rows[best], columns[best]], axis=-1))


def pair_weights(
    attentions: FloatArray,
    rows: Sequence[int],
    columns: Sequence[int],
    hidden: Sequence[int] = (),
) -> FloatArray:
    """(n_layers, n_heads): what each head takes in for one item from another, as a `Grid` does.

    Args:
        attentions: (n_layers, n_heads, n_tokens, n_tokens).
        rows: the tokens of the item that attends, whose mean counts.
        columns: the tokens of the item that is attended to, whose sum counts.
        hidden: the tokens without which each row is scaled back to 1.
    """
    whole = attentions[:, :, list(rows)].astype(np.float64)
    weights = whole[..., list(columns)].sum(axis=-1)
    if hidden:
        whole[..., list(hidden)] = 0
        total = whole.sum(axis=-1)
        weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    mean: FloatArray = weights.mean(axis=-1).astype(np.float32)
    return mean


def _joinable(tokens: Tokens, word: Span | None) -> _Mask:
    """(n_tokens, n_tokens) True for the best kind of pairs that this text has."""
    masks = list(_kinds(tokens))
    own = _of_word(tokens, word)
    with_word = [mask & (own[:, None] | own) for mask in masks]
    return next(mask for mask in (*with_word, *masks) if mask.any())


def _kinds(tokens: Tokens) -> Iterator[_Mask]:
    """Pairs of tokens, the best kind first; the last one has all of them."""
    n, real = tokens.n_tokens, tokens.attention_mask == 1
    texts = (tokens.text, tokens.pair or "")
    spans = [split_words(text) for text in texts]
    names, order = [""] * n, np.full(n, -1)  # the word that begins here, and its number
    content, pronoun = np.zeros(n, bool), np.zeros(n, bool)
    seen: set[tuple[int, int]] = set()
    for i in np.flatnonzero(real & (tokens.word_ids >= 0)):
        key = int(tokens.text_ids[i]), int(tokens.word_ids[i])
        name = folded(texts[key[0]][slice(*spans[key[0]][key[1]])])
        if key in seen or not any(map(str.isalnum, name)):
            continue
        seen.add(key)
        names[i], order[i] = name, len(seen) + 10 * key[0]  # the texts are no neighbours
        content[i], pronoun[i] = bool(content_words(name)), name in _PRONOUNS
    begins = order >= 0
    labels = np.array(names)
    words = begins[:, None] & begins & (labels[:, None] != labels)
    apart = words & (np.abs(order[:, None] - order) > 1)
    telling = content | pronoun
    yield apart & telling[:, None] & telling & (content[:, None] | content)
    yield apart
    yield words
    in_text = real & (tokens.text_ids >= 0)
    differ = ~np.eye(n, dtype=bool)
    yield in_text[:, None] & in_text & differ
    yield real[:, None] & real & differ
    yield np.ones((n, n), bool)


def _of_word(tokens: Tokens, word: Span | None) -> _Mask:
    if word is None:
        return np.zeros(tokens.n_tokens, bool)
    starts, ends = tokens.offsets[:, 0], tokens.offsets[:, 1]
    own: _Mask = (tokens.text_ids == 0) & (starts < word[1]) & (ends > word[0])
    return own
