"""Shares in words: which words the cosine is made of, at a layer or down at the input."""

from __future__ import annotations

import numpy as np

from components.content.wording import MARGIN, are_alike, bold, leading, several, span, two
from components.features.why.compute.score import Side
from components.features.why.compute.shares import Integrated, IntegratedSide, SharesShown
from components.features.why.measures.effects import NOISE
from components.features.why.measures.target import Doubles
from components.features.why.measures.units import is_word
from components.features.why.reading.names import best, named, placed_in

__all__ = ["integrated_reading", "integrated_title", "shares_reading", "shares_title"]

CONVERGED = 0.001
"""What the steps of integrated gradients may leave over for the shares to be told apart."""

_ALONE = {
    "cls": "Only the first token of each is compared, so one cell is the whole score.",
    "word": "Only the chosen words are compared, so their own cells are the whole score.",
}


def shares_title(shown: SharesShown) -> str:
    """The finding, short and plain."""
    sides = zip(shown.score.sides, _sums(shown), strict=True)
    leaders = [_leader(side, sums) for side, sums in sides]
    if shown.score.what != "mean" or not all(leaders):
        return f"The shares add up to {two(shown.score.cosine)}"
    return f"The largest shares: {' and '.join(leaders)}"


def shares_reading(shown: SharesShown) -> list[str]:
    """Two to four sentences: the sum, the largest shares, special tokens, what counts against."""
    score = shown.score
    said = [f"The shares add up to the cosine, {bold(score.cosine)}."]
    if score.what != "mean":
        return [*said, _ALONE[score.what]]
    for side, sums in zip(score.sides, _sums(shown), strict=True):
        said.append(_largest(side, sums))
        said.append(_lowest(side, sums))
    said.append(_special(shown))
    return [sentence for sentence in said if sentence]


def _sums(shown: SharesShown) -> tuple[Doubles, Doubles]:
    return shown.by_word.rows, shown.by_word.columns


def _words(side: Side) -> list[int]:
    return [i for i, unit in enumerate(side.units) if is_word(unit)]


def _leader(side: Side, sums: Doubles) -> str:
    """The one word with clearly the largest share; "" where several or none have it."""
    words = _words(side)
    found = leading([float(sums[i]) for i in words])
    if len(found) != 1 or len(words) < 2:
        return ""
    return f"{side.units[words[found[0]]].label} in {side.letter}"


def _largest(side: Side, sums: Doubles) -> str:
    words = _words(side)
    values = [float(sums[i]) for i in words]
    if not words:
        return f"{side.letter} has no word of its own."
    if len(words) == 1:
        return f"The one word of {side.letter} has a share of {bold(values[0])}."
    if are_alike(values):
        return f"The words of {side.letter} have about the same share ({span(values, bold)})."
    names, own, n = best(values, lambda k: placed_in(side.units[words[k]], side))
    have = "has the largest share" if n == 1 else "have the largest shares"
    return f"Of the words of {side.letter}, {names} {have} ({own})."


def _lowest(side: Side, sums: Doubles) -> str:
    words = [i for i in _words(side) if sums[i] <= -NOISE]
    if not words:
        return ""
    values = [-float(sums[i]) for i in words]
    found = leading(values)
    names = several([named(side.units[words[k]], side) for k in found])
    own = span([-values[k] for k in found], bold)
    verb = "counts" if len(found) == 1 else "count"
    return f"{names} {verb} against it ({own})."


def _special(shown: SharesShown) -> str:
    """What special tokens have of it, which are no words."""
    parts = []
    for side, sums in zip(shown.score.sides, _sums(shown), strict=True):
        words = set(_words(side))
        parts.append(float(sum(s for i, s in enumerate(sums) if i not in words)))
    if max(map(abs, parts)) < NOISE:
        return ""
    one, other = shown.score.sides
    return (
        f"Special tokens, which are no words, have {bold(parts[0])} of it in {one.letter} and "
        f"{bold(parts[1])} in {other.letter}."
    )


def integrated_title(shown: Integrated) -> str:
    """The finding, short and plain."""
    if any(abs(own.remainder) > CONVERGED for own in shown.sides):
        return "Shares are rough: the steps did not add up"
    names = [_leader(own.side, own.by_word) for own in shown.sides]
    if not all(names):
        return "What each input token adds"
    return f"The typed words that add most: {' and '.join(names)}"


def integrated_reading(shown: Integrated) -> list[str]:
    """For each sentence what adds most, from where to where, and what the steps left over."""
    return [sentence for own in shown.sides for sentence in _integrated(own)]


def _integrated(own: IntegratedSide) -> list[str]:
    words = _words(own.side)
    values = [float(own.by_word[i]) for i in words]
    letter = own.side.letter
    sums = (
        f"From {bold(own.start)}, with padding in place of {letter}'s own tokens, to "
        f"{bold(own.end)}: their shares add up to {bold(float(np.sum(own.shares)))}, and the "
        f"{own.n_steps} steps leave {_remainder(own.remainder)}."
    )
    if abs(own.remainder) > CONVERGED:
        caution = (
            f"The shares of {letter} are rough: after {own.n_steps} steps they still miss more "
            f"than {CONVERGED} of the sum."
        )
        return [sums, caution]
    if len(values) < 2 or are_alike(values, MARGIN):
        return [sums]
    names, most, n = best(values, lambda k: named(own.side.units[words[k]], own.side))
    return [f"{names} {'adds' if n == 1 else 'add'} most ({most}).", sums]


def _remainder(value: float) -> str:
    if abs(value) < 0.00005:
        return "less than 0.0001"
    return f"{'−' if value < 0 else ''}{abs(value):.4f}"
