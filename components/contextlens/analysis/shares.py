"""The contribution of each pair of tokens, or of words, to the cosine of two texts.

Numpy in, numpy out. The shares are exact: they sum to the cosine.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from contextlens.core.schema import FloatArray, Tokens
from contextlens.core.words import Span, split_words

__all__ = [
    "Doubles",
    "Shares",
    "Unit",
    "by_unit",
    "is_word",
    "merged",
    "shares_of",
    "units_of",
    "vector_of",
]

Doubles = NDArray[np.float64]


def vector_of(hidden: FloatArray, weights: Doubles) -> Doubles:
    """(..., n_dims) float64 weighted means of (..., n_tokens, n_dims) hidden states."""
    used = np.flatnonzero(weights)
    vector: Doubles = np.einsum("t,...td->...d", weights[used], hidden[..., used, :], dtype=float)
    return vector


# --- The words and special tokens of a text


@dataclass(frozen=True)
class Unit:
    """A word of a text, or a special token.

    Attributes:
        label: the word as written, or the special token.
        positions: the positions of its tokens, in order; at least one.
        text_id: 0 for a word of the text, 1 for one of its pair, -1 for a special token.
        span: the span of the word in its text, in code points, including words that share its
            only token; None for a special token.
    """

    label: str
    positions: tuple[int, ...]
    text_id: int = -1
    span: Span | None = None


def units_of(tokens: Tokens) -> tuple[Unit, ...]:
    """All words with tokens, and all special tokens, in the order of their first tokens.

    Padding is left out.
    """
    positions_of: dict[tuple[int, int], list[int]] = {}
    for i in np.flatnonzero(tokens.attention_mask).tolist():
        text_id, word = int(tokens.text_ids[i]), int(tokens.word_ids[i])
        key = (text_id, word) if word >= 0 else (-1, i)
        positions_of.setdefault(key, []).append(i)
    texts = (tokens.text, tokens.pair or "")
    spans = tuple(map(split_words, texts))
    units = []
    for (text_id, word), positions in positions_of.items():
        if text_id < 0:
            units.append(Unit(tokens.tokens[positions[0]], tuple(positions)))
        else:
            other_spans = {
                spans[text_id][other] for other_id, other in positions_of if other_id == text_id
            }
            covered = tokens.offsets[positions]
            span = _with_neighbours(spans[text_id], word, covered, other_spans)
            units.append(Unit(texts[text_id][slice(*span)], tuple(positions), text_id, span))
    return tuple(units)


def _with_neighbours(
    words: Sequence[Span], word: int, covered: NDArray[np.int64], other_spans: Collection[Span]
) -> Span:
    """The span of a word and of adjacent words that have no token of their own.

    A typed "[MASK]" is one token and three words; removing only "MASK" would leave "[]".
    """
    first = last = word
    while first > 0 and words[first - 1][1] > covered.min() and words[first - 1] not in other_spans:
        first -= 1
    while (
        last + 1 < len(words)
        and words[last + 1][0] < covered.max()
        and words[last + 1] not in other_spans
    ):
        last += 1
    return words[first][0], words[last][1]


def is_word(unit: Unit) -> bool:
    """True for a word, False for a special token; punctuation counts as a word."""
    return unit.span is not None


# --- The shares in the cosine of two weighted sums of tokens


@dataclass(frozen=True, eq=False)
class Shares:
    """The contribution of each pair of tokens, or of words, to a cosine.

    Attributes:
        cells: (n_first, n_second) float64; they sum to the cosine and may be negative.
    """

    cells: Doubles

    @property
    def rows(self) -> Doubles:
        """(n_first,) the share of each token of the first text."""
        sums: Doubles = self.cells.sum(axis=1)
        return sums

    @property
    def columns(self) -> Doubles:
        """(n_second,) the share of each token of the second text."""
        sums: Doubles = self.cells.sum(axis=0)
        return sums

    @property
    def total(self) -> float:
        """The sum of all cells."""
        return float(self.cells.sum())


def shares_of(
    first: FloatArray, second: FloatArray, first_weights: Doubles, second_weights: Doubles
) -> Shares:
    """The shares of all pairs of tokens.

    Args:
        first, second: (n_first, n_dims) and (n_second, n_dims) hidden states of one layer.
        first_weights, second_weights: (n_first,) and (n_second,) the weight of each token.
    """
    a, b = vector_of(first, first_weights), vector_of(second, second_weights)
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    if length == 0:
        return Shares(np.zeros((len(first), len(second))))
    ours = first.astype(np.float64) * first_weights[:, None]
    theirs = second.astype(np.float64) * second_weights[:, None]
    return Shares(ours @ theirs.T / length)


def merged(shares: Shares, first: Sequence[Unit], second: Sequence[Unit]) -> Shares:
    """The shares of words and special tokens: the sums over their tokens."""
    return Shares(by_unit(by_unit(shares.cells, first).T, second).T)


def by_unit(values: Doubles, units: Sequence[Unit]) -> Doubles:
    """(n_units, ...) sums of (n_tokens, ...) over the tokens of each unit."""
    sums = np.zeros((len(units), *values.shape[1:]))
    for i, unit in enumerate(units):
        sums[i] = values[list(unit.positions)].sum(axis=0)
    return sums
