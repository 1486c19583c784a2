"""Leave out, from a score to what is shown: each word taken away in turn, and pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from components.content.language import say
from components.content.wording import shortened
from components.core import EncoderService
from components.core.schema import Block, Counted, Tokens
from components.features.why.compute.running import Run, vectors_of
from components.features.why.compute.score import Score, Side
from components.features.why.compute.shares import shares_at
from components.features.why.measures.cutting import cut
from components.features.why.measures.order import Order, order_of
from components.features.why.measures.target import Doubles, cosine, weights_of
from components.features.why.measures.units import Unit, is_word
from components.ui.widgets.comparison.compute import chosen_span

__all__ = ["MAX_PAIRED", "MAX_WORDS", "How", "LeftOut", "LeftWord", "leave_out", "run_without"]

How = Literal["taken", "hidden"]
MAX_WORDS = 100
"""Words of a sentence that are left out in turn at most."""
MAX_PAIRED = 12
"""Words of a sentence up to which pairs of them are left out too."""


@dataclass(frozen=True)
class LeftWord:
    """A word that was left out.

    Attributes:
        side: 0 for the first sentence, 1 for the second.
        unit: the word.
        cosine: of what is left.
        change: that less the score; below 0 where the two are less alike without the word.
    """

    side: int
    unit: Unit
    cosine: float
    change: float


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The score without each word.

    Attributes:
        score: with all of them.
        how: "taken" out of the text, or "hidden" from attention.
        words: in the order of the texts, the first sentence's before the second's.
        pairs: (n_words, n_words) float64 change with both left out, symmetric, with the words
            alone on the diagonal; None where the texts are too long for it, or it was not asked.
        shares: (n_words,) float64 the share of each word at the layer.
        order: how far shares and changes put the words in one order; None where only one token
            or word is compared, so that the others have no shares.
        notes: what was not left out and why, a sentence of plain text each.
    """

    score: Score
    how: How
    words: tuple[LeftWord, ...]
    pairs: Doubles | None
    shares: Doubles
    order: Order | None
    notes: tuple[str, ...]

    @property
    def changes(self) -> Doubles:
        """(n_words,) the change of the cosine without each word."""
        return np.array([word.change for word in self.words], dtype=np.float64)


def leave_out(
    score: Score,
    service: EncoderService,
    *,
    how: How = "taken",
    pairs: bool = False,
    progress: Counted | None = None,
) -> LeftOut:
    """The score without each word of either sentence.

    Args:
        score: with all of them.
        service: runs the model; better without a cache.
        how: "taken" out of the text and read anew, or "hidden" from attention.
        pairs: whether pairs of words are left out too, where the sentences are short.
        progress: told how many runs are done; what it raises ends the work.
    """
    tried = [_tried(score, side, how) for side in score.sides]
    is_short = all(len(words) <= MAX_PAIRED for words in tried)
    groups = [_groups(words, pairs and is_short) for words in tried]
    runs = [
        run_without(score, side, group, how)
        for side, own in zip(score.sides, groups, strict=True)
        for group in own
    ]
    vectors = vectors_of(runs, service, score.card, layer=score.layer, progress=progress)
    both = vectors[: len(groups[0])], vectors[len(groups[0]) :]
    changes = _changes(score, tried, both, pairs=pairs and is_short)
    units = [(i, unit) for i, words in enumerate(tried) for unit in words]
    alone = np.diag(changes)
    shares = _shares(score, units)
    return LeftOut(
        score=score.lean,
        how=how,
        words=tuple(
            LeftWord(i, unit, score.cosine + float(change), float(change))
            for (i, unit), change in zip(units, alone, strict=True)
        ),
        pairs=changes if pairs and is_short else None,
        shares=shares,
        order=order_of(shares, alone) if score.what == "mean" else None,
        notes=tuple(_notes(score, tried, how, pairs=pairs and not is_short)),
    )


def run_without(score: Score, side: Side, units: Sequence[Unit], how: How) -> Run:
    """The run of a sentence without some words."""
    what, encoding, span = score.what, side.encoding, chosen_span(side.sentence)
    if how == "hidden":
        gone = [i for unit in units for i in unit.positions]
        blocks = tuple(Block(token=i) for i in gone)
        weights = _without(side.weights, gone) if what == "mean" else side.weights
        return Run(encoding.text, encoding.pair, lambda _: weights, blocks)
    left = cut(encoding.text, [u.span for u in units if u.span and u.text_id == 0])
    pair = encoding.pair
    if pair is not None:
        pair = cut(pair, [u.span for u in units if u.span and u.text_id == 1]).text
    moved = None if span is None else left.moved(span)

    def weigh(tokens: Tokens) -> Doubles:
        return weights_of(tokens, what, moved)

    return Run(left.text, pair, weigh)


def _without(weights: Doubles, positions: Sequence[int]) -> Doubles:
    """The mean over what is not hidden, as the model takes it over what is not masked."""
    left = weights.copy()
    left[list(positions)] = 0
    left /= left.sum()
    return left


def _tried(score: Score, side: Side, how: How) -> list[Unit]:
    """The words that are left out in turn: not the one whose vector is compared, were it gone."""
    words = [unit for unit in side.units if is_word(unit)]
    if score.what == "word" and how == "taken":
        words = [unit for unit in words if not side.weights[list(unit.positions)].any()]
    return words[:MAX_WORDS]


def _groups(words: Sequence[Unit], pairs: bool) -> list[tuple[Unit, ...]]:
    """Each word alone, then each pair of them."""
    return [*((unit,) for unit in words), *(combinations(words, 2) if pairs else ())]


def _changes(
    score: Score,
    tried: Sequence[Sequence[Unit]],
    vectors: tuple[Sequence[Doubles], Sequence[Doubles]],
    *,
    pairs: bool,
) -> Doubles:
    """(n_words, n_words) changes with both left out, each alone on the diagonal.

    Zero off the diagonal where pairs are not asked for.
    """
    whole = [side.vector(score.layer) for side in score.sides]
    n_first, n = len(tried[0]), len(tried[0]) + len(tried[1])
    cosines = np.full((n, n), score.cosine)
    for which, (first, words) in enumerate(((0, tried[0]), (n_first, tried[1]))):
        other, own = whole[1 - which], vectors[which]
        for i in range(len(words)):
            cosines[first + i, first + i] = cosine(own[i], other)
        for k, (i, j) in enumerate(combinations(range(len(words)), 2) if pairs else ()):
            together = cosine(own[len(words) + k], other)
            cosines[first + i, first + j] = cosines[first + j, first + i] = together
    for i in range(n_first if pairs else 0):
        for j in range(n_first, n):
            cosines[i, j] = cosines[j, i] = cosine(vectors[0][i], vectors[1][j - n_first])
    changes: Doubles = cosines - score.cosine
    return changes


def _shares(score: Score, units: Sequence[tuple[int, Unit]]) -> Doubles:
    shares = shares_at(score).by_token
    sums = shares.rows, shares.columns
    return np.array([sums[i][list(unit.positions)].sum() for i, unit in units], dtype=np.float64)


def _notes(score: Score, tried: Sequence[Sequence[Unit]], how: How, *, pairs: bool) -> list[str]:
    said = []
    if pairs:
        said.append(say("why.leave_out.note.pairs", most=MAX_PAIRED))
    for side, words in zip(score.sides, tried, strict=True):
        n = len(side.words)
        if len(words) == MAX_WORDS and n > MAX_WORDS:
            said.append(say("why.leave_out.note.long", letter=side.letter, n=n, most=MAX_WORDS))
        if side.n_truncated and how == "taken":
            said.append(say("why.leave_out.note.cut", letter=side.letter))
    if score.what == "word" and how == "taken":
        names = list(dict.fromkeys(f"“{shortened(s.word, 24)}”" for s in score.sides))
        said.append(say("why.leave_out.note.compared", n=len(names), words=" and ".join(names)))
    return list(dict.fromkeys(said))
