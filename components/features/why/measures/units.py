"""What a text is made of here: its words, each with its tokens, and its special tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from components.core.schema import Tokens
from components.core.words import Span, split_words

__all__ = ["Unit", "is_word", "units_of"]


@dataclass(frozen=True)
class Unit:
    """A word of a text, or a special token.

    Attributes:
        label: the word as written, or the special token.
        positions: of its tokens, in order; at least one.
        text_id: 0 for a word of the text, 1 for one of its pair, -1 for a special token.
        span: where the word stands in its text, in code points, with the words that its one token
            covers too; None for a special token.
    """

    label: str
    positions: tuple[int, ...]
    text_id: int = -1
    span: Span | None = None


def units_of(tokens: Tokens) -> tuple[Unit, ...]:
    """All words that have tokens, and all special tokens, in the order of their first tokens.

    Padding is in none of them.
    """
    found: dict[tuple[int, int], list[int]] = {}
    for i in np.flatnonzero(tokens.attention_mask).tolist():
        text_id, word = int(tokens.text_ids[i]), int(tokens.word_ids[i])
        key = (text_id, word) if word >= 0 else (-1, i)
        found.setdefault(key, []).append(i)
    texts = (tokens.text, tokens.pair or "")
    spans = tuple(map(split_words, texts))
    units = []
    for (text_id, word), positions in found.items():
        if text_id < 0:
            units.append(Unit(tokens.tokens[positions[0]], tuple(positions)))
        else:
            rivals = {spans[text_id][other] for which, other in found if which == text_id}
            covered = tokens.offsets[positions]
            span = _with_neighbours(spans[text_id], word, covered, rivals)
            units.append(Unit(texts[text_id][slice(*span)], tuple(positions), text_id, span))
    return tuple(units)


def _with_neighbours(
    words: Sequence[Span], word: int, covered: NDArray[np.int64], rivals: Collection[Span]
) -> Span:
    """The span of a word and of the words beside it that have no tokens but this one's.

    A typed "[MASK]" is one token and three words; taking only "MASK" out would leave "[]".
    """
    first = last = word
    while first > 0 and words[first - 1][1] > covered.min() and words[first - 1] not in rivals:
        first -= 1
    while (
        last + 1 < len(words)
        and words[last + 1][0] < covered.max()
        and words[last + 1] not in rivals
    ):
        last += 1
    return words[first][0], words[last][1]


def is_word(unit: Unit) -> bool:
    """Whether it is of the text, not a special token; punctuation counts as a word."""
    return unit.span is not None
