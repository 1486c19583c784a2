"""How alike two sentences are, in words: the cosine and what unrelated ones get."""

from __future__ import annotations

from components.analysis.baseline import Band
from components.content.wording import bold, escape, quoted, two
from components.features.why.compute.score import Score

__all__ = ["score_reading"]


def score_reading(score: Score, band: Band | None) -> str:
    """The cosine, and where it lies among random pairs.

    Args:
        score: what is taken apart.
        band: random pairs of the same kind, at each layer; None where there are none.
    """
    said = f"{_who(score)} have a cosine of {bold(score.cosine)} at layer {score.layer}"
    if score.are_equal:
        return f"{said}: the model reads the same in both."
    if band is None:
        return f"{said}."
    low, mean, high = (float(own[score.layer]) for own in (band.low, band.mean, band.high))
    where = _where(score.cosine, low, high)
    return (
        f"{said}, {where} what random pairs of {band.of} get (mean {two(mean)}; 90 of 100 lie from "
        f"{two(low)} to {two(high)})."
    )


def _who(score: Score) -> str:
    names = [side.letter for side in score.sides]
    if score.what == "word":
        names = [f"{quoted(side.word)} in {side.letter}" for side in score.sides]
    both = " and ".join(names)
    return (
        f"The {escape(score.first.encoding.tokens[0])} vectors of {both}"
        if score.what == "cls"
        else both
    )


def _where(cosine: float, low: float, high: float) -> str:
    """Told from the digits that stand beside it."""
    said, first, last = (float(two(value)) for value in (cosine, low, high))
    if first < said < last:
        return "within"
    if said in (first, last):
        return "at the end of"
    return "above" if said > last else "below"
