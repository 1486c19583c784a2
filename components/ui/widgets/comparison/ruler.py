"""A pair's cosine on the ruler: which pair, what it is held against, and what that tells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from components.analysis.baseline import is_in_sample_script
from components.analysis.ruler import DIFFERENT, KINDS, Chance, Range, Ruler
from components.analysis.words import Pooling
from components.content.wording import bold, quoted, two
from components.ui.widgets.comparison.compute import Portrait

__all__ = ["RulerShown", "pair_on_ruler", "ruler_note", "ruler_of", "ruler_reading"]


@dataclass(frozen=True)
class RulerShown:
    """One pair of words on the ruler.

    Attributes:
        cosine: of the pair, at the layer shown.
        ranges: of labelled pairs at that layer.
        same_word: whether both are one word, upper and lower case alike.
        chance: that two uses of one word at this cosine are of two senses; None for two different
            words, and where it was measured on too few.
        left_out: those of the words that the ruler was measured on, each once.
        measure: "cosine" or "centred cosine".
    """

    cosine: float
    ranges: tuple[Range, ...]
    same_word: bool
    chance: Chance | None
    left_out: tuple[str, ...]
    measure: str = "cosine"


def ruler_of(portrait: Portrait, ruler: Ruler | None) -> RulerShown | None:
    """The first two sentences' words on the ruler; None without a ruler, a pair or Latin script."""
    comparison, meaning = portrait.comparison, portrait.meaning
    pairs = comparison.pairs("sentences")
    if ruler is None or not pairs:
        return None
    return pair_on_ruler(
        [comparison.items[i].word for i in (pairs[0].first, pairs[0].second)],
        portrait.cosine(pairs[0]),
        ruler,
        at=(portrait.layer, meaning.pooling),
        centred=comparison.centred,
        measure=comparison.measure,
    )


def pair_on_ruler(
    words: Sequence[str],
    cosine: float,
    ruler: Ruler,
    *,
    at: tuple[int, Pooling],
    centred: bool = False,
    measure: str = "cosine",
) -> RulerShown | None:
    """Two words' cosine at a layer and pooling on the ruler; None for other than Latin script."""
    if not all(map(is_in_sample_script, words)):
        return None
    known = tuple({word.casefold(): word for word in words if ruler.knows(word)}.values())
    same_word = words[0].casefold() == words[1].casefold()
    return RulerShown(
        cosine=cosine,
        ranges=ruler.ranges(*at, centred=centred, without=known),
        same_word=same_word,
        chance=ruler.chance(cosine, *at, centred=centred, without=known) if same_word else None,
        left_out=known,
        measure=measure,
    )


def ruler_reading(shown: RulerShown) -> str:
    """What the pair's place on the ruler tells, in a sentence or two."""
    said = [_against_different(shown)]
    if shown.same_word:
        said.append(_of_one_word(shown.chance))
    return " ".join(filter(None, said))


def ruler_note(shown: RulerShown) -> str:
    """On what it was measured, and what the bars are."""
    names = " and ".join(map(quoted, shown.left_out))
    on = f"Measured on the ready corpus{f', {names} left out' if names else ''}"
    chance = shown.chance
    if chance is not None and not chance.outside:
        on += (
            f": {chance.n_words} words, pairs of one and of two senses taken as equally frequent, "
            "with a 90% interval"
        )
    return f"{on}. Bars hold 90 of 100 pairs, marks are their medians."


def _of_one_word(chance: Chance | None) -> str:
    if chance is None:
        return "The ready corpus has too few other words to tell more."
    if chance.outside:
        than = "less" if chance.outside == "below" else "more"
        return f"It is {than} than any two uses of one word that were measured have."
    ends = math.floor(10 * chance.low + 1e-9), math.ceil(10 * chance.high - 1e-9)
    between = f"{ends[0]} to {ends[1]} in 10"
    if not chance.tells or round(10 * chance.share) == 5:
        return (
            f"For uses of one word it tells little: of those so alike, {between} are of two senses."
        )
    tenths = _tenths(chance.share)
    return f"Of uses of one word so alike, **{tenths} in 10** are of two senses ({between})."


def _tenths(share: float) -> str:
    tenths = round(10 * share)
    if tenths in (0, 10):
        return "over 9" if tenths else "under 1"
    return f"about {tenths}"


def _against_different(shown: RulerShown) -> str:
    found = next((each for each in shown.ranges if each.kind == KINDS[DIFFERENT]), None)
    if found is None:
        return ""
    return (
        f"A {shown.measure} of {bold(shown.cosine)} is {_place(shown.cosine, found)} what pairs of "
        f"different words get (90 of 100 lie from {two(found.low)} to {two(found.high)}; 1 would "
        "be equal)."
    )


def _place(cosine: float, found: Range) -> str:
    """Where a cosine lies, told from the digits that stand beside it."""
    said, low, high = (float(two(value)) for value in (cosine, found.low, found.high))
    if low < said < high:
        return "within"
    if said in (low, high):
        return "at the end of"
    return "above" if said > high else "below"
