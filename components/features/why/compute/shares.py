"""Shares, from a score to what is shown: at the layer, or followed down to the input tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from components.core import EncoderService
from components.core.schema import Counted
from components.features.why.compute.score import Score, Side
from components.features.why.measures.shares import Shares, by_unit, merged, shares_of
from components.features.why.measures.target import Doubles

__all__ = ["Integrated", "IntegratedSide", "SharesShown", "integrated_of", "shares_at"]


@dataclass(frozen=True, eq=False)
class SharesShown:
    """The score taken apart at its layer.

    Attributes:
        score: what is taken apart.
        by_token: (n_tokens of the first, n_tokens of the second) cells.
        by_word: (n_units of the first, n_units of the second) cells: words and special tokens, as
            in `score.first.units` and `score.second.units`.
    """

    score: Score
    by_token: Shares
    by_word: Shares

    def shares(self, unit: str) -> Shares:
        """Of "words" or of "tokens"."""
        return self.by_word if unit == "words" else self.by_token


@dataclass(frozen=True, eq=False)
class IntegratedSide:
    """What each input token of one sentence adds to the score, the other sentence held as it is.

    Attributes:
        side: the sentence.
        shares: (n_tokens,) float64.
        by_word: (n_units,) float64 sums over the tokens of each of `side.units`.
        start: the cosine where every own token's word vector is that of padding.
        end: the cosine of the sentence as it is: the score.
        remainder: `end - start` less the sum of the shares: what the steps missed.
        n_steps: how many were taken, as many on each piece of the way.
        cuts: ends of the pieces, in order, from 0 to 1.
    """

    side: Side
    shares: Doubles
    by_word: Doubles
    start: float
    end: float
    remainder: float
    n_steps: int
    cuts: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Integrated:
    """Both sentences' input tokens."""

    score: Score
    first: IntegratedSide
    second: IntegratedSide

    @property
    def sides(self) -> tuple[IntegratedSide, IntegratedSide]:
        """Both sentences."""
        return self.first, self.second


def shares_at(score: Score, layer: int | None = None) -> SharesShown:
    """The shares at the score's layer, or at another one."""
    layer = score.layer if layer is None else layer
    one, other = score.sides
    shares = shares_of(
        one.encoding.layer(layer), other.encoding.layer(layer), one.weights, other.weights
    )
    return SharesShown(score, shares, merged(shares, one.units, other.units))


def integrated_of(
    score: Score, service: EncoderService, *, progress: Counted | None = None
) -> Integrated:
    """The score followed down to the input tokens, each sentence toward the other as it is.

    Args:
        score: what is taken apart.
        service: runs the model and its gradients.
        progress: told how far it is, in hundredths; what it raises ends the work.
    """
    one, other = score.sides
    first = _integrated(score, one, other, service, _half(0, progress))
    second = _integrated(score, other, one, service, _half(1, progress))
    return Integrated(score.lean, first, second)


def _integrated(
    score: Score, side: Side, other: Side, service: EncoderService, progress: Counted | None
) -> IntegratedSide:
    encoding = side.encoding
    found = service.integrated_gradients(
        score.card.id,
        encoding.text,
        side.weights.astype(np.float32),
        other.vector(score.layer).astype(np.float32),
        pair=encoding.pair,
        layer=score.layer,
        progress=progress,
    )
    return IntegratedSide(
        side=side.lean,
        shares=found.shares,
        by_word=by_unit(found.shares, side.units),
        start=found.start,
        end=found.end,
        remainder=found.remainder,
        n_steps=found.steps,
        cuts=found.cuts,
    )


def _half(which: int, progress: Counted | None) -> Counted | None:
    """Counts one of two parts of the work as fifty of a hundred."""
    if progress is None:
        return None
    told = progress
    return lambda done, n: told(50 * which + round(50 * done / max(n, 1)), 100)
