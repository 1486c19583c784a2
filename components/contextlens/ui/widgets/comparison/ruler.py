"""A pair's cosine on the ruler: the pair, and the ranges beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from contextlens.analysis.baseline import Band, is_in_sample_script
from contextlens.analysis.ruler import (
    EVERYDAY,
    KINDS,
    TWO_SENSES,
    Range,
    Ruler,
)
from contextlens.analysis.words import Pooling
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import listed_names, quoted
from contextlens.core.words import folded
from contextlens.ui.widgets.comparison.compute import Portrait
from contextlens.ui.widgets.comparison.reading import EQUAL, side_of


class Fit(Enum):
    """The kinds of labelled pairs among which a cosine is usual."""

    BOTH = "both"
    ONE_MEANING = "one"
    TWO_MEANINGS = "two"
    ABOVE = "above"
    BELOW = "below"
    BETWEEN = "between"


_FITS = {
    (0, 0): Fit.BOTH,
    (0, 1): Fit.ONE_MEANING,
    (0, -1): Fit.ONE_MEANING,
    (1, 0): Fit.TWO_MEANINGS,
    (-1, 0): Fit.TWO_MEANINGS,
    (1, 1): Fit.ABOVE,
    (-1, -1): Fit.BELOW,
}
"""By the side of the range of one meaning, and of two: 1 above it, -1 below, 0 within."""


@dataclass(frozen=True)
class RulerShown:
    """One pair of words on the ruler.

    Attributes:
        cosine: the pair's cosine at the current layer.
        ranges: the range of random pairs of words, if known, then those of labelled pairs.
        same_word: True if both are one word with the same tokens, ignoring case.
        side: 1 if the pair is more similar than random pairs of words, -1 if less, 0 if it is
            within their range; None if that is unknown.
        left_out: the pair's words that the ruler was measured on, but that are left out here.
        measure: "cosine" or "centred cosine".
    """

    cosine: float
    ranges: tuple[Range, ...]
    same_word: bool
    side: int | None
    left_out: tuple[str, ...]
    measure: str = "cosine"

    @property
    def fit(self) -> Fit | None:
        """The place of the cosine among those of one and of two meanings; None if unmeasured.

        It is taken from the digits that readers see.
        """
        one, two = (self.range_of(kind) for kind in (EVERYDAY, TWO_SENSES))
        if one is None or two is None:
            return None
        sides = [_side(self.cosine, usual) for usual in (one, two)]
        return _FITS.get((sides[0], sides[1]), Fit.BETWEEN)

    def range_of(self, kind: int) -> Range | None:
        """Return the range of a kind of labelled pairs; None if too few were measured."""
        return next((usual for usual in self.ranges if usual.kind == KINDS[kind]), None)


def ruler_of(portrait: Portrait, ruler: Ruler | None) -> RulerShown | None:
    """Return the first two sentences' words on the ruler, or None.

    There is none without a ruler or two words, or if a word is unknown or not in Latin script.
    """
    comparison, meaning = portrait.comparison, portrait.meaning
    pairs = comparison.pairs("sentences")
    if ruler is None or not pairs or comparison.has_unknown(pairs[0]):
        return None
    return pair_on_ruler(
        [comparison.items[i].word for i in (pairs[0].first, pairs[0].second)],
        portrait.cosine(pairs[0]),
        ruler,
        at=(portrait.layer, meaning.pooling),
        band=meaning.band(pairs[0]),
        centred=comparison.centred,
        measure=comparison.measure,
        same_word=comparison.is_one_word(pairs[0]),
    )


def pair_on_ruler(
    words: Sequence[str],
    cosine: float,
    ruler: Ruler,
    *,
    at: tuple[int, Pooling],
    band: Band | None,
    centred: bool = False,
    measure: str = "cosine",
    same_word: bool | None = None,
) -> RulerShown | None:
    """Return two words' cosine at a layer and pooling on the ruler; None without Latin script.

    Args:
        words: both words.
        cosine: that of their vectors.
        ruler: the model's ruler.
        at: the layer and the pooling.
        band: random pairs of words of the same kind, at each layer.
        centred: True if the cosine is a centred one.
        measure: the name of the cosine.
        same_word: True if both are one word; None if their spelling decides.
    """
    if not all(map(is_in_sample_script, words)):
        return None
    excluded = tuple({word.casefold(): word for word in words if ruler.knows(word)}.values())
    ranges = ruler.ranges(*at, centred=centred, without=excluded)
    if band is not None:
        low, mean, high = (float(values[at[0]]) for values in (band.low, band.mean, band.high))
        ranges = (Range("unrelated words", low, mean, high, 0), *ranges)
    return RulerShown(
        cosine=cosine,
        ranges=ranges,
        same_word=folded(words[0]) == folded(words[1]) if same_word is None else same_word,
        side=None if band is None else side_of(cosine, band, at[0]),
        left_out=excluded,
        measure=measure,
    )


def ruler_reading(pair: RulerShown) -> Claim:
    """Return the conclusion from a pair's cosine: on two uses of one word, or on two words."""
    numbers = {"Measure": _measure(pair), "cosine": pair.cosine}
    if pair.cosine >= EQUAL:
        return claim("ruler.equal", **numbers)
    if not pair.same_word:
        return _of_two_words(pair, numbers)
    one, two = (pair.range_of(kind) for kind in (EVERYDAY, TWO_SENSES))
    if one is None or two is None or pair.fit is None:
        return claim("ruler.unknown", **numbers)
    ends = {"one_low": one.low, "one_high": one.high, "two_low": two.low, "two_high": two.high}
    return claim(f"ruler.fits.{pair.fit.value}", cosine=pair.cosine, **ends)


def _side(cosine: float, usual: Range) -> int:
    low, value, high = (round(end, 2) for end in (usual.low, cosine, usual.high))
    return int(value > high) - int(value < low)


def ruler_note(pair: RulerShown) -> str:
    """Return the note on what the ruler was measured on, and on the meaning of the bars."""
    names = listed_names([quoted(word) for word in pair.left_out])
    return say("ruler.note_without", names=names) if names else say("ruler.note")


def _of_two_words(pair: RulerShown, numbers: dict[str, Any]) -> Claim:
    if pair.side is None:
        return claim("ruler.unknown", **numbers)
    random = pair.ranges[0]
    case = {1: "above", 0: "within", -1: "below"}[pair.side]
    return claim(f"ruler.{case}", **numbers, low=random.low, high=random.high)


def _measure(pair: RulerShown) -> str:
    measure = say(f"similarity.{'plain' if pair.measure == 'cosine' else 'centred'}")
    return measure[:1].upper() + measure[1:]
