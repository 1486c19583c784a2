"""The sentences of Start here: a headline, and answers to the questions that everybody asks."""

from __future__ import annotations

from dataclasses import dataclass

from components.analysis.ruler import Verdict
from components.analysis.similarity import Comparison, Pair
from components.content.language import Claim, claim, say
from components.content.wording import quoted, shortened
from components.ui.widgets.comparison.compute import Portrait
from components.ui.widgets.comparison.reading import EQUAL, NOISE, side_of
from components.ui.widgets.comparison.ruler import RulerShown, ruler_reading

__all__ = ["headline", "how_much", "leaning", "parting_titles", "why"]

_WORD = 16  # characters of a word in a headline


def headline(portrait: Portrait, pair: Pair, ruler: RulerShown | None) -> Claim:
    """The model's view of two words, in everyday words; plain text."""
    first, second = (portrait.comparison.items[i] for i in (pair.first, pair.second))
    if first.word.casefold() != second.word.casefold():
        return claim(f"home.headline.{_of_two_words(portrait, pair)}")
    if pair.first in portrait.meaning.unknown:
        return claim("home.headline.unknown")
    if portrait.cosine(pair) >= EQUAL:
        return claim("home.headline.equal")
    if ruler is not None and ruler.verdict is not Verdict.CANNOT_TELL:
        return claim(f"home.headline.{ruler.verdict.value}")
    closer = _closer(portrait, pair)
    if closer is None:
        return claim("home.headline.cannot tell")
    near = {"first": closer[0].reference, "second": closer[1].reference, "word": first.word}
    short = {name: shortened(word, _WORD) for name, word in near.items()}
    return claim("home.headline.references", a=first.label, b=second.label, **short)


def _of_two_words(portrait: Portrait, pair: Pair) -> str:
    band, cosine = portrait.meaning.band(pair), portrait.cosine(pair)
    if {pair.first, pair.second} & portrait.meaning.unknown:
        return "two words, unknown"
    if cosine >= EQUAL:
        return "two words, equal"
    if band is None:
        return "two words"
    is_similar = side_of(cosine, band, portrait.row) == 1
    return f"two words, {'similar' if is_similar else 'unrelated'}"


@dataclass(frozen=True)
class _Closer:
    """A reference that is closer to one of two words than to the other."""

    gap: float
    reference: str
    near: float
    far: float


def _closer(portrait: Portrait, pair: Pair) -> tuple[_Closer, _Closer] | None:
    """For each of two words, a reference closer to it than to the other; None unless both have one.

    Closer means by at least `NOISE`, and more similar than random pairs of words. If a word has
    several, the one with the widest gap counts.
    """
    comparison, row = portrait.comparison, portrait.row
    widest: dict[int, _Closer] = {}
    for j, item in enumerate(comparison.items):
        if item.role != "reference" or j in portrait.meaning.unknown:
            continue
        cosines = {i: float(comparison.cosines[row, i, j]) for i in (pair.first, pair.second)}
        near, far = sorted(cosines, key=lambda i: -cosines[i])
        band, gap = portrait.meaning.band(Pair(near, j)), cosines[near] - cosines[far]
        if band is None or cosines[near] <= band.high[row] or gap < NOISE:
            continue
        if near not in widest or gap > widest[near].gap:
            widest[near] = _Closer(gap, item.word, cosines[near], cosines[far])
    return (widest[pair.first], widest[pair.second]) if len(widest) == 2 else None


def leaning(portrait: Portrait, pair: Pair) -> Claim | None:
    """Both words' similarities to the references of `_closer`; None if there are none."""
    closer = _closer(portrait, pair)
    if closer is None:
        return None
    first, second = (portrait.comparison.items[i] for i in (pair.first, pair.second))
    of_first, of_second = closer
    names = {"word": first.word, "first": of_first.reference, "second": of_second.reference}
    return claim(
        "home.leaning",
        **{name: quoted(word) for name, word in names.items()},
        a=first.label,
        b=second.label,
        first_a=of_first.near,
        first_b=of_first.far,
        second_a=of_second.far,
        second_b=of_second.near,
    )


def why(portrait: Portrait, pair: Pair) -> Claim:
    """The reason for the distance between the two words."""
    along = portrait.comparison.along(pair)
    start, now = float(along[0]), portrait.cosine(pair)
    numbers = {"start": start, "now": now, "layer": portrait.layer}
    if portrait.row == 0:
        verdict = "start"
    elif start >= EQUAL and start - now >= NOISE:
        verdict = "context"
    else:
        verdict = "moved"
    return claim(f"home.why.{verdict}", measure=_measure(portrait.comparison), **numbers)


def how_much(portrait: Portrait, pair: Pair, ruler: RulerShown | None) -> Claim:
    """The meaning of the cosine, compared with pairs of known kinds, or else with random pairs."""
    if ruler is not None:
        return ruler_reading(ruler)
    cosine, band = portrait.cosine(pair), portrait.meaning.band(pair)
    measure = _measure(portrait.comparison)
    numbers = {"Measure": measure[:1].upper() + measure[1:], "cosine": cosine}
    if band is None or cosine >= EQUAL:
        return claim("ruler.equal" if cosine >= EQUAL else "ruler.alone", **numbers)
    side = {1: "above", 0: "within", -1: "below"}[side_of(cosine, band, portrait.row)]
    low, high = float(band.low[portrait.row]), float(band.high[portrait.row])
    return claim(f"ruler.{side}", low=low, high=high, **numbers)


def parting_titles(comparison: Comparison, pair: Pair) -> list[str]:
    """The finding of the picture at each layer."""
    measure = _measure(comparison)
    return [
        say(
            f"home.picture.{'equal' if cosine >= EQUAL else 'gap'}",
            Measure=measure[:1].upper() + measure[1:],
            cosine=cosine,
            layer=layer,
        )
        for layer, cosine in zip(comparison.layers, comparison.along(pair).tolist(), strict=True)
    ]


def _measure(comparison: Comparison) -> str:
    return say("similarity.centred" if comparison.centred else "similarity.plain")
